"""Rows with classes and weights, as ParaActiveClassifier prepares them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from paraactive.data.examples import SparseRows
from paraactive.estimator.rows import Rows


def test_equal_sparse_rows_are_merged_in_the_order_of_dense_ones() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(-1, 2, (300, 4)).astype(np.float32) * rng.choice([1, 2.5], (300, 4)).astype(np.float32)
    x = x[rng.integers(0, 300, 600)]
    number, weight = rng.integers(0, 3, 600), rng.uniform(1, 2, 600)
    dense = Rows(x, number, weight, np.arange(600)).merged_duplicates()
    rows = Rows(SparseRows.of(x), number, weight, np.arange(600)).merged_duplicates()
    assert len(dense.x) < 500
    assert np.array_equal(rows.x.dense(), dense.x)
    assert rows.row.tolist() == dense.row.tolist()
    assert rows.weight.tolist() == dense.weight.tolist()
    assert rows.scale() == pytest.approx(dense.scale(), rel=1e-12)


def rows_of(number: Sequence[int]) -> Rows:
    count = len(number)
    return Rows(
        np.arange(2.0 * count, dtype=np.float32).reshape(-1, 2), np.array(number), np.ones(count), np.arange(count)
    )


@pytest.mark.parametrize("seed", range(5))
def test_a_part_of_each_class_is_held_out_and_never_a_whole_class(seed: int) -> None:
    rows = rows_of([0] * 10 + [1] * 20 + [2])
    held_out = rows.held_out(0.5, seed)
    assert np.bincount(rows.number[held_out], minlength=3).tolist() == [5, 10, 0]
    assert rows.held_out(1.0, seed).sum() == 9 + 19
    assert np.array_equal(held_out, rows.held_out(0.5, seed))


def test_rows_keep_their_numbers_in_the_data_of_the_user() -> None:
    rows = rows_of([0, 1, 1, 0]).take(np.array([3, 1]))
    examples = rows.examples(classes=2, first=100)
    assert examples.index.tolist() == [103, 101]
    assert examples.y.tolist() == [-1, 1]
    assert rows.examples(classes=3).y.tolist() == [0, 1]
    assert np.asarray(examples.x).tolist() == [[6, 7], [2, 3]]


def test_many_rows_are_left_in_their_order() -> None:
    rows = rows_of([0, 0] * 5001)
    assert rows.merged_duplicates() is rows
