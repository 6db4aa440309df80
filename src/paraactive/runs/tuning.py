"""Tuning: the parameters of a learner, chosen on a part of the warmstart by progressive validation."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from paraactive.basics.threads import one_blas_thread
from paraactive.data.examples import Examples, dense
from paraactive.data.labels import signed_margin
from paraactive.learners import LaSVM, Learner, Network, Standardized
from paraactive.learners.lasvm.scale import scale_of
from paraactive.learners.rows import learn, scores
from paraactive.learners.scaling import ColumnScaling
from paraactive.learners.standardized import innermost
from paraactive.sifting.confidence import Interval, interval_of_mean
from paraactive.sifting.parts import expect_classes
from paraactive.sifting.select import take_all

MOST_EXAMPLES = 2000
"""Largest number of examples that a candidate learns."""
_FINALISTS, _FIRST_PART = 4, 3
"""All candidates learn a third of the examples, and the best four learn all of them. So tuning takes less time than
the run: learning takes a time that grows with the square of the number of examples."""
_PENALTIES = (1.0, 10.0, 100.0)
_FACTORS = (0.25, 1.0, 4.0)
"""Values of C, and of gamma as multiples of gamma="scale", that are tried."""


@dataclass(frozen=True)
class Tried:
    """One candidate.

    Parameters
    ----------
    learner : str
        The candidate, as a text.
    error : Interval
        Its error on examples that it had not learned yet, with a 95% confidence interval.
    examples : int
        Number of examples that it learned.
    """

    learner: str
    error: Interval
    examples: int


@dataclass(frozen=True)
class Tuned:
    """The result of tuning.

    Parameters
    ----------
    learner : Learner
        The best candidate, untrained.
    tried : list of Tried
        All candidates, the best first.
    """

    learner: Learner
    tried: list[Tried]

    def __str__(self) -> str:
        best = self.tried[0]
        return (
            f"tuned on {best.examples:,} examples: {best.learner}, with an error of {best.error.value:.2%}, "
            f"is the best of {len(self.tried)} candidates"
        )


def tune(learner: Learner, early: Examples, classes: int, *, or_network: bool = False) -> Tuned:
    """Choose the parameters of a learner: C and gamma of an SVM.

    Each candidate gets a third of the examples, and the best four then get all of them. A candidate learns half of
    its examples, is tested on a quarter, learns it, and is tested on the last quarter. Its error is the mean over both
    tests.

    Parameters
    ----------
    learner : Learner
        The untrained learner, which is not changed. The SVM may be inside of others.
    early : Examples
        The first examples of the stream. At most 2000 are used.
    classes : int
        Number of classes.
    or_network : bool, default=False
        Whether a neural network is a candidate, too.

    Returns
    -------
    Tuned
        The best candidate. Without an SVM inside, the learner itself.
    """
    early = early.take(slice(0, MOST_EXAMPLES))
    candidates = _candidates(learner, early)
    if or_network:
        candidates.append(("Network()", _around(learner, Network())))
    for _, candidate in candidates:
        expect_classes(candidate, classes)
    rough = _ranked(candidates, early.take(slice(0, len(early) // _FIRST_PART)))
    best = sorted(number for number, _ in rough[:_FINALISTS])
    finalists = _ranked([candidates[number] for number in best], early)
    tried = [each for _, each in finalists] + [each for _, each in rough[_FINALISTS:]]
    return Tuned(candidates[best[finalists[0][0]]][1], tried)


def _ranked(candidates: list[tuple[str, Learner]], early: Examples) -> list[tuple[int, Tried]]:
    """The numbers of the candidates with their results, the best first; of equal errors, the first candidate."""
    found = [
        (number, Tried(name, _progressive_error(copy.deepcopy(candidate), early), len(early)))
        for number, (name, candidate) in enumerate(candidates)
    ]
    return sorted(found, key=lambda each: (each[1].error.value, each[0]))


def _candidates(learner: Learner, early: Examples) -> list[tuple[str, Learner]]:
    inner = innermost(learner)
    if not isinstance(inner, LaSVM):
        return [(repr(learner), copy.deepcopy(learner))]
    base = inner.gamma if isinstance(inner.gamma, float) else scale_of(_standardized(learner, early))
    found: list[tuple[str, Learner]] = []
    for penalty in _PENALTIES:
        for factor in _FACTORS:
            candidate = copy.deepcopy(learner)
            svm, gamma = cast(LaSVM, innermost(candidate)), float(f"{factor * base:.3g}")
            svm.C, svm.gamma = penalty, gamma
            found.append((f"LaSVM(C={penalty:g}, gamma={gamma:g})", candidate))
    return found


def _around(learner: Learner, inner: Learner) -> Learner:
    """Another learner that gets the same features."""
    is_scaled = isinstance(learner, Standardized)
    return Standardized(inner, scale=learner.scale, missing=learner.missing) if is_scaled else inner


def _standardized(learner: Learner, early: Examples) -> np.ndarray:
    """The rows as the SVM gets them, if it is inside a `Standardized`."""
    x = dense(early.x)
    return ColumnScaling.of(x, scale=learner.scale).apply(x) if isinstance(learner, Standardized) else x


def _progressive_error(learner: Learner, early: Examples) -> Interval:
    count, wrong = len(early), 0
    with one_blas_thread():
        _learn(learner, early.take(slice(0, count // 2)))
        for first, last in ((count // 2, 3 * count // 4), (3 * count // 4, count)):
            fresh = early.take(slice(first, last))
            if len(fresh):
                wrong += int(np.count_nonzero(signed_margin(scores(learner, fresh.x), fresh.y) <= 0.0))
                _learn(learner, fresh)
    return interval_of_mean(float(wrong), float(wrong), 1.0, max(count - count // 2, 1))


def _learn(learner: Learner, examples: Examples) -> None:
    if len(examples):
        learn(learner, take_all(replace(examples), examples.index, 0))
    learner.end_round()
