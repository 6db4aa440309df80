"""Passes over rows that can be read in any order: the row at each position of the stream."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from paraactive.basics import philox
from paraactive.basics.validation import whole
from paraactive.data.examples import Ints
from paraactive.errors import InputError


def checked_passes(passes: int | None) -> int | None:
    """Return the number of passes.

    Parameters
    ----------
    passes : int or None
        Value to check.

    Returns
    -------
    int or None
        Number of passes, at least 1; None without end.

    Raises
    ------
    InputError
        If the value is below 1 or not a whole number.
    """
    if passes is not None and whole("passes", passes) < 1:
        raise InputError(f"passes is {passes}", why="the stream would be empty", remedy="give 1 or more")
    return None if passes is None else int(passes)


def rows_at(index: Ints, rows: int, seed: int, shuffle: bool) -> Ints:
    """Return the row numbers at the given positions.

    Parameters
    ----------
    index : ndarray of int64
        Positions in the stream.
    rows : int
        Number of rows in one pass.
    seed : int
        Seed of the order.
    shuffle : bool
        Whether each pass has its own random order.

    Returns
    -------
    ndarray of int64
        Row numbers.

    Examples
    --------
    >>> rows_at(np.arange(6), rows=3, seed=1, shuffle=False).tolist()
    [0, 1, 2, 0, 1, 2]
    """
    row = index % rows
    if not shuffle:
        return row
    number = index // rows
    for each in np.unique(number).tolist():
        own = number == each
        row[own] = _order(seed, rows, each)[row[own]]
    return row


@lru_cache(maxsize=2)  # A range of positions may lie in two passes.
def _order(seed: int, rows: int, number: int) -> Ints:
    return philox.permutation(seed, philox.ORDER, rows, number)
