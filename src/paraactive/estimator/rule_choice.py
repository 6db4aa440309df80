"""The rule that an estimator uses: given or named by the user, with an eta that fits the scores, and a floor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paraactive.data.examples import Examples
from paraactive.estimator.parameters import NamedRule
from paraactive.learners import Learner
from paraactive.learners.rows import scores
from paraactive.rules import Rule, floored
from paraactive.runs.arguments import find_rule
from paraactive.runs.calibration import MarginRule, calibrated, fitted, uniform_at, uniform_like
from paraactive.streams import Arrays


@dataclass(frozen=True)
class RuleChoice:
    """What the user has said about the rule.

    Parameters
    ----------
    rule : Rule, NamedRule or str
        A rule, its name, or "auto".
    floor : float or None
        Lower bound on p.
    """

    rule: Rule | NamedRule | str
    floor: float | None

    def with_floor(self, rule: Rule) -> Rule:
        """The rule with the lower bound on p.

        Parameters
        ----------
        rule : Rule
            Any rule.

        Returns
        -------
        Rule
            The rule that selects.
        """
        return rule if self.floor is None else floored(rule, self.floor)

    def for_fit(self, learner: Learner, stream: Arrays, warmstart: int, total: int) -> Rule:
        """The rule for `fit`, without the floor.

        Parameters
        ----------
        learner : Learner
            The untrained learner.
        stream : Arrays
            All rows.
        warmstart : int
            Number of rows to learn before sifting begins.
        total : int
            Number of rows in all passes.

        Returns
        -------
        Rule
            A rule that was named has an eta that fits the scale of the scores; "uniform" has the rate that the rule
            "auto" would have.
        """
        rule = self._given(learner)
        if self.rule == "uniform":
            usual = find_rule(None, learner)
            if isinstance(usual, MarginRule):
                usual = calibrated(type(usual), learner, stream.read(0, warmstart), warmstart)
            return uniform_like(self.with_floor(usual), learner, stream, warmstart, total)
        if isinstance(self.rule, str) and isinstance(rule, MarginRule):
            return calibrated(type(rule), learner, stream.read(0, warmstart), warmstart)
        return rule

    def for_rows(self, learner: Learner, fresh: Examples, seen: int) -> Rule:
        """The rule for `partial_fit`, where the total number of rows is not known, without the floor.

        Parameters
        ----------
        learner : Learner
            The learner after the warmstart.
        fresh : Examples
            The first rows to sift, on which eta or the rate is fitted.
        seen : int
            Number of rows seen.

        Returns
        -------
        Rule
            As in `for_fit`.
        """
        rule = self._given(learner)
        if self.rule == "uniform":
            usual, score = find_rule(None, learner), scores(learner, fresh.x)
            if isinstance(usual, MarginRule):
                usual = fitted(type(usual), score, fresh.y, seen)
            return uniform_at(self.with_floor(usual), score, fresh.y, np.array([seen]))
        if isinstance(self.rule, str) and isinstance(rule, MarginRule):
            return fitted(type(rule), scores(learner, fresh.x), fresh.y, seen)
        return rule

    def _given(self, learner: Learner) -> Rule:
        if isinstance(self.rule, NamedRule):
            return self.rule.rule_for(learner)
        return find_rule(None if self.rule == "auto" else self.rule, learner)
