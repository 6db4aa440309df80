"""A lower bound on the sampling probability of any rule. It bounds the weights by 1/floor; estimates stay unbiased."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, cast

import numpy as np

from paraactive.basics.validation import fraction
from paraactive.data.examples import Doubles, Ints, Labels
from paraactive.errors import InputError
from paraactive.rules.base import BlindRule, LabelAwareRule, Rule, at_noise, rises_with_doubt


def floored(rule: Rule, floor: float) -> Rule:
    """Return the rule with p = max(p of the rule, floor).

    The result is still the exact sampling probability, so the weights are unbiased and at most 1/floor.

    Parameters
    ----------
    rule : Rule
        Rule to bound. If it already has a floor, the larger floor counts.
    floor : float
        Lower bound on the sampling probability, 0 < floor <= 1.

    Returns
    -------
    Rule
        The rule with a floor.

    Examples
    --------
    >>> import numpy as np
    >>> from paraactive.rules import Margin
    >>> rule = floored(Margin(eta=0.1), floor=0.01)
    >>> rule.probability(np.array([0.0, 9.0]), np.array([400, 400])).tolist()
    [1.0, 0.01]
    """
    if isinstance(rule, FlooredAware | FlooredBlind):  # pyright: ignore[reportUnnecessaryIsInstance]
        return floored(rule.rule, max(rule.floor, fraction("floor", floor)))
    # Cast: whether a floored rule needs scores depends on the instance, not on the class.
    return cast(Rule, FlooredAware(rule, floor) if rule.needs_labels is True else FlooredBlind(rule, floor))


@dataclass(frozen=True)
class FlooredBlind:
    """A label-blind rule with a lower bound on p. Use `floored` to create one.

    Parameters
    ----------
    rule : BlindRule
        Rule to bound.
    floor : float
        Lower bound on the sampling probability, 0 < floor <= 1.
    """

    rule: BlindRule
    floor: float
    needs_labels: ClassVar[Literal[False]] = False

    def __post_init__(self) -> None:
        _settle(self)

    @property
    def needs_scores(self) -> bool:
        """Whether the rule inside needs scores."""
        return self.rule.needs_scores

    @property
    def rises_with_doubt(self) -> bool:
        """Whether the rule inside declares `rises_with_doubt`."""
        return rises_with_doubt(self.rule)

    def probability(self, score: Doubles, seen: Ints) -> Doubles:
        """See `BlindRule.probability`."""
        return np.maximum(self.rule.probability(score, seen), self.floor)

    def at_noise(self, theta: float) -> FlooredBlind:
        """See `rules.base.at_noise`."""
        return replace(self, rule=cast(Any, at_noise(self.rule, theta)))

    def describe(self) -> dict[str, Any]:
        """Return the constructor's parameters by name. The registry describes the rule inside."""
        return {"rule": self.rule, "floor": self.floor}


@dataclass(frozen=True)
class FlooredAware:
    """A label-aware rule with a lower bound on p. Use `floored` to create one.

    Parameters
    ----------
    rule : LabelAwareRule
        Rule to bound.
    floor : float
        Lower bound on the sampling probability, 0 < floor <= 1.
    """

    rule: LabelAwareRule
    floor: float
    needs_labels: ClassVar[Literal[True]] = True

    def __post_init__(self) -> None:
        _settle(self)

    @property
    def needs_scores(self) -> bool:
        """Whether the rule inside needs scores."""
        return self.rule.needs_scores

    @property
    def rises_with_doubt(self) -> bool:
        """Whether the rule inside declares `rises_with_doubt`."""
        return rises_with_doubt(self.rule)

    def probability(self, score: Doubles, seen: Ints, y: Labels) -> Doubles:
        """See `LabelAwareRule.probability`."""
        return np.maximum(self.rule.probability(score, seen, y), self.floor)

    def at_noise(self, theta: float) -> FlooredAware:
        """See `rules.base.at_noise`."""
        return replace(self, rule=cast(Any, at_noise(self.rule, theta)))

    def describe(self) -> dict[str, Any]:
        """Return the constructor's parameters by name. The registry describes the rule inside."""
        return {"rule": self.rule, "floor": self.floor}


def _settle(floored_: FlooredBlind | FlooredAware) -> None:
    """Check the rule and the floor."""
    rule = floored_.rule
    object.__setattr__(floored_, "floor", fraction("floor", floored_.floor))
    if isinstance(rule, FlooredBlind | FlooredAware):
        raise InputError(
            "the rule already has a floor", why="a rule can have one floor", remedy="give the rule without its floor"
        )
    if rule.needs_labels is not floored_.needs_labels:
        raise InputError(
            f"{type(floored_).__name__} cannot bound {type(rule).__name__}",
            why="one of the two needs labels and the other does not",
            remedy="use floored(rule, floor), which picks the right class",
        )
