"""One thread for numerical libraries: the last bits of a product may depend on the number of threads that compute it.

Every context manager here may be entered by several threads at once and more than once by each. The last one to leave
restores the setting that the first one found.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol, TypeVar

import numba
from threadpoolctl import ThreadpoolController

_T = TypeVar("_T")

ONE_THREAD_ENVIRONMENT = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)
"""Environment variables for a new process. They also hold for libraries that the process loads later."""


def one_blas_thread() -> AbstractContextManager[None]:
    """Limit all BLAS libraries of this process to one thread.

    Returns
    -------
    context manager
        The limit holds inside of it.

    Examples
    --------
    >>> import numpy as np
    >>> from threadpoolctl import threadpool_info
    >>> with one_blas_thread():
    ...     {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}
    {1}
    """
    return _BLAS


@contextmanager
def one_thread() -> Generator[None]:
    """Limit BLAS, and OpenMP in the calling thread, to one thread."""
    with one_blas_thread(), _LIBRARIES.found().limit(limits=1, user_api="openmp"):
        yield


@contextmanager
def one_core() -> Generator[None]:
    """Limit BLAS, and OpenMP and numba in the calling thread, to one thread. numba keeps the limit."""
    numba.set_num_threads(1)
    with one_thread():
        yield


class _Libraries:
    """The numerical libraries in this process. Finding them takes milliseconds, so they are remembered."""

    def __init__(self) -> None:
        self._found: ThreadpoolController | None = None
        self._modules = 0

    def found(self) -> ThreadpoolController:
        """All that are loaded: an import since the last call may have loaded another."""
        modules = len(sys.modules)
        if self._found is None or self._modules != modules:
            self._found, self._modules = ThreadpoolController(), modules
        return self._found


class _OneBlasThread:
    """BLAS libraries have one number of threads for the whole process."""

    def __init__(self, libraries: _Libraries) -> None:
        self._libraries = libraries
        self._lock, self._inside = threading.Lock(), 0
        self._limited: ThreadpoolController | None = None
        self._restore: list[Callable[[], object]] = []

    def __enter__(self) -> None:
        with self._lock:
            found = self._libraries.found()
            if not self._inside or found is not self._limited:
                self._limited = found
                with _settable_from_any_thread(found):
                    self._restore.append(found.limit(limits=1, user_api="blas").restore_original_limits)
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            while self._restore and not self._inside:
                with _settable_from_any_thread(self._libraries.found()):
                    self._restore.pop()()


@contextmanager
def _settable_from_any_thread(libraries: ThreadpoolController) -> Generator[None]:
    """Let this thread set the number of threads, and any other thread afterwards.

    Recent versions of threadpoolctl obey only the thread that was first to set a number, and ignore others. Here
    the thread that enters first need not be the one that leaves last; `_OneBlasThread` sets one number at a time.
    """
    _forget_controlling_thread(libraries)
    try:
        yield
    finally:
        _forget_controlling_thread(libraries)


def _forget_controlling_thread(libraries: ThreadpoolController) -> None:
    for library in libraries.lib_controllers:
        forget = getattr(library, "clear_controlling_thread", None)
        if forget:
            forget(force=True)


_LIBRARIES = _Libraries()
_BLAS = _OneBlasThread(_LIBRARIES)


class TorchThreads(Protocol):
    """The part of the module torch that `OneTorchThread` uses."""

    def get_num_threads(self) -> int:
        """Return the number of threads of the calling thread."""
        ...

    def set_num_threads(self, number: int, /) -> None:
        """Set the number of threads of the calling thread and of threads that torch has not met.

        Parameters
        ----------
        number : int
            Number of threads.
        """
        ...


class OneTorchThread:
    """Context manager that limits torch to one thread.

    In torch each thread has its own number, and the number that was set last is the default of new threads. So each
    thread that enters sets and restores its own number, and the last one to leave restores the default.

    Parameters
    ----------
    torch : module
        The module torch.
    """

    def __init__(self, torch: TorchThreads) -> None:
        self._get, self._set = torch.get_num_threads, torch.set_num_threads
        self._lock, self._inside = threading.Lock(), 0
        self._mine = threading.local()
        self._default = 0  # The number of new threads when no thread is inside.

    def __enter__(self) -> None:
        self._mine.depth = getattr(self._mine, "depth", 0) + 1
        if self._mine.depth == 1:
            with self._lock:
                self._mine.before = self._number_before()
                self._inside += 1
                # Also if the number is 1 already: threadpoolctl limits OpenMP, and does not reach torch's MKL.
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
        mine = self._get()
        if self._inside:
            # A thread that torch meets only now has the default 1 of the threads inside.
            return self._default if mine == 1 else mine
        if mine > 1:
            self._default = mine
        elif self._default != 1:
            # Perhaps only this thread is limited. Asking takes a millisecond, so the answer 1 is remembered.
            self._default = _in_a_new_thread(self._get)
        return mine


def _in_a_new_thread(call: Callable[[], _T]) -> _T:
    found: list[_T] = []
    thread = threading.Thread(target=lambda: found.append(call()))
    thread.start()
    thread.join()
    return found[0]
