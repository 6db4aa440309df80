"""What all rules have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraactive.checks import check_rule
from paraactive.errors import InputError
from paraactive.rules import Gradient, IwalMargin, Margin, Passive, Rule, SignedMargin, Uniform
from paraactive.rules.base import rises_with_doubt
from rules.sampling import probability

ALL_RULES: list[Rule] = [
    Margin(0.1), Margin(1e-4), SignedMargin(0.05), Gradient(), IwalMargin(), IwalMargin(50), Uniform(0.3), Passive(),
]  # fmt: skip


@pytest.mark.parametrize("rule", ALL_RULES, ids=repr)
@given(score=st.floats(-1e6, 1e6), seen=st.integers(0, 10**12), y=st.sampled_from([-1, 1]))
def test_p_is_a_probability_that_a_coin_can_toss(rule: Rule, score: float, seen: int, y: int) -> None:
    (p,) = probability(rule, score, seen, y)
    assert 2.0**-53 <= p <= 1


@pytest.mark.parametrize("rule", ALL_RULES, ids=repr)
def test_it_passes_the_public_checks(rule: Rule) -> None:
    check_rule(rule)


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


class Declares(Uniform):
    """A rule of a user's own that says whether p rises with doubt."""

    def __init__(self, says: Any) -> None:
        super().__init__()
        object.__setattr__(self, "rises_with_doubt", says)


@pytest.mark.parametrize(("says", "rises"), [(True, True), (False, False), (None, False), ("yes", False)])
def test_only_a_rule_that_says_so_rises_with_doubt(says: Any, rises: bool) -> None:
    assert rises_with_doubt(Declares(says)) == rises
    assert not rises_with_doubt(Uniform())
