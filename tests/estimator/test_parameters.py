"""Parameters of the learner and the rule, as learner__C and rule__eta."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from estimator.moons import MOONS, SIDE, new_clf
from paraactive import LaSVM, ParaActiveClassifier
from paraactive.errors import InputError
from paraactive.estimator.parameters import NamedRule, described, with_parameters
from paraactive.rules import LeastMargin, Margin, PaperMargin, SignedMargin


def test_parameters_of_the_learner_are_set_by_name() -> None:
    clf: Any = ParaActiveClassifier().set_params(learner__C=7.0, nodes=2)
    assert (clf.learner.C, clf.learner.gap, clf.nodes) == (7.0, 0.2, 2)
    assert clf.get_params()["learner__C"] == 7.0
    with pytest.raises(InputError, match="no LaSVM parameter 'c'"):
        clf.set_params(learner__c=1)


def test_parameters_of_the_rule_are_set_by_name() -> None:
    clf: Any = ParaActiveClassifier(rule=PaperMargin(0.1)).set_params(rule__eta=0.3)
    assert clf.rule == PaperMargin(0.3)
    assert clf.get_params()["rule__eta"] == 0.3
    with pytest.raises(InputError, match="no PaperMargin parameter 'etta'"):
        clf.set_params(rule__etta=1)


@pytest.mark.parametrize(
    ("rule", "kind"),
    [
        ("margin", Margin),
        ("paper", PaperMargin),
        ("signed", SignedMargin),
        ("auto", SignedMargin),
        ("least", LeastMargin),
    ],
)
def test_parameters_of_a_rule_that_is_given_by_name_are_fixed(rule: str, kind: Any) -> None:
    twin: Any = clone(new_clf(rule=rule).set_params(rule__eta=0.7))
    clf = twin.fit(MOONS, SIDE)
    assert clf.rule_ == kind(0.7)
    assert clf.get_params()["rule__eta"] == 0.7
    assert clf.set_params(rule__eta=0.2).fit(MOONS, SIDE).rule_ == kind(0.2)
    assert clf.set_params(rule="margin").fit(MOONS, SIDE).rule_ == Margin(), "eta has its default again"


def test_a_parameter_that_a_rule_by_name_has_not_is_refused_at_once() -> None:
    with pytest.raises(InputError, match="no Margin parameter 'etta'"):
        ParaActiveClassifier(rule="margin").set_params(rule__etta=1)


@pytest.mark.parametrize("rule", ["auto", "margin"])
def test_a_grid_search_goes_over_eta_of_a_rule_by_name(rule: str) -> None:
    search: Any = GridSearchCV(new_clf(rule=rule, warmstart=300), {"rule__eta": [0.01, 100.0]}, cv=2).fit(MOONS, SIDE)
    assert search.best_estimator_.rule_.eta == search.best_params_["rule__eta"]
    rates = [new_clf(rule=rule).set_params(rule__eta=eta).fit(MOONS, SIDE).sampling_rate_ for eta in (0.01, 100.0)]
    assert rates[0] > rates[1]


def test_a_part_with_other_parameters_is_another_part_of_its_class() -> None:
    rule = PaperMargin(0.1)
    assert with_parameters(rule, {"eta": 0.4}) == PaperMargin(0.4)
    assert rule == PaperMargin(0.1)
    assert described(rule) == {"eta": 0.1}
    assert described(PaperMargin) == described("margin") == {}


def test_a_rule_by_name_keeps_the_parameters_that_were_set() -> None:
    rule = NamedRule("auto").changed({"eta": 0.3}).changed({"eta": 0.5})
    assert rule == NamedRule("auto", {"eta": 0.5})
    assert rule.rule_for(LaSVM()) == SignedMargin(0.5)
    assert NamedRule("margin").rule_for(LaSVM()) == Margin()
    assert NamedRule("paper").rule_for(LaSVM()) == PaperMargin()
