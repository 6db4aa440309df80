"""Passes over rows that can be read in any order: which row is at which position."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from paraactive.basics import philox
from paraactive.basics.validation import whole
from paraactive.data.examples import Ints
from paraactive.errors import InputError


def checked_passes(passes: int | None) -> int | None:
    """The number of passes as an int, 1 or more; None for no end."""
    if passes is not None and whole("passes", passes) < 1:
        raise InputError(f"passes is {passes}", why="the stream would be empty", remedy="give 1 or more")
    return None if passes is None else int(passes)


def rows_at(index: Ints, rows: int, seed: int, shuffle: bool) -> Ints:
    """The rows at these positions; with `shuffle`, each pass goes over them in an order of its own.

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


@lru_cache(maxsize=2)  # a piece of the stream may lie on two passes
def _order(seed: int, rows: int, number: int) -> Ints:
    return philox.permutation(seed, philox.ORDER, rows, number)
