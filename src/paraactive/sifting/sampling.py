"""The sampling policy of a run: what is done to the p of any rule, so that no weight can spoil a model.

p = min(1, max(floor, factor * (p of the rule)**power) * max(1, importance / mean importance)). Both follow from the
scale, which the budget sets: the factor is the scale and the power is 1, but under a limit the scale first makes the
rule steeper (a power of up to 2), and only the rest is a factor; see `Adjustment`. Where the factor is below 1/20, the
floor falls with it. p stays the exact probability of selection, so weights importance / p stay unbiased. As p rises
with the importance of an example, no weight is larger than mean importance / floor. An example of little importance
keeps its p: with less, the few that are selected would weigh more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from paraactive.basics.philox import RESOLUTION
from paraactive.basics.validation import fraction
from paraactive.data.examples import Doubles, Examples, Ints
from paraactive.data.labels import UNKNOWN, numbers_of
from paraactive.sifting.budget import AUTO, Budget

_FLOOR_HOLDS = 20.0
"""Factors of p down to 1/20 do not change the floor."""
_STEEPEST = 2.0
"""Largest power of p under a limit. A margin rule then is as if its slope were twice as steep."""


@dataclass(frozen=True)
class Sampling:
    """The sampling policy of a run.

    Parameters
    ----------
    floor : float, "auto" or None, default=None
        Lower bound on p. "auto" is 1/sqrt(n), where n is the number of examples seen: one example then never has more
        than the part 1/sqrt(n) of the weight of all.
    budget : Budget, optional
        Number of examples to select. Default: no budget.
    class_weight : tuple of float, optional
        Factor of the importance for each class. Default: all 1.
    by_importance : bool, default=False
        Whether p rises with the importance of an example. Runs of paraactive 0.2 multiply only the weight by it.
    """

    floor: float | str | None = None
    budget: Budget | None = None
    class_weight: tuple[float, ...] | None = None
    by_importance: bool = False

    def __post_init__(self) -> None:
        if self.floor is not None and self.floor != AUTO:
            object.__setattr__(self, "floor", fraction("floor", self.floor))

    def weighted(self, fresh: Examples, classes: int) -> Examples:
        """The examples with the weights of their classes in their importance.

        Parameters
        ----------
        fresh : Examples
            Examples of the stream. Labels that are not known yet count as weight 1.
        classes : int
            Number of classes.

        Returns
        -------
        Examples
            The same examples; unchanged if there are no class weights.
        """
        if self.class_weight is None or not len(fresh):
            return fresh
        factor, known = np.ones(len(fresh)), fresh.y != UNKNOWN
        factor[known] = np.array(self.class_weight)[numbers_of(fresh.y[known], classes)]
        return replace(fresh, importance=fresh.importance * factor)


@dataclass(frozen=True, slots=True)
class Adjustment:
    """What is done to the p of the rule in one round.

    Parameters
    ----------
    floor : float, "auto" or None, default=None
        Lower bound on p.
    scale : float, default=1.0
        Scale of p, which follows from the budget. Without a limit, it is the factor of p.
    mean_importance : float or None, default=None
        Mean importance of the examples. None: p does not depend on the importance.
    is_limited : bool, default=False
        Whether the scale is that of a limit, and the rule needs scores. The scale then first raises p to the power
        1 / scale, at most 2, and only the rest is a factor. Examples on the wrong side, whose p is 1, stay selected,
        and fewer of the others are: at the same number, the model is better than with a factor alone.
    """

    floor: float | str | None = None
    scale: float = 1.0
    mean_importance: float | None = None
    is_limited: bool = False

    @property
    def factor(self) -> float:
        """The factor of p."""
        return min(_STEEPEST * self.scale, 1.0) if self.is_limited else self.scale

    def apply(self, p: Doubles, seen: Ints, importance: Doubles) -> Doubles:
        """The probabilities with which examples are selected.

        Parameters
        ----------
        p : ndarray of float64
            Probabilities of the rule.
        seen : ndarray of int64
            For each example, the number n that the rule used.
        importance : ndarray of float64
            The user's own weights of the examples.

        Returns
        -------
        ndarray of float64
            Probabilities from 2**-53, the resolution of a coin, to 1.

        Examples
        --------
        >>> p, seen, one = np.array([1.0, 0.001]), np.array([400, 400]), np.ones(2)
        >>> Adjustment(floor="auto").apply(p, seen, one).tolist()
        [1.0, 0.05]
        >>> Adjustment(scale=0.5, mean_importance=1.0).apply(p, seen, 4 * one).tolist()
        [1.0, 0.002]
        >>> Adjustment(scale=0.5, is_limited=True).apply(np.array([1.0, 0.5]), seen, one).tolist()
        [1.0, 0.25]
        """
        factor = self.factor
        if self.is_limited and self.scale < 1.0:
            p = p ** min(1.0 / self.scale, _STEEPEST)
        if self.floor is not None:
            low = 1.0 / np.sqrt(np.maximum(seen, 1)) if isinstance(self.floor, str) else self.floor
            # A budget that allows very little lowers the floor, too.
            p = np.maximum(p * factor, low * min(1.0, _FLOOR_HOLDS * factor))
        elif factor != 1.0:
            p = p * factor
        if self.mean_importance is not None:
            p = p * np.maximum(importance / self.mean_importance, 1.0)
        return np.clip(p, RESOLUTION, 1.0)
