"""Our rules pass every check of rules, and for each check there is a rule that fails it and no other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from checks import broken_rules as broken
from checks.failing import failed, first_named
from making import OUR_RULES
from paraactive.checks import CheckError, check_rule, rule_checks
from paraactive.rules import Gradient, IwalMargin, PaperMargin, Rule, Uniform
from strange import Steady

OURS: list[Rule] = [
    *OUR_RULES, PaperMargin(1e-4), PaperMargin(3.0), Gradient(0.1, 0.5), IwalMargin(50), Uniform(0.3), Steady(),
]  # fmt: skip
CHECKS = rule_checks()
LABELS, SHAPE = "only a rule that needs labels has a parameter y", "there is one p for each example"
RANGE, COMPANY = "p is a valid probability", "p does not depend on other examples"
BROKEN: list[tuple[str, Any, set[str]]] = [
    (LABELS, broken.Peeping(), set()),
    (LABELS, broken.Vague(), set()),
    (LABELS, broken.Blindfolded(), set()),
    (SHAPE, broken.Tall(), set()),
    (SHAPE, broken.Single(), set()),
    (RANGE, broken.Bottomless(), set()),
    (RANGE, broken.Eager(), set()),
    (RANGE, broken.Undefined(), set()),
    ("computing p is pure", broken.Careless(), set()),
    # Every check that calls the rule twice fails as well.
    ("computing p is pure", broken.Fickle(), {COMPANY, "a description makes an equal rule", "it travels"}),
    (COMPANY, broken.Ranking(), set()),
    ("scores that are not needed are ignored", broken.Modest(), set()),
    ("a description makes an equal rule", broken.Reticent(0.7), set()),
    ("it travels", broken.Homebound(), set()),
    ("it travels", broken.Changing(), set()),
]


@pytest.mark.parametrize("rule", OURS, ids=repr)
@pytest.mark.parametrize(("name", "check"), CHECKS, ids=[name for name, _ in CHECKS])
def test_our_rules_keep_their_contract(rule: Rule, name: str, check: Callable[[Any], None]) -> None:
    check(rule)


@pytest.mark.parametrize(("name", "rule", "also"), BROKEN, ids=[type(rule).__name__ for _, rule, _ in BROKEN])
def test_a_broken_rule_fails_the_check_of_what_is_broken(name: str, rule: Any, also: set[str]) -> None:
    assert first_named(check_rule, rule) == name
    assert set(failed(CHECKS, lambda: rule)) - also == {name}


def test_every_check_can_fail() -> None:
    assert {name for name, _, _ in BROKEN} == {name for name, _ in CHECKS}


def test_nan_is_called_by_its_name() -> None:
    with pytest.raises(CheckError, match=r"168 of 1104 are NaN"):
        check_rule(broken.Undefined())
