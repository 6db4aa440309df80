"""A scipy.sparse matrix as `SparseRows`, with the checks on what a user gives. It is never made dense here."""

from __future__ import annotations

from typing import Any

import numpy as np

from paraactive.data.examples import SparseRows
from paraactive.errors import InputError

_WIDEST = np.iinfo(np.int32).max


def is_sparse(x: object) -> bool:
    """True for any of scipy's sparse matrices and arrays; scipy itself is not needed to tell."""
    return hasattr(x, "tocsr") and hasattr(x, "nnz")


def sparse_rows(x: Any) -> SparseRows:
    """The matrix in float32; what stands twice at one place is added up, and zeros are left out.

    >>> import scipy.sparse
    >>> rows = sparse_rows(scipy.sparse.coo_array(([1, 2, 0], ([0, 0, 1], [2, 2, 0])), shape=(2, 3)))
    >>> rows.data.tolist(), rows.indices.tolist(), rows.indptr.tolist()
    ([3.0], [2], [0, 1, 1])
    """
    given = x.tocsr()
    if given.ndim != 2 or given.dtype.kind not in "biuf":
        raise InputError(
            f"x is sparse, of shape {given.shape} and type {given.dtype}",
            why="features are real numbers, a row for each example",
            remedy="give a sparse matrix of numbers",
        )
    if given.shape[1] > _WIDEST:
        raise InputError(
            f"x has {given.shape[1]} columns", why=f"at most {_WIDEST} are counted", remedy="hash them to fewer"
        )
    _check_places(given)
    if not given.has_canonical_format:
        given = given.copy()
        given.sum_duplicates()
    with np.errstate(over="ignore"):
        data = given.data.astype(np.float32, copy=False)
    _check_finite(data)
    return _without_zeros(SparseRows(data, given.indices, given.indptr, given.shape[1]))


def _check_places(given: Any) -> None:
    """Whoever wrote into the arrays of a matrix may have left it broken; loops would read beyond its end."""
    try:
        given.check_format(full_check=True)
    except (ValueError, TypeError) as error:
        raise InputError(
            "x is a broken sparse matrix", why=str(error).rstrip("."), remedy="make it anew, by scipy.sparse.csr_array"
        ) from None


def _check_finite(data: Any) -> None:
    bad = int(np.count_nonzero(~np.isfinite(data)))
    if bad:
        raise InputError(
            f"{bad} of the features {'is' if bad == 1 else 'are'} NaN, infinite, or too large for float32",
            why="a score needs finite numbers",
            remedy="remove those rows, fill in the values, or scale the column down",
        )


def _without_zeros(rows: SparseRows) -> SparseRows:
    """Zeros may be written down, or be what is left of a very small number in float32."""
    kept = rows.data != 0
    if kept.all():
        return rows
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])
    return SparseRows(rows.data[kept], rows.indices[kept], before[rows.indptr], rows.width)
