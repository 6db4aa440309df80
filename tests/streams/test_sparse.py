"""Sparse matrices of a user as sparse rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse

from paraactive.errors import InputError
from paraactive.streams.sparse import sparse_rows


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (scipy.sparse.csr_array([[1.0, np.nan]]), "1 of the features is NaN, infinite, or too large"),
        (scipy.sparse.csr_array([[1e300, 1.0]]), "1 of the features is NaN, infinite, or too large"),
        (scipy.sparse.csr_array([[1j, 1.0]]), "x is sparse, of shape .* and type complex"),
        (scipy.sparse.csr_array((1, 2**31)), "x has 2147483648 columns"),
    ],
)
def test_sparse_matrices_that_cannot_be_used_are_refused(given: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        sparse_rows(given)


def test_a_broken_sparse_matrix_is_refused() -> None:
    matrix: Any = scipy.sparse.csr_array(np.eye(3))
    matrix.indices[0] = 77
    with pytest.raises(InputError, match="x is an inconsistent sparse matrix"):
        sparse_rows(matrix)


def test_what_is_0_in_float32_is_left_out() -> None:
    assert len(sparse_rows(scipy.sparse.csr_array([[1e-60, 1.0]])).data) == 1
