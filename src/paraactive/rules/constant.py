"""Rules that ignore the score: take everything (the passive learner), or a uniform part (the honest baseline)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from paraactive.basics.validation import fraction
from paraactive.data.examples import Doubles, Ints


@dataclass(frozen=True)
class Uniform:
    """p = rate for every example. Run it at the sampling rate of another rule to see what that rule is worth.

    >>> import numpy as np
    >>> Uniform(0.25).probability(np.zeros(2), np.array([1, 1])).tolist()
    [0.25, 0.25]
    """

    rate: float = 0.02
    needs_labels: ClassVar[Literal[False]] = False
    needs_scores: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", fraction("rate", self.rate))

    def probability(self, score: Doubles, seen: Ints) -> Doubles:
        """p of each example."""
        return np.full(len(score), self.rate)

    def describe(self) -> dict[str, Any]:
        """The constructor's parameters."""
        return asdict(self)


@dataclass(frozen=True)
class Passive:
    """p = 1: learn from every example.

    >>> import numpy as np
    >>> Passive().probability(np.zeros(2), np.array([1, 1])).tolist()
    [1.0, 1.0]
    """

    needs_labels: ClassVar[Literal[False]] = False
    needs_scores: ClassVar[bool] = False

    def probability(self, score: Doubles, seen: Ints) -> Doubles:
        """p of each example."""
        return np.ones(len(score))

    def describe(self) -> dict[str, Any]:
        """The constructor's parameters."""
        return {}
