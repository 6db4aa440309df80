"""The rule's contract: from scores to query probabilities.

There are two kinds, told apart by `needs_labels`. A label-blind rule has no parameter for labels, so it cannot see
them, and the same code serves when labels cost money; a label-aware rule is for training on labelled streams.

A rule whose p never falls as the score comes nearer to doubt (of a label-aware rule: speaks less for the label) says so
by a class attribute `rises_with_doubt = True`. Only then may a cheap score rule examples out; see `cascade`.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Protocol, TypeAlias

from paraactive.data.examples import Doubles, Ints, Labels


class BlindRule(Protocol):
    """p from the score and the number of examples seen."""

    needs_labels: ClassVar[Literal[False]]
    needs_scores: ClassVar[bool]
    """False if p does not depend on the score: then the sifter does not compute one."""

    def probability(self, score: Doubles, seen: Ints) -> Doubles:
        """0 < p <= 1 for each score, a number or, with more than two classes, a row; `seen` counts the cluster's."""
        ...

    def describe(self) -> dict[str, Any]:
        """The constructor's parameters."""
        ...


class LabelAwareRule(Protocol):
    """p from the score, the number of examples seen, and the label."""

    needs_labels: ClassVar[Literal[True]]
    needs_scores: ClassVar[bool]

    def probability(self, score: Doubles, seen: Ints, y: Labels) -> Doubles:
        """0 < p <= 1 for each score and label."""
        ...

    def describe(self) -> dict[str, Any]:
        """The constructor's parameters."""
        ...


Rule: TypeAlias = BlindRule | LabelAwareRule


def rises_with_doubt(rule: Rule) -> bool:
    """True if the rule says so of itself."""
    return getattr(rule, "rises_with_doubt", False) is True
