"""Conversion of scipy.sparse matrices to `SparseRows`, with checks of the user's data. No matrix is made dense."""

from __future__ import annotations

from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from paraactive.data.examples import Floats, Ints, SparseRows
from paraactive.errors import InputError

_MAX_WIDTH = np.iinfo(np.int32).max


class _CsrMatrix(Protocol):
    """The part of scipy's CSR matrices and arrays that this module uses."""

    data: NDArray[np.generic]
    indices: NDArray[np.int32]
    indptr: Ints
    shape: tuple[int, int]
    ndim: int
    dtype: np.dtype[np.generic]
    has_canonical_format: bool

    def check_format(self, full_check: bool = True) -> None: ...

    def sum_duplicates(self) -> None: ...

    def copy(self) -> _CsrMatrix: ...


class _SparseMatrix(Protocol):
    """Any sparse matrix or array of scipy."""

    def tocsr(self) -> _CsrMatrix: ...


def is_sparse(x: object) -> bool:
    """Return whether x is a sparse matrix or array of scipy. scipy is not imported.

    Parameters
    ----------
    x : object
        Any object.

    Returns
    -------
    bool
        True for sparse matrices.
    """
    return hasattr(x, "tocsr") and hasattr(x, "nnz")


def sparse_rows(x: object) -> SparseRows:
    """Return a sparse matrix as float32 rows. Duplicate entries are summed, and zeros are dropped.

    Parameters
    ----------
    x : sparse matrix or array of scipy
        Matrix of real numbers, one row for each example.

    Returns
    -------
    SparseRows
        The rows.

    Raises
    ------
    InputError
        If the matrix is not numeric, not finite, too wide or inconsistent.

    Examples
    --------
    >>> import scipy.sparse
    >>> rows = sparse_rows(scipy.sparse.coo_array(([1, 2, 0], ([0, 0, 1], [2, 2, 0])), shape=(2, 3)))
    >>> rows.data.tolist(), rows.indices.tolist(), rows.indptr.tolist()
    ([3.0], [2], [0, 1, 1])
    """
    given = cast(_SparseMatrix, x).tocsr()
    if given.ndim != 2 or given.dtype.kind not in "biuf":
        raise InputError(
            f"x is sparse, of shape {given.shape} and type {given.dtype}",
            why="features must be real numbers, one row for each example",
            remedy="give a sparse matrix of numbers",
        )
    if given.shape[1] > _MAX_WIDTH:
        raise InputError(
            f"x has {given.shape[1]} columns", why=f"at most {_MAX_WIDTH} are supported", remedy="hash them to fewer"
        )
    _check_structure(given)
    if not given.has_canonical_format:
        given = given.copy()
        given.sum_duplicates()
    with np.errstate(over="ignore"):
        data = given.data.astype(np.float32, copy=False)
    _check_finite(data)
    return _without_zeros(SparseRows(data, given.indices, given.indptr, given.shape[1]))


def _check_structure(given: _CsrMatrix) -> None:
    """Raise InputError for a matrix with inconsistent arrays, because compiled loops do not check bounds."""
    try:
        given.check_format(full_check=True)
    except (ValueError, TypeError) as error:
        raise InputError(
            "x is an inconsistent sparse matrix",
            why=str(error).rstrip("."),
            remedy="build it again with scipy.sparse.csr_array",
        ) from None


def _check_finite(data: Floats) -> None:
    bad = int(np.count_nonzero(~np.isfinite(data)))
    if bad:
        raise InputError(
            f"{bad} of the features {'is' if bad == 1 else 'are'} NaN, infinite, or too large for float32",
            why="a score needs finite numbers",
            remedy="remove those rows, fill in the values, or scale the column down",
        )


def _without_zeros(rows: SparseRows) -> SparseRows:
    """Drop stored zeros, and very small numbers that are 0 in float32."""
    nonzero = rows.data != 0
    if nonzero.all():
        return rows
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(nonzero)])
    return SparseRows(rows.data[nonzero], rows.indices[nonzero], before[rows.indptr], rows.width)
