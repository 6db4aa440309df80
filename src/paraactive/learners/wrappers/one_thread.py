"""Holding a library to one thread, as the bits of its products may depend on their number, and leaving no trace of it.

Several threads may be inside at once: the first who comes in finds how it was, the last who leaves restores it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any


class OneThread:
    """For a library whose number of threads is one setting of the whole process.

    `hold` sets it to 1 and gives the function that restores it.

    >>> held = OneThread(lambda: print("one") or (lambda: print("as before")))
    >>> with held, held:
    ...     pass
    one
    as before
    """

    def __init__(self, hold: Callable[[], Callable[[], object]]) -> None:
        self._hold, self._restore = hold, hold
        self._lock, self._inside = threading.Lock(), 0

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._restore = self._hold()
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._restore()


class OneTorchThread:
    """For torch, where each thread has a number of its own, and the last that any set is that of threads to come.

    So each thread that comes in sets and restores its own; what threads to come will have is restored as well.
    """

    def __init__(self, torch: Any) -> None:
        self._get, self._set = torch.get_num_threads, torch.set_num_threads
        self._lock, self._inside = threading.Lock(), 0
        self._mine = threading.local()
        self._default = 0
        """What threads to come have when nobody is inside."""

    def __enter__(self) -> None:
        self._mine.depth = getattr(self._mine, "depth", 0) + 1
        if self._mine.depth == 1:
            with self._lock:
                self._mine.before = self._number_before()
                self._inside += 1
                # Also where it is 1 already: who limited OpenMP, as threadpoolctl does, has not told torch's MKL.
                self._set(1)

    def __exit__(self, *_: object) -> None:
        self._mine.depth -= 1
        if not self._mine.depth:
            with self._lock:
                self._inside -= 1
                self._set(self._mine.before)
                if not self._inside and self._mine.before != self._default:
                    _in_a_new_thread(lambda: self._set(self._default))

    def _number_before(self) -> int:
        mine: int = self._get()
        if self._inside:
            # A thread that torch meets only now has the 1 of those inside.
            return self._default if mine == 1 else mine
        if mine > 1:
            self._default = mine
        elif self._default != 1:
            # This thread may be limited alone. Asking takes a millisecond, so 1 is believed from then on.
            self._default = _in_a_new_thread(self._get)
        return mine


def _in_a_new_thread(call: Callable[[], Any]) -> Any:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(call()))
    thread.start()
    thread.join()
    return found[0]
