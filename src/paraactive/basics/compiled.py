"""Loops that numba compiles: on their first use on a machine, and from then on they are found on disk.

All of them are made here, so that they also work where nothing can be written, and so that a run can say why it waits.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, TypeVar

import numba
from numba.core import event

Loop = TypeVar("Loop", bound=Callable[..., Any])


def njit(**options: Any) -> Callable[[Loop], Loop]:
    """numba's `njit`; with cache=True where there is no directory to keep compiled loops in, it compiles them anew.

    numba tries NUMBA_CACHE_DIR, the directory of the module, and that of the user's caches.

    >>> @njit(nogil=True)
    ... def twice(a):
    ...     return 2 * a
    >>> twice(21)
    42
    """
    make: Any = numba.njit

    def decorate(function: Loop) -> Loop:
        try:
            return make(**options)(function)
        except RuntimeError as error:
            if not options.get("cache") or "no locator available" not in str(error):
                raise
        return make(**options | {"cache": False})(function)

    return decorate


@contextmanager
def notify_on_compile(tell: Callable[[], object]) -> Generator[None]:
    """Meanwhile, call `tell` when the first of our loops is compiled, and not only loaded."""
    # numba says so before it begins, and only where it did not find the loop on disk.
    with event.install_listener("numba:compile", _First(tell)):
        yield


class _First(event.Listener):
    def __init__(self, tell: Callable[[], object]) -> None:
        self._tell, self._told = tell, False

    def on_start(self, event: Any) -> None:
        if not self._told and event.data["dispatcher"].py_func.__module__.startswith("paraactive."):
            self._told = True
            self._tell()

    def on_end(self, event: Any) -> None:
        """Nothing: how long it took is seen by whoever waits."""
