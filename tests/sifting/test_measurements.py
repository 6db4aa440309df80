"""Measurements: sums of the log that do not depend on how it is cut, and estimates that can be checked by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

from paraactive.data.examples import Doubles, Examples, Selected
from paraactive.sifting.budget import Budget
from paraactive.sifting.estimates import estimates_of
from paraactive.sifting.measurements import AUDITED, SUMS, Measurements


def _entries(score: ArrayLike, y: ArrayLike, p: ArrayLike = 1.0, importance: ArrayLike = 1.0) -> Selected:
    labels = np.asarray(y, np.int8)
    count, none = len(labels), np.zeros(len(labels), np.int64)
    weights = np.broadcast_to(np.asarray(importance, np.float64), count)
    examples = Examples(np.zeros((count, 1), np.float32), labels, np.arange(count), importance=weights)
    scores = np.asarray(score, np.float32).reshape(count, -1)
    return Selected(examples, np.array(np.broadcast_to(np.asarray(p, np.float64), count)), none, none, scores)


def _random(count: int, seed: int, classes: int = 2) -> Selected:
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(count) < 0.4, 1, -1) if classes == 2 else rng.integers(0, classes, count)
    score = rng.normal(size=(count, 1 if classes == 2 else classes))
    score[rng.random(count) < 0.2] = np.nan
    return _entries(score, y, rng.uniform(0.01, 1.0, count), rng.uniform(0.5, 3.0, count))


def _bits(measured: Measurements) -> dict[str, bytes]:
    return {name: column.tobytes() for name, column in measured.save().items()}


def _measured(*rounds: tuple[Selected, int], **options: Any) -> Measurements:
    settings: dict[str, Any] = {"classes": 2, "log_odds": False}
    measured = Measurements(**(settings | options))
    for selected, seen in rounds:
        measured.add(selected)
        measured.end_round(seen)
    return measured


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("log_odds", [False, True])
def test_it_does_not_matter_how_entries_are_cut_into_calls(classes: int, log_odds: bool) -> None:
    found: set[tuple[bytes, ...]] = set()
    for cuts in ([], [1], [7, 8, 150], list(range(0, 200, 3)), list(range(200))):
        measured = Measurements(classes, log_odds, budget=Budget(10, 0.3, 1.0, is_limit=False))
        for number in range(3):
            entries = _random(200, number, classes)
            for piece in np.split(np.arange(200), cuts):
                measured.add(entries.take(piece))
            measured.end_round(400 * (number + 1))
        measured.add(_random(50, 9, classes))
        found.add(tuple(_bits(measured).values()))
    assert len(found) == 1


def test_what_is_saved_and_loaded_goes_on_as_before() -> None:
    budget = Budget(0, 0.1, 1.0, is_limit=True)
    one, other = (Measurements(2, False, budget=budget) for _ in range(2))
    for number in range(3):
        one.add(_random(100, number))
        one.end_round(300 * (number + 1))
    one.add(_random(40, 7))
    other.load(one.save())
    assert _bits(other) == _bits(one)
    assert (other.scale, other.theta, other.mean_importance) == (one.scale, one.theta, one.mean_importance)
    for each in (one, other):
        each.add(_random(30, 8))
        each.end_round(1200)
    assert _bits(other) == _bits(one)
    assert one.scale < 1.0


def test_what_was_saved_does_not_change_afterwards() -> None:
    measured = _measured((_random(20, 0), 20))
    state = measured.save()
    before = {name: column.copy() for name, column in state.items()}
    measured.add(_random(20, 1))
    measured.end_round(100)
    assert all(np.array_equal(state[name], before[name]) for name in state)


def test_theta_of_a_known_case() -> None:
    # The warmstart has 1 mistake of 4. Of 16 examples then, those selected with p = 1/2 and 1/4 were wrong.
    warmstart = _entries([1.0, -1.0, -1.0, 1.0], [1, -1, 1, 1])
    sifted = _entries([0.5, -2.0, 3.0], [-1, 1, 1], [0.5, 0.25, 0.125])
    measured = _measured((warmstart, 4))
    assert measured.theta == 0.25
    measured = _measured((warmstart, 4), (sifted, 20))
    assert measured.measured == 20.0
    assert measured.theta == (2.0 + 4.0) / 16.0
    everything = measured.between(0)
    assert everything.sums["wrong"] == 7.0
    assert everything.sums["wrong_squares"] == 1.0 + 4.0 + 16.0
    assert everything.heaviest["wrong"] == 4.0
    assert everything.sums["selected"] == 7.0
    # Class -1: one right in the warmstart, one wrong of weight 2. Class 1: 1 of 3 wrong, then 4 wrong and 8 right.
    assert everything.by_class.tolist() == [[3.0, 15.0], [2.0, 5.0], [3.0, 15.0], [3.0, 15.0]]


def test_theta_counts_examples_by_their_importance() -> None:
    entries = _entries([1.0, -1.0, 1.0, -1.0], [1, -1, -1, 1])
    weighted = replace(entries, examples=replace(entries.examples, importance=np.array([1.0, 1.0, 4.0, 2.0])))
    measured = _measured((weighted, 4))
    assert measured.mean_importance == 2.0
    assert measured.theta == 6.0 / 8.0
    sums = measured.between(0)
    assert (sums.sums["wrong"], sums.sums["cost"], sums.sums["uneven"]) == (2.0, 6.0, 4.0)
    assert sums.heaviest["cost"] == 4.0
    assert sums.by_class[2:].tolist() == [[2.0, 2.0], [5.0, 3.0]]


def test_theta_is_the_error_of_the_last_quarter() -> None:
    bad, good = _entries(-np.ones(10), np.ones(10)), _entries(np.ones(10), np.ones(10))
    assert _measured((bad, 10), (bad, 20), (bad, 30), (good, 40)).theta == 0.0
    assert _measured((good, 10), (good, 20), (good, 30), (bad, 40)).theta == 1.0
    assert _measured((bad, 10), *[(good, 10 * k) for k in range(2, 9)]).recent_round() == 6


def test_theta_is_never_above_1() -> None:
    heavy = _entries([-1.0], [1], 0.001)
    assert _measured((_entries([1.0], [1]), 1), (heavy, 11)).theta == 1.0


def test_a_score_of_0_is_a_mistake_for_both_classes() -> None:
    assert _measured((_entries([0.0, 0.0], [1, -1]), 2)).theta == 1.0


def test_nothing_is_known_at_first() -> None:
    measured = Measurements(2, log_odds=False)
    assert (measured.theta, measured.mean_importance, measured.scale) == (0.0, 1.0, 1.0)
    assert (measured.seen, measured.measured, len(measured.scales)) == (0, 0.0, 0)


def test_the_losses_of_known_scores() -> None:
    score, y = [0.5, -2.0, 3.0], [1, 1, 1]
    hinge = _measured((_entries(score, y), 3)).between(0)
    assert hinge.sums["loss"] == 0.5 + 3.0
    assert hinge.heaviest["loss"] == 3.0
    logistic = _measured((_entries(score, y), 3), log_odds=True).between(0)
    assert logistic.sums["loss"] == pytest.approx(np.log1p(np.exp([-0.5, 2.0, -3.0])).sum())
    three = np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 0.0]])
    softmax = _measured((_entries(three, [1, 2]), 2), classes=3, log_odds=True).between(0)
    odds = np.exp(three)
    assert softmax.sums["loss"] == pytest.approx(-np.log(odds[0, 1] / odds[0].sum()) + np.log(3.0))
    margins = _measured((_entries(three, [1, 2]), 2), classes=3).between(0)
    assert margins.sums["loss"] == 1.0  # The margins are 1 and 0.
    assert margins.sums["wrong"] == 1.0


def test_entries_without_scores_count_as_selected_but_not_as_right_or_wrong() -> None:
    nothing = np.full(3, np.nan)
    measured = _measured((_entries(nothing, [1, 1, -1], 0.5), 3), (_entries(nothing, [1, 1, -1], 0.5), 20))
    assert measured.measured == 0.0
    assert measured.theta == 0.0
    sums = measured.between(0).sums
    assert (sums["selected"], sums["weight"], sums["wrong"], sums["loss"]) == (6.0, 12.0, 0.0, 0.0)


def test_of_a_warmstart_with_some_scores_only_those_count() -> None:
    warmstart = _entries([np.nan, np.nan, 1.0, -1.0], [1, 1, 1, 1])
    measured = _measured((warmstart, 4))
    assert measured.measured == 2.0
    assert measured.theta == 0.5


def test_a_round_that_selects_nothing_counts_once_scores_are_known() -> None:
    known = _measured((_entries([-1.0], [1]), 1), (Selected.empty(1), 101))
    assert known.measured == 101.0
    assert known.theta == 0.0
    unknown = _measured((Selected.empty(1), 1), (Selected.empty(1), 101))
    assert unknown.measured == 0.0


def test_with_a_rule_without_scores_each_scored_entry_counts_for_all_that_were_not() -> None:
    scored = _measured((_entries([1.0], [1]), 1), (_entries([-1.0], [1], 0.5), 101), needs_scores=False)
    assert scored.between(1).sums["wrong"] == 2.0 / AUDITED
    assert scored.between(1).sums["weight"] == 2.0


def test_all_scores_of_the_warmstart_count_once_whatever_the_rule() -> None:
    first = _entries([-1.0, 1.0, 1.0, 1.0], [1, 1, 1, 1])
    for needs_scores in (True, False):
        estimates = estimates_of(_measured((first, 4), needs_scores=needs_scores), ("no", "yes"))
        assert estimates is not None
        assert estimates.recent_error.value == 0.25


def test_the_error_of_a_rule_without_scores_is_unbiased() -> None:
    rng = np.random.default_rng(0)
    values: list[float] = []
    for _ in range(200):
        score = np.where(rng.random(400) < 0.3, -1.0, 1.0)
        score[rng.random(400) >= AUDITED] = np.nan
        # Something is measured before, so that a round without scores would count, too.
        measured = _measured((_entries([1.0], [1]), 1), (_entries(score, np.ones(400)), 401), needs_scores=False)
        values.append(measured.between(1).sums["wrong"] / measured.between(1).sums["examples"])
    assert abs(np.mean(values) - 0.3) <= 4 * np.std(values, ddof=1) / np.sqrt(200)


def test_the_mean_importance_is_that_of_the_stream_and_not_of_the_selected() -> None:
    rng = np.random.default_rng(1)
    importance = rng.uniform(0.5, 4.0, 2000)
    means: list[float] = []
    for _ in range(200):
        p = np.clip(0.1 * importance, 0.0, 1.0)
        taken = rng.random(2000) < p
        entries = _entries(np.ones(taken.sum()), np.ones(taken.sum()), p[taken], importance[taken])
        means.append(_measured((entries, 2000)).mean_importance)
    assert abs(np.mean(means) - importance.mean()) <= 4 * np.std(means, ddof=1) / np.sqrt(200)


def test_the_scale_follows_the_budget_after_the_warmstart() -> None:
    budget = Budget(0, 0.5, 1.0, is_limit=False)
    ones: Doubles = np.ones(100)
    measured = _measured((_entries(ones, ones), 100), budget=budget)
    assert measured.scale == 0.5
    measured = _measured((_entries(ones, ones), 100), (_entries(ones[:50], ones[:50], 0.5), 200), budget=budget)
    # The log has 150 entries and may have 200 after the next 200 examples: half as many as it had of the last 100.
    assert measured.scale == pytest.approx(0.25, rel=0.05)
    assert measured.scales.tolist() == [0.5, 0.5]


def test_rounds_of_the_warmstart_do_not_change_the_scale() -> None:
    measured = Measurements(2, log_odds=False, budget=Budget(0, 0.1, 1.0, is_limit=False))
    for seen in (50, 100, 150):
        measured.add(_entries(np.ones(50), np.ones(50)))
        measured.end_round(seen, is_warmstart=True)
        assert measured.scale == 0.1


def test_a_mistake_that_was_not_seen_may_weigh_as_much_as_any_example_that_a_blind_rule_selects() -> None:
    entries = _entries(np.ones(100), np.ones(100), 0.1)
    for options, heaviest in (({"is_blind": True}, 10.0), ({}, 1.0), ({"needs_scores": False}, 10.0 / AUDITED)):
        measured = _measured((_entries([1.0], [1]), 1), (entries, 1001), **options)
        assert measured.between(1).heaviest["wrong"] == pytest.approx(heaviest)
        estimates = estimates_of(measured, ("no", "yes"))
        assert estimates is not None
        assert estimates.recent_error.value == 0.0
        assert (estimates.recent_error.high > 0.03) == (heaviest > 1.0)


def test_examples_whose_labels_were_not_given_do_not_count_as_right() -> None:
    # Of 100 examples half were selected, and half of these got a label.
    entries = _entries([-1.0] * 5 + [1.0] * 20, [1] * 25, 0.5)
    known = _measured((_entries([1.0], [1]), 1), (entries, 101), is_asked=True)
    assert known.between(1).sums["wrong"] / known.between(1).sums["examples"] == pytest.approx(0.2)


def test_sums_of_rounds_add_up() -> None:
    measured = _measured(*[(_random(100, seed), 200 * (seed + 1)) for seed in range(4)])
    whole, first, rest = measured.between(0), measured.between(0, 2), measured.between(2)
    for name in SUMS:
        assert whole.sums[name] == pytest.approx(first.sums[name] + rest.sums[name])
    assert whole.heaviest == {name: max(first.heaviest[name], rest.heaviest[name]) for name in whole.heaviest}
    assert np.allclose(whole.by_class, first.by_class + rest.by_class)


def test_the_commonest_class_is_known_from_all_examples_also_those_without_a_score() -> None:
    first = _entries([np.nan] * 9 + [1.0], [1] * 3 + [-1] * 6 + [1])
    estimates = estimates_of(_measured((first, 10), needs_scores=False), ("no", "yes"))
    assert estimates is not None
    assert (estimates.commonest, estimates.commonest_error) == ("no", pytest.approx(0.4))
