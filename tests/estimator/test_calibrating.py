"""Sigmoids: the probabilities of scores, where the truth is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from paraactive.estimator.calibrating import Sigmoids, fit_sigmoids

_COUNT = 20_000


@pytest.mark.parametrize(("slope", "offset"), [(2.0, 0.5), (0.5, -2.0), (-1.0, 0.0)])
def test_slope_and_offset_are_found(slope: float, offset: float) -> None:
    rng = np.random.default_rng(0)
    score = rng.normal(size=_COUNT)
    is_second = rng.random(_COUNT) < expit(slope * score + offset)
    found = fit_sigmoids(score, is_second.astype(np.intp), np.ones(_COUNT))
    assert (found.slope[0], found.offset[0]) == pytest.approx((slope, offset), abs=0.1)


def test_a_weight_of_two_counts_like_two_rows() -> None:
    rng = np.random.default_rng(1)
    score, number = rng.normal(size=300), rng.integers(0, 2, 300)
    twice = fit_sigmoids(np.tile(score, 2), np.tile(number, 2), np.ones(600))
    weighted = fit_sigmoids(score, number, np.full(300, 2.0))
    assert weighted.slope == pytest.approx(twice.slope)
    assert weighted.offset == pytest.approx(twice.offset)


def test_separated_classes_have_finite_slopes() -> None:
    score = np.array([-2.0, -1.0, 1.0, 2.0])
    found = fit_sigmoids(score, np.array([0, 0, 1, 1]), np.ones(4))
    assert np.isfinite(found.slope).all()
    probability = found.probabilities(score)
    assert 0.5 < probability[2, 1] < probability[3, 1] < 1.0


def test_constant_scores_give_the_part_of_each_class() -> None:
    found = fit_sigmoids(np.zeros(1000), np.repeat([0, 1], [900, 100]), np.ones(1000))
    assert found.probabilities(np.zeros(1))[0] == pytest.approx([0.9, 0.1], abs=0.01)


def test_probabilities_of_many_classes_sum_to_one_even_if_all_scores_are_low() -> None:
    found = Sigmoids(np.ones(3), np.zeros(3)).probabilities(np.array([[0.0, 0.0, 0.0], [-2000.0, -2000.0, -2000.0]]))
    assert found == pytest.approx(np.full((2, 3), 1 / 3))
