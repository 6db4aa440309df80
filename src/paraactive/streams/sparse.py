"""Rows of a scipy.sparse matrix, made dense only where they are read: memory is that of what is not 0."""

from __future__ import annotations

from typing import Any

import numpy as np

from paraactive.errors import InputError
from paraactive.examples import Floats


def is_sparse(x: object) -> bool:
    """True for any of scipy's sparse matrices and arrays; scipy itself is not needed to tell."""
    return hasattr(x, "tocsr") and hasattr(x, "nnz")


class SparseRows:
    """A matrix whose rows are taken as dense float32.

    >>> import numpy as np, scipy.sparse
    >>> rows = SparseRows(scipy.sparse.csr_array(np.eye(3)))
    >>> rows.shape, rows[np.array([2, 0])].tolist()
    ((3, 3), [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    """

    def __init__(self, x: Any) -> None:
        given = x.tocsr()
        if given.ndim != 2 or given.dtype.kind not in "biuf":
            raise InputError(
                f"x is sparse, of shape {given.shape} and type {given.dtype}",
                why="features are real numbers, a row for each example",
                remedy="give a sparse matrix of numbers",
            )
        with np.errstate(over="ignore"):
            self._csr = given.astype(np.float32)
        bad = int(np.count_nonzero(~np.isfinite(self._csr.data)))
        if bad:
            raise InputError(
                f"{bad} of the features are NaN, infinite, or too large for float32",
                why="a score needs finite numbers",
                remedy="remove those rows, fill in the values, or scale the column down",
            )

    @property
    def shape(self) -> tuple[int, int]:
        return self._csr.shape

    @property
    def size(self) -> int:
        return self.shape[0] * self.shape[1]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Floats:
        return self._csr[rows].toarray()
