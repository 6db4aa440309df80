"""Parameters of rules that users leave open: an eta that fits the scale of the scores, or the rate of a baseline."""

from __future__ import annotations

import copy
from typing import TypeAlias

import numpy as np

from paraactive.basics.threads import one_blas_thread
from paraactive.data.examples import Doubles, Examples, Ints, Labels
from paraactive.data.labels import signed_margin
from paraactive.learners.base import Learner
from paraactive.learners.rows import learn, scores
from paraactive.rules import LeastMargin, Margin, Rule, SignedMargin, Uniform
from paraactive.rules._formula import margin, margin_probability
from paraactive.rules.base import at_noise
from paraactive.rules.least import least_margin
from paraactive.sifting.select import take_all
from paraactive.streams import Stream
from paraactive.streams.base import StreamDetails

RATE = 0.2
"""Share of correctly classified examples to select after the warmstart. The share falls by itself later."""
_LOOKED_AT = 2000
"""Number of examples to fit eta on: one half is learned, the other is scored."""
_FEWEST = 20
"""With fewer examples the default of the rule is as good."""

_LEARNED = 4096
"""Largest number of examples to learn before the rate of a baseline is computed."""
_MOMENTS = 32
"""Number of values of n, spread over the run, over which that rate is averaged."""

MarginRule: TypeAlias = Margin | SignedMargin | LeastMargin


def calibrated(rule: type[MarginRule], learner: Learner, early: Examples, warmstart: int) -> MarginRule:
    """The rule with an eta that fits the scores: a copy of the learner learns one half of the early examples and scores
    the other half.

    Parameters
    ----------
    rule : type
        Class of the rule.
    learner : Learner
        The untrained learner. It is copied.
    early : Examples
        The first examples.
    warmstart : int
        Number of examples to learn before sifting begins.

    Returns
    -------
    MarginRule
        The rule. The same examples give the same eta on every engine.
    """
    half = min(len(early), warmstart, _LOOKED_AT) // 2
    if half < _FEWEST // 2:
        return rule()
    twin = copy.deepcopy(learner)
    first, rest = early.take(slice(0, half)), early.take(slice(half, 2 * half))
    with one_blas_thread():
        learn(twin, take_all(first, first.index, 0))
        twin.end_round()
        return fitted(rule, scores(twin, rest.x), rest.y, warmstart)


def uniform_like(rule: Rule, learner: Learner, stream: Stream, warmstart: int, examples: int) -> Uniform:
    """The rule Uniform at the rate that another rule would have, so that both select about the same number.

    A copy of the learner learns the warmstart and scores the examples after it. The rate is the mean p that the rule
    gives to these scores, over n from the warmstart to the end of the run. The actual rate of the rule is lower if its
    model keeps improving.

    Parameters
    ----------
    rule : Rule
        The rule to compare with.
    learner : Learner
        The untrained learner. It is copied.
    stream : Stream
        The training data.
    warmstart : int
        Number of examples to learn before sifting begins.
    examples : int
        Number of examples of the run.

    Returns
    -------
    Uniform
        The same for every engine and number of nodes. Without labels, or with too few examples, Uniform().
    """
    # Only the window of an iterable can be read again.
    last = min(examples, warmstart + _LOOKED_AT, StreamDetails(stream).window or examples)
    if min(warmstart, last - warmstart) < _FEWEST or not StreamDetails(stream).labelled:
        return Uniform()
    twin, first = copy.deepcopy(learner), stream.read(0, min(warmstart, _LEARNED))
    with one_blas_thread():
        learn(twin, take_all(first, first.index, 0))
        twin.end_round()
        fresh = stream.read(warmstart, last)
        score = scores(twin, fresh.x)
    rule = at_noise(rule, float(np.mean(signed_margin(score, fresh.y) <= 0.0)))
    moments = warmstart + (examples - warmstart) * (np.arange(_MOMENTS) + 0.5) / _MOMENTS
    return uniform_at(rule, score, fresh.y, moments.astype(np.int64))


def uniform_at(rule: Rule, score: Doubles, y: Labels, moments: Ints) -> Uniform:
    """The rule Uniform at the mean p that another rule gives to these scores, to three digits.

    Parameters
    ----------
    rule : Rule
        The rule to compare with.
    score : array of float64
        Scores.
    y : array of int8
        Their labels.
    moments : array of int64
        Values of n to average over.

    Returns
    -------
    Uniform
        The rule.

    Examples
    --------
    >>> rule, score, y = Margin(eta=0.1), np.array([0.0, 1.0]), np.array([1, 1], np.int8)
    >>> uniform_at(rule, score, y, moments=np.array([400]))
    Uniform(rate=0.619)
    """
    rates = [float(_asked(rule, score, y, n).mean()) for n in moments.tolist()]
    return Uniform(float(f"{np.mean(rates):.3g}")) if len(score) >= 2 else Uniform()


def _asked(rule: Rule, score: Doubles, y: Labels, n: int) -> Doubles:
    seen = np.full(len(score), n)
    return rule.probability(score, seen, y) if rule.needs_labels is True else rule.probability(score, seen)


def fitted(rule: type[MarginRule], score: Doubles, y: Labels, seen: int) -> MarginRule:
    """The rule whose eta fits scores of this scale.

    With this eta, the share RATE of the correctly classified examples would be selected at n = seen. Misclassified
    examples do not count, because their number depends on the task and not on the scale.

    Parameters
    ----------
    rule : type
        Class of the rule.
    score : array of float64
        Scores.
    y : array of int8
        Their labels.
    seen : int
        Number of examples seen.

    Returns
    -------
    MarginRule
        The rule.
    """
    if rule is Margin:  # This rule does not see labels, so they are not used here either.
        distance = margin(score)
    else:
        distance = (least_margin if rule is LeastMargin else signed_margin)(score, y)
        distance = distance[distance > 0]
    return rule(_eta_for(distance, seen)) if np.any(distance > 0) else rule()


def _eta_for(distance: Doubles, seen: int) -> float:
    """The eta at which the mean query probability of these margins is RATE, to three digits.

    >>> _eta_for(np.array([0.5, 1.0, 1.5]), seen=4096)
    0.0409
    """
    low, high = -60.0, 60.0  # of its logarithm; p falls as eta grows
    seen_by_all = np.full(len(distance), seen)
    for _ in range(60):
        middle = 0.5 * (low + high)
        if margin_probability(float(np.exp(middle)), distance, seen_by_all).mean() > RATE:
            low = middle
        else:
            high = middle
    return float(f"{np.exp(low):.3g}")
