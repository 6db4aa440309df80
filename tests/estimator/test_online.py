"""partial_fit: batches are sifted with the present model, and weights are unbiased as in a run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from estimator.moons import MOONS, SIDE, TEST, TEST_SIDE, new_clf
from making import two_moons
from paraactive import Arrays, LaSVM, ParaActiveClassifier
from paraactive.data.examples import Examples
from paraactive.estimator.online import OnlineSifter
from paraactive.estimator.rule_choice import RuleChoice
from paraactive.rules import Margin, Rule, SignedMargin
from paraactive.sifting.budget import AUTO

X, Y = two_moons(3000, noise=0.3, seed=0)
_STREAM = Arrays(X, Y, shuffle=False)


def _rows(first: int, last: int) -> Examples:
    return _STREAM.read(first, last)


def _sifter(
    rule: Rule | str = "auto", seed: int = 0, floor: float | str | None = AUTO, select: float | str | None = None
) -> OnlineSifter:
    learner = LaSVM(gamma=1.0, gap=0.2, classes=2)
    return OnlineSifter(learner, RuleChoice(rule, width=2), 2, seed, floor, select)


def _learned(sifter: OnlineSifter, last: int = 1000, batch: int = 100) -> np.ndarray:
    """Learn a warmstart of 200 in two calls, and sift the rest. Returns p of what was selected."""
    sifter.learn(_rows(0, 100), is_warmstart=True)
    sifter.learn(_rows(100, 200), is_warmstart=True)
    parts = [sifter.learn(_rows(a, a + batch), is_warmstart=False).p for a in range(200, last, batch)]
    return np.concatenate(parts)


def test_the_warmstart_is_learned_whole_and_scored_from_its_second_part_on() -> None:
    sifter = _sifter()
    first = sifter.learn(_rows(0, 100), is_warmstart=True)
    assert (len(first), sifter.seen, sifter.version, sifter.rule) == (100, 100, 100, None)
    assert np.isnan(first.score).all()
    assert sifter.measured.measured == 0.0
    second = sifter.learn(_rows(100, 150), is_warmstart=True)
    assert (second.p == 1.0).all()
    assert not np.isnan(second.score).any()
    assert sifter.measured.measured == 50.0
    wrong = second.score[:, 0] * second.examples.y <= 0
    assert sifter.measured.theta == pytest.approx(wrong.mean())


def test_rows_are_sifted_after_the_warmstart_and_counted() -> None:
    sifter = _sifter()
    p = _learned(sifter)
    assert isinstance(sifter.rule, SignedMargin)
    assert (sifter.seen, sifter.version) == (1000, 200 + len(p))
    assert 0 < len(p) < 800
    assert sifter.measured.measured == 900.0
    assert 0.0 < sifter.measured.theta < 0.3


def test_the_rule_is_found_once() -> None:
    sifter = _sifter("margin")
    _learned(sifter, last=300)
    rule = sifter.rule
    sifter.learn(_rows(300, 400), is_warmstart=False)
    assert sifter.rule is rule
    given = Margin(0.123, theta=0.0)
    sifter = _sifter(given)
    _learned(sifter, last=300)
    assert sifter.rule == given


@pytest.mark.parametrize("rule", ["signed", "margin"])
@pytest.mark.parametrize("select", [None, 0.6, "20*n**0.5"])
def test_the_weights_of_rows_are_unbiased(rule: str, select: float | str | None) -> None:
    totals = [float((1.0 / _learned(_sifter(rule, seed, select=select), last=500)).sum()) for seed in range(200)]
    assert np.std(totals) > 0
    assert abs(np.mean(totals) - 300) <= 4 * np.std(totals, ddof=1) / np.sqrt(200)


def test_a_rate_is_kept() -> None:
    sifter = _sifter(select=0.3)
    _learned(sifter, last=3000)
    # Without a warmstart in the budget, the rate counts over all rows.
    assert sifter.version / 3000 == pytest.approx(0.3, rel=0.2)


def test_a_total_is_ignored_because_the_number_of_rows_is_not_known() -> None:
    assert _learned(_sifter(select=300)).tolist() == _learned(_sifter(select=None)).tolist()


def test_no_weight_is_above_one_over_the_floor() -> None:
    assert _learned(_sifter("margin", floor=0.25)).min() >= 0.25 * (1 - 1e-12)
    assert _learned(_sifter("margin", floor=None)).min() < 0.25


def test_heavy_rows_are_selected_more_often() -> None:
    def selected(importance: float) -> int:
        count = 0
        for seed in range(10):
            sifter = _sifter(seed=seed)
            _learned(sifter, last=300)
            fresh = _rows(300, 500)
            weights = np.where(np.arange(200) < 100, importance, 1.0)
            heavy = Examples(fresh.x, fresh.y, fresh.index, importance=weights)
            count += int(np.count_nonzero(sifter.learn(heavy, is_warmstart=False).examples.index < 400))
        return count

    assert selected(4.0) > 1.3 * selected(1.0)


def _classifier(**options: Any) -> ParaActiveClassifier:
    settings: dict[str, Any] = {"warmstart": 300, "batch": 100, "random_state": 0}
    return ParaActiveClassifier(LaSVM(gamma=1.0, gap=0.2), **(settings | options))


def test_a_classifier_sifts_what_the_warmstart_leaves_and_tells_the_rule() -> None:
    clf = _classifier()
    for first in range(0, 1500, 250):
        clf.partial_fit(X[first : first + 250], Y[first : first + 250], classes=[-1, 1])
    assert clf.n_seen_ == 1500
    assert 300 < clf.n_selected_ < 1500
    assert (clf.selected_["p"][:300] == 1.0).all()
    assert isinstance(clf.rule_, SignedMargin)
    assert clf.score(X[1500:], Y[1500:]) > 0.85


def test_a_classifier_with_the_rule_passive_learns_every_row() -> None:
    clf = _classifier(rule="passive").partial_fit(X[:1500], Y[:1500], classes=[-1, 1])
    assert clf.n_selected_ == 1500
    assert (clf.selected_["p"] == 1.0).all()


def test_the_error_of_the_latest_models_is_estimated_without_test_rows() -> None:
    clf = new_clf().partial_fit(MOONS[:500], SIDE[:500], classes=[0, 1])
    assert clf.estimated_error_ is None
    clf.partial_fit(MOONS[500:], SIDE[500:])
    assert clf.estimated_error_ == pytest.approx(1 - clf.score(TEST, TEST_SIDE), abs=0.03)
    fitted = new_clf().fit(MOONS, SIDE)
    assert fitted.estimated_error_ == fitted.run_.estimates.recent_error.value
    assert set(fitted.run_.estimates.class_errors) == {"0", "1"}
    assert set(new_clf().fit(MOONS, np.where(SIDE, "yes", "no")).run_.estimates.class_errors) == {"yes", "no"}


def test_a_few_copies_of_rows_leave_the_error_known() -> None:
    x, y = np.vstack([X, X[:60]]), np.append(Y, Y[:60])
    clf = new_clf().fit(x, y)
    assert clf.estimated_error_ == clf.run_.estimates.recent_error.value


@pytest.mark.parametrize("rule", ["passive", "uniform", "signed"])
def test_the_mean_estimate_is_right_for_rules_that_score_a_part(rule: str) -> None:
    off: list[float] = []
    for seed in range(8):
        clf = new_clf(rule=rule).set_params(random_state=seed)
        for first in range(0, 3000, 500):
            clf.partial_fit(X[first : first + 500], Y[first : first + 500], classes=[-1, 1])
        off.append(clf.estimated_error_ - (1 - clf.score(X, Y)))
    assert np.mean(off) == pytest.approx(0.0, abs=0.04)
    assert np.std(off) > 0.0


def test_a_rate_does_not_count_the_warmstart() -> None:
    clf = new_clf(select=0.3, rule="signed")
    for first in range(0, 3000, 500):
        clf.partial_fit(X[first : first + 500], Y[first : first + 500], classes=[-1, 1])
    assert (clf.n_selected_ - 500) / 2500 == pytest.approx(0.3, abs=0.06)
    assert np.quantile(clf.selected_["p"][500:], 0.1) > 0.1  # Otherwise p is at its floor, 0.02.


@pytest.mark.parametrize("total", [1000, np.int64(1000), 1000.0])
def test_a_total_is_ignored_whatever_its_type(total: Any) -> None:
    def selected(select: Any) -> int:
        return new_clf(select=select).partial_fit(X, Y, classes=[-1, 1]).n_selected_

    assert selected(total) == selected(None)


def test_the_first_rows_after_fit_are_estimated_like_all_others() -> None:
    clf = new_clf().fit(X[:1500], Y[:1500]).partial_fit(X[1500:], Y[1500:])
    assert clf.estimated_error_ == pytest.approx(1 - clf.score(X, Y), abs=0.05)


def test_label_blind_rules_do_not_see_the_weights_of_classes() -> None:
    def selected_p(class_weight: Any) -> Any:
        clf = new_clf(rule="margin", class_weight=class_weight).partial_fit(X, Y, classes=[-1, 1])
        return clf.selected_["p"][clf.selected_["index"] >= 500]

    assert selected_p({-1: 1.0, 1: 50.0}).mean() < 0.9


def test_the_warmstart_in_small_pieces_leaves_the_budget_as_it_is() -> None:
    clf = new_clf(select=0.2, rule="signed")
    for first in range(0, len(X), 50):
        clf.partial_fit(X[first : first + 50], Y[first : first + 50], classes=[-1, 1])
    assert (clf.n_selected_ - 500) / (len(X) - 500) == pytest.approx(0.2, abs=0.05)
    assert clf.estimated_error_ == pytest.approx(1 - clf.score(X, Y), abs=0.1)
