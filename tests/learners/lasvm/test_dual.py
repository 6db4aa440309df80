from __future__ import annotations

import numpy as np
import pytest

from learners.reference import dual_of
from making import selected, three_blobs
from paraactive import LaSVM
from paraactive.learners.lasvm.dual import Dual, sides_of

X, Y = three_blobs(200, seed=1)


@pytest.fixture(scope="module")
def dual() -> Dual:
    svm = LaSVM(gamma=1.0, classes=3)
    svm.update(selected(X, Y))
    return dual_of(svm)


def test_the_side_of_an_example_is_its_label_or_that_of_its_class_against_the_rest() -> None:
    assert sides_of(np.array([-1, 1], np.int8), 1).tolist() == [[-1], [1]]
    assert sides_of(np.array([2, 0], np.int8), 3).tolist() == [[-1, -1, 1], [1, -1, -1]]


def test_the_objective_is_that_of_the_kernel_matrix(dual: Dual) -> None:
    n = dual.count
    kernel, alpha = dual.kernel_within(dual.live.rows()).astype(np.float64), dual.alpha[:, :n]
    y = np.where(dual.upper[:, :n] > 0, 1.0, -1.0)
    expected = sum(a @ side - 0.5 * a @ kernel @ a for a, side in zip(alpha, y, strict=True))
    assert dual.objective() == pytest.approx(expected, rel=1e-6)


def test_sums_without_a_vectors_own_part_are_those_over_the_others(dual: Dual) -> None:
    slots = np.array([0, 3, 5])
    kernel = dual.kernel_within(dual.live.rows()).astype(np.float64)
    np.fill_diagonal(kernel, 0.0)
    expected = dual.alpha[:, : dual.count] @ kernel[:, slots]
    np.testing.assert_allclose(dual.sums_without_own(slots), expected, atol=1e-6)


def test_room_for_more_keeps_what_is_there() -> None:
    svm = LaSVM(gamma=1.0, classes=3)
    svm.update(selected(X, Y))
    dual, state = dual_of(svm), svm.save()
    dual.reserve(5 * len(dual.keys))
    assert dual.alpha.shape[1] == dual.g.shape[1] == len(dual.keys) >= 5 * dual.count
    assert all(np.array_equal(array, svm.save()[name]) for name, array in state.items())
