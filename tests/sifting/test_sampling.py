"""The sampling policy: floor, scale and importance change p, and weights stay unbiased and bounded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from paraactive import Arrays, train
from paraactive.basics.state import State, digest
from paraactive.data.examples import Doubles, Examples, Floats, Ints, Labels, Selected
from paraactive.data.labels import UNKNOWN
from paraactive.errors import InputError
from paraactive.rules import LeastMargin, Margin, Rule, SignedMargin
from paraactive.rules.base import at_noise
from paraactive.runs.run import Run
from paraactive.sifting.budget import Budget
from paraactive.sifting.cascade import ProxyPolicy
from paraactive.sifting.measurements import Measurements
from paraactive.sifting.sampling import Adjustment, Sampling
from paraactive.sifting.select import choose, take_all

_SEEDS = 200
_RULES: list[Rule] = [SignedMargin(), LeastMargin(), Margin()]


class FirstFeature:
    """A learner whose score is the first feature, or the first three for three classes, and who never learns."""

    def __init__(self, classes: int = 2) -> None:
        self.classes = classes

    def score(self, x: Floats) -> Doubles:
        return (x[:, 0] if self.classes == 2 else x[:, :3]).astype(np.float64)

    def update(self, selected: Selected) -> None:
        pass

    def end_round(self) -> None:
        pass

    def save(self) -> State:
        return {}

    def load(self, state: State) -> None:
        pass

    def digest(self) -> str:
        return digest({})

    def describe(self) -> dict[str, Any]:
        return {}


def _data(count: int, seed: int = 0) -> tuple[Floats, Labels]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, 3)).astype(np.float32) * 2
    return x, np.where(x[:, 0] + rng.normal(size=count) > 0, 1, -1).astype(np.int8)


def _fresh(count: int, classes: int = 2) -> Examples:
    x, y = _data(count)
    if classes == 3:
        y = x.argmax(axis=1).astype(np.int8)
        y[::7] = 0
    importance = np.random.default_rng(1).uniform(0.2, 5.0, count)
    return Examples(x, y, np.arange(count), importance=importance)


def _rounds(rule: Rule, fresh: Examples, seed: int, classes: int, budget: Budget | None) -> tuple[float, float]:
    """Sift rounds of 100 after a warmstart of 100. Returns the sum of 1/p, and that of the weights."""
    measured, learner = Measurements(classes, log_odds=False, budget=budget), FirstFeature(classes)
    measured.add(take_all(fresh.take(slice(0, 100)), np.zeros(100, np.int64), 0, learner))
    measured.end_round(100)
    counts = weights = 0.0
    for first in range(100, len(fresh), 100):
        noisy = at_noise(rule, measured.theta)
        adjustment = measured.adjustment("auto", weighs=True)
        part, seen = fresh.take(slice(first, first + 100)), np.full(100, first)
        selected = choose(learner, noisy, seed, part, seen, 0, ProxyPolicy(), adjustment).selected
        counts, weights = counts + float((1.0 / selected.p).sum()), weights + float(selected.weight.sum())
        measured.add(selected)
        measured.end_round(first + 100)
    return counts, weights


def _is_mean(values: list[float], truth: float) -> bool:
    return abs(float(np.mean(values)) - truth) <= 4 * float(np.std(values, ddof=1)) / np.sqrt(len(values))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("rule", _RULES, ids=repr)
def test_weights_are_unbiased_though_theta_scale_and_mean_importance_follow_from_the_past(
    rule: Rule, classes: int
) -> None:
    fresh = _fresh(500, classes)
    for budget in (None, Budget(100, 0.4, 1.0, is_limit=False), Budget(100, 0.25, 1.0, is_limit=True)):
        found = [_rounds(rule, fresh, seed, classes, budget) for seed in range(_SEEDS)]
        assert _is_mean([counts for counts, _ in found], 400)
        assert _is_mean([weights for _, weights in found], float(fresh.importance[100:].sum()))


def _train(seed: int, **options: Any) -> Run:
    x, y = _data(500)
    settings: dict[str, Any] = {"batch": 100, "warmstart": 100, "nodes": 1, "engine": "threads", "rule": "signed"}
    return train(FirstFeature(), Arrays(x, y, shuffle=False), seed=seed, **(settings | options))


# A rule that selects less than the rate is scaled up. One that selects more would be scaled down so far that no number
# of seeds shows the mean.
_STEEP = Margin(2.0, theta=0.0)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"class_weight": {"1": 5.0}},
        {"select": 0.6, "class_weight": {"1": 5.0}, "rule": "margin"},
        {"select": 0.2, "rule": _STEEP, "floor": 0.05},
        {"select": 0.2, "rule": _STEEP, "floor": 0.05, "class_weight": {"1": 5.0}},
    ],
    ids=str,
)
def test_weights_of_whole_runs_are_unbiased(options: dict[str, Any]) -> None:
    totals = [float((1.0 / _train(seed, **options).learned.p[100:]).sum()) for seed in range(_SEEDS)]
    assert np.std(totals) > 0
    assert _is_mean(totals, 400)


def test_p_rises_with_the_importance_of_an_example() -> None:
    importance = np.array([0.1, 0.5, 1.0, 2.0, 10.0, 100.0])
    p = Adjustment(mean_importance=2.0).apply(np.full(6, 0.1), np.full(6, 400), importance)
    assert p.tolist() == pytest.approx([0.1, 0.1, 0.1, 0.1, 0.5, 1.0]), "little importance does not lower p"


def test_no_weight_is_larger_than_the_floor_scale_and_mean_importance_allow() -> None:
    rng = np.random.default_rng(0)
    p, importance = rng.uniform(1e-9, 1.0, 1000), rng.exponential(2.0, 1000)
    for floor, least in ((0.05, 0.05), ("auto", 0.05)):
        for scale in (1.0, 0.3):
            mean = float(importance.mean())
            chosen = Adjustment(floor, scale, mean).apply(p, np.full(1000, 400), importance)
            small = chosen < 1.0  # The weight of an example that is always selected is its importance.
            assert (importance / chosen)[small].max() <= mean / (scale * least) * (1 + 1e-12)


def test_a_limit_makes_the_rule_steeper_before_it_lowers_every_p() -> None:
    p, seen, one = np.array([1.0, 0.5, 0.1]), np.full(3, 9), np.ones(3)
    limited = {scale: Adjustment(scale=scale, is_limited=True).apply(p, seen, one) for scale in (1.0, 0.8, 0.5, 0.2)}
    assert limited[1.0].tolist() == p.tolist()
    assert limited[0.8].tolist() == pytest.approx((p**1.25).tolist()), "examples on the wrong side stay selected"
    assert limited[0.5].tolist() == pytest.approx((p**2).tolist())
    assert limited[0.2].tolist() == pytest.approx((0.4 * p**2).tolist())


def test_the_weights_of_a_run_are_bounded_by_its_floor() -> None:
    run = _train(0, floor=0.2)
    assert (1.0 / run.learned.p).max() <= 5.0 * (1 + 1e-12)
    assert (1.0 / _train(0, floor="none", rule="margin").learned.p).max() > 5.0


def test_heavy_classes_are_selected_more_often() -> None:
    _, y = _data(500)
    plain, heavy = (
        np.mean([(y[_train(seed, class_weight=weight).learned.key[100:]] > 0).mean() for seed in range(20)])
        for weight in (None, {"1": 5.0})
    )
    assert heavy > plain + 0.05


def test_without_importance_p_does_not_depend_on_it() -> None:
    p, seen = np.array([0.5, 0.01]), np.array([100, 100])
    assert Adjustment(floor=0.1).apply(p, seen, np.array([1.0, 50.0])).tolist() == [0.5, 0.1]


def test_the_automatic_floor_falls_like_one_over_the_root_of_n() -> None:
    seen: Ints = np.array([0, 1, 4, 10_000])
    assert Adjustment("auto").apply(np.full(4, 1e-9), seen, np.ones(4)).tolist() == [1.0, 1.0, 0.5, 0.01]


def test_p_is_a_probability_whatever_the_scale() -> None:
    p, seen, one = np.array([1e-15, 0.5, 1.0]), np.full(3, 9), np.ones(3)
    assert Adjustment(scale=1000.0).apply(p, seen, one).tolist() == [1e-12, 1.0, 1.0]
    assert Adjustment(scale=1e-3).apply(p, seen, one).min() == 2.0**-53


@pytest.mark.parametrize("floor", [0.0, -0.1, 1.5, "high", True])
def test_a_floor_that_is_no_probability_is_refused(floor: Any) -> None:
    with pytest.raises(InputError, match="floor"):
        Sampling(floor=floor)


def test_class_weights_multiply_the_importance() -> None:
    fresh = Examples(
        np.zeros((3, 1), np.float32),
        np.array([-1, 1, UNKNOWN], np.int8),
        np.arange(3),
        importance=np.array([1, 2, 3.0]),
    )
    weighted = Sampling(class_weight=(0.5, 10.0)).weighted(fresh, 2)
    assert weighted.importance.tolist() == [0.5, 20.0, 3.0]
    assert fresh.importance.tolist() == [1.0, 2.0, 3.0]
    assert Sampling().weighted(fresh, 2) is fresh


def test_class_weights_of_more_than_two_classes() -> None:
    fresh = Examples(np.zeros((3, 1), np.float32), np.array([2, 0, 1], np.int8), np.arange(3))
    assert Sampling(class_weight=(1.0, 2.0, 3.0)).weighted(fresh, 3).importance.tolist() == [3.0, 1.0, 2.0]
    assert len(Sampling(class_weight=(1.0, 2.0, 3.0)).weighted(Examples.empty(1), 3)) == 0
