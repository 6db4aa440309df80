"""Sparse rows do what scipy's matrices do, and keep one form for equal rows."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from making import same_rows
from paraactive.data.examples import SparseRows
from paraactive.errors import InputError
from paraactive.streams.sparse import sparse_rows


@st.composite
def _matrices(draw: st.DrawFn) -> Any:
    """Any CSR: with zeros written down, columns twice and in any order."""
    rows, width, count = draw(st.integers(0, 8)), draw(st.integers(1, 12)), draw(st.integers(0, 30))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    count = count if rows else 0
    places = rng.integers(0, max(rows, 1), count), rng.integers(0, width, count)
    values = rng.integers(-2, 3, count).astype(draw(st.sampled_from([np.float32, np.float64, np.int64])))
    order = np.argsort(places[0], kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(places[0], minlength=rows)[:rows])])
    return scipy.sparse.csr_array((values[order], places[1][order], indptr), shape=(rows, width))


@given(matrix=_matrices(), data=st.data())
@settings(max_examples=150, deadline=None)
def test_sparse_rows_do_what_scipy_does(matrix: Any, data: st.DataObject) -> None:
    dense, before = matrix.toarray().astype(np.float32), matrix.copy()
    rows = sparse_rows(matrix)
    rows.check()
    assert np.array_equal(matrix.indices, before.indices)  # The user's own stays as it was.
    assert np.array_equal(rows.dense(), dense)
    assert (rows.shape, len(rows)) == (dense.shape, len(dense))
    assert same_rows(rows, SparseRows.of(dense))
    count = len(rows)
    first, last = data.draw(st.integers(-9, 9)), data.draw(st.integers(-9, 9))
    listed = np.array(data.draw(st.lists(st.integers(0, count - 1), max_size=9)) if count else [], np.intp)
    marked = np.array(data.draw(st.lists(st.booleans(), min_size=count, max_size=count)), np.bool_)
    for chosen in (slice(first, last), slice(first, last, 2), slice(None, None, -1), listed, marked):
        taken = rows[chosen]
        taken.check()
        assert np.array_equal(taken.dense(), dense[chosen])
        assert same_rows(taken, SparseRows.of(dense[chosen]))
    cut = data.draw(st.integers(0, count))
    assert same_rows(SparseRows.concatenate([rows[:cut], rows[cut:]]), rows)
    assert same_rows(pickle.loads(pickle.dumps(rows[cut:])), rows[cut:])
    assert rows.nbytes == 8 * len(rows.data) + 8 * (count + 1)


def test_sparse_rows_are_never_made_dense_unasked() -> None:
    with pytest.raises(InputError, match=r"3 sparse rows of 2 features cannot become an array.*dense\(\)"):
        np.asarray(SparseRows.of(np.arange(6, dtype=np.float32).reshape(3, 2)))


@pytest.mark.parametrize(
    ("data", "indices", "indptr"),
    [
        ([1, 2], [0, 1], [0, 1]),
        ([1, 2], [0, 1], [1, 2, 2]),
        ([1, 2], [0, 1], [0, 2, 1, 2]),
        ([1, 2], [0, 3], [0, 2]),
        ([1, 2], [-1, 1], [0, 2]),
        ([1, 2], [1, 0], [0, 2]),
        ([1, 2], [1, 1], [0, 2]),
        ([1, 0], [0, 1], [0, 2]),
        ([1, np.nan], [0, 1], [0, 2]),
        ([1], [0, 1], [0, 2]),
        ([], [], []),
    ],
)
def test_sparse_rows_of_a_file_are_checked(data: Any, indices: Any, indptr: Any) -> None:
    with pytest.raises(ValueError, match="sparse rows"):
        SparseRows(np.array(data), np.array(indices), np.array(indptr), 3).check()
