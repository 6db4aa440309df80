"""The rule of the paper: select near the decision boundary."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraactive.rules import Margin
from rules.sampling import probability


@given(eta=st.floats(1e-4, 1), score=st.floats(-10, 10), seen=st.integers(0, 10**6))
def test_margin_is_the_formula_of_the_paper(eta: float, score: float, seen: int) -> None:
    expected = max(2 / (1 + np.exp(min(eta * abs(score) * np.sqrt(seen), 700))), 2.0**-53)
    assert probability(Margin(eta), score, seen, 1)[0] == pytest.approx(expected, rel=1e-12)


def test_with_more_classes_the_margin_is_the_best_score_minus_the_second_best() -> None:
    score = np.random.default_rng(0).normal(size=(50, 4))
    gaps = [sorted(row)[-1] - sorted(row)[-2] for row in score.tolist()]
    seen = np.full(50, 100)
    assert np.array_equal(Margin(0.3).probability(score, seen), Margin(0.3).probability(np.array(gaps), seen))
