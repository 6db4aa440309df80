"""A rule for networks: select examples in proportion to the gradient of their loss. The paper leaves this rule open."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from paraactive.basics.validation import fraction, positive
from paraactive.data.examples import Doubles, Ints, Labels


def slope(score: Doubles, y: Labels) -> Doubles:
    """Return |dloss/df| of the logistic loss; for softmax, 1 minus the probability of the label.

    Parameters
    ----------
    score : ndarray of shape (n,) or (n, classes)
        Log-odds of two classes, or one score per class.
    y : ndarray of shape (n,)
        Labels: -1 and +1 for two classes, otherwise 0 to classes - 1.

    Returns
    -------
    ndarray of shape (n,)
        Slopes between 0 and 1.

    Examples
    --------
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
    """Select in proportion to the gradient of the loss: p = clip(scale |dloss/df|, floor, 1).

    |dloss/df| is 1 / (1 + exp(y f)) for the logistic loss. With more than two classes it is 1 minus the probability
    that the softmax assigns to the label, the largest slope of the loss. The rule is label-aware.

    Parameters
    ----------
    scale : float, default=5.0
        Factor between the slope of the loss and the sampling probability. A larger scale selects more examples. Must be
        positive.
    floor : float, default=0.01
        Lower bound on the sampling probability, 0 < floor <= 1. It bounds the weights by 1/floor, which keeps the steps
        of a network stable.

    Examples
    --------
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
        """See `LabelAwareRule.probability`."""
        return np.clip(self.scale * slope(score, y), self.floor, 1.0)

    def describe(self) -> dict[str, Any]:
        """Return the constructor's parameters by name."""
        return asdict(self)
