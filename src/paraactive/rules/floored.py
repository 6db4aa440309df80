"""A floor under any rule: no p is smaller, so no weight is larger than 1/floor, and estimates stay unbiased."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, cast

import numpy as np

from paraactive.basics.validation import fraction
from paraactive.data.examples import Doubles, Ints, Labels
from paraactive.errors import InputError
from paraactive.rules.base import BlindRule, LabelAwareRule, Rule, rises_with_doubt
from paraactive.rules.constant import Passive, Uniform
from paraactive.rules.gradient import Gradient
from paraactive.rules.iwal import IwalMargin
from paraactive.rules.least import LeastMargin
from paraactive.rules.margin import Margin
from paraactive.rules.signed import SignedMargin

KINDS: dict[str, Callable[..., Rule]] = {
    "margin": Margin,
    "signed": SignedMargin,
    "least": LeastMargin,
    "gradient": Gradient,
    "iwal": IwalMargin,
    "uniform": Uniform,
    "passive": Passive,
}
"""The rules that a description can name."""


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
    # Cast: whether it needs scores, and can be described, is known of each one only, not of the class.
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

    @property
    def describe(self) -> Callable[[], dict[str, Any]]:
        """Call it for the constructor's parameters. Only around a rule of ours is there one."""
        return _describer(self.rule, self.floor)


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

    @property
    def describe(self) -> Callable[[], dict[str, Any]]:
        """Call it for the constructor's parameters. Only around a rule of ours is there one."""
        return _describer(self.rule, self.floor)


def _settle(floored_: FlooredBlind | FlooredAware) -> None:
    """Make the rule, if it is given by its description, and check both."""
    rule: Any = floored_.rule
    if isinstance(rule, dict):
        parameters: dict[str, Any] = dict(rule)
        rule = KINDS[parameters.pop("kind")](**parameters)
    object.__setattr__(floored_, "rule", rule)
    object.__setattr__(floored_, "floor", fraction("floor", floored_.floor))
    if isinstance(rule, FlooredBlind | FlooredAware):
        raise InputError("the rule has a floor already", why="one is enough", remedy="give the rule that is inside it")
    if rule.needs_labels is not floored_.needs_labels:
        raise InputError(
            f"{type(floored_).__name__} around {type(rule).__name__}",
            why="one of them needs labels and the other does not",
            remedy="use floored(rule, floor), which knows",
        )


def _describer(rule: Rule, floor: float) -> Callable[[], dict[str, Any]]:
    for kind, known in KINDS.items():
        if type(rule) is known:
            return lambda: {"rule": {"kind": kind} | rule.describe(), "floor": floor}
    raise AttributeError(f"a floor around {type(rule).__name__} cannot be described: it is not one of paraactive's own")
