"""Tuning: the parameters of a learner, chosen on a part of the warmstart by progressive validation."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import product
from math import sqrt
from typing import cast

import numpy as np
from numpy.typing import NDArray

from paraactive.basics.threads import one_blas_thread
from paraactive.data.examples import Doubles, Examples, Features, dense
from paraactive.data.labels import signed_margin
from paraactive.learners import LaSVM, Learner, Network, Standardized
from paraactive.learners.lasvm.scale import scale_of
from paraactive.learners.rows import learn, scores
from paraactive.learners.scaling import ColumnScaling
from paraactive.learners.standardized import innermost
from paraactive.sifting.confidence import Interval, interval_of_mean
from paraactive.sifting.parts import expect_classes
from paraactive.sifting.select import take_all

MOST_EXAMPLES = 6000
"""Largest number of examples that are used."""
_LEARNED = 2000
"""Largest number of examples that a candidate learns. On all others, only the last candidates are tested."""
_CLEARLY = 1.5
"""Standard errors by which a candidate must be better than the learner as it was given, to be chosen with caution."""
_FINALISTS, _FIRST_PART = 4, 3
"""All candidates learn a third of the examples, and the best four learn all of them. So tuning takes less time than
the run: learning takes a time that grows with the square of the number of examples."""
_GIVEN = 0
"""Number of the candidate that is the learner as it was given."""
_PENALTIES = (1.0, 10.0, 100.0)
_FACTORS = (0.25, 1.0, 2.0, 4.0)
"""Values of C, and of gamma as multiples of gamma="scale", that are tried. A few rows favor a smaller gamma than all
rows do, so the step above 1 is finer: on letters and on ten digits a factor of 2 is best."""


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
        The chosen candidate, untrained.
    tried : list of Tried
        All candidates, the best first.
    chosen : Tried
        The chosen candidate: the best or, with caution, the learner as it was given.
    """

    learner: Learner
    tried: list[Tried]
    chosen: Tried

    def __str__(self) -> str:
        chosen = self.chosen
        others = len(self.tried) - 1
        place = (
            f"is the best of {others + 1} candidates" if chosen is self.tried[0]
            else f"stays, because none of {others} other candidates is clearly better"
        )  # fmt: skip
        error = f"with an error of {chosen.error.value:.2%}"
        return f"tuned on {chosen.examples:,} examples: {chosen.learner}, {error}, {place}"


def tune(learner: Learner, early: Examples, classes: int, *, or_network: bool = False, cautious: bool = False) -> Tuned:
    """Choose the parameters of a learner: C and gamma of an SVM.

    Each candidate gets a third of at most 2000 examples, and the best four then get all of them, as does the learner as
    it was given. A candidate learns half of its examples, is tested on a quarter, learns it, and is tested on the last
    quarter; the last ones are also tested on up to 4000 further examples. Its error is the mean over all tests,
    weighted by the importance of the examples.

    Parameters
    ----------
    learner : Learner
        The untrained learner, which is not changed. The SVM may be inside of others.
    early : Examples
        The first examples of the stream. At most 6000 are used.
    classes : int
        Number of classes.
    or_network : bool, default=False
        Whether a neural network is a candidate, too.
    cautious : bool, default=False
        Keep the learner as it was given unless the best candidate is better by more than 1.5 standard errors of their
        difference on the same examples. With noisy labels, a small difference is chance.

    Returns
    -------
    Tuned
        The best candidate. Without an SVM inside, the learner itself.
    """
    early, fresh = early.take(slice(0, _LEARNED)), early.take(slice(_LEARNED, MOST_EXAMPLES))
    candidates = _candidates(learner, early)
    if or_network:
        candidates.append(("Network()", _around(learner, Network())))
    for _, candidate in candidates:
        expect_classes(candidate, classes)
    part, nothing = early.take(slice(0, len(early) // _FIRST_PART)), early.take(slice(0, 0))
    rough = _ranked(candidates, range(len(candidates)), part, nothing)
    best = {each.number for each in rough[:_FINALISTS]}
    finalists = _ranked(candidates, sorted(best | {_GIVEN}), early, fresh)
    others = [each for each in rough if each.number not in best | {_GIVEN}]
    given = next(each for each in finalists if each.number == _GIVEN)
    is_kept = cautious and not _is_clearly_better(finalists[0], given)
    chosen = given if is_kept else finalists[0]
    return Tuned(candidates[chosen.number][1], [each.tried for each in (*finalists, *others)], chosen.tried)


@dataclass(frozen=True)
class _Result:
    """The result of the candidate with this number: the importance of each tested example if its label is wrong."""

    number: int
    tried: Tried
    loss: Doubles


def _ranked(
    candidates: list[tuple[str, Learner]], numbers: Iterable[int], early: Examples, fresh: Examples
) -> list[_Result]:
    """The results of the candidates with these numbers, the best first; of equal errors, the first candidate."""
    found = list[_Result]()
    for number in numbers:
        name, candidate = candidates[number]
        weight, wrong = _tested(copy.deepcopy(candidate), early, fresh)
        weight = weight / (weight.mean() if weight.any() else 1.0)  # The interval needs weights with mean 1.
        loss, count = weight * wrong, float(max(len(weight), 1))
        error = interval_of_mean(float(loss.sum()), float(loss @ loss), float(weight.max(initial=1.0)), count)
        found.append(_Result(number, Tried(name, error, len(early)), loss))
    return sorted(found, key=lambda each: (each.tried.error.value, each.number))


def _is_clearly_better(one: _Result, other: _Result) -> bool:
    """Whether one candidate is better than another, judged by the examples for which only one of them is wrong."""
    gain = other.loss - one.loss
    return bool(gain.sum() > _CLEARLY * sqrt(gain @ gain))


def _candidates(learner: Learner, early: Examples) -> list[tuple[str, Learner]]:
    inner = innermost(learner)
    if not isinstance(inner, LaSVM):
        return [(repr(learner), copy.deepcopy(learner))]
    base = inner.gamma if isinstance(inner.gamma, float) else scale_of(_standardized(learner, early))
    given = (inner.C, 1.0)
    found: list[tuple[str, Learner]] = []
    for penalty, factor in dict.fromkeys([given, *product(_PENALTIES, _FACTORS)]):
        candidate = copy.deepcopy(learner)
        svm, gamma = cast(LaSVM, innermost(candidate)), float(f"{factor * base:.3g}")
        svm.C = penalty
        svm.gamma = inner.gamma if (penalty, factor) == given else gamma
        found.append((f"LaSVM(C={penalty:g}, gamma={gamma:g})", candidate))
    return found


def _around(learner: Learner, inner: Learner) -> Learner:
    """Another learner that gets the same features."""
    is_scaled = isinstance(learner, Standardized)
    return Standardized(inner, scale=learner.scale, missing=learner.missing) if is_scaled else inner


def _standardized(learner: Learner, early: Examples) -> Features:
    """The rows as the SVM gets them, if it is inside a `Standardized`."""
    if not isinstance(learner, Standardized):
        return early.x
    x = dense(early.x)
    return ColumnScaling.of(x, scale=learner.scale).apply(x)


def _tested(learner: Learner, early: Examples, fresh: Examples) -> tuple[Doubles, NDArray[np.bool_]]:
    """The importance of the tested examples, and which of them get the wrong label.

    Tested are the last half of the early examples, and all fresh ones.
    """
    half, quarter = len(early) // 2, 3 * len(early) // 4
    wrong = list[NDArray[np.bool_]]()
    with one_blas_thread():
        _learn(learner, early.take(slice(0, half)))
        for some in (early.take(slice(half, quarter)), early.take(slice(quarter, None)), fresh):
            wrong.append(signed_margin(scores(learner, some.x), some.y) <= 0.0)
            if some is not fresh:
                _learn(learner, some)
    return np.concatenate([early.importance[half:], fresh.importance]), np.concatenate(wrong)


def _learn(learner: Learner, examples: Examples) -> None:
    if len(examples):
        learn(learner, take_all(replace(examples), examples.index, 0))
    learner.end_round()
