"""Progressive validation: what the log says about the models on the way.

Each selected example was scored before it was learned. Weighted by 1/p, these scores give an unbiased estimate of the
error of the models that sifted, and of everything else that is a mean over the stream. `Measurements` adds them up,
round by round. It is a function of the log alone, so it is the same on every replica, on every engine, and for every
number of nodes. `estimates` reads the sums.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paraactive.basics.state import State
from paraactive.data.examples import Doubles, Selected
from paraactive.data.labels import numbers_of, signed_margin
from paraactive.sifting.budget import Budget
from paraactive.sifting.sampling import Adjustment

AUDITED = 1.0 / 16.0
"""Probability with which a selected example is scored after the warmstart, if the rule itself needs no scores."""
SUMS = (
    "examples", "selected", "wrong", "wrong_squares", "cost", "cost_squares", "loss", "loss_squares", "weight",
    "weight_squares", "inverse", "uneven",
)  # fmt: skip
"""What is added up in a round. `examples` are those of the stream for which a score would have been recorded. `cost`
counts a wrong example by its importance. `uneven` is above 0 if any importance is not 1."""
_HEAVIEST = ("wrong", "cost", "loss")
_LAST = ("seen", "scale", *(f"heaviest_{name}" for name in _HEAVIEST))
_BY_CLASS = 4
"""Number of sums for each class; see `RoundSums.by_class`."""
_RECENT = 0.25
"""Part of the measured examples that counts as recent."""


class RoundSums(NamedTuple):
    """The sums of one or more rounds.

    Parameters
    ----------
    sums : dict of str to float
        By the names in `SUMS`.
    heaviest : dict of str to float
        Largest contribution that one example had, or would have had if misclassified, to the sums of wrong, cost and
        loss.
    by_class : ndarray of shape (4, classes)
        For each class, of the scored examples: the sum of 1/p, and that of misclassified examples. Of all examples: the
        sum of 1/p, and the sum of importance/p.
    """

    sums: dict[str, float]
    heaviest: dict[str, float]
    by_class: Doubles


class Measurements:
    """Adds up the scores of entries, round by round.

    Parameters
    ----------
    classes : int
        Number of classes.
    log_odds : bool
        Whether scores are log-odds: the loss is then the logistic loss, otherwise the hinge loss.
    needs_scores : bool, default=True
        Whether the rule needs scores. If not, only a part of the entries has scores; see `AUDITED`.
    budget : Budget, optional
        Number of examples to select, which decides the scale of p in the next round. Default: no budget.
    first_pass : int, optional
        Number of examples in the first pass over the data. Scores of later passes do not count, because the model may
        have learned these examples before. Default: there is one pass.
    is_blind : bool, default=False
        Whether the rule does not see labels. Then a misclassified example may have as small a p as any other; a rule
        that sees labels selects it with a p near 1.
    is_asked : bool, default=False
        Whether labels are asked for. Some may not be given, and the log lacks these examples, so that the examples
        behind the estimates are counted by the weights of those that it has.
    """

    def __init__(
        self, classes: int, log_odds: bool, needs_scores: bool = True, budget: Budget | None = None,
        first_pass: int | None = None, is_blind: bool = False, is_asked: bool = False,
    ) -> None:  # fmt: skip
        self.classes, self._log_odds, self._budget, self._first_pass = classes, log_odds, budget, first_pass
        self._is_blind, self._is_asked = is_blind or not needs_scores, is_asked
        self._needs_scores, self._audited = needs_scores, 1.0 if needs_scores else AUDITED
        self.rounds = np.zeros((0, len(SUMS) + len(_LAST) + _BY_CLASS * classes))
        self.scale = 1.0 if budget is None else budget.first_scale
        """Scale of p in the present round; see `Adjustment`."""
        self.theta = 0.0
        """The recent error, in which examples count by their importance: an estimate of the noise."""
        self.mean_importance = 1.0
        """The mean importance of the examples of the stream."""
        self._open = self._nothing()
        self._heaviest = np.zeros(len(_HEAVIEST))
        self._entries = 0

    def adjustment(self, floor: float | str | None, weighs: bool) -> Adjustment:
        """What is done to the p of the rule in the present round.

        Parameters
        ----------
        floor : float, "auto" or None
            Lower bound on p.
        weighs : bool
            Whether p rises with the importance of an example.

        Returns
        -------
        Adjustment
            The adjustment.
        """
        # A rule without scores gives all examples the same p, and cannot become steeper: a power would only make the
        # number selected jump from round to round.
        is_limited = self._needs_scores and self._budget is not None and self._budget.is_limit
        return Adjustment(floor, self.scale, self.mean_importance if weighs else None, is_limited)

    def add(self, selected: Selected) -> None:
        """Add entries of the present round, in their order. It does not matter how they are cut into calls.

        Parameters
        ----------
        selected : Selected
            The entries.
        """
        if not len(selected):
            return
        is_fresh = np.ones(len(selected), np.bool_)
        if self._first_pass is not None:
            is_fresh = selected.examples.index < self._first_pass
        scored = is_fresh & ~np.isnan(selected.score[:, 0])
        rows = np.zeros((len(selected), len(self._open)))
        values: dict[str, Doubles] = dict(zip(SUMS, rows.T, strict=False))
        learned = selected.weight
        values["selected"][:] = 1.0
        values["weight"][:], values["weight_squares"][:] = learned, learned**2
        values["inverse"][:] = 1.0 / selected.p
        values["uneven"][:] = np.abs(selected.examples.importance - 1.0)
        self._add_classes(rows, np.flatnonzero(is_fresh), selected)
        if scored.any():
            self._add_scores(values, rows, np.flatnonzero(scored), selected)
        # A running sum is the same however the entries are cut into calls, to the bit.
        self._open = np.add.accumulate(np.vstack([self._open, rows]), axis=0)[-1]

    # Below, `places` are those of the entries that count. Their columns are read one by one: `Selected.take` would also
    # copy their features.

    def _add_classes(self, rows: Doubles, places: np.ndarray, selected: Selected) -> None:
        """Add how often each class occurs, which all examples show, also those without a score."""
        number = numbers_of(selected.examples.y[places], self.classes)
        for part, value in enumerate((1.0 / selected.p, selected.weight), 2):
            rows[places, len(SUMS) + part * self.classes + number] = value[places]

    def _add_scores(self, values: dict[str, Doubles], rows: Doubles, places: np.ndarray, selected: Selected) -> None:
        score, y = selected.score[places].astype(np.float64), selected.examples.y[places]
        score = score[:, 0] if self.classes == 2 else score
        audited = self._audited if len(self.rounds) else 1.0  # In round 0, scores do not depend on the rule.
        weight = 1.0 / (selected.p[places] * audited)
        margin = signed_margin(score, y)
        importance, wrong = selected.examples.importance[places], weight * (margin <= 0.0)
        values["examples"][places] = 1.0
        sums = {"wrong": wrong, "cost": importance * wrong, "loss": weight * self._loss(score, y, margin)}
        for name, value in sums.items():
            values[name][places], values[f"{name}_squares"][places] = value, value**2
        # What an example would contribute if misclassified. A rule that sees labels gives it a p near the factor.
        factor = min(self.adjustment(None, weighs=False).factor, 1.0) if len(self.rounds) else 1.0
        possible = weight if self._is_blind else np.maximum(wrong, 1.0 / factor)
        heaviest = [possible.max(), (importance * possible).max(), sums["loss"].max()]
        self._heaviest = np.maximum(self._heaviest, heaviest)
        number = numbers_of(y, self.classes)
        for part, value in enumerate((weight, wrong)):
            rows[places, len(SUMS) + part * self.classes + number] = value

    def _loss(self, score: Doubles, y: np.ndarray, margin: Doubles) -> Doubles:
        if not self._log_odds:
            return np.maximum(0.0, 1.0 - margin)
        if score.ndim == 1:
            return np.logaddexp(0.0, -margin)
        return np.logaddexp.reduce(score, axis=1) - score[np.arange(len(y)), y]

    def end_round(self, seen: int, is_warmstart: bool = False) -> None:
        """End the present round.

        Parameters
        ----------
        seen : int
            Number of examples that the cluster has seen.
        is_warmstart : bool, default=False
            Whether the round belongs to the warmstart, of which nothing follows for the budget. The first round does.
        """
        before = self.seen
        ended = self._open.copy()
        self._entries += int(ended[SUMS.index("selected")])
        known = ended[0] > 0 or self.measured > 0
        # In round 0, the warmstart, only the entries with scores count. Later, all examples that were sifted count.
        if len(self.rounds):
            counted = ended[SUMS.index("inverse")] if self._is_asked else self._fresh(seen) - self._fresh(before)
            ended[0] = float(counted) if known else 0.0
        last = [float(seen), self.scale, *self._heaviest]
        self.rounds = np.vstack([self.rounds, [*ended[: len(SUMS)], *last, *ended[len(SUMS) :]]])
        self._read_rounds()
        if self._budget is not None and len(self.rounds) > 1 and not is_warmstart:
            selected = ended[SUMS.index("selected")]
            self.scale = self._budget.next_scale(self.scale, selected, seen - before, self._entries, seen)
        self._open, self._heaviest = self._nothing(), np.zeros(len(_HEAVIEST))

    def begin_at(self, seen: int, entries: int) -> None:
        """Begin after examples of which nothing is known, as if they were the warmstart.

        Parameters
        ----------
        seen, entries : int
            Number of examples seen, and number of them that were learned.
        """
        self.end_round(seen)
        self._entries = entries

    def _fresh(self, seen: int) -> int:
        return seen if self._first_pass is None else min(seen, self._first_pass)

    def _nothing(self) -> Doubles:
        return np.zeros(len(SUMS) + _BY_CLASS * self.classes)

    # Reading -----------------------------------------------------------------------------------------------------

    @property
    def seen(self) -> int:
        """Number of examples that the cluster had seen at the end of the last round."""
        return int(self.rounds[-1, len(SUMS)]) if len(self.rounds) else 0

    @property
    def measured(self) -> float:
        """Number of examples behind the estimates."""
        return float(self.rounds[:, 0].sum())

    @property
    def scales(self) -> Doubles:
        """The scale of p in each round."""
        return self.rounds[:, len(SUMS) + 1]

    def _read_rounds(self) -> None:
        """Set what sifting asks for in each portion, and what changes only when a round ends."""
        weight, inverse = (self.rounds[:, SUMS.index(name)].sum() for name in ("weight", "inverse"))
        self.mean_importance = float(weight / inverse) if inverse else 1.0
        recent = self.between(self.recent_round()).sums
        examples = recent["examples"]
        self.theta = min(recent["cost"] / (examples * self.mean_importance), 1.0) if examples else 0.0

    def recent_round(self) -> int:
        """The first round of the recent ones: the last quarter of the examples measured, at least one round."""
        later = np.cumsum(self.rounds[::-1, 0])[::-1]
        return max(int(np.count_nonzero(later >= max(_RECENT * self.measured, 1.0))) - 1, 0)

    def between(self, first: int, last: int | None = None) -> RoundSums:
        """Add up rounds.

        Parameters
        ----------
        first : int
            Number of the first round.
        last : int, optional
            One past the number of the last round. Default: up to the end.

        Returns
        -------
        RoundSums
            Their sums.
        """
        rows, width = self.rounds[first:last], len(SUMS)
        total = rows.sum(axis=0)
        heaviest = rows[:, width + 2 : width + len(_LAST)].max(axis=0, initial=0.0)
        by_class = total[width + len(_LAST) :].reshape(_BY_CLASS, self.classes)
        return RoundSums(
            dict(zip(SUMS, total[:width].tolist(), strict=True)),
            dict(zip(_HEAVIEST, heaviest.tolist(), strict=True)),
            by_class,
        )

    # State -------------------------------------------------------------------------------------------------------

    def save(self) -> State:
        """Return all sums as named arrays."""
        return {
            "rounds": self.rounds.copy(),
            "open": np.concatenate([self._open, self._heaviest, [self.scale, float(self._entries)]]),
        }

    def load(self, state: State) -> None:
        """Restore what was saved.

        Parameters
        ----------
        state : dict of str to ndarray
            What `save` returned.
        """
        self.rounds, opened = np.array(state["rounds"]), np.array(state["open"])
        last = len(_HEAVIEST) + 2
        self._open, self._heaviest = opened[:-last], opened[-last:-2]
        self.scale, self._entries = float(opened[-2]), int(opened[-1])
        self._read_rounds()
