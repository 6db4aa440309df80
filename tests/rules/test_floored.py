from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraactive.basics.coins import coins
from paraactive.basics.registry import RULES
from paraactive.checks import check_rule
from paraactive.data.examples import Doubles, Ints
from paraactive.errors import InputError
from paraactive.rules import FlooredAware, FlooredBlind, Margin, Rule, SignedMargin, Uniform, floored
from paraactive.rules.base import rises_with_doubt


def probability(rule: Rule, score: Any, seen: Any, y: Any) -> Doubles:
    if rule.needs_labels is True:
        return rule.probability(score, seen, y)
    return rule.probability(score, seen)


@dataclass(frozen=True)
class Own:
    """A rule of the user's own, without a description."""

    needs_labels: ClassVar[Literal[False]] = False
    needs_scores: ClassVar[bool] = True

    def probability(self, score: Doubles, seen: Ints) -> Doubles:
        return np.full(len(seen), 0.001)


@pytest.mark.parametrize("kind", RULES.names)
@pytest.mark.parametrize("floor", [1e-12, 0.05, 1.0])
def test_every_rule_of_ours_keeps_its_contract_with_a_floor(kind: str, floor: float) -> None:
    check_rule(floored(RULES.find(kind)(), floor))


def test_a_rule_of_the_users_own_keeps_its_contract_with_a_floor() -> None:
    rule: Any = floored(Own(), 0.01)  # pyright: ignore[reportArgumentType]
    check_rule(rule)
    assert RULES.describe(rule).kind == "own"


@pytest.mark.parametrize("kind", RULES.names)
@given(score=st.floats(-1e3, 1e3), seen=st.integers(0, 10**9), y=st.sampled_from([-1, 1]), floor=st.floats(1e-6, 1))
def test_p_is_the_larger_of_the_rules_and_the_floor(kind: str, score: float, seen: int, y: int, floor: float) -> None:
    rule, columns = RULES.find(kind)(), (np.array([score]), np.array([seen]), np.array([y], np.int8))
    (p,) = probability(floored(rule, floor), *columns)
    assert p == max(probability(rule, *columns)[0], floor)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["margin", "signed"])
def test_weighted_sums_over_what_is_selected_are_unbiased(kind: str, seed: int) -> None:
    rng, count = np.random.default_rng(seed), 200_000
    score, value = rng.normal(0, 2, count), rng.uniform(0, 1, count)
    seen, y = np.full(count, 40_000), np.where(rng.random(count) < 0.5, 1, -1).astype(np.int8)
    rule = RULES.find(kind)()
    p = probability(floored(rule, 0.02), score, seen, y)
    chosen = coins(seed, np.arange(count)) < p
    spread = np.sqrt(np.sum(value**2 * (1 - p) / p))
    assert abs(np.sum(value[chosen] / p[chosen]) - value.sum()) < 5 * spread
    assert (1 / p).max() <= 50
    # A floor that is not in p would be seen: what it lets pass would weigh far too much.
    without = probability(rule, score, seen, y)
    assert abs(np.sum(value[chosen] / without[chosen]) - value.sum()) > 5 * spread


def test_a_description_has_the_rule_inside() -> None:
    rule = floored(SignedMargin(0.07), 0.03)
    inside = {"kind": "signed", "eta": 0.07, "theta": "auto", "steepest": None}
    assert RULES.describe(rule).to_dict() == {"kind": "floored-aware", "rule": inside, "floor": 0.03}
    assert FlooredAware(**rule.describe()) == rule


def test_a_rule_that_needs_no_scores_needs_none_with_a_floor() -> None:
    assert floored(Margin(), 0.1).needs_scores is True
    assert floored(Uniform(0.3), 0.1).needs_scores is False


@pytest.mark.parametrize("floor", [0, -0.1, 1.5, float("nan"), "much"])
def test_a_floor_is_a_probability_above_0(floor: Any) -> None:
    with pytest.raises(InputError, match=r"floor is .*give 0 < floor <= 1"):
        floored(Margin(), floor)


def test_of_two_floors_the_higher_counts() -> None:
    assert floored(floored(Margin(), 0.1), 0.2) == floored(Margin(), 0.2)
    assert floored(floored(SignedMargin(), 0.2), 0.1) == floored(SignedMargin(), 0.2)


def test_a_class_that_does_not_fit_the_rule_is_refused() -> None:
    for kind, rule in ((FlooredBlind, SignedMargin()), (FlooredAware, Margin())):
        with pytest.raises(InputError, match=r"use floored\(rule, floor\)"):
            kind(rule, 0.1)  # pyright: ignore[reportArgumentType]


def test_a_floor_keeps_whether_a_rule_says_that_p_rises_with_doubt() -> None:
    assert rises_with_doubt(Margin(0.1))
    assert rises_with_doubt(floored(SignedMargin(), 0.1))
    own: Any = floored(Own(), 0.1)  # pyright: ignore[reportArgumentType]
    assert not rises_with_doubt(own)
