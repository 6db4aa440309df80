from __future__ import annotations

import numpy as np
import pytest

from paraactive.data.examples import SparseRows
from paraactive.learners.wrappers.rows_state import rows_from_state, rows_to_state

X = np.array([[0, 2, 0], [0, 0, 0], [1, 0, 3]], np.float32)


def test_dense_rows_are_one_array_and_a_copy() -> None:
    state = rows_to_state("x", X)
    assert list(state) == ["x"]
    assert not np.shares_memory(state["x"], X)
    assert np.array_equal(rows_from_state("x", state), X)  # pyright: ignore[reportArgumentType]


def test_sparse_rows_are_four_arrays_and_stay_sparse() -> None:
    state = rows_to_state("x", SparseRows.of(X))
    assert sorted(state) == ["x.data", "x.indices", "x.indptr", "x.width"]
    found = rows_from_state("x", state)
    assert isinstance(found, SparseRows)
    assert np.array_equal(found.dense(), X)


def test_arrays_that_are_not_those_of_rows_are_refused() -> None:
    state = rows_to_state("x", SparseRows.of(X))
    with pytest.raises(KeyError):
        rows_from_state("y", state)
    with pytest.raises(ValueError):  # noqa: PT011 (the text is that of SparseRows)
        rows_from_state("x", state | {"x.width": np.array(2)})
