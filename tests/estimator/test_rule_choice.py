"""The rule that a classifier uses: given, named, or chosen for its learner."""

from __future__ import annotations

from typing import Any

import pytest

from estimator.moons import MOONS, SIDE, new_clf, three_classes
from paraactive import LaSVM, Network
from paraactive.errors import InputError
from paraactive.rules import Gradient, LeastMargin, Margin, PaperMargin, SignedMargin, Uniform, floored


class Scaled:
    """The scores of an SVM in other units, as those of a user's own learner."""

    def __init__(self, scale: float) -> None:
        self.scale, self.svm = scale, LaSVM(gamma=1.0, gap=0.2)

    def score(self, x: Any) -> Any:
        return self.scale * self.svm.score(x)

    def describe(self) -> dict[str, Any]:
        return {"scale": self.scale}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name in ("svm", "proxy", "finish", "vectors"):
            raise AttributeError(name)
        return getattr(self.svm, name)


@pytest.mark.parametrize("scale", [0.01, 100.0])
def test_eta_follows_the_scale_of_the_scores(scale: float) -> None:
    """A learner that says the same in other units selects the same."""
    clf, plain = (new_clf(learner=Scaled(each)).fit(MOONS, SIDE) for each in (scale, 1.0))
    assert isinstance(clf.rule_, SignedMargin)
    assert clf.rule_.eta * scale == pytest.approx(plain.rule_.eta, rel=0.01)
    assert clf.sampling_rate_ == pytest.approx(plain.sampling_rate_, abs=0.02)


def test_the_eta_of_an_svm_is_not_fitted() -> None:
    assert new_clf().fit(MOONS, SIDE).rule_ == SignedMargin(steepest=3.0)


@pytest.mark.parametrize(
    ("learner", "rule", "kind"),
    [
        ("svm", "auto", SignedMargin),
        ("svm", "margin", Margin),
        ("svm", "paper", PaperMargin),
        ("network", "auto", Gradient),
        ("svm", Uniform(0.1), Uniform),
        ("svm", PaperMargin(0.123), PaperMargin),
    ],
)
def test_the_rule_that_was_used_is_told(learner: str, rule: Any, kind: Any) -> None:
    clf = new_clf(learner=learner, rule=rule).fit(MOONS, SIDE)
    assert type(clf.rule_) is kind
    if isinstance(rule, PaperMargin):
        assert clf.rule_ == rule


@pytest.mark.parametrize("learner", [LaSVM(gamma=1.0, gap=0.2), Network(hidden=10, step=0.2)], ids=["svm", "network"])
@pytest.mark.parametrize("data", ["two classes", "three classes"])
def test_uniform_selects_about_as_many_as_the_default_rule(learner: Any, data: str) -> None:
    x, y = (MOONS, SIDE) if data == "two classes" else three_classes(4000)
    usual, uniform = (new_clf(learner=learner, rule=rule).fit(x, y) for rule in ("auto", "uniform"))
    assert isinstance(uniform.rule_, Uniform)
    assert uniform.run_.sampling_rate == pytest.approx(uniform.rule_.rate, abs=0.03)
    assert 0.6 < uniform.run_.selected / usual.run_.selected < 1.8


def test_the_rate_of_the_baseline_does_not_depend_on_nodes_and_engine() -> None:
    rates = {
        new_clf(rule="uniform", nodes=nodes, engine=engine).fit(MOONS, SIDE).rule_.rate
        for nodes, engine in ((1, "threads"), (3, "threads"), (2, "simulated"), (2, "processes"))
    }
    assert len(rates) == 1
    assert new_clf(rule=Uniform(0.3)).fit(MOONS, SIDE).rule_ == Uniform(0.3)
    assert new_clf(rule="uniform").set_params(rule__rate=0.4).fit(MOONS, SIDE).rule_ == Uniform(0.4)


def test_the_baseline_of_partial_fit_has_the_rate_of_the_default_rule_on_the_first_rows_sifted() -> None:
    selected: dict[str, int] = {}
    for rule in ("auto", "uniform"):
        clf = new_clf(rule=rule).partial_fit(MOONS[:500], SIDE[:500], classes=[0, 1])
        selected[rule] = clf.partial_fit(MOONS[500:1500], SIDE[500:1500]).n_selected_ - 500
    assert 0.6 < selected["uniform"] / selected["auto"] < 2


def test_the_automatic_rule_with_an_eta_is_the_one_that_suits_the_classes_and_the_learner() -> None:
    assert new_clf().set_params(rule__eta=0.3).fit(*three_classes(2000)).rule_ == LeastMargin(0.3)
    network = new_clf(learner=Network(hidden=5)).set_params(rule__scale=3.0).fit(MOONS, SIDE)
    assert network.rule_ == Gradient(scale=3.0)
    with pytest.raises(InputError, match="no Gradient parameter 'eta'"):
        network.set_params(rule="auto", rule__eta=0.1).fit(MOONS, SIDE)


def test_a_rule_with_a_floor_of_its_own() -> None:
    clf = new_clf(rule=floored(PaperMargin(0.1), 0.2), floor=None).fit(MOONS, SIDE)
    assert clf.selected_["p"].min() >= 0.2
    assert new_clf(rule=floored(PaperMargin(0.1), 0.2)).fit(MOONS, SIDE).selected_["p"].min() >= 0.2
