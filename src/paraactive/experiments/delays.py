"""What delays do to IWAL, by Monte Carlo: error and labels for several delays, beside what the theorems promise.

The problem is one on which all is known: x is uniform on [0, 1], and the label is that of x > 0.4 with probability
(1 + m)/2, m = min(0.8, 8 |x - 0.4|): never sure, and a toss at the cut. The class is thresholds at equal distances. A
threshold at distance d from 0.4 errs more than the best by the integral of m over that distance, 4 d^2 up to d = 0.1;
theta is 2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from paraactive import theory
from paraactive.basics.validation import whole
from paraactive.data.examples import Doubles, Ints
from paraactive.errors import InputError, counted
from paraactive.experiments.paper.curves import decided
from paraactive.experiments.paper.experiment import ExperimentResult
from paraactive.report import Axis, Chart, Curve

CUT, STEEP, SUREST = 0.4, 8.0, 0.8
THETA, DELTA = 2.0, 0.05
MEAN_DELAY = 100
"""Of the random delays."""
DELAYS = ("1", "10", "100", "1000", "random")
_MOST_STEPS = 50_000_000
_ONE = theory.Constants(1, 1, 0)
"""Theorem 2 as printed, with 1 for the constant that it hides."""


@dataclass(frozen=True)
class Point:
    """One delay at one step, over all seeds."""

    t: int
    error: float
    """Mean of err(h_t) - err(h*)."""
    error_spread: float
    """Its standard deviation from seed to seed."""
    error_bound: float | None
    """Theorem 1; None where it promises nothing yet."""
    queries: float
    """Mean number of labels asked for."""
    queries_spread: float
    queries_bound: float
    """Theorem 2, with the constants of its proof."""
    queries_bound_one: float
    """Theorem 2 with 1 for its hidden constant: not a bound, only its shape."""


@dataclass(frozen=True)
class Delayed:
    """One delay, over all seeds."""

    delay: str
    largest: int
    """The bound on the delay that the theorems are used with."""
    within: float
    """Share of the runs that kept to Theorem 1 at all steps."""
    points: list[Point]

    @property
    def named(self) -> str:
        """For people."""
        return f"random, mean {MEAN_DELAY}" if self.delay == "random" else f"delay {self.delay}"


@dataclass(frozen=True)
class DelaysResult:
    """All of the experiment."""

    steps: int
    seeds: int
    hypotheses: int
    c0: float
    sufficient_c0: float
    """From which on the theorems are promises, with probability 1 - delta; for a smaller C0 they are formulas."""
    delta: float
    theta: float
    best_error: float
    delays: list[Delayed]

    def summary(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self)

    def charts(self) -> list[Chart]:
        """Error and sampling rate for each delay, with the bounds of the undelayed case."""
        first, named = self.delays[0].points, [(each.named, each.points) for each in self.delays]
        error = [
            *(Curve(name, [(p.t, p.error) for p in points], i) for i, (name, points) in enumerate(named)),
            Curve("Theorem 1", [(p.t, p.error_bound) for p in first if p.error_bound], 6, dashed=True),
        ]
        rate = [
            *(Curve(name, [(p.t, p.queries / p.t) for p in points], i) for i, (name, points) in enumerate(named)),
            Curve("Theorem 2", [(p.t, p.queries_bound / p.t) for p in first], 6, dashed=True),
            Curve("Theorem 2, O(1) = 1", [(p.t, p.queries_bound_one / p.t) for p in first], 5, dashed=True),
        ]
        seen, of = Axis("examples seen", log=True), f"Mean of {counted(self.seeds, 'seed')}."
        return [
            Chart("delays-error", "Error above the best possible", seen, Axis("err(h) - err(h*)", log=True), error, of),
            Chart("delays-rate", "Labels asked for, of all", seen, Axis("sampling rate", log=True), rate, of),
        ]

    def to_experiment_result(self) -> ExperimentResult:
        """All of it, in the form of the other experiments."""
        none, worst = self.delays[0], max(self.delays, key=lambda each: each.points[-1].queries)
        more = worst.points[-1].queries / none.points[-1].queries - 1
        apart = max(each.points[-1].error for each in self.delays) - none.points[-1].error
        held = min(each.within for each in self.delays)
        settled = self.steps > 10 * max(each.largest for each in self.delays)
        claims = [
            decided(
                "Delays cost hardly any labels, once more examples were seen than the delay is long.",
                more < 0.05 if settled else None,
                f"at most {more:.1%} more labels than without delay ({worst.named}), after {self.steps:,} examples",
            ),
            decided(
                "Delays cost hardly any accuracy.",
                apart <= max(none.points[-1].error_spread, 1e-3) if settled else None,
                f"errors are at most {apart:.5f} above those without delay",
            ),
            decided(
                "Theorem 1 bounds the error at every step.",
                held == 1.0,
                f"it held at all steps in {held:.0%} of the runs of each delay; it is a promise only from "
                f"C0 = {self.sufficient_c0:.0f} on, here C0 = {self.c0:g}",
            ),
        ]
        notes = [
            f"IWAL with delays (Algorithm 3) on {self.hypotheses} thresholds, {self.steps:,} examples, {self.seeds} "
            f"seeds. Random delays have a mean of {MEAN_DELAY}.",
            "Theorem 2 is shown with the constants of its proof, and with 1 for the constant that the paper hides, "
            "which is no bound.",
        ]
        return ExperimentResult("What delays cost IWAL", self.charts(), claims, (), notes, details=self.summary())


def reproduce_delays(
    *, steps: int = 100_000, seeds: int = 20, hypotheses: int = 501, c0: float = 2.0,
    progress: Callable[[float], None] = lambda _: None,
) -> DelaysResult:  # fmt: skip
    """Run Algorithm 3 with each delay on the same examples and coins, for each seed.

    `progress` is told after each run how much is done, from 0 to 1.
    """
    steps, seeds = whole("steps", steps, 100), whole("seeds", seeds, 2)
    if steps > _MOST_STEPS:
        raise InputError(f"steps is {steps}", why="they are held in memory", remedy=f"give steps <= {_MOST_STEPS}")
    iwal, cuts = theory.Iwal(c0), np.linspace(0, 1, whole("hypotheses", hypotheses, 2))
    error = true_error(cuts)
    excess, best = error - error.min(), float(error.min())
    at = np.unique(np.geomspace(min(100, steps), steps, 25).astype(np.int64))
    errors, queries = np.zeros((2, len(DELAYS), seeds, len(at)))
    within = np.zeros((len(DELAYS), seeds))
    for seed in range(seeds):
        predictions, y = _examples(seed, steps, cuts)
        for number, delay in enumerate(DELAYS):
            run = iwal.run(predictions, y, delays=_delays(delay, steps, seed), seed=seed)
            made = excess[run.best]
            errors[number, seed], queries[number, seed] = made[at - 1], np.cumsum(run.queried)[at - 1]
            within[number, seed] = np.all(made <= theory.generalization_bound(run.n, c0))
            progress((seed * len(DELAYS) + number + 1) / (seeds * len(DELAYS)))
    delayed = [
        _summed(delay, at, errors[number], queries[number], float(within[number].mean()), c0, best)
        for number, delay in enumerate(DELAYS)
    ]
    return DelaysResult(
        steps, seeds, len(cuts), c0, theory.sufficient_c0(len(cuts), DELTA), DELTA, THETA, best, delayed
    )


def true_error(cuts: Doubles) -> Doubles:
    """err(h) = err(best) + integral of m from the best cut to that of h, err(best) = (1 - E m)/2.

    >>> true_error(np.array([0.0, 0.4, 0.5])).round(3).tolist()
    [0.42, 0.14, 0.18]
    """
    least = (1.0 - float(_integral(CUT) + _integral(1.0 - CUT))) / 2.0
    return least + _integral(np.abs(cuts - CUT))


def _sureness(x: Doubles) -> Doubles:
    return np.minimum(SUREST, STEEP * np.abs(x - CUT))


def _integral(distance: Any) -> Any:
    """Of the sureness, from the cut to this distance."""
    near = np.minimum(distance, SUREST / STEEP)
    return STEEP * near**2 / 2 + SUREST * (distance - near)


def _examples(seed: int, steps: int, cuts: Doubles) -> tuple[theory.Predictions, Any]:
    rng = np.random.default_rng(seed)
    x = rng.random(steps)
    y = (x > CUT) ^ (rng.random(steps) > (1 + _sureness(x)) / 2)
    return theory.Thresholds(cuts).on(x), y


def _delays(delay: str, steps: int, seed: int) -> Ints:
    if delay == "random":
        return theory.random_delays(MEAN_DELAY, steps, seed)
    return theory.constant_delays(int(delay), steps)


def _summed(delay: str, at: Ints, errors: Doubles, queries: Doubles, within: float, c0: float, best: float) -> Delayed:
    steps = int(at[-1])
    largest = theory.random_delay_bound(MEAN_DELAY, steps, DELTA) if delay == "random" else int(delay)
    error_bound = theory.delayed_generalization_bound(at, largest, c0)
    known = np.maximum(np.arange(1, steps + 1) - largest, 0)
    proven, one = (
        theory.label_complexity_bound(known, c0, THETA, best, constants=constants)[at - 1]
        for constants in (theory.PROVEN, _ONE)
    )
    points = [
        Point(
            int(t), float(errors[:, i].mean()), float(errors[:, i].std(ddof=1)),
            float(error_bound[i]) if np.isfinite(error_bound[i]) else None,
            float(queries[:, i].mean()), float(queries[:, i].std(ddof=1)), float(proven[i]), float(one[i]),
        )
        for i, t in enumerate(at)
    ]  # fmt: skip
    return Delayed(delay, largest, within, points)
