"""A rule for margin learners: select examples that are misclassified or have a small margin."""

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
    """Select misclassified examples always, others by their margin: p = 2 / (1 + exp(eta max(0, y f(x)) sqrt(n))).

    A misclassified example has p = 1 and weight 1. The paper's rule `Margin` selects an example that is misclassified
    by a large margin very rarely, and then with a very large weight. With more than two classes, y f is the score of
    the label minus the best other score. The rule is label-aware.

    Parameters
    ----------
    eta : float, default=0.05
        How fast the sampling probability falls with the margin. A larger eta selects fewer examples. Must be positive.

    Examples
    --------
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
        """See `LabelAwareRule.probability`."""
        return margin_probability(self.eta, np.maximum(0.0, signed_margin(score, y)), seen)

    def describe(self) -> dict[str, Any]:
        """Return the constructor's parameters by name."""
        return asdict(self)
