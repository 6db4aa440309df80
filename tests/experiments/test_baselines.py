"""Comparison with passive learning."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from making import two_moons
from paraactive import Arrays, Network, train
from paraactive.data.events import Event, Round
from paraactive.experiments import compare_with_passive
from paraactive.rules import PaperMargin
from paraactive.runs.run import Run, clock

X, Y = two_moons(1200, noise=0.3, seed=0)


@pytest.fixture(scope="module")
def active() -> Run:
    return train(
        Network(hidden=8), Arrays(X, Y), rule=PaperMargin(0.1), test=(X[:300], Y[:300]), batch=200, warmstart=200,
        engine="simulated", nodes=2,
    )  # fmt: skip


def test_passive_learning_stops_when_it_makes_as_few_mistakes(active: Run, tmp_path: Path) -> None:
    np.savez(tmp_path / "test.npz", x=X[:300], y=Y[:300])
    easy = replace(active, evaluations=[replace(active.evaluations[-1], mistakes=300)])
    rounds: list[int] = []

    def note(event: Event) -> None:
        if isinstance(event, Round):
            rounds.append(event.number)

    found = compare_with_passive(easy, Network(hidden=8), Arrays(X, Y), tmp_path / "test.npz", seed=0, observers=[note])
    assert found.reached
    assert found.passive.seen < active.seen
    assert rounds


def test_speedups_divide_the_passive_time_by_the_active_time(active: Run) -> None:
    hard = replace(active, evaluations=[replace(active.evaluations[-1], mistakes=-1)])
    found = compare_with_passive(hard, Network(hidden=8), Arrays(X, Y), False, seed=0, observers=[])
    assert not found.reached
    assert found.passive.seen == active.seen
    assert found.passive.selected == active.seen - 200, "passive learning selects every example"
    assert found.speedups(active) == {k: clock(found.passive.rounds)[1] / s for k, s in active.simulated.items()}
