"""Selection: score fresh examples, compute p by the rule, toss the coins. This is the one place that selects."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from paraactive.basics.coins import audit_coins, coins
from paraactive.data.examples import Doubles, Examples, Ints, Selected
from paraactive.errors import InputError, counted
from paraactive.learners.base import Learner, Proxy, proxy_of
from paraactive.learners.rows import scores
from paraactive.rules.base import Rule, rises_with_doubt
from paraactive.sifting.cascade import ProxyPolicy, least_certain
from paraactive.sifting.measurements import AUDITED
from paraactive.sifting.sampling import Adjustment

_NO_ADJUSTMENT = Adjustment()


@dataclass(frozen=True, slots=True)
class Choice:
    """What was selected, and the work that it took.

    Parameters
    ----------
    selected : Selected
        The selected examples.
    scored : int
        Number of exact scores that were computed.
    lowered : array of bool
        For each selected example, whether the proxy made its p smaller, because the error of the cheap score was larger
        than the error bound.
    """

    selected: Selected
    scored: int
    lowered: NDArray[np.bool_]


def sift(learner: Learner, rule: Rule, seed: int, fresh: Examples, seen: Ints, version: int) -> Selected:
    """Select from fresh examples.

    Parameters
    ----------
    learner : Learner
        The model.
    rule : Rule
        Sets the probability p of each example.
    seed : int
        Seed of the coins.
    fresh : Examples
        The examples.
    seen : array of int64
        For each example, the number n that the rule uses.
    version : int
        Number of log entries that the model has learned.

    Returns
    -------
    Selected
        The selected examples, each with the exact probability with which it was selected.
    """
    return choose(learner, rule, seed, fresh, seen, version, ProxyPolicy()).selected


def choose(
    learner: Learner, rule: Rule, seed: int, fresh: Examples, seen: Ints, version: int, policy: ProxyPolicy,
    adjustment: Adjustment = _NO_ADJUSTMENT,
) -> Choice:  # fmt: skip
    """Select from fresh examples, and count the work.

    Parameters
    ----------
    learner : Learner
        The model.
    rule : Rule
        Sets the probability p of each example.
    seed : int
        Seed of the coins.
    fresh : Examples
        The examples.
    seen : array of int64
        For each example, the number n that the rule uses.
    version : int
        Number of log entries that the model has learned.
    policy : ProxyPolicy
        Decides, from one call to the next, whether the learner's cheap score comes first.
    adjustment : Adjustment, optional
        What is done to the p of the rule. Default: nothing.

    Returns
    -------
    Choice
        The selected examples and the work.
    """
    u, rows, asked = coins(seed, fresh.index), np.arange(len(fresh)), _Asked(rule, adjustment)
    if not rule.needs_scores:
        p = asked.probability(np.zeros(len(fresh)), fresh, seen)
        kept = np.flatnonzero(u < p)
        score, scored = _audit(learner, seed, fresh, kept)
        selected = _taken(fresh, kept, p[kept], seen, version, score)
        return Choice(selected, scored, np.zeros(len(selected), np.bool_))
    proxy = proxy_of(learner) if rises_with_doubt(rule) and len(fresh) else None
    if proxy is None:
        score = _exact_score(learner, fresh)
        p = asked.probability(score, fresh, seen)
        kept = u < p
        selected = _taken(fresh, rows[kept], p[kept], seen, version, score[kept])
        return Choice(selected, len(fresh), np.zeros(len(selected), np.bool_))
    if policy.uses_proxy_first(proxy.cost):
        p1 = _cheap_probability(proxy, learner, asked, fresh, seen)
        rows = rows[u < p1]
        policy.record(len(rows), len(fresh))
        p1, scored, some = p1[rows], len(rows), fresh.take(rows)
        score = _exact_score(learner, some)
        p = asked.probability(score, some, seen[rows]) if scored else p1
    else:
        score = _exact_score(learner, fresh)
        p = asked.probability(score, fresh, seen)
        rows = rows[u < p]
        p, score, scored, some = p[rows], score[rows], len(fresh), fresh.take(rows)
        p1 = _cheap_probability(proxy, learner, asked, some, seen[rows]) if len(rows) else p
    p1 = np.minimum(p1, p)
    kept = u[rows] < p1
    selected = _taken(fresh, rows[kept], p1[kept], seen, version, score[kept])
    return Choice(selected, scored, (p1 < p)[kept])


def take_all(fresh: Examples, seen: Ints, version: int, learner: Learner | None = None) -> Selected:
    """Select all examples with p = 1, as in the warmstart.

    Parameters
    ----------
    fresh : Examples
        The examples.
    seen : array of int64
        For each example, the number n that is recorded.
    version : int
        Number of log entries that the model has learned.
    learner : Learner, optional
        The model, whose scores are recorded. Default: no scores.

    Returns
    -------
    Selected
        All examples.
    """
    score = None if learner is None or not len(fresh) else _exact_score(learner, fresh)
    return _taken(fresh, np.arange(len(fresh)), np.ones(len(fresh)), seen, version, score)


def _audit(learner: Learner, seed: int, fresh: Examples, kept: NDArray[np.intp]) -> tuple[Doubles | None, int]:
    """Score a part of the selected examples, for the estimates of the run. The rule itself needs no scores."""
    some = np.flatnonzero(audit_coins(seed, fresh.index[kept]) < AUDITED)
    if not len(some):
        return None, 0
    found = _exact_score(learner, fresh.take(kept[some]))
    score = np.full((len(kept), *found.shape[1:]), np.nan)
    score[some] = found
    return score, len(some)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A rule, and what is done to its p."""

    rule: Rule
    adjustment: Adjustment

    def probability(self, score: Doubles, fresh: Examples, seen: Ints) -> Doubles:
        rule = self.rule
        # Labels are given only to a rule that needs them.
        p = rule.probability(score, seen, fresh.y) if rule.needs_labels is True else rule.probability(score, seen)
        p = _checked(p, len(fresh), rule)
        return p if self.adjustment == _NO_ADJUSTMENT else self.adjustment.apply(p, seen, fresh.importance)


def _exact_score(learner: Learner, fresh: Examples) -> Doubles:
    return _checked_scores(scores(learner, fresh.x), learner, fresh) if len(fresh) else np.zeros(0)


def _cheap_probability(proxy: Proxy, learner: Learner, asked: _Asked, fresh: Examples, seen: Ints) -> Doubles:
    score = _checked_scores(scores(proxy, fresh.x), learner, fresh)
    y = fresh.y if asked.rule.needs_labels is True else None
    return asked.probability(least_certain(score, proxy.error_bound, y), fresh, seen)


def _checked_scores(score: Doubles, learner: Learner, fresh: Examples) -> Doubles:
    if len(score) != len(fresh):
        raise InputError(
            f"learner {type(learner).__name__} gave {counted(len(score), 'score')} for "
            f"{counted(len(fresh), 'example')}",
            why="each example has one score, or one for each class",
            remedy="let score return an array of shape (n,), or (n, classes)",
        )
    if not np.isfinite(score).all():
        raise InputError(
            f"learner {type(learner).__name__} gave a score that is not finite",
            why="an example or a parameter is too large for the learner, or not finite",
            remedy="scale the features, for example to zero mean and unit variance",
        )
    return score


def _checked(p: Doubles, count: int, rule: Rule) -> Doubles:
    """Check the result of a rule: without the check, wrong numbers would give wrong weights silently."""
    p = np.asarray(p, np.float64)
    if p.shape != (count,) or not np.all((p > 0) & (p <= 1)):
        raise InputError(
            f"rule {type(rule).__name__} gave p of shape {p.shape} from {p.min(initial=1.0)} to {p.max(initial=0.0)}",
            why=f"the rule must give a probability for each of {counted(count, 'example')}",
            remedy="return one number for each example, 0 < p <= 1",
        )
    return p


def _taken(
    fresh: Examples, rows: NDArray[np.intp], p: Doubles, seen: Ints, version: int, score: Doubles | None
) -> Selected:
    recorded = None if score is None else np.asarray(score, np.float32).reshape(len(rows), -1) if len(rows) else None
    return Selected(fresh.take(rows), p, seen[rows], np.full(len(rows), version, np.int64), recorded)  # pyright: ignore[reportArgumentType]
