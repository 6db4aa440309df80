"""The rule that selects by the gradient of the loss."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraactive.rules import Gradient
from rules.sampling import probability


@given(score=st.floats(-50, 50), y=st.sampled_from([-1, 1]))
def test_gradient_follows_the_slope_of_the_logistic_loss(score: float, y: int) -> None:
    small = 1e-6
    slope = abs(np.logaddexp(0, -y * (score + small)) - np.logaddexp(0, -y * (score - small))) / (2 * small)
    (p,) = probability(Gradient(scale=5, floor=0.01), score, 100, y)
    assert p == pytest.approx(np.clip(5 * slope, 0.01, 1), rel=1e-3, abs=1e-6)
