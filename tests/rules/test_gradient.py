"""The rule that selects by the gradient of the loss."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraactive.rules import Gradient
from paraactive.rules.gradient import slope
from rules.sampling import probability


@given(score=st.floats(-50, 50), y=st.sampled_from([-1, 1]))
def test_gradient_follows_the_slope_of_the_logistic_loss(score: float, y: int) -> None:
    small = 1e-6
    slope = abs(np.logaddexp(0, -y * (score + small)) - np.logaddexp(0, -y * (score - small))) / (2 * small)
    (p,) = probability(Gradient(scale=5, floor=0.01), score, 100, y)
    assert p == pytest.approx(np.clip(5 * slope, 0.01, 1), rel=1e-3, abs=1e-6)


def test_with_more_classes_the_slope_is_one_minus_the_probability_of_the_label() -> None:
    rng = np.random.default_rng(0)
    score, y = rng.normal(0, 5, (50, 4)), rng.integers(0, 4, 50).astype(np.int8)
    odds = np.exp(score)
    expected = 1 - odds[np.arange(50), y] / odds.sum(axis=1)
    np.testing.assert_allclose(slope(score, y), expected, rtol=1e-9, atol=1e-12)
