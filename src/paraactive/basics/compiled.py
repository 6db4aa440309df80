"""Loops that numba compiles on first use and caches on disk.

All loops of the package are compiled through this module. So they also work without a writable cache directory, and a
run can report that it waits for the compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import numba
from numba import extending
from numba.core import event
from numba.core.dispatcher import Dispatcher

Loop = TypeVar("Loop", bound=Callable[..., object])


def njit(**options: object) -> Callable[[Loop], Loop]:
    """Compile a function as `numba.njit` does, also where no directory can hold the cache.

    With cache=True, numba tries NUMBA_CACHE_DIR, the directory of the module, and the user's cache directory. If none
    is writable, the function is compiled again in each process.

    Parameters
    ----------
    **options : object
        Options of `numba.njit`.

    Returns
    -------
    callable
        Decorator of the function to compile.

    Examples
    --------
    >>> @njit(nogil=True)
    ... def twice(a):
    ...     return 2 * a
    >>> twice(21)
    42
    """
    make = cast("Callable[..., Callable[[Loop], Loop]]", numba.njit)

    def decorate(function: Loop) -> Loop:
        try:
            return make(**options)(function)
        except RuntimeError as error:
            if not options.get("cache") or "no locator available" not in str(error):
                raise
        return make(**options | {"cache": False})(function)

    return decorate


def intrinsic(function: Callable[..., object]) -> Callable[..., Any]:
    """Make a function of loops that writes its own code, as `numba.extending.intrinsic` does.

    Parameters
    ----------
    function : callable
        Takes a context of numba and the numba types of the arguments. Returns a signature and the code generator.

    Returns
    -------
    callable
        The function that loops call with the arguments themselves, and without the context.
    """
    return extending.intrinsic(function)


@contextmanager
def notify_on_compile(notify: Callable[[], object]) -> Generator[None]:
    """Call `notify` once inside the block, when numba starts to compile a loop of this package.

    Parameters
    ----------
    notify : callable
        Called without arguments. It is not called if all loops are loaded from the cache.
    """
    # numba sends this event before it compiles, and only if it did not find the loop in its cache.
    with event.install_listener("numba:compile", _FirstCompilation(notify)):
        yield


class _FirstCompilation(event.Listener):
    def __init__(self, notify: Callable[[], object]) -> None:
        self._notify, self._notified = notify, False

    def on_start(self, event: event.Event) -> None:
        dispatcher = cast("dict[str, Dispatcher]", event.data)["dispatcher"]
        if not self._notified and dispatcher.py_func.__module__.startswith("paraactive."):
            self._notified = True
            self._notify()

    def on_end(self, event: event.Event) -> None:
        """Ignore the end of the compilation."""
