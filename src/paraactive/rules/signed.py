"""Our rule for margin learners: query what is wrong, and what is only just right."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from paraactive.basics.validation import positive
from paraactive.data.examples import Doubles, Ints, Labels
from paraactive.data.labels import signed_margin
from paraactive.rules._formula import WHY_ETA, margin_probability


@dataclass(frozen=True)
class SignedMargin:
    """p = 2 / (1 + exp(eta max(0, y f(x)) sqrt(n))). Label-aware.

    An example on the wrong side always passes, with weight 1. Under the paper's |f| a confidently wrong one is taken
    almost never, and then with an enormous weight. With more than two classes y f is the score of the label minus the
    best of the others.

    >>> import numpy as np
    >>> score, seen = np.array([-1.0, 1.0]), np.array([400, 400])
    >>> SignedMargin(eta=0.1).probability(score, seen, np.array([1, 1], np.int8)).round(3).tolist()
    [1.0, 0.238]
    """

    eta: float = 0.05
    needs_labels: ClassVar[Literal[True]] = True
    needs_scores: ClassVar[bool] = True
    rises_with_doubt: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "eta", positive("eta", self.eta, WHY_ETA))

    def probability(self, score: Doubles, seen: Ints, y: Labels) -> Doubles:
        """p of each example."""
        return margin_probability(self.eta, np.maximum(0.0, signed_margin(score, y)), seen)

    def describe(self) -> dict[str, Any]:
        """The constructor's parameters."""
        return asdict(self)
