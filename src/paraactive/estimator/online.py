"""`partial_fit`: rows are sifted with the present model and learned, batch by batch, on one node."""

from __future__ import annotations

import numpy as np

from paraactive.data.examples import Examples, Selected
from paraactive.estimator.rule_choice import RuleChoice
from paraactive.learners import Learner
from paraactive.learners.base import capabilities_of
from paraactive.learners.rows import learn
from paraactive.rules import Rule
from paraactive.rules.base import at_noise
from paraactive.runs.sampling_defaults import is_svm
from paraactive.sifting.budget import Budget, find_budget, is_total
from paraactive.sifting.cascade import ProxyPolicy
from paraactive.sifting.estimates import estimates_of
from paraactive.sifting.measurements import Measurements
from paraactive.sifting.select import choose, take_all


class OnlineSifter:
    """Sifts and learns batches of rows whose total number is not known.

    Parameters
    ----------
    learner : Learner
        The learner, which is trained.
    choice : RuleChoice
        What the user has said about the rule.
    classes : int
        Number of classes.
    seed : int
        Seed of the coins.
    floor : float, "auto" or None
        Lower bound on p.
    select : float, int, str or None
        Number of rows to select. A total is ignored, because the number of rows is not known.
    warmstart : int, default=0
        Number of rows that are learned before sifting begins. A rate does not count them.
    """

    def __init__(
        self, learner: Learner, choice: RuleChoice, classes: int, seed: int, floor: float | str | None,
        select: float | str | None, warmstart: int = 0,
    ) -> None:  # fmt: skip
        self.learner, self.seen, self.version = learner, 0, 0
        self._choice, self._seed, self._floor = choice, seed, floor
        self._policy = ProxyPolicy()
        self._rule: Rule | None = None
        unlimited = is_total(select) or (select == "auto" and not is_svm(learner))
        budget: Budget | None = None if unlimited else find_budget(select, choice.width, warmstart, examples=1)
        self._needs_scores = choice.needs_scores(learner)
        log_odds, is_blind = capabilities_of(learner).log_odds, not choice.needs_labels(learner)
        self.measured = Measurements(classes, log_odds, self._needs_scores, budget, is_blind=is_blind)

    @property
    def rule(self) -> Rule | None:
        """The rule; None before the warmstart has ended."""
        return self._rule

    @property
    def error(self) -> float | None:
        """Estimated error of the latest models; None if no row was scored before it was learned."""
        known = estimates_of(self.measured, [str(number) for number in range(self.measured.classes)])
        return None if known is None else known.recent_error.value

    def learn(self, now: Examples, is_warmstart: bool) -> Selected:
        """Learn some rows of the warmstart, or sift one batch and learn what is selected.

        Parameters
        ----------
        now : Examples
            The rows.
        is_warmstart : bool
            Whether to learn all of them.

        Returns
        -------
        Selected
            The rows that were learned.
        """
        seen = np.full(len(now), self.seen)
        if is_warmstart:
            # From the second call on, the rows are scored first, so that the noise is known when sifting begins.
            scorer = self.learner if self.version and self._needs_scores else None
            selected = take_all(now, seen, self.version, scorer)
        else:
            if not len(self.measured.rounds):  # `fit` came before, or there is no warmstart.
                self.measured.begin_at(self.seen, self.version)
            selected = self._sift(now)
        if len(selected):
            learn(self.learner, selected)
        self.learner.end_round()
        self.measured.add(selected)
        self.seen, self.version = self.seen + len(now), self.version + len(selected)
        self.measured.end_round(self.seen, is_warmstart)
        return selected

    def _sift(self, now: Examples) -> Selected:
        if self._rule is None:
            self._rule = self._choice.for_rows(self.learner, now, self.seen)
        rule = at_noise(self._rule, self.measured.theta)
        # As in `Node`: only a rule that sees labels may see the weights of classes.
        weighs = rule.needs_scores and rule.needs_labels is True
        adjustment = self.measured.adjustment(self._floor if rule.needs_scores else None, weighs)
        seen = np.full(len(now), self.seen)
        return choose(
            self.learner, rule, self._seed, now, seen, self.version, self._policy, adjustment
        ).selected  # fmt: skip
