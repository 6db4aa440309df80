"""gamma="scale": 1/(width * variance of the features), as in scikit-learn. Rows must fit into float32."""

from __future__ import annotations

import numpy as np

from paraactive.data.examples import Doubles, Features, Floats, SparseRows
from paraactive.errors import InputError

_MAX_SCALE = 1e30
_CHUNK_ROWS = 4096
"""Rows taken at a time, so that temporary arrays stay small."""


def scale_of(x: Features, weight: Doubles | None = None) -> float:
    """Return 1/(width * variance), with the variance of all numbers in x.

    Parameters
    ----------
    x : ndarray or SparseRows
        Rows of features.
    weight : ndarray of float64, optional
        Weight of each row. Default: all 1.

    Returns
    -------
    float
        The scale; 1 if all numbers are the same.

    Raises
    ------
    InputError
        If the variance is too small for float32.

    Examples
    --------
    >>> scale_of(np.array([[0.0, 2.0], [2.0, 0.0]], np.float32))
    0.5
    """
    weight = np.ones(len(x)) if weight is None else weight
    variance = _variance_sparse(x, weight) if isinstance(x, SparseRows) else _variance(x, weight)
    scale = 1.0 / (x.shape[1] * variance) if variance > 0 else 1.0
    if scale > _MAX_SCALE:
        raise InputError(
            f"the features have a variance of {variance:.2g}",
            why="squared distances of such features are too small for float32",
            remedy="scale the features, for example to zero mean and unit variance",
        )
    return scale


def check_norms(xx: Floats) -> None:
    """Check that squared norms are finite.

    Parameters
    ----------
    xx : ndarray of float32, shape (n,)
        Squared norms of rows.

    Raises
    ------
    InputError
        If one is not finite.
    """
    if not np.isfinite(xx).all():
        raise InputError(
            "an example is too large, or not finite",
            why="squared distances are held in float32, which ends at 3.4e38",
            remedy="scale the features, for example to zero mean and unit variance",
        )


def _variance(x: Floats, weight: Doubles) -> float:
    mean = float(np.average(x.mean(axis=1, dtype=np.float64), weights=weight))
    squares = total = 0.0
    for start in range(0, len(x), _CHUNK_ROWS):
        rows = slice(start, start + _CHUNK_ROWS)
        squares += float(weight[rows] @ ((x[rows].astype(np.float64) - mean) ** 2).mean(axis=1))
        total += float(weight[rows].sum())
    return squares / total


def _variance_sparse(x: SparseRows, weight: Doubles) -> float:
    """Compute the variance from the values that are not 0 and the number of zeros."""
    count = x.width * float(weight.sum())
    values, heavy = x.data.astype(np.float64), np.repeat(weight, x.lengths)
    # Sums of numpy, because the bits of a BLAS product depend on the number of threads.
    mean = float(np.sum(heavy * values)) / count
    zeros = float(np.sum(weight * (x.width - x.lengths)))
    return (float(np.sum(heavy * (values - mean) ** 2)) + zeros * mean**2) / count
