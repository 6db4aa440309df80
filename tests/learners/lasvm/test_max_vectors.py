"""LaSVM with a limit on its vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from learners.reference import dual_of
from making import selected, three_blobs, two_moons
from paraactive import LaSVM
from paraactive.checks import check_learner
from paraactive.errors import InputError


def _learnt(classes: int, max_vectors: int | None, kernel: str = "rbf", **options: Any) -> LaSVM:
    x, y = two_moons(1200, noise=0.3, seed=1) if classes == 2 else three_blobs(1200, seed=1)
    p = np.random.default_rng(2).uniform(0.1, 1.0, len(y))
    svm = LaSVM(kernel=kernel, gamma=1.0, coef0=1.0, classes=classes, max_vectors=max_vectors, gap=0.1, **options)
    for first in range(0, 1200, 100):
        svm.update(selected(x, y, p).take(slice(first, first + 100)))
        assert max_vectors is None or svm.vectors <= max_vectors
        svm.end_round()
    return svm


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("max_vectors", [3, 7, 60])
def test_alphas_and_gradients_are_still_what_they_should_be(kernel: str, classes: int, max_vectors: int) -> None:
    svm = _learnt(classes, max_vectors, kernel)
    n, rows = svm.vectors, dual_of(svm).live.rows()
    alpha, g = dual_of(svm).alpha[:, :n], dual_of(svm).g[:, :n]
    values = dual_of(svm).kernel_within(rows).astype(np.float64)
    scale = 1 + np.abs(alpha).max() * np.abs(values).max()
    side = np.where(dual_of(svm).upper[:, :n] > 0, 1.0, -1.0)
    np.testing.assert_allclose(g, side - alpha @ values, atol=1e-8 * scale)
    np.testing.assert_allclose(alpha.sum(axis=1), 0.0, atol=1e-9 * scale)
    assert (alpha >= dual_of(svm).lower[:, :n]).all()
    assert (alpha <= dual_of(svm).upper[:, :n]).all()
    assert not dual_of(svm).alpha[:, n:].any()


def test_it_still_learns() -> None:
    x, y = two_moons(4000, noise=0.2, seed=3)
    test, truth = two_moons(2000, noise=0.2, seed=4)
    plain, small = LaSVM(gamma=1.0), LaSVM(gamma=1.0, max_vectors=100)
    for svm in (plain, small):
        svm.update(selected(x, y))
    assert plain.vectors > 300 >= 3 * small.vectors
    wrong = [np.mean(np.sign(svm.score(test)) != truth) for svm in (plain, small)]
    assert wrong[1] < wrong[0] + 0.01


def test_two_copies_become_one_of_their_weights_together() -> None:
    x = np.array([[0.0], [1.0], [0.0]], np.float32)
    y = np.array([1, -1, 1], np.int8)
    svm = LaSVM(C=0.01, gamma=1.0, max_vectors=2)
    svm.update(selected(x, y, np.array([1.0, 0.1, 0.5])))
    assert svm.vectors == 2
    np.testing.assert_allclose(sorted(dual_of(svm).upper[0, :2]), [0.0, 0.03])  # Weights 1 and 2.
    np.testing.assert_allclose(sorted(svm.dual_coefficients), [-0.03, 0.03])


def test_a_budget_that_is_never_reached_changes_nothing() -> None:
    assert _learnt(3, 1200).digest() == _learnt(3, None).digest()


@pytest.mark.parametrize("classes", [2, 3])
def test_the_model_does_not_depend_on_the_cache(classes: int) -> None:
    assert _learnt(classes, 50, cache_size=0.001).digest() == _learnt(classes, 50).digest()


def test_a_budget_below_the_number_of_classes_is_refused() -> None:
    with pytest.raises(InputError, match="max_vectors is 2, and there are 3 classes"):
        _learnt(3, 2)
    assert _learnt(2, 2).vectors == 2


def test_of_one_class_alone_no_more_are_kept() -> None:
    x, _ = two_moons(40, noise=0.3, seed=5)
    svm = LaSVM(gamma=1.0, max_vectors=10)
    svm.update(selected(x, np.ones(40, np.int8)))
    assert svm.vectors == 10
    assert (svm.score(x) > 0).all()


def test_a_model_with_more_vectors_is_cut_down_when_it_learns_on() -> None:
    large = _learnt(2, None)
    assert large.vectors > 100
    small = LaSVM(gamma=1.0, coef0=1.0, max_vectors=40)
    small.load(large.save())
    small.update(selected(*two_moons(1, noise=0.3, seed=6)))
    assert small.vectors <= 40


@pytest.mark.parametrize("classes", [2, 4])
def test_it_passes_the_public_checks(classes: int) -> None:
    check_learner(lambda: LaSVM(gap=0.1, max_vectors=30), classes=classes)
