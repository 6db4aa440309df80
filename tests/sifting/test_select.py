"""The law of sifting: p is the exact probability of being selected, so every weighted estimate is unbiased."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import ArrayLike

from making import OUR_RULES, two_moons
from paraactive import Arrays, LaSVM
from paraactive.data.examples import Doubles, Examples, Ints
from paraactive.engines import Threads
from paraactive.errors import InputError
from paraactive.rules import Gradient, PaperMargin, Rule, SignedMargin, Uniform
from paraactive.schedules import Plan, synchronous
from paraactive.sifting.log import MemoryLog
from paraactive.sifting.node import Node
from paraactive.sifting.select import sift, take_all

RULES: list[Rule] = [*OUR_RULES, SignedMargin(0.1), Uniform(0.2)]

_SEEDS = 600


@cache
def _model() -> LaSVM:
    x, y = two_moons(300, noise=0.35, seed=0)
    svm = LaSVM(gamma=1.0)
    fresh = Arrays(x, y).read(0, 300)
    svm.update(take_all(fresh, fresh.index, 0))
    return svm


def _fresh(count: int) -> Examples:
    x, y = two_moons(count, noise=0.35, seed=1)
    return Arrays(x, y, shuffle=False).read(0, count)


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_the_weighted_error_on_the_selected_is_unbiased(rule: Rule) -> None:
    fresh, svm = _fresh(500), _model()
    wrong = (svm.score(fresh.x) > 0) != (fresh.y > 0)
    seen = np.full(500, 400)
    estimates: list[float] = []
    p_of = np.ones(500)
    for seed in range(_SEEDS):
        chosen = sift(svm, rule, seed, fresh, seen, 300)
        rows = chosen.examples.index
        p_of[rows] = chosen.p
        estimates.append(float(chosen.weight @ wrong[rows]) / 500)
    true = wrong.mean()
    # The exact standard error of the mean of the estimates; p is known wherever it was ever selected.
    deviation = np.sqrt(np.sum(wrong * (1 - p_of) / p_of)) / 500 / np.sqrt(_SEEDS)
    assert true > 0.05
    assert abs(np.mean(estimates) - true) <= 4 * deviation + 1e-12


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_each_example_is_selected_as_often_as_its_p_says(rule: Rule) -> None:
    fresh, svm = _fresh(200), _model()
    times, p = np.zeros(200), np.ones(200)
    for seed in range(_SEEDS):
        chosen = sift(svm, rule, seed, fresh, np.full(200, 400), 300)
        times[chosen.examples.index] += 1
        p[chosen.examples.index] = chosen.p
    selected = times > 0
    spread = np.sqrt(p * (1 - p) / _SEEDS)
    off = np.abs(times / _SEEDS - p)[selected]
    assert np.all(off <= 5 * spread[selected] + 1e-12)
    # Taken together: the squared standardised differences average to 1.
    fair = selected & (p < 1) & (p * _SEEDS > 10)
    if fair.sum() > 30:
        assert 0.6 < np.mean((off[fair[selected]] / spread[fair]) ** 2) < 1.6


@pytest.mark.parametrize("rule", [PaperMargin(0.3), SignedMargin(0.3), Gradient(), Uniform(0.1)], ids=repr)
def test_the_progressive_error_of_a_whole_run_is_unbiased(rule: Rule) -> None:
    x, y = two_moons(1000, noise=0.35, seed=2)
    stream = Arrays(x, y, shuffle=False)
    differences: list[float] = []
    for seed in range(60):
        svm = LaSVM(gamma=1.0)
        log = MemoryLog(keep=True)
        plan = Plan(examples=1000, batch=100, warmstart=100, nodes=3)
        true = weighted = 0.0
        previous, wrong = 0, np.zeros(0)
        engine = Threads(Node(svm, rule, stream, seed), plan.nodes)  # The simulated one would cut rounds for its clock.
        for ended in synchronous(engine, log, plan):
            entries = log.entries[-1].selected
            if ended.number:
                true += wrong.sum()
                weighted += float(entries.weight @ wrong[entries.examples.index - previous])
            previous, after = ended.seen, slice(ended.seen, ended.seen + plan.batch)
            wrong = (svm.score(x[after]) > 0) != (y[after] > 0)
        engine.close()
        differences.append(weighted - true)
    error = np.std(differences, ddof=1) / np.sqrt(len(differences))
    assert abs(np.mean(differences)) <= 4 * error + 1e-12


def test_the_warmstart_takes_everything_with_weight_one() -> None:
    fresh = _fresh(20)
    taken = take_all(fresh, fresh.index, 0)
    assert len(taken) == 20
    assert np.all(taken.weight == 1)


def test_a_rule_without_need_of_scores_is_sifted_without_scoring() -> None:
    class Unscored(LaSVM):
        def score(self, x: ArrayLike) -> Doubles:
            raise AssertionError("scored")

    chosen = sift(Unscored(), Uniform(0.5), 0, _fresh(100), np.zeros(100, np.int64), 0)
    assert 20 < len(chosen) < 80


def test_a_label_blind_rule_selects_the_same_whatever_the_labels_are() -> None:
    fresh, svm = _fresh(300), _model()
    flipped = Examples(fresh.x, (-fresh.y).astype(np.int8), fresh.index)
    for rule in (PaperMargin(0.1), Uniform(0.2)):
        one = sift(svm, rule, 0, fresh, np.full(300, 400), 0)
        other = sift(svm, rule, 0, flipped, np.full(300, 400), 0)
        assert one.examples.index.tolist() == other.examples.index.tolist()
        assert one.p.tolist() == other.p.tolist()


@pytest.mark.parametrize("p", [0.0, 1.5, float("nan"), -0.1])
def test_a_rule_that_returns_no_probabilities_is_refused(p: float) -> None:
    class Wrong(Uniform):
        def probability(self, score: Doubles, seen: Ints) -> Doubles:
            return np.full(len(score), p)

    with pytest.raises(InputError, match=r"rule Wrong gave p.*return one number for each example, 0 < p <= 1"):
        sift(_model(), Wrong(0.5), 0, _fresh(10), np.zeros(10, np.int64), 0)


def test_a_rule_that_returns_too_few_probabilities_is_refused() -> None:
    class Short(Uniform):
        def probability(self, score: Doubles, seen: Ints) -> Doubles:
            return np.full(3, 0.5)

    with pytest.raises(InputError, match="a probability for each of 10 examples"):
        sift(_model(), Short(0.5), 0, _fresh(10), np.zeros(10, np.int64), 0)
