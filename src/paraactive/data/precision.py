"""Which columns of numbers keep their differences in float32."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from paraactive.data.array_types import Doubles

_MAX_LOSS = 1e-3
"""Largest acceptable rounding error, as a part of the standard deviation."""
_NOISE = 1e-12
"""A range that is smaller than this part of the values is the rounding noise of float64: the column is constant."""


def lossy_columns(low: Doubles, high: Doubles) -> NDArray[np.bool_]:
    """Return which columns lose their differences if they are rounded to float32.

    The range of a column is a better measure than the standard deviation of its first rows: sorted times have a small
    deviation in the first rows, and a large range.

    Parameters
    ----------
    low, high : ndarray of float64, shape (width,)
        Smallest and largest value of each column; NaN if there is none.

    Returns
    -------
    ndarray of bool, shape (width,)
        True where the rounding error is above a thousandth of the standard deviation that numbers spread evenly over
        the range would have.

    Examples
    --------
    >>> low, high = np.array([1.7e9, 1.7e9, 0.0]), np.array([1.7e9 + 99, 1.7e9, 1.0])
    >>> lossy_columns(low, high).tolist()
    [True, False, False]
    """
    largest, width = np.fmax(np.abs(low), np.abs(high)), high - low
    with np.errstate(over="ignore"):
        error = np.spacing(largest.astype(np.float32)).astype(np.float64) / 2
    return (width > _NOISE * largest) & (error > _MAX_LOSS * width / np.sqrt(12.0))
