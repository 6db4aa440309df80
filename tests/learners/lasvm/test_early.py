from __future__ import annotations

import numpy as np
import pytest

from paraactive.data.examples import SparseRows, dense
from paraactive.learners.lasvm.early import EARLY, EarlyExamples

X = np.random.default_rng(0).normal(size=(EARLY, 40)).astype(np.float32)
KEYS = np.arange(EARLY) // 2
"""Each key is that of two rows."""


@pytest.mark.parametrize("sparse", [False, True])
def test_examples_are_added_until_they_are_complete_and_come_back_from_a_state(sparse: bool) -> None:
    given = SparseRows.of(X) if sparse else X
    early, counts = EarlyExamples(given[:0]), [0]
    while not early.complete:
        first, last = len(early), early.next_count
        early.add(given[first:last], KEYS[first:last])
        counts.append(len(early))
    assert counts == [0, 2, 4, 8, 16, 32, 64]
    other = EarlyExamples(given[:0])
    other.load(early.save())
    assert isinstance(other.rows, SparseRows) == sparse
    assert np.array_equal(dense(other.rows), X)
    assert np.array_equal(other.keys, KEYS)


def test_of_several_rows_with_its_key_a_vector_is_the_nearest() -> None:
    early = EarlyExamples(X[:0])
    early.add(X, KEYS)
    order = np.random.default_rng(1).permutation(EARLY)
    assert np.array_equal(early.places_of(KEYS[order], X[order] + np.float32(1e-3)), order)


def test_sparse_rows_with_few_zeros_are_better_dense() -> None:
    few, many = np.zeros((4, 40), np.float32), np.zeros((4, 40), np.float32)
    few[:, 0], many[:, :5] = 1, 1
    assert not EarlyExamples(SparseRows.of(few)).better_dense
    early = EarlyExamples(SparseRows.of(many))
    assert early.better_dense
    early.make_dense()
    assert np.array_equal(early.rows, many)  # pyright: ignore[reportArgumentType]
    assert not early.better_dense
