"""What is costly to make and needed again soon: kept within a bound, made once however many threads ask for it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from threading import Lock
from typing import Generic, TypeVar

Value = TypeVar("Value")

_LEAST = 2
"""Values that are kept however large they are: a batch may lie on the border of two."""


class LRUCache(Generic[Value]):
    """The values used last, up to so many bytes, and never fewer than two.

    >>> kept = LRUCache(limit=100, size=len)
    >>> kept.get("a", lambda: "made once"), kept.get("a", lambda: "made twice")
    ('made once', 'made once')
    """

    def __init__(self, limit: int, size: Callable[[Value], int]) -> None:
        self._limit, self._size = limit, size
        self._values: OrderedDict[Hashable, Future[Value]] = OrderedDict()
        self._lock, self._total, self._made = Lock(), 0, 0

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The value of this key, which `make` makes if it is not there."""
        mine = Future[Value]()
        with self._lock:
            known = self._values.setdefault(key, mine)
            self._values.move_to_end(key)
        if known is not mine:
            return known.result()  # Waits if another thread is making it.
        try:
            mine.set_result(make())
        except BaseException as error:
            with self._lock:
                del self._values[key]
            mine.set_exception(error)
            raise
        self._forget_oldest(self._size(mine.result()))
        return mine.result()

    def _forget_oldest(self, more: int) -> None:
        """Make room for a value of this size, which is the newest."""
        with self._lock:
            self._total, self._made = self._total + more, self._made + 1
            for key in list(self._values) if self._total > self._limit else ():
                if self._total <= self._limit or self._made <= _LEAST:
                    return
                if self._values[key].done():
                    self._total -= self._size(self._values.pop(key).result())
                    self._made -= 1
