"""A floor under any rule: no p is smaller, so no weight is larger than 1/floor, and estimates stay unbiased."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, cast

import numpy as np

from paraactive.basics.validation import fraction
from paraactive.data.examples import Doubles, Ints, Labels
from paraactive.errors import InputError
from paraactive.rules.base import BlindRule, LabelAwareRule, Rule, rises_with_doubt


def floored(rule: Rule, floor: float) -> Rule:
    """The rule with p = max(its p, floor). That is the exact probability still, so weights are 1/floor at most.

    >>> import numpy as np
    >>> from paraactive.rules import Margin
    >>> rule = floored(Margin(eta=0.1), floor=0.01)
    >>> rule.probability(np.array([0.0, 9.0]), np.array([400, 400])).tolist()
    [1.0, 0.01]
    """
    if isinstance(rule, FlooredAware | FlooredBlind):  # pyright: ignore[reportUnnecessaryIsInstance]
        return floored(rule.rule, max(rule.floor, fraction("floor", floor)))
    # Cast: whether it needs scores is known of each one only, not of the class.
    return cast(Rule, FlooredAware(rule, floor) if rule.needs_labels is True else FlooredBlind(rule, floor))


@dataclass(frozen=True)
class FlooredBlind:
    """p = max(p of the rule, floor), around a label-blind rule. Get one by `floored`."""

    rule: BlindRule
    floor: float
    needs_labels: ClassVar[Literal[False]] = False

    def __post_init__(self) -> None:
        _settle(self)

    @property
    def needs_scores(self) -> bool:
        """As the rule."""
        return self.rule.needs_scores

    @property
    def rises_with_doubt(self) -> bool:
        """As the rule."""
        return rises_with_doubt(self.rule)

    def probability(self, score: Doubles, seen: Ints) -> Doubles:
        """p of each example."""
        return np.maximum(self.rule.probability(score, seen), self.floor)

    def describe(self) -> dict[str, Any]:
        """The constructor's parameters; the rule inside is the rule itself, which the registry describes."""
        return {"rule": self.rule, "floor": self.floor}


@dataclass(frozen=True)
class FlooredAware:
    """p = max(p of the rule, floor), around a label-aware rule. Get one by `floored`."""

    rule: LabelAwareRule
    floor: float
    needs_labels: ClassVar[Literal[True]] = True

    def __post_init__(self) -> None:
        _settle(self)

    @property
    def needs_scores(self) -> bool:
        """As the rule."""
        return self.rule.needs_scores

    @property
    def rises_with_doubt(self) -> bool:
        """As the rule."""
        return rises_with_doubt(self.rule)

    def probability(self, score: Doubles, seen: Ints, y: Labels) -> Doubles:
        """p of each example."""
        return np.maximum(self.rule.probability(score, seen, y), self.floor)

    def describe(self) -> dict[str, Any]:
        """The constructor's parameters; the rule inside is the rule itself, which the registry describes."""
        return {"rule": self.rule, "floor": self.floor}


def _settle(floored_: FlooredBlind | FlooredAware) -> None:
    """Check the rule and the floor."""
    rule = floored_.rule
    object.__setattr__(floored_, "floor", fraction("floor", floored_.floor))
    if isinstance(rule, FlooredBlind | FlooredAware):
        raise InputError("the rule has a floor already", why="one is enough", remedy="give the rule that is inside it")
    if rule.needs_labels is not floored_.needs_labels:
        raise InputError(
            f"{type(floored_).__name__} around {type(rule).__name__}",
            why="one of them needs labels and the other does not",
            remedy="use floored(rule, floor), which knows",
        )
