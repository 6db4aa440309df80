"""Protocols of rules: functions from scores to sampling probabilities.

There are two kinds, distinguished by `needs_labels`. A label-blind rule has no parameter for labels, so it cannot see
them; it also serves where each label costs money. A label-aware rule is for training on labeled streams.

A rule may have a method `at_noise(theta)`, which returns the rule for a noise of theta: the error that the best
possible model would make. Before each round, the sifter calls it with the estimate that the run makes from its own log.

A rule may declare the class attribute `rises_with_doubt = True`. It promises that p never falls as the score moves
toward the decision boundary (for a label-aware rule: away from the label). Only then may a cheap proxy score rule
examples out; see `sifting.cascade`.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Protocol, TypeAlias

from paraactive.data.examples import Doubles, Ints, Labels


class BlindRule(Protocol):
    """A rule that computes p from the score and the number of examples seen.

    Attributes
    ----------
    needs_labels : bool
        False.
    needs_scores : bool
        False if p does not depend on the score. Then the sifter computes no scores.
    """

    needs_labels: ClassVar[Literal[False]]
    needs_scores: ClassVar[bool]

    def probability(self, score: Doubles, seen: Ints) -> Doubles:
        """Return the sampling probability of each example.

        Parameters
        ----------
        score : ndarray of shape (n,) or (n, classes)
            Scores of the model: one per example for two classes, otherwise one per class.
        seen : ndarray of shape (n,)
            Number of examples that the whole cluster has seen.

        Returns
        -------
        ndarray of shape (n,)
            Probabilities, 0 < p <= 1.
        """
        ...

    def describe(self) -> dict[str, Any]:
        """Return the constructor's parameters by name."""
        ...


class LabelAwareRule(Protocol):
    """A rule that computes p from the score, the number of examples seen, and the label.

    Attributes
    ----------
    needs_labels : bool
        True.
    needs_scores : bool
        False if p does not depend on the score. Then the sifter computes no scores.
    """

    needs_labels: ClassVar[Literal[True]]
    needs_scores: ClassVar[bool]

    def probability(self, score: Doubles, seen: Ints, y: Labels) -> Doubles:
        """Return the sampling probability of each example.

        Parameters
        ----------
        score : ndarray of shape (n,) or (n, classes)
            Scores of the model: one per example for two classes, otherwise one per class.
        seen : ndarray of shape (n,)
            Number of examples that the whole cluster has seen.
        y : ndarray of shape (n,)
            Labels: -1 and +1 for two classes, otherwise 0 to classes - 1.

        Returns
        -------
        ndarray of shape (n,)
            Probabilities, 0 < p <= 1.
        """
        ...

    def describe(self) -> dict[str, Any]:
        """Return the constructor's parameters by name."""
        ...


Rule: TypeAlias = BlindRule | LabelAwareRule


def rises_with_doubt(rule: Rule) -> bool:
    """Return whether the rule declares `rises_with_doubt = True`.

    Parameters
    ----------
    rule : Rule
        Any rule, including a user's own.

    Returns
    -------
    bool
        False if the rule declares nothing.
    """
    return getattr(rule, "rises_with_doubt", False) is True


def at_noise(rule: Rule, theta: float) -> Rule:
    """Return the rule for a noise of theta, if it adapts to the noise.

    Parameters
    ----------
    rule : Rule
        Any rule, including a user's own.
    theta : float
        Error that the best possible model would make, as the run estimates it.

    Returns
    -------
    Rule
        The rule itself if it has no method `at_noise`.
    """
    adapt = getattr(rule, "at_noise", None)
    return rule if adapt is None else adapt(theta)
