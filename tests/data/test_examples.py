from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from paraactive.data.examples import Entries, Examples, Place, Selected, SparseRows, Stretch, entry_bytes
from paraactive.errors import InputError
from paraactive.streams.sparse import sparse_rows


def _examples() -> Examples:
    return Examples(np.arange(6.0).reshape(3, 2), np.array([1, -1, 1]), np.array([4, 5, 6], np.int32))  # pyright: ignore


def test_columns_get_the_types_that_travel() -> None:
    examples = _examples()
    assert [column.dtype for column in (examples.x, examples.y, examples.index, examples.key)] == [
        np.float32,
        np.int8,
        np.int64,
        np.int64,
    ]


def test_the_key_is_the_index_unless_told_otherwise() -> None:
    assert _examples().key.tolist() == [4, 5, 6]


def test_taking_and_joining_are_inverse() -> None:
    examples = _examples()
    again = Examples.concatenate([examples.take(slice(0, 1)), examples.take(slice(1, 3))])
    assert np.array_equal(again.x, examples.x)
    assert again.index.tolist() == [4, 5, 6]


def test_entries_know_their_places_weights_and_delays() -> None:
    selected = Selected(_examples(), np.array([0.5, 1.0, 0.1]), np.array([8, 8, 8]), np.array([7, 7, 9]))
    entries = Entries(10, selected)
    assert entries.sequence.tolist() == [10, 11, 12]
    assert entries.last == 13
    assert entries.entry_lag.tolist() == [3, 4, 3]
    assert selected.weight.tolist() == [2.0, 1.0, 10.0]


# Sparse rows ---------------------------------------------------------------------------------------------------------


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


def _same(one: SparseRows, other: SparseRows) -> bool:
    pairs = (one.data, other.data), (one.indices, other.indices), (one.indptr, other.indptr)
    return one.shape == other.shape and all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in pairs)


@given(matrix=_matrices(), data=st.data())
@settings(max_examples=150, deadline=None)
def test_sparse_rows_do_what_scipy_does(matrix: Any, data: st.DataObject) -> None:
    dense, before = matrix.toarray().astype(np.float32), matrix.copy()
    rows = sparse_rows(matrix)
    rows.check()
    assert np.array_equal(matrix.indices, before.indices)  # The user's own stays as it was.
    assert np.array_equal(rows.dense(), dense)
    assert (rows.shape, len(rows)) == (dense.shape, len(dense))
    assert _same(rows, SparseRows.of(dense))
    count = len(rows)
    first, last = data.draw(st.integers(-9, 9)), data.draw(st.integers(-9, 9))
    listed = np.array(data.draw(st.lists(st.integers(0, count - 1), max_size=9)) if count else [], np.intp)
    marked = np.array(data.draw(st.lists(st.booleans(), min_size=count, max_size=count)), np.bool_)
    for chosen in (slice(first, last), slice(first, last, 2), slice(None, None, -1), listed, marked):
        taken = rows[chosen]
        taken.check()
        assert np.array_equal(taken.dense(), dense[chosen])
        assert _same(taken, SparseRows.of(dense[chosen]))
    cut = data.draw(st.integers(0, count))
    assert _same(SparseRows.concatenate([rows[:cut], rows[cut:]]), rows)
    assert _same(pickle.loads(pickle.dumps(rows[cut:])), rows[cut:])
    assert rows.nbytes == 8 * len(rows.data) + 8 * (count + 1)


def _sparse_examples() -> Examples:
    dense = _examples()
    return Examples(SparseRows.of(dense.x), dense.y, dense.index)


def test_sparse_examples_are_taken_and_joined() -> None:
    examples = _sparse_examples()
    assert examples.width == 2
    assert examples.take(np.array([2, 0])).x.dense().tolist() == [[4, 5], [0, 1]]
    again = Examples.concatenate([Examples.empty(2), examples.take(slice(0, 1)), examples.take(slice(1, 3))])
    assert _same(again.x, examples.x)
    selected = Selected.weighted(examples.x, examples.y, 2.0)
    joined = Selected.concatenate([Selected.empty(2), selected, Selected.empty(2)])
    assert _same(joined.examples.x, examples.x)
    assert not isinstance(Selected.concatenate([Selected.empty(2), Selected.empty(2)]).examples.x, SparseRows)
    nothing = Examples.concatenate([Examples.empty(2), examples.take(slice(0, 0))])
    assert nothing.x.shape == (0, 2)
    mixed = Examples.concatenate([_examples(), examples])
    assert np.array_equal(mixed.x.dense(), np.concatenate([_examples().x, _examples().x]))


def test_a_stretch_of_sparse_entries_weighs_what_is_sent() -> None:
    for examples in (_examples(), _sparse_examples()):
        selected = Selected.weighted(examples.x, examples.y)
        weighs = Stretch(Entries(0, selected), 0, 3).nbytes
        assert weighs == examples.x.nbytes + 3 * entry_bytes(0)
    assert Stretch(Entries(0, Selected.weighted(_examples().x, _examples().y)), 0, 3).nbytes == 3 * entry_bytes(2)
    assert Stretch(Entries(0, Selected.empty(2)), 0, 3).ends == Place(0, 1)


def test_sparse_rows_are_never_made_dense_unasked() -> None:
    with pytest.raises(InputError, match=r"3 sparse rows of 2 features cannot become an array.*dense\(\)"):
        np.asarray(_sparse_examples().x)


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
