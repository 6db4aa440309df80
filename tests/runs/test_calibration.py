"""Rules that fit the data: eta for the scale of the scores, and the rate of the baseline rule="uniform"."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from disk import sql
from making import two_moons
from paraactive import Arrays, LaSVM, Network, Oracle, train
from paraactive.learners import Learner
from paraactive.rules import LeastMargin, Margin, PaperMargin, SignedMargin
from paraactive.runs.calibration import RATE, calibrated, fitted
from paraactive.sifting.guard import Guard
from paraactive.streams import IterableStream, Unlabelled

X, Y = two_moons(2400, noise=0.3, seed=0)


def moons() -> Arrays:
    return Arrays(X, Y)


@pytest.mark.parametrize("learner", [lambda: LaSVM(gamma=2.0, gap=0.2), lambda: Network(hidden=10, step=0.2)])
def test_uniform_by_name_has_the_rate_of_the_default_rule_on_every_engine(
    learner: Callable[[], Learner], tmp_path: Path
) -> None:
    sizes: dict[str, Any] = {"warmstart": 300, "batch": 150}
    usual = train(learner(), moons(), nodes=1, **sizes)
    rules = set[str]()
    for number, (engine, nodes) in enumerate((("threads", 1), ("threads", 3), ("simulated", 4), ("processes", 2))):
        out = tmp_path / f"{number}.db"
        run = train(learner(), moons(), rule="uniform", engine=engine, nodes=nodes, out=out, **sizes)
        assert 0.5 < run.selected / usual.selected < 2
        rules.add(sql(out, "SELECT value FROM configuration WHERE name = 'rule'")[0][0])
    assert len(rules) == 1
    assert "uniform" in rules.pop()


def test_uniform_by_name_keeps_its_own_rate_where_there_is_nothing_to_compare_with() -> None:
    x, y = X[:400], Y[:400]
    asked: dict[str, Any] = {"oracle": Oracle(lambda index, rows: y[index]), "warmstart": 100, "batch": 100}
    run = train(LaSVM(gamma=2.0), Unlabelled(x, classes=(-1, 1), shuffle=False), rule="uniform", nodes=1, **asked)
    assert set(run.learned.p[100:].tolist()) <= {0.02}
    few = train(LaSVM(gamma=2.0), Arrays(x, y), rule="uniform", nodes=1, warmstart=5, batch=100)
    assert set(few.learned.p[5:].tolist()) <= {0.02}


def test_the_baseline_of_a_guarded_rule_is_not_below_its_floor() -> None:
    run = train(LaSVM(gamma=2.0), moons(), rule="uniform", guard=Guard(floor=0.6), warmstart=300, batch=150, nodes=1)
    assert run.learned.p.min() >= 0.6


def test_an_iterable_is_not_read_further_than_it_can_go_back() -> None:
    pairs = zip(X, Y, strict=True)
    stream = IterableStream(pairs, classes=(-1, 1), length=2400, window=1000)
    run = train(LaSVM(gamma=1.0), stream, rule="uniform", warmstart=300, batch=200, nodes=1)
    assert run.seen == 2400
    assert run.learned.p.min() > 0.02


@pytest.mark.parametrize("rule", [PaperMargin, SignedMargin, LeastMargin])
@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
def test_eta_is_fitted_so_that_a_fifth_is_selected_at_any_scale(rule: Any, scale: float) -> None:
    score = scale * np.random.default_rng(0).uniform(0.1, 2.0, 500)
    y, seen = np.ones(500, np.int8), np.full(500, 4096)
    found = fitted(rule, score, y, seen=4096)
    p = found.probability(score, seen, y) if found.needs_labels is True else found.probability(score, seen)
    assert p.mean() == pytest.approx(RATE, rel=0.02)


def test_scores_that_are_all_wrong_give_the_default_eta() -> None:
    assert fitted(SignedMargin, -np.ones(9), np.ones(9, np.int8), seen=100) == SignedMargin()


def test_too_few_early_examples_give_the_default_eta() -> None:
    assert calibrated(Margin, LaSVM(gamma=1.0), moons().read(0, 19), warmstart=300) == Margin()
    assert calibrated(Margin, LaSVM(gamma=1.0), moons().read(0, 300), warmstart=300) != Margin()
