"""gamma="scale": 1/(width * variance of the features), as in scikit-learn."""

from __future__ import annotations

import numpy as np

from paraactive.data.examples import Doubles, Features, Floats, SparseRows
from paraactive.errors import InputError

_STEEPEST = 1e30
_AT_ONCE = 4096
"""Rows: what is temporary stays small beside the data."""


def scale_of(x: Features, weight: Doubles | None = None) -> float:
    """1/(width * variance), the variance of all numbers in x; 1 where they are all the same.

    >>> scale_of(np.array([[0.0, 2.0], [2.0, 0.0]], np.float32))
    0.5
    """
    weight = np.ones(len(x)) if weight is None else weight
    variance = _variance_sparse(x, weight) if isinstance(x, SparseRows) else _variance(x, weight)
    scale = 1.0 / (x.shape[1] * variance) if variance > 0 else 1.0
    if scale > _STEEPEST:
        raise InputError(
            f"the features have a variance of {variance:.2g}",
            why="squared distances are held in float32, and these are too small for it",
            remedy="scale the features, for example to zero mean and unit variance",
        )
    return scale


def _variance(x: Floats, weight: Doubles) -> float:
    mean = float(np.average(x.mean(axis=1, dtype=np.float64), weights=weight))
    squares = total = 0.0
    for start in range(0, len(x), _AT_ONCE):
        rows = slice(start, start + _AT_ONCE)
        squares += float(weight[rows] @ ((x[rows].astype(np.float64) - mean) ** 2).mean(axis=1))
        total += float(weight[rows].sum())
    return squares / total


def _variance_sparse(x: SparseRows, weight: Doubles) -> float:
    """The same, of what is not 0 and of how many zeros there are."""
    count = x.width * float(weight.sum())
    values, heavy = x.data.astype(np.float64), np.repeat(weight, x.lengths)
    # numpy's own sums: products of BLAS depend on how many threads it has.
    mean = float(np.sum(heavy * values)) / count
    zeros = float(np.sum(weight * (x.width - x.lengths)))
    return (float(np.sum(heavy * (values - mean) ** 2)) + zeros * mean**2) / count
