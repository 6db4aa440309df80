"""Sifting: score fresh examples, ask the rule for p, toss the coins. The one place where examples are selected."""

from __future__ import annotations

import numpy as np

from paraactive.coins import coins
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
    score = learner.score(fresh.x) if rule.needs_scores else np.zeros(len(fresh))
    # Only a rule that says so is handed the labels.
    if rule.needs_labels is True:
        return rule.probability(score, seen, fresh.y)
    return rule.probability(score, seen)


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
