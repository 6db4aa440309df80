"""The settings of ours in `bench_svc`, chosen on digits that are neither learned nor in the test set.

The last original training digits of a task are put aside. Each candidate learns the others, and is judged on those put
aside: in two classes by whether it reaches two targets, which are as rare among them as the mistakes of the task among
the test digits, and by the seconds to them; in ten classes by the mistakes after one pass.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.measuring import time_to
from paraactive import Digits, LaSVM, train
from paraactive.data.examples import Examples, Ints
from paraactive.rules import LeastMargin, SignedMargin
from paraactive.runs.run import Run

GAMMA = 0.012
SLOPES, BATCHES = (0.1, 0.2, 0.4), (2048, 4096)
"""Candidates in two classes: eta of SignedMargin, and examples in a round."""
TEN_SLOPES = (0.1, 0.15, 0.2, 0.3)
"""Candidates in ten classes: eta of LeastMargin with theta=0."""
TEST_DIGITS = 4065
"""Of the task in two classes."""
_ASIDE, _TEN_ASIDE = 4559, 10_000
_MOST = 150_000
"""Examples after which a run gives up."""


@dataclass(frozen=True)
class Settings:
    """Settings of a run in two classes."""

    eta: float
    batch: int

    def __str__(self) -> str:
        return f"`SignedMargin({self.eta:g})`, rounds of {self.batch:,}"


@dataclass(frozen=True)
class Part:
    """The stream of some digits without the last originals, and without their deformed copies."""

    digits: Digits
    aside: int
    regenerates = False

    @property
    def width(self) -> int:
        """Number of features."""
        return self.digits.width

    @property
    def length(self) -> int | None:
        """It never ends."""
        return None

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes."""
        return self.digits.classes

    def read(self, first: int, last: int) -> Examples:
        """The examples of a range of positions."""
        return self.at(np.arange(first, last))

    def at(self, index: Ints) -> Examples:
        """The examples at these positions."""
        originals = self.digits.originals
        passes, place = np.divmod(index, originals - self.aside)
        return replace(self.digits.at(passes * originals + place), index=index)

    def put_aside(self) -> Examples:
        """The originals that are not in the stream."""
        return self.digits.read(self.digits.originals - self.aside, self.digits.originals)


def small_run(stream: Any, seed: int, examples: int, nodes: int, settings: Settings, **more: Any) -> Run:
    """A run of the task in two classes."""
    return train(
        LaSVM(C=1, gamma=GAMMA, gap=0.1), stream, rule=SignedMargin(settings.eta), examples=examples, seed=seed,
        nodes=nodes, batch=settings.batch, warmstart=1024, select=None, engine="threads", **more,
    )  # fmt: skip


def ten_run(stream: Any, eta: float, examples: int, nodes: int, **more: Any) -> Run:
    """A run of the task in ten classes."""
    return train(
        LaSVM(C=1, gamma=GAMMA, gap=0.2), stream, rule=LeastMargin(eta, theta=0.0), examples=examples, nodes=nodes,
        engine="threads", **more,
    )  # fmt: skip


def seconds_to_targets(settings: Settings, seed: int, targets: tuple[int, ...]) -> list[float | None]:
    """Seconds of one node until these mistakes, scaled to the digits put aside. None if it gives up before."""
    part = Part(Digits(seed=seed), _ASIDE)
    scaled = [target * _ASIDE / TEST_DIGITS for target in targets]

    def reached(run: Run) -> bool:
        return time_to(run, min(scaled))["seconds"] is not None

    run = small_run(part, seed, _MOST, 1, settings, test=part.put_aside(), stop=reached)
    return [time_to(run, target)["seconds"] for target in scaled]


def choose(targets: tuple[int, ...], seeds: int) -> dict[str, Any]:
    """The settings that miss the targets least often, and of those the fastest; and all that were tried.

    The fastest have the smallest geometric mean over the targets of the mean time over the seeds.
    """
    tried = dict[str, dict[str, Any]]()
    order = dict[Settings, tuple[int, float]]()
    for settings in (Settings(eta, batch) for eta in SLOPES for batch in BATCHES):
        runs = [seconds_to_targets(settings, seed, targets) for seed in range(seeds)]
        reached = [[each for each in times if each is not None] for times in zip(*runs, strict=True)]
        missed = sum(seeds - len(times) for times in reached)
        means = [float(np.mean(times)) if times else None for times in reached]
        tried[str(settings)] = {"seconds": means, "missed": missed}
        order[settings] = missed, float(np.prod([np.inf if mean is None else mean for mean in means]))
    best = min(order, key=order.__getitem__)
    return {"eta": best.eta, "batch": best.batch, "seeds": seeds, "tried": tried}


def choose_ten(rows: int) -> dict[str, Any]:
    """The steepest rule whose mistakes are within a standard error of the fewest; and all that were tried."""
    digits = Digits.all()
    part = Part(digits, _TEN_ASIDE)
    tried = dict[float, int]()
    for eta in TEN_SLOPES:
        run = ten_run(part, eta, min(rows, digits.originals - _TEN_ASIDE), 1, test=part.put_aside())
        tried[eta] = run.evaluations[-1].mistakes
    fewest = min(tried.values())
    chosen = max(eta for eta, mistakes in tried.items() if mistakes <= fewest + fewest**0.5)
    return {"eta": chosen, "tried": {str(eta): mistakes for eta, mistakes in tried.items()}}
