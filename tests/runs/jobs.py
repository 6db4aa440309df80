"""Runs that the tests of train, resume and replay share: learners, streams, and parts of a user's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from making import two_moons
from paraactive import Arrays, Digits, LaSVM, Network, train
from paraactive.basics.state import State, digest
from paraactive.data.events import Round
from paraactive.data.examples import Doubles, Examples, Floats, Ints, Selected
from paraactive.learners import Learner
from paraactive.rules import Gradient, PaperMargin, Passive, Uniform
from paraactive.runs.run import Run
from paraactive.streams import Stream

X, Y = two_moons(2400, noise=0.3, seed=0)


BATCH: dict[str, Any] = {"batch": 200, "warmstart": 200}


def moons(**options: Any) -> Arrays:
    return Arrays(X, Y, **options)


def svm() -> LaSVM:
    return LaSVM(gamma=1.0, gap=0.2)


JOBS: dict[str, tuple[Callable[[], Learner], Callable[[], Stream], dict[str, Any]]] = {
    "svm on arrays": (svm, moons, BATCH),
    "svm on digits": (lambda: LaSVM(gamma=0.012, gap=0.2), Digits, {**BATCH, "examples": 1500}),
    "network": (lambda: Network(hidden=20), lambda: moons(passes=2), {**BATCH, "rule": Gradient(), "nodes": 7}),
    "sequential": (svm, moons, {**BATCH, "rule": PaperMargin(0.2), "schedule": "sequential"}),
    "passive": (svm, moons, {**BATCH, "rule": Passive(), "examples": 800}),
    "no warmstart": (svm, moons, {"batch": 200, "warmstart": 0, "examples": 800}),
    "warmstart only": (svm, moons, {"batch": 10, "warmstart": 300, "examples": 200}),
    "nothing selected": (svm, moons, {**BATCH, "rule": Uniform(1e-9), "examples": 800}),
}


def do(job: str, out: Path | None) -> Run:
    learner, stream, options = JOBS[job]
    return train(learner(), stream(), **options, out=out)


def no_times(ended: Round) -> dict[str, Any]:
    """Nor what a node chose to compute, which follows from what it counted since it began."""
    times = {"fetch_seconds": 0, "sift_seconds": 0, "update_seconds": 0, "elapsed": dict.fromkeys(ended.elapsed, 0.0)}
    return times | {"scored": 0, "nodes": ()}


class Centroids:
    """A learner of the user's own: the weighted mean of each class."""

    def __init__(self) -> None:
        self.sums = np.zeros((2, 3))

    def score(self, x: Floats) -> Doubles:
        means = self.sums[:, :2] / np.maximum(self.sums[:, 2:], 1e-9)
        away = ((x[:, None, :] - means) ** 2).sum(axis=2)
        return away[:, 0] - away[:, 1]

    def update(self, selected: Selected) -> None:
        for x, y, weight in zip(selected.examples.x, selected.examples.y, selected.weight, strict=True):
            self.sums[int(y > 0)] += weight * np.array([*x, 1.0])

    def end_round(self) -> None:
        self.sums *= 0.99

    def save(self) -> State:
        return {"sums": self.sums.copy()}

    def load(self, state: State) -> None:
        self.sums = state["sums"].copy()

    def digest(self) -> str:
        return digest(self.save())

    def describe(self) -> dict[str, Any]:
        return {}


@dataclass(frozen=True)
class Tent:
    """A rule of the user's own."""

    needs_labels: ClassVar[Literal[False]] = False
    needs_scores: ClassVar[bool] = True

    def probability(self, score: Doubles, seen: Ints) -> Doubles:
        return np.maximum(1 - np.abs(score), 0.05)

    def describe(self) -> dict[str, Any]:
        return {}


class Endless:
    """A stream of the user's own that never ends."""

    width, length, classes, regenerates = 2, None, ("no", "yes"), False

    def read(self, first: int, last: int) -> Examples:
        return self.at(np.arange(first, last))

    def at(self, index: Ints) -> Examples:
        return Examples(X[index % 2400], Y[index % 2400], index)
