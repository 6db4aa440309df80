"""Reading by position: what every stream asks of one, and what all streams over a user's data share."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from paraactive.data.examples import Examples, Ints
from paraactive.errors import InputError, counted


class UserStream(ABC):
    """A stream over a user's own data: it says how long it is, and makes the examples at positions that exist."""

    @property
    @abstractmethod
    def length(self) -> int | None:
        """Examples in the stream; None if it never ends, or if nobody knows."""

    @abstractmethod
    def _make(self, index: Ints) -> Examples: ...

    @property
    def regenerates(self) -> bool:
        """False: the data is the user's, and may be gone when a run is resumed."""
        return False

    def read(self, first: int, last: int) -> Examples:
        """The examples at positions first <= index < last."""
        return self._make(position_range(first, last, self.length))

    def at(self, index: Ints) -> Examples:
        """The examples at these positions."""
        return self._make(check_positions(index, self.length))


def position_range(first: int, last: int, length: int | None) -> Ints:
    """The positions first <= index < last, if the stream has them.

    >>> position_range(3, 6, None).tolist()
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


def check_positions(index: Ints, length: int | None) -> Ints:
    """These positions, if the stream has them.

    >>> check_positions(np.array([5, 2]), length=6).tolist()
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
            f"position {last - 1} in a stream of {counted(length, 'example')}",
            why=f"its last position is {length - 1}",
            remedy="read less, or give the stream more passes",
        )
