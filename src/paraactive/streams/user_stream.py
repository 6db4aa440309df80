"""Base class of the streams over a user's own data, and checks of positions."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from paraactive.data.examples import Examples, Ints
from paraactive.errors import InputError, counted


class UserStream(ABC):
    """Base class of streams over a user's own data. A subclass defines `length` and `_make`."""

    @property
    @abstractmethod
    def length(self) -> int | None:
        """Number of examples in the stream; None if the stream never ends or the number is unknown."""

    @abstractmethod
    def _make(self, index: Ints) -> Examples:
        """Return the examples at positions that exist."""

    @property
    def regenerates(self) -> bool:
        """False, because the user's data may be gone when a run is resumed."""
        return False

    def read(self, first: int, last: int) -> Examples:
        """See `Stream.read`."""
        return self._make(position_range(first, last, self.length))

    def at(self, index: Ints) -> Examples:
        """See `Stream.at`."""
        return self._make(check_positions(index, self.length))


def position_range(first: int, last: int, length: int | None) -> Ints:
    """Return the positions first <= index < last of a stream.

    Parameters
    ----------
    first : int
        First position.
    last : int
        One past the last position.
    length : int or None
        Number of examples in the stream; None without end.

    Returns
    -------
    ndarray of int64
        The positions.

    Raises
    ------
    InputError
        If the range runs backwards or leaves the stream.

    Examples
    --------
    >>> position_range(3, 6, None).tolist()
    [3, 4, 5]
    """
    if first > last:
        raise InputError(
            f"read({first}, {last}) runs backwards",
            why="the first position must not be after the last",
            remedy="give first <= last",
        )
    _check_inside(first, last, length)
    return np.arange(first, last, dtype=np.int64)


def check_positions(index: Ints, length: int | None) -> Ints:
    """Return positions as int64 if the stream has them.

    Parameters
    ----------
    index : ndarray of shape (n,)
        Positions.
    length : int or None
        Number of examples in the stream; None without end.

    Returns
    -------
    ndarray of int64
        The positions.

    Raises
    ------
    InputError
        If a position is not a whole number, or not in the stream.

    Examples
    --------
    >>> check_positions(np.array([5, 2]), length=6).tolist()
    [5, 2]
    """
    index = np.asarray(index)
    if index.ndim != 1 or (index.size and index.dtype.kind not in "iu"):
        raise InputError(
            f"the positions have shape {index.shape} and type {index.dtype}",
            why="a position in the stream is a whole number",
            remedy="give a one-dimensional array of integers",
        )
    if index.size:
        _check_inside(int(index.min()), int(index.max()) + 1, length)
    return index.astype(np.int64)


def _check_inside(first: int, last: int, length: int | None) -> None:
    if first < 0:
        raise InputError(
            f"position {first} is not in the stream", why="positions start at 0", remedy="give positions >= 0"
        )
    if length is not None and last > length:
        raise InputError(
            f"position {last - 1} is not in a stream of {counted(length, 'example')}",
            why=f"its last position is {length - 1}",
            remedy="read fewer examples, or give the stream more passes",
        )
