"""The rule that an estimator uses: given or named by the user, with an eta that fits the scores, and a floor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeGuard

import numpy as np

from paraactive.data.examples import Examples
from paraactive.estimator.parameters import NamedRule
from paraactive.learners import Learner
from paraactive.learners.base import capabilities_of
from paraactive.learners.rows import scores
from paraactive.rules import Rule
from paraactive.runs.arguments import default_rule, find_rule
from paraactive.runs.calibration import MarginRule, calibrated, fitted, uniform_at, uniform_like
from paraactive.runs.sampling_defaults import is_svm
from paraactive.streams import Arrays


@dataclass(frozen=True)
class RuleChoice:
    """What the user has said about the rule.

    Parameters
    ----------
    rule : Rule, NamedRule or str
        A rule, its name, or "auto".
    width : int
        Number of features.
    """

    rule: Rule | NamedRule | str
    width: int

    def needs_scores(self, learner: Learner) -> bool:
        """Whether the rule needs scores.

        Parameters
        ----------
        learner : Learner
            The learner, which decides what "auto" is.

        Returns
        -------
        bool
            False for rules that select without scores, such as "passive" and "uniform".
        """
        if self.rule == "auto":
            return capabilities_of(learner).sifts
        return self._given(learner).needs_scores

    def needs_labels(self, learner: Learner) -> bool:
        """Whether the rule sees labels.

        Parameters
        ----------
        learner : Learner
            The learner, which decides what "auto" is.

        Returns
        -------
        bool
            True for rules such as "signed", and for "auto" unless all rows are learned.
        """
        return capabilities_of(learner).sifts if self.rule == "auto" else self._given(learner).needs_labels is True

    def for_fit(self, learner: Learner, stream: Arrays, warmstart: int, total: int) -> Rule:
        """The rule for `fit`.

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
            A margin rule that was named has an eta that fits the scale of the scores, if the learner is not an SVM,
            whose scores are 1 at the margin. "uniform" has the rate that the rule "auto" would have.
        """
        rule = self._given(learner)
        if self.rule == "uniform":
            usual = find_rule(default_rule(learner), learner, self.width)
            if self._needs_eta(usual, learner):
                usual = calibrated(type(usual), learner, stream.read(0, warmstart), warmstart)
            return uniform_like(usual, learner, stream, warmstart, total)
        if isinstance(self.rule, str) and self._needs_eta(rule, learner):
            return calibrated(type(rule), learner, stream.read(0, warmstart), warmstart)
        return rule

    def for_rows(self, learner: Learner, fresh: Examples, seen: int) -> Rule:
        """The rule for `partial_fit`, where the total number of rows is not known.

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
            usual, score = find_rule(default_rule(learner), learner, self.width), scores(learner, fresh.x)
            if self._needs_eta(usual, learner):
                usual = fitted(type(usual), score, fresh.y, seen)
            return uniform_at(usual, score, fresh.y, np.array([seen]))
        if isinstance(self.rule, str) and self._needs_eta(rule, learner):
            return fitted(type(rule), scores(learner, fresh.x), fresh.y, seen)
        return rule

    def _given(self, learner: Learner) -> Rule:
        if isinstance(self.rule, NamedRule):
            return self.rule.rule_for(learner)
        return find_rule(None if self.rule == "auto" else self.rule, learner, self.width)

    @staticmethod
    def _needs_eta(rule: Rule, learner: Learner) -> TypeGuard[MarginRule]:
        return isinstance(rule, MarginRule) and not is_svm(learner)
