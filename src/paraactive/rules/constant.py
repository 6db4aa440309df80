"""Rules that ignore the score: `Passive` selects every example, `Uniform` a constant fraction."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from paraactive.basics.validation import fraction
from paraactive.data.examples import Doubles, Ints


@dataclass(frozen=True)
class Uniform:
    """Select every example with the same probability.

    Run it at the sampling rate of another rule to measure what that rule gains over uniform sampling.

    Parameters
    ----------
    rate : float, default=0.02
        Sampling probability of every example, 0 < rate <= 1.

    Examples
    --------
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
        """See `BlindRule.probability`."""
        return np.full(len(score), self.rate)

    def describe(self) -> dict[str, Any]:
        """Return the constructor's parameters by name."""
        return asdict(self)


@dataclass(frozen=True)
class Passive:
    """Select every example, with p = 1: the passive learner.

    Examples
    --------
    >>> import numpy as np
    >>> Passive().probability(np.zeros(2), np.array([1, 1])).tolist()
    [1.0, 1.0]
    """

    needs_labels: ClassVar[Literal[False]] = False
    needs_scores: ClassVar[bool] = False

    def probability(self, score: Doubles, seen: Ints) -> Doubles:
        """See `BlindRule.probability`."""
        return np.ones(len(score))

    def describe(self) -> dict[str, Any]:
        """Return the constructor's parameters by name."""
        return {}
