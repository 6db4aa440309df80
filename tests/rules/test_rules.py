from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraactive.checks import check_rule
from paraactive.errors import InputError
from paraactive.rules import Gradient, IwalMargin, Margin, Passive, Rule, SignedMargin, Uniform

ALL_RULES: list[Rule] = [
    Margin(0.1), Margin(1e-4), SignedMargin(0.05), Gradient(), IwalMargin(), IwalMargin(50), Uniform(0.3), Passive(),
]  # fmt: skip


def probability(rule: Rule, score: Any, seen: Any, y: Any) -> Any:
    score, seen = np.atleast_1d(np.asarray(score, np.float64)), np.atleast_1d(np.asarray(seen, np.int64))
    if rule.needs_labels is True:
        return rule.probability(score, seen, np.atleast_1d(np.asarray(y, np.int8)))
    return rule.probability(score, seen)


@pytest.mark.parametrize("rule", ALL_RULES, ids=repr)
@given(score=st.floats(-1e6, 1e6), seen=st.integers(0, 10**12), y=st.sampled_from([-1, 1]))
def test_p_is_a_probability_that_a_coin_can_toss(rule: Rule, score: float, seen: int, y: int) -> None:
    (p,) = probability(rule, score, seen, y)
    assert 2.0**-53 <= p <= 1


@pytest.mark.parametrize("rule", ALL_RULES, ids=repr)
def test_it_passes_the_public_checks(rule: Rule) -> None:
    check_rule(rule)


@given(eta=st.floats(1e-4, 1), score=st.floats(-10, 10), seen=st.integers(0, 10**6))
def test_margin_is_the_formula_of_the_paper(eta: float, score: float, seen: int) -> None:
    expected = max(2 / (1 + np.exp(min(eta * abs(score) * np.sqrt(seen), 700))), 2.0**-53)
    assert probability(Margin(eta), score, seen, 1)[0] == pytest.approx(expected, rel=1e-12)


@given(score=st.floats(-10, 10), seen=st.integers(0, 10**6), y=st.sampled_from([-1, 1]))
def test_signed_margin_takes_all_that_is_wrong_and_is_the_margin_rule_on_the_rest(
    score: float, seen: int, y: int
) -> None:
    (p,) = probability(SignedMargin(0.05), score, seen, y)
    assert p == (1.0 if y * score <= 0 else probability(Margin(0.05), score, seen, y)[0])


@given(score=st.floats(-50, 50), y=st.sampled_from([-1, 1]))
def test_gradient_follows_the_slope_of_the_logistic_loss(score: float, y: int) -> None:
    small = 1e-6
    slope = abs(np.logaddexp(0, -y * (score + small)) - np.logaddexp(0, -y * (score - small))) / (2 * small)
    (p,) = probability(Gradient(scale=5, floor=0.01), score, 100, y)
    assert p == pytest.approx(np.clip(5 * slope, 0.01, 1), rel=1e-3, abs=1e-6)


def test_the_more_was_seen_the_fewer_are_selected() -> None:
    for rule in (Margin(0.1), SignedMargin(0.1)):
        p = probability(rule, np.ones(4), [0, 100, 10_000, 1_000_000], np.ones(4))
        assert p[0] == 1
        assert np.all(np.diff(p) < 0)


@pytest.mark.parametrize("rule", [Margin, SignedMargin])
@pytest.mark.parametrize("eta", [0.0, -1.0, float("nan"), float("inf")])
def test_eta_must_be_positive(rule: Any, eta: float) -> None:
    with pytest.raises(InputError, match=f"eta is {eta}.*give eta > 0"):
        rule(eta)


def test_rates_and_floors_are_probabilities_above_zero() -> None:
    for bad in (0.0, -0.1, 1.1, float("nan")):
        with pytest.raises(InputError, match="rate"):
            Uniform(bad)
        with pytest.raises(InputError, match="floor"):
            Gradient(floor=bad)
    with pytest.raises(InputError, match="scale"):
        Gradient(scale=0.0)
