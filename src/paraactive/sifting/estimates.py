"""What a run knows about its own models: unbiased estimates of their error, from the log alone; see `measurements`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from paraactive.sifting.confidence import Interval, interval_of_mean
from paraactive.sifting.measurements import SUMS, Measurements, RoundSums

_FIRST_EXAMPLES = 2000.0
"""Fewest examples from which the error after the warmstart is estimated."""


@dataclass(frozen=True)
class Estimates:
    """Estimates from the scores that examples had before they were learned, weighted by 1/p.

    An `Interval` has a value and a 95% confidence interval that holds for adaptive selection and at all times; see
    `sifting.confidence`.

    Parameters
    ----------
    examples : int
        Number of examples of the stream behind the estimates.
    error : Interval
        Mean error of all models on the way.
    loss : Interval
        Mean loss of all models on the way: the logistic loss if scores are log-odds, otherwise the hinge loss.
    recent_examples : int
        Number of examples behind the recent error: the last quarter.
    recent_error : Interval
        Mean error of the recent models: the estimate of the error of the latest model.
    first_error : Interval or None
        Error of the model after the warmstart: that of the models in the first rounds. None if nothing was sifted.
    weighted_error, first_weighted_error : Interval and Interval or None
        `recent_error` and `first_error` with each example counted by its importance: the weight of its row and of its
        class. The same as these if all importances are 1.
    class_errors : dict of str to float
        Recent error on the examples of each class. Classes that were not seen are left out.
    commonest : str
        The commonest class.
    commonest_error : float
        Error of always predicting the commonest class.
    commonest_weighted_error : float
        The smallest error of always predicting one class, with each example counted by its importance.
    is_weighted : bool
        Whether any importance is not 1.
    effective_size : float
        Effective sample size of the weights with which selected examples were learned, (sum w)^2 / sum w^2, without the
        warmstart.
    selected : int
        Number of selected examples, without the warmstart.
    scale : float
        Mean scale of p that follows from the budget. 1 if there is no budget or it did not bind.
    """

    examples: int
    error: Interval
    loss: Interval
    recent_examples: int
    recent_error: Interval
    first_error: Interval | None
    weighted_error: Interval
    first_weighted_error: Interval | None
    class_errors: dict[str, float]
    commonest: str
    commonest_error: float
    commonest_weighted_error: float
    is_weighted: bool
    effective_size: float
    selected: int
    scale: float

    @property
    def theta(self) -> float:
        """The noise that noise-aware rules use: the recent error, weighted by importance."""
        return self.weighted_error.value

    def summary(self) -> dict[str, Any]:
        """All figures, for JSON. An interval is [value, low, high]."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: list(each) if isinstance(each, Interval) else each for name, each in plain.items()} | {
            "theta": self.theta
        }


def estimates_of(measured: Measurements, classes: Sequence[str]) -> Estimates | None:
    """Read the estimates from the sums of a run.

    Parameters
    ----------
    measured : Measurements
        The sums.
    classes : sequence of str
        Names of the classes.

    Returns
    -------
    Estimates or None
        None if no score is known, as in run files of paraactive 0.2.
    """
    everything = measured.between(0)
    if not everything.sums["examples"]:
        return None
    recent, sifted = measured.between(measured.recent_round()), measured.between(1)
    first, mean = _first_rounds(measured), measured.mean_importance
    by_class, weight_of_class = everything.by_class[2:]
    commonest = int(by_class.argmax())
    weight, squares = sifted.sums["weight"], sifted.sums["weight_squares"]
    return Estimates(
        examples=int(everything.sums["examples"]),
        error=_error(everything),
        loss=_interval(everything, "loss", everything.heaviest["loss"], most=None),
        recent_examples=int(recent.sums["examples"]),
        recent_error=_error(recent),
        first_error=None if first is None else _error(first),
        weighted_error=_weighted_error(recent, mean),
        first_weighted_error=None if first is None else _weighted_error(first, mean),
        class_errors=_class_errors(recent, classes),
        commonest=classes[commonest],
        commonest_error=float(1.0 - by_class[commonest] / by_class.sum()),
        commonest_weighted_error=float(1.0 - weight_of_class.max() / weight_of_class.sum()),
        is_weighted=everything.sums["uneven"] > 0.0,
        effective_size=weight**2 / squares if squares else 0.0,
        selected=int(sifted.sums["selected"]),
        scale=float(measured.scales[1:].mean()) if len(measured.scales) > 1 else 1.0,
    )


def errors_on_the_way(measured: Measurements, most: int = 30) -> list[tuple[float, float]]:
    """Estimate the error of the models over time.

    Parameters
    ----------
    measured : Measurements
        The sums.
    most : int, default=30
        Largest number of points. Rounds are merged into groups of about equal size.

    Returns
    -------
    list of tuple of (float, float)
        Number of examples seen at the end of a group of rounds, and the estimated error in this group.
    """
    count = len(measured.rounds)
    edges: list[int] = np.unique(np.linspace(1, count, most + 1).astype(int)).tolist() if count else []
    found: list[tuple[float, float]] = []
    for first, last in pairwise(edges):
        sums = measured.between(first, last).sums
        if sums["examples"]:
            found.append((float(measured.rounds[last - 1, len(SUMS)]), sums["wrong"] / sums["examples"]))
    return found


def _interval(rounds: RoundSums, name: str, heaviest: float, most: float | None = 1.0, unit: float = 1.0) -> Interval:
    sums = rounds.sums
    return interval_of_mean(
        sums[name] / unit, sums[f"{name}_squares"] / unit**2, heaviest / unit, sums["examples"], most
    )


def _error(rounds: RoundSums) -> Interval:
    return _interval(rounds, "wrong", max(rounds.heaviest["wrong"], 1.0))


def _weighted_error(rounds: RoundSums, mean_importance: float) -> Interval:
    return _interval(rounds, "cost", max(rounds.heaviest["cost"], mean_importance), unit=mean_importance)


def _first_rounds(measured: Measurements) -> RoundSums | None:
    examples = np.cumsum(measured.rounds[1:, 0])
    if not len(examples) or not examples[-1]:
        return None
    count = int(np.searchsorted(examples, min(_FIRST_EXAMPLES, examples[-1]))) + 1
    return measured.between(1, 1 + count)


def _class_errors(rounds: RoundSums, classes: Sequence[str]) -> dict[str, float]:
    weight, wrong = rounds.by_class[:2]
    return {name: float(wrong[number] / weight[number]) for number, name in enumerate(classes) if weight[number] > 0.0}
