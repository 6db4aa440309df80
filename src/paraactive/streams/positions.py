"""What every stream asks of a position: that it is a whole number inside the stream."""

from __future__ import annotations

import numpy as np

from paraactive.errors import InputError
from paraactive.examples import Ints


def between(first: int, last: int, length: int | None) -> Ints:
    """The positions first <= index < last, if the stream has them.

    >>> between(3, 6, None).tolist()
    [3, 4, 5]
    """
    if first > last:
        raise InputError(
            f"read({first}, {last}) runs backwards",
            why="a piece of the stream goes from its first position up to its last",
            remedy="give first <= last",
        )
    _check_inside(first, last, length)
    return np.arange(first, last, dtype=np.int64)


def listed(index: Ints, length: int | None) -> Ints:
    """These positions, if the stream has them.

    >>> listed(np.array([5, 2]), length=6).tolist()
    [5, 2]
    """
    index = np.asarray(index)
    if index.ndim != 1 or (index.size and index.dtype.kind not in "iu"):
        raise InputError(
            f"positions of shape {index.shape} and type {index.dtype}",
            why="a position in the stream is a whole number",
            remedy="give a one-dimensional array of integers",
        )
    if index.size:
        _check_inside(int(index.min()), int(index.max()) + 1, length)
    return index.astype(np.int64)


def _check_inside(first: int, last: int, length: int | None) -> None:
    if first < 0:
        raise InputError(
            f"position {first} in the stream", why="positions are counted from 0", remedy="ask for 0 or more"
        )
    if length is not None and last > length:
        raise InputError(
            f"position {last - 1} in a stream of {length} examples",
            why=f"its last position is {length - 1}",
            remedy="read less, or give the stream more passes",
        )
