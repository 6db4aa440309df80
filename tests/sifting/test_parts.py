"""Learners, rules and streams by name: descriptions make the same parts again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from making import two_moons
from paraactive import Arrays, LaSVM, Network, train
from paraactive.basics.registry import LEARNERS, RULES
from paraactive.errors import InputError
from paraactive.learners import Learner
from paraactive.learners.guarded import Guarded
from paraactive.rules import FlooredBlind, PaperMargin, SignedMargin, floored
from paraactive.runs import arguments
from paraactive.sifting import parts

X, CLEAN = two_moons(2000, noise=0.15, seed=0)
WRONG = np.random.default_rng(5).random(2000) < 0.1
Y = np.where(WRONG, -CLEAN, CLEAN)
STEPS: dict[str, Any] = {"batch": 200, "warmstart": 200}


def svm() -> LaSVM:
    return LaSVM(gamma=2.0, gap=0.2)


def moons(**options: Any) -> Arrays:
    return Arrays(X, Y, **options)


def around(learner: Learner, **options: Any) -> Any:
    return Guarded(learner, **options)


def test_what_can_be_inside_has_the_names_of_run_files() -> None:
    assert set(LEARNERS) - set(LEARNERS.names) == {"guarded", "sklearn", "standardized"}
    assert set(RULES) - set(RULES.names) == {"floored", "floored-aware"}


def test_descriptions_are_nested_and_make_the_parts_again() -> None:
    learner, rule = around(svm(), cap=3), floored(SignedMargin(), 0.1)
    assert parts.describe_learner(learner).inner.kind == "svm"
    assert repr(parts.build_learner(parts.describe_learner(learner))) == repr(learner)
    assert parts.describe_rule(rule).to_dict() == {
        "kind": "floored-aware", "rule": {"kind": "signed", "eta": 0.15, "theta": "auto", "steepest": None},
        "floor": 0.1,
    }  # fmt: skip
    assert parts.build_rule(parts.describe_rule(rule)) == rule
    assert isinstance(parts.build_rule(parts.describe_rule(floored(PaperMargin(), 0.1))), FlooredBlind)


def test_the_rule_by_default_is_that_of_the_learner_inside() -> None:
    for learner in (svm(), Network(), Network(loss="squared"), LaSVM(classes=3)):
        assert type(arguments.find_rule(None, around(learner))) is type(arguments.find_rule(None, learner))
    run_rule = parts.describe_rule(floored(arguments.find_rule(None, Network()), 0.05))
    assert run_rule.inner.kind == "gradient"


@pytest.mark.parametrize("name", ["floored", "floored-aware"])
def test_a_floor_without_a_rule_is_no_rule(name: str) -> None:
    with pytest.raises(InputError, match=f"no rule '{name}'"):
        train(svm(), moons(), rule=name, **STEPS)
