"""Our rule for one-against-rest machines: query what one of them gets wrong, or only just right."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from paraactive.basics.validation import positive
from paraactive.data.examples import Doubles, Ints, Labels
from paraactive.rules._formula import WHY_ETA, margin_probability


@dataclass(frozen=True)
class LeastMargin:
    """p = 2 / (1 + exp(eta max(0, m) sqrt(n))), m the least margin among machines for one class each. Label-aware.

    The machine of the label is to say yes, all others no: m = min(f_label, -f_c of all others). `SignedMargin`, which
    looks at the difference of two scores, passes over an example that is safe in all but one machine; that machine's
    margin suffers. Of two classes it is the same as `SignedMargin`. It is not for scores that mean something only
    beside each other, as those of a softmax.

    >>> import numpy as np
    >>> score, seen = np.array([[0.2, -3.0, -2.0]]), np.array([400])
    >>> LeastMargin(eta=0.1).probability(score, seen, np.array([0], np.int8)).round(3).tolist()
    [0.803]
    """

    eta: float = 0.1
    needs_labels: ClassVar[Literal[True]] = True
    needs_scores: ClassVar[bool] = True
    rises_with_doubt: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "eta", positive("eta", self.eta, WHY_ETA))

    def probability(self, score: Doubles, seen: Ints, y: Labels) -> Doubles:
        """p of each example."""
        return margin_probability(self.eta, np.maximum(0.0, least_margin(score, y)), seen)

    def describe(self) -> dict[str, Any]:
        """The constructor's parameters."""
        return asdict(self)


def least_margin(score: Doubles, y: Labels) -> Doubles:
    """How far the machine that is least sure is on the right side; y f of two classes.

    >>> least_margin(np.array([[0.2, -3.0, -2.0]]), np.array([0])).tolist()
    [0.2]
    """
    if score.ndim == 1:
        return y * score
    return np.where(np.arange(score.shape[1]) == y[:, None], score, -score).min(axis=1)
