"""Columns of features brought to mean 0 and standard deviation 1, and a test whether columns are pixels of an image."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraactive.data.examples import Doubles, Floats
from paraactive.data.precision import lossy_columns

_CHUNK_ROWS = 4096
"""Rows taken at a time, so that temporary arrays stay small."""
_LEAST_PIXELS = 64
_LOOKED_AT = 10_000
"""Number of rows that `looks_like_pixels` reads, spread over all rows."""


@dataclass(frozen=True, slots=True, eq=False)
class ColumnScaling:
    """How each column is centered and scaled: (x - center) / scale, where a missing x is the mean of its column.

    Parameters
    ----------
    center, scale : ndarray of float64, shape (width,)
        What is subtracted, and what the difference is divided by.
    mean : ndarray of float64, shape (width,)
        What NaN is replaced by.

    Examples
    --------
    >>> scaling = ColumnScaling.of(np.array([[1.0, 7.0], [3.0, 7.0], [np.nan, 7.0]]))
    >>> scaling.apply(np.array([[3.0, 7.0], [np.nan, 8.0]])).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    center: Doubles
    scale: Doubles
    mean: Doubles

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.center)

    @staticmethod
    def of(x: NDArray[Any], weight: Doubles | None = None, *, scale: bool = True) -> ColumnScaling:
        """Compute the scaling of some rows, in float64. The result does not depend on the number of threads.

        Parameters
        ----------
        x : ndarray of shape (n, width)
            Rows of features. NaN is a missing value, and does not count.
        weight : ndarray of float64, optional
            Weight of each row. Default: all 1.
        scale : bool, default=True
            Whether to standardize. If False, only columns that float32 cannot hold are centered, and missing values are
            replaced.

        Returns
        -------
        ColumnScaling
            Mean and standard deviation of each column. The scale of a constant column is 1.
        """
        weight = np.ones(len(x)) if weight is None else weight
        mean, low, high, total = _means(x, weight)
        with np.errstate(over="ignore"):
            deviation = np.sqrt(_squares(x, weight, mean) / np.where(total > 0, total, 1.0))
        deviation = np.where(np.isfinite(deviation), deviation, high - low)  # Squares end at 1.8e308.
        if not scale:
            center = np.where(lossy_columns(low, high), mean, 0.0)
            return ColumnScaling(center, np.ones_like(mean), mean)
        rounding = np.finfo(x.dtype if x.dtype.kind == "f" else np.float64).eps
        constant = ~(deviation > 4 * rounding * np.fmax(np.abs(low), np.abs(high)))
        return ColumnScaling(mean, np.where(constant, 1.0, deviation), mean)

    def apply(self, x: NDArray[Any]) -> Floats:
        """Return rows as a learner gets them. Each value depends on its own row only.

        Parameters
        ----------
        x : ndarray of shape (n, width)
            Rows of features.

        Returns
        -------
        ndarray of float32, shape (n, width)
            The scaled rows.
        """
        out = np.empty(x.shape, np.float32)
        with np.errstate(over="ignore"):  # A learner refuses features that are not finite.
            for rows in _chunks(len(x)):
                values = x[rows].astype(np.float64)
                out[rows] = (np.where(np.isnan(values), self.mean, values) - self.center) / self.scale
        return out


def _means(x: NDArray[Any], weight: Doubles) -> tuple[Doubles, Doubles, Doubles, Doubles]:
    """Return the mean, the smallest value, the largest value and the total weight of each column."""
    width = x.shape[1]
    sums, total = np.zeros(width), np.zeros(width)
    low, high = np.full(width, np.nan), np.full(width, np.nan)
    for rows in _chunks(len(x)):
        values = x[rows].astype(np.float64)
        present = np.where(np.isnan(values), 0.0, weight[rows, None])
        # Sums of numpy along the first axis, because the bits of a BLAS product depend on the number of threads.
        sums += (np.where(np.isnan(values), 0.0, values) * present).sum(axis=0)
        total += present.sum(axis=0)
        low, high = np.fmin(low, np.fmin.reduce(values)), np.fmax(high, np.fmax.reduce(values))
    mean = np.where(total > 0, sums / np.where(total > 0, total, 1.0), 0.0)
    return np.where(low == high, low, mean), low, high, total  # The mean of equal numbers may be rounded.


def _squares(x: NDArray[Any], weight: Doubles, mean: Doubles) -> Doubles:
    """Return the weighted sum of the squared distances to the mean."""
    squares = np.zeros(x.shape[1])
    for rows in _chunks(len(x)):
        values = x[rows].astype(np.float64)
        distance = np.where(np.isnan(values), mean, values) - mean
        squares += (weight[rows, None] * distance * distance).sum(axis=0)
    return squares


def _chunks(count: int) -> Iterator[slice]:
    for first in range(0, count, _CHUNK_ROWS):
        yield slice(first, first + _CHUNK_ROWS)


def looks_like_pixels(x: NDArray[Any]) -> bool:
    """Return whether the columns are probably pixels, which have one scale and must not be standardized one by one.

    Standardizing pixels would make the noise at the border of an image as important as its middle.

    Parameters
    ----------
    x : ndarray of shape (n, width)
        Rows of features.

    Returns
    -------
    bool
        True for 64 or more columns in one common range: nine tenths of the columns begin at the smallest value of all,
        to a hundredth of the range, and a quarter of the columns reach the upper quarter of the range.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> looks_like_pixels(rng.integers(0, 256, (500, 64))), looks_like_pixels(rng.normal(size=(500, 64)))
    (True, False)
    """
    if x.shape[1] < _LEAST_PIXELS or not len(x):
        return False
    some = x[:: max(1, len(x) // _LOOKED_AT)]
    low, high = np.fmin.reduce(some), np.fmax.reduce(some)
    least, most = float(np.fmin.reduce(low)), float(np.fmax.reduce(high))
    width = most - least
    if not width > 0:
        return False
    return bool(np.mean(low <= least + 0.01 * width) >= 0.9 and np.mean(high >= most - 0.25 * width) >= 0.25)
