"""The rule that selects misclassified examples and those with a small margin."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from paraactive.rules import Margin, SignedMargin
from rules.sampling import probability


@given(score=st.floats(-10, 10), seen=st.integers(0, 10**6), y=st.sampled_from([-1, 1]))
def test_signed_margin_takes_all_that_is_wrong_and_is_the_margin_rule_on_the_rest(
    score: float, seen: int, y: int
) -> None:
    (p,) = probability(SignedMargin(0.05), score, seen, y)
    assert p == (1.0 if y * score <= 0 else probability(Margin(0.05), score, seen, y)[0])


def test_with_more_classes_the_margin_is_that_of_the_label_over_the_best_other_class() -> None:
    rng = np.random.default_rng(0)
    score, y, seen = rng.normal(size=(50, 4)), rng.integers(0, 4, 50).astype(np.int8), np.full(50, 100)
    margins = [row[label] - max(row[:label] + row[label + 1 :]) for row, label in zip(score.tolist(), y, strict=True)]
    expected = probability(SignedMargin(0.3), margins, seen, np.ones(50))
    assert np.array_equal(probability(SignedMargin(0.3), score, seen, y), expected)
