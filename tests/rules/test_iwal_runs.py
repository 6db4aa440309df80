"""IWAL as a rule, with real learners: in every schedule, and with the probability that it says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from disk import sql
from making import two_moons
from paraactive import Arrays, LaSVM, Network, replay, train
from paraactive.basics.state import State, digest
from paraactive.data.examples import Doubles, Floats, Selected
from paraactive.engines import Cluster
from paraactive.learners import Learner
from paraactive.rules import IwalMargin
from paraactive.theory import query_probability

X, Y = two_moons(3000, noise=0.1, seed=0)


class Means:
    """A learner of a user's own: the weighted mean of each class; f(x) is how much nearer the mean of +1 is."""

    def __init__(self) -> None:
        self.sums = np.zeros((2, 3))

    def score(self, x: Floats) -> Doubles:
        low, high = self.sums[:, :2] / np.maximum(self.sums[:, 2:], 1e-9)
        return ((x - low) ** 2 - (x - high) ** 2) @ np.ones(2)

    def update(self, selected: Selected) -> None:
        for x, y, weight in zip(selected.examples.x, selected.examples.y, selected.weight, strict=True):
            self.sums[int(y > 0)] += weight * np.array([*x, 1.0])

    def end_round(self) -> None:
        pass

    def save(self) -> State:
        return {"sums": self.sums.copy()}

    def load(self, state: State) -> None:
        self.sums = state["sums"].copy()

    def digest(self) -> str:
        return digest({"sums": self.sums})

    def describe(self) -> dict[str, Any]:
        return {}


LEARNERS: dict[str, Callable[[], Learner]] = {
    "svm": lambda: LaSVM(gamma=2.0, gap=0.2),
    "network": lambda: Network(hidden=20, step=0.5),
    "own": Means,
}


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("schedule", ["synchronous", "asynchronous", "sequential"])
def test_every_learner_runs_with_it_in_every_schedule(learner: str, schedule: str, tmp_path: Path) -> None:
    out, nodes = tmp_path / "run.db", 1 if schedule == "sequential" else 3
    costs = Cluster(sift_seconds=1e-3, update_seconds=1e-3)
    run = train(
        LEARNERS[learner](), Arrays(X, Y), rule=IwalMargin(2), warmstart=300, batch=300, nodes=nodes, schedule=schedule,
        engine="simulated", cluster=costs, out=out,
    )  # fmt: skip
    assert 0.02 < run.sampling_rate < 0.95
    assert np.mean((run.learner.score(X) > 0) == (Y > 0)) > (0.95 if learner == "svm" else 0.75)
    ((least, most),) = sql(out, "SELECT min(p), max(p) FROM entries WHERE seen > 0")
    assert 0 < least < 0.9
    assert most <= 1
    assert replay(out, learner=None if learner != "own" else Means()).learner.digest() == run.learner.digest()


@pytest.mark.parametrize("learner", LEARNERS)
def test_p_is_that_of_iwal_with_the_margin_for_the_gap(learner: str, tmp_path: Path) -> None:
    out, data = tmp_path / "run.db", Arrays(X, Y)
    train(LEARNERS[learner](), data, rule=IwalMargin(3), warmstart=2000, batch=500, examples=2500, out=out)
    knew = train(LEARNERS[learner](), data, warmstart=2000, examples=2000).learner
    rows = sql(out, "SELECT position, p, seen FROM entries WHERE sequence >= 2000 ORDER BY sequence")
    position, p, seen = (np.array(column) for column in zip(*rows, strict=True))
    assert len(p) > 20
    assert set(seen) == {2000}
    gap = np.minimum(np.abs(knew.score(data.at(position.astype(np.int64)).x)), 1.0)
    np.testing.assert_allclose(p, query_probability(gap, seen, c0=3), rtol=1e-12)


def test_a_larger_c0_selects_more() -> None:
    rates = [
        train(LaSVM(gamma=2.0), Arrays(X, Y), rule=IwalMargin(c0), warmstart=300, batch=300).sampling_rate
        for c0 in (2, 8, 32)
    ]
    assert rates == sorted(rates)
    assert rates[0] < 0.7 * rates[-1]
