"""The paper's rule: select examples near the decision boundary."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

from paraactive.basics.validation import positive
from paraactive.data.examples import Doubles, Ints
from paraactive.rules._formula import WHY_ETA, margin, margin_probability


@dataclass(frozen=True)
class Margin:
    """Select examples near the decision boundary: p = 2 / (1 + exp(eta |f(x)| sqrt(n))).

    n is the number of examples that the whole cluster has seen. With more than two classes, |f| is the best score minus
    the second best. The rule is label-blind.

    Parameters
    ----------
    eta : float, default=0.1
        How fast the sampling probability falls with the margin. A larger eta selects fewer examples. Must be positive.

    Examples
    --------
    >>> import numpy as np
    >>> Margin(eta=0.1).probability(np.array([0.0, -1.0]), np.array([400, 400])).round(3).tolist()
    [1.0, 0.238]
    """

    eta: float = 0.1
    needs_labels: ClassVar[Literal[False]] = False
    needs_scores: ClassVar[bool] = True
    rises_with_doubt: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "eta", positive("eta", self.eta, WHY_ETA))

    def probability(self, score: Doubles, seen: Ints) -> Doubles:
        """See `BlindRule.probability`."""
        return margin_probability(self.eta, margin(score), seen)

    def describe(self) -> dict[str, Any]:
        """Return the constructor's parameters by name."""
        return asdict(self)
