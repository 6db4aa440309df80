"""The effect of delays on IWAL, by Monte Carlo: error and labels for several delays, beside the bounds of the theorems.

Everything about the problem is known. x is uniform on [0, 1]. The label is that of x > 0.4 with probability (1 + m)/2,
m = min(0.8, 8 |x - 0.4|): it is never certain, and a fair coin at the cut. The hypotheses are thresholds at equal
distances. The error of a threshold at distance d from 0.4 exceeds the least error by the integral of m over that
distance, which is 4 d^2 up to d = 0.1. The disagreement coefficient theta is 2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paraactive import theory
from paraactive.basics.validation import whole
from paraactive.data.examples import Doubles, Ints
from paraactive.errors import InputError, counted
from paraactive.experiments.paper.claims import decided
from paraactive.experiments.paper.experiment import ExperimentResult
from paraactive.report import Axis, Chart, Curve

CUT, SLOPE, MOST_CERTAIN = 0.4, 8.0, 0.8
THETA, DELTA = 2.0, 0.05
# Mean of the random delays, in examples.
MEAN_DELAY = 100
DELAYS = ("1", "10", "100", "1000", "random")
_MAX_STEPS = 50_000_000
# Theorem 2 as printed, with 1 for the hidden constant.
_ONE = theory.Constants(1, 1, 0)


@dataclass(frozen=True)
class Point:
    """Results for one delay at one step, over all seeds.

    Parameters
    ----------
    t : int
        The step.
    error : float
        Mean of err(h_t) - err(h*).
    error_spread : float
        Standard deviation of this error over seeds.
    error_bound : float or None
        Bound of Theorem 1; None where it is infinite.
    queries : float
        Mean number of labels asked for.
    queries_spread : float
        Standard deviation of this number over seeds.
    queries_bound : float
        Bound of Theorem 2, with the constants of its proof.
    queries_bound_one : float
        Theorem 2 with 1 for its hidden constant. This is the shape of the bound, not a bound.
    """

    t: int
    error: float
    error_spread: float
    error_bound: float | None
    queries: float
    queries_spread: float
    queries_bound: float
    queries_bound_one: float


@dataclass(frozen=True)
class Delayed:
    """Results for one delay, over all seeds.

    Parameters
    ----------
    delay : str
        The delay in examples, or "random".
    largest : int
        Bound on the delay, which the theorems use.
    within : float
        Share of the runs whose error is within Theorem 1 at all steps.
    points : list of Point
        Results at several steps.
    """

    delay: str
    largest: int
    within: float
    points: list[Point]

    @property
    def named(self) -> str:
        """The delay in words."""
        return f"random, mean {MEAN_DELAY}" if self.delay == "random" else f"delay {self.delay}"


@dataclass(frozen=True)
class DelaysResult:
    """Result of the experiment on delays.

    Parameters
    ----------
    steps : int
        Number of examples.
    seeds : int
        Number of seeds.
    hypotheses : int
        Number of thresholds.
    c0 : float
        C0 of the algorithm.
    sufficient_c0 : float
        Smallest C0 for which the theorems hold with probability 1 - delta. For a smaller C0 they are only formulas.
    delta : float
        Probability with which a theorem may fail.
    theta : float
        Disagreement coefficient.
    best_error : float
        Error of the best threshold.
    delays : list of Delayed
        Results for each delay.
    """

    steps: int
    seeds: int
    hypotheses: int
    c0: float
    sufficient_c0: float
    delta: float
    theta: float
    best_error: float
    delays: list[Delayed]

    def summary(self) -> dict[str, Any]:
        """Return the result as a dictionary for JSON.

        Returns
        -------
        dict
            All fields.
        """
        return asdict(self)

    def charts(self) -> list[Chart]:
        """Draw error and sampling rate for each delay, with the bounds of the case without delay.

        Returns
        -------
        list of Chart
            Two charts.
        """
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
            Chart("delays-rate", "Share of labels asked for", seen, Axis("sampling rate", log=True), rate, of),
        ]

    def to_experiment_result(self) -> ExperimentResult:
        """Return the result in the form of the other experiments.

        Returns
        -------
        ExperimentResult
            Charts, claims and notes.
        """
        none, worst = self.delays[0], max(self.delays, key=lambda each: each.points[-1].queries)
        more = worst.points[-1].queries / none.points[-1].queries - 1
        apart = max(each.points[-1].error for each in self.delays) - none.points[-1].error
        held = min(each.within for each in self.delays)
        settled = self.steps > 10 * max(each.largest for each in self.delays)
        claims = [
            decided(
                "Delays cost few labels once the number of examples seen is well above the delay.",
                more < 0.05 if settled else None,
                f"at most {more:.1%} more labels than without delay ({worst.named}), after {self.steps:,} examples",
            ),
            decided(
                "Delays cost little accuracy.",
                apart <= max(none.points[-1].error_spread, 1e-3) if settled else None,
                f"the error is at most {apart:.5f} above the error without delay",
            ),
            decided(
                "Theorem 1 bounds the error at every step.",
                held == 1.0,
                f"the bound held at all steps in at least {held:.0%} of the runs of each delay; the theorem needs "
                f"C0 >= {self.sufficient_c0:.0f}, here C0 = {self.c0:g}",
            ),
        ]
        notes = [
            f"IWAL with delays (Algorithm 3) on {self.hypotheses} thresholds, {self.steps:,} examples, {self.seeds} "
            f"seeds. Random delays have a mean of {MEAN_DELAY}.",
            "Theorem 2 is drawn with the constants of its proof, and with 1 for the constant that the paper hides. The "
            "second curve is not a bound.",
        ]
        return ExperimentResult(
            "The effect of delays on IWAL", self.charts(), claims, (), notes, details=self.summary()
        )


def reproduce_delays(
    *, steps: int = 100_000, seeds: int = 20, hypotheses: int = 501, c0: float = 2.0,
    progress: Callable[[float], None] = lambda _: None,
) -> DelaysResult:  # fmt: skip
    """Run Algorithm 3 with each delay, on the same examples and coins.

    Parameters
    ----------
    steps : int, optional
        Number of examples, at least 100. Default: 100000.
    seeds : int, optional
        Number of seeds, at least 2. Default: 20.
    hypotheses : int, optional
        Number of thresholds, at least 2. Default: 501.
    c0 : float, optional
        C0 of the algorithm, at least 2. Default: 2.
    progress : callable, optional
        Called after each run with the finished share of the work, from 0 to 1.

    Returns
    -------
    DelaysResult
        Errors, labels and bounds.

    Raises
    ------
    InputError
        If a parameter is out of range.
    """
    steps, seeds = whole("steps", steps, 100), whole("seeds", seeds, 2)
    if steps > _MAX_STEPS:
        raise InputError(f"steps is {steps}", why="all steps are in memory", remedy=f"give steps <= {_MAX_STEPS}")
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
    """Return the error of thresholds: err(h) = err(h*) + integral of m from the best cut to that of h.

    The least error is err(h*) = (1 - E m)/2.

    Parameters
    ----------
    cuts : array of float64
        The thresholds.

    Returns
    -------
    array of float64
        Probability that each threshold predicts the wrong label.

    Examples
    --------
    >>> true_error(np.array([0.0, 0.4, 0.5])).round(3).tolist()
    [0.42, 0.14, 0.18]
    """
    least = (1.0 - float(_integral(CUT) + _integral(1.0 - CUT))) / 2.0
    return least + _integral(np.abs(cuts - CUT))


def _certainty(x: Doubles) -> Doubles:
    """Return m at each x."""
    return np.minimum(MOST_CERTAIN, SLOPE * np.abs(x - CUT))


def _integral(distance: ArrayLike) -> Doubles:
    """Return the integral of m from the cut to this distance."""
    distance = np.asarray(distance, np.float64)
    near = np.minimum(distance, MOST_CERTAIN / SLOPE)
    return SLOPE * near**2 / 2 + MOST_CERTAIN * (distance - near)


def _examples(seed: int, steps: int, cuts: Doubles) -> tuple[theory.Predictions, NDArray[np.bool_]]:
    rng = np.random.default_rng(seed)
    x = rng.random(steps)
    y = (x > CUT) ^ (rng.random(steps) > (1 + _certainty(x)) / 2)
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
