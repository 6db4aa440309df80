"""Sifting: score fresh examples, ask the rule for p, toss the coins. The one place where examples are selected."""

from __future__ import annotations

import numpy as np

from paraactive.coins import coins
from paraactive.errors import InputError
from paraactive.examples import Doubles, Examples, Ints, Selected
from paraactive.learners.base import Learner
from paraactive.rules.base import Rule


def sift(learner: Learner, rule: Rule, seed: int, fresh: Examples, seen: Ints, version: int, node: int) -> Selected:
    """The selected of these fresh examples, each with the exact probability with which it was selected.

    `seen` holds, for each example, the number n that the rule is to use.
    """
    p = _probability(learner, rule, fresh, seen)
    return _choose(fresh, coins(seed, fresh.index) < p, p, seen, version, node)


def take_all(fresh: Examples, seen: Ints, version: int, node: int) -> Selected:
    """All of them, with p = 1: the warmstart."""
    everyone = np.ones(len(fresh), np.bool_)
    return _choose(fresh, everyone, np.ones(len(fresh)), seen, version, node)


def _probability(learner: Learner, rule: Rule, fresh: Examples, seen: Ints) -> Doubles:
    score = _scores(learner, fresh) if rule.needs_scores else np.zeros(len(fresh))
    # Only a rule that says so is handed the labels.
    p = rule.probability(score, seen, fresh.y) if rule.needs_labels is True else rule.probability(score, seen)
    return _checked(p, len(fresh), rule)


def _scores(learner: Learner, fresh: Examples) -> Doubles:
    score = learner.score(fresh.x)
    if len(score) != len(fresh):
        raise InputError(
            f"learner {type(learner).__name__} gave {len(score)} scores for {len(fresh)} examples",
            why="each example has one, or one for each class",
            remedy="let score return an array of shape (n,), or (n, classes)",
        )
    if not np.isfinite(score).all():
        raise InputError(
            f"learner {type(learner).__name__} gave a score that is not finite",
            why="an example or a parameter is too large for it, or not finite",
            remedy="scale the features, for example to zero mean and unit variance",
        )
    return score


def _checked(p: Doubles, count: int, rule: Rule) -> Doubles:
    """What a rule of the user's own returns must be probabilities, or the weights would be wrong without a sign."""
    p = np.asarray(p, np.float64)
    if p.shape != (count,) or not np.all((p > 0) & (p <= 1)):
        raise InputError(
            f"rule {type(rule).__name__} gave p of shape {p.shape} from {p.min(initial=1.0)} to {p.max(initial=0.0)}",
            why=f"p is the probability of each of {count} examples to be selected",
            remedy="return one number for each example, 0 < p <= 1",
        )
    return p


def _choose(
    fresh: Examples, chosen: np.ndarray[tuple[int], np.dtype[np.bool_]], p: Doubles, seen: Ints, version: int, node: int
) -> Selected:
    rows = np.flatnonzero(chosen)
    return Selected(
        fresh.take(rows),
        p[rows],
        seen[rows],
        np.full(len(rows), version, np.int64),
        np.full(len(rows), node, np.int64),
    )
