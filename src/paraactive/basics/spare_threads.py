"""Threads that have nothing else to do, among which a loop divides its rows.

While the model learns, nodes that are threads of this process wait. Their engine offers them here, and the loops of a
learner may use them. Only loops whose results do not depend on how rows are divided may do so.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import Executor
from contextlib import contextmanager
from contextvars import ContextVar

_OFFERED: ContextVar[tuple[Executor, int] | None] = ContextVar("offered", default=None)
_LEAST_WORK = 8e6
"""Multiply-adds of one part, at least: 0.2 ms. To give a part to another thread takes 0.05 ms."""
_ROWS = 8
"""Parts are whole multiples of this number of rows, except the last one: the loops take so many rows at a time."""


@contextmanager
def spare_threads(threads: Executor, count: int) -> Generator[None]:
    """Offer threads to loops that the calling thread runs inside of this context.

    Parameters
    ----------
    threads : Executor
        The threads. Their own calls of `in_parts` are not divided further.
    count : int
        Number of threads that may compute at the same time, with the calling one.
    """
    before = _OFFERED.set((threads, count))
    try:
        yield
    finally:
        _OFFERED.reset(before)


def in_parts(rows: int, work: float, loop: Callable[[int, int], object]) -> None:
    """Call loop(first, last) for consecutive parts of some rows, in as many threads as are offered and worth it.

    Parameters
    ----------
    rows : int
        Number of rows.
    work : float
        Multiply-adds of all rows.
    loop : callable
        Computes the rows from first to last. It must release the GIL, and write nothing else than these rows.

    Examples
    --------
    >>> import numpy as np
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(2) as threads, spare_threads(threads, 2):
    ...     squares = np.arange(21)
    ...     in_parts(21, 1e9, lambda first, last: np.square(squares[first:last], out=squares[first:last]))
    >>> int(squares.sum())
    2870
    """
    offered = _OFFERED.get()
    parts = 1 if offered is None else min(offered[1], rows // _ROWS, int(work / _LEAST_WORK))
    if offered is None or parts < 2:
        loop(0, rows)
        return
    size = -(-rows // (parts * _ROWS)) * _ROWS
    others = [offered[0].submit(loop, first, min(first + size, rows)) for first in range(size, rows, size)]
    loop(0, size)
    for each in others:
        each.result()
