"""Our rule for networks: query in proportion to the gradient. It answers a question that the paper leaves open."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from paraactive.basics.validation import fraction, positive
from paraactive.data.examples import Doubles, Ints, Labels


def slope(score: Doubles, y: Labels) -> Doubles:
    """|dloss/df| of the logistic loss; of softmax, 1 minus the probability of the label.

    >>> round(float(slope(np.array([[1.0, 0.0]]), np.array([0]))[0]), 3)  # as the score 1 of the label +1
    0.269
    """
    if score.ndim == 1:
        return 1.0 / (1.0 + np.exp(np.clip(y * score, -700.0, 700.0)))
    rows = np.arange(len(score))
    against = np.exp(np.minimum(score - score[rows, y][:, None], 600.0))
    against[rows, y] = 0.0
    total = against.sum(axis=1)
    return total / (1.0 + total)


@dataclass(frozen=True)
class Gradient:
    """p = clip(scale |dloss/df|, floor, 1), |dloss/df| = 1 / (1 + exp(y f)) for the logistic loss. Label-aware.

    With more than two classes it is 1 minus the probability that softmax gives the label, which is the same for two:
    the largest of the loss's slopes. The floor bounds the weights by 1/floor, which a step of a network can take.

    >>> import numpy as np
    >>> score, seen = np.array([-1.0, 3.0, 9.0]), np.array([400, 400, 400])
    >>> Gradient().probability(score, seen, np.array([1, 1, 1], np.int8)).round(3).tolist()
    [1.0, 0.237, 0.01]
    """

    scale: float = 5.0
    floor: float = 0.01
    needs_labels: ClassVar[Literal[True]] = True
    needs_scores: ClassVar[bool] = True
    rises_with_doubt: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive("scale", self.scale))
        object.__setattr__(self, "floor", fraction("floor", self.floor))

    def probability(self, score: Doubles, seen: Ints, y: Labels) -> Doubles:
        """p of each example."""
        return np.clip(self.scale * slope(score, y), self.floor, 1.0)

    def describe(self) -> dict[str, Any]:
        """The constructor's parameters."""
        return asdict(self)
