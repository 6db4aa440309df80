"""The rule that selects by the least margin of all one-against-rest classifiers."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from paraactive.checks import check_rule
from paraactive.rules import LeastMargin, Margin, SignedMargin
from paraactive.rules.least import least_margin


@given(seed=st.integers(0, 10**6), classes=st.integers(3, 6))
def test_the_least_margin_is_that_of_the_classifier_that_is_most_wrong(seed: int, classes: int) -> None:
    rng = np.random.default_rng(seed)
    score, y = rng.normal(size=(9, classes)), rng.integers(0, classes, 9).astype(np.int8)
    expected = [
        min(value if number == label else -value for number, value in enumerate(row))
        for row, label in zip(score.tolist(), y.tolist(), strict=True)
    ]
    assert least_margin(score, y).tolist() == expected
    p = LeastMargin(0.2).probability(score, np.full(9, 400), y)
    assert p.tolist() == Margin(0.2).probability(np.maximum(expected, 0.0), np.full(9, 400)).tolist()


def test_with_two_classes_it_is_the_signed_margin() -> None:
    rng = np.random.default_rng(0)
    score, seen, y = rng.normal(size=60), rng.integers(0, 10**6, 60), rng.choice([-1, 1], 60).astype(np.int8)
    expected = SignedMargin(0.1).probability(score, seen, y)
    assert LeastMargin(0.1).probability(score, seen, y).tolist() == expected.tolist()


def test_it_selects_an_example_that_only_one_classifier_gets_wrong() -> None:
    score, seen, y = np.array([[9.0, 0.5, -3.0]]), np.array([10_000]), np.zeros(1, np.int8)
    assert LeastMargin(0.1).probability(score, seen, y) == 1
    assert SignedMargin(0.1).probability(score, seen, y) < 0.01


def test_it_passes_the_public_checks() -> None:
    check_rule(LeastMargin(0.3))
