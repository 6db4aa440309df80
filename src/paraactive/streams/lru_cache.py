"""A cache that is bounded in bytes and shared by threads."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from threading import Lock
from typing import Generic, TypeVar

Value = TypeVar("Value")

# The number of values that stay in the cache whatever their size, because a batch may need two of them.
_MIN_VALUES = 2


class LRUCache(Generic[Value]):
    """Keep the most recently used values, up to a number of bytes and at least two values.

    If several threads ask for a missing value at once, one of them makes it and the others wait.

    Parameters
    ----------
    limit : int
        Maximum number of bytes of all values.
    size : callable
        Function that returns the number of bytes of a value.

    Examples
    --------
    >>> cache = LRUCache(limit=100, size=len)
    >>> cache.get("a", lambda: "made once"), cache.get("a", lambda: "made twice")
    ('made once', 'made once')
    """

    def __init__(self, limit: int, size: Callable[[Value], int]) -> None:
        self._limit, self._size = limit, size
        self._values: OrderedDict[Hashable, Future[Value]] = OrderedDict()
        self._lock, self._total, self._made = Lock(), 0, 0

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value of a key.

        Parameters
        ----------
        key : hashable
            Key of the value.
        make : callable
            Called without arguments to make the value if it is not in the cache.

        Returns
        -------
        object
            The value.
        """
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
        self._evict(self._size(mine.result()))
        return mine.result()

    def _evict(self, more: int) -> None:
        """Add the size of the newest value, and drop the oldest values that exceed the limit."""
        with self._lock:
            self._total, self._made = self._total + more, self._made + 1
            for key in list(self._values) if self._total > self._limit else ():
                if self._total <= self._limit or self._made <= _MIN_VALUES:
                    return
                if self._values[key].done():
                    self._total -= self._size(self._values.pop(key).result())
                    self._made -= 1
