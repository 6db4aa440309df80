"""The rule that selects misclassified examples and those with a small margin."""

from __future__ import annotations

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
