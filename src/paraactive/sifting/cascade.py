"""The cascade: an example needs an exact score only if a cheap score cannot rule it out.

The coin u of an example is tossed once, and first. The learner's proxy gives a cheap score, whose error is almost
never larger than the proxy's error bound. Moved by the error bound towards the decision boundary, the cheap score gives
p1. The exact score gives p. The example is selected if u < min(p1, p), and min(p1, p) is the probability that is
recorded: it is exact, however good the proxy is. If p1 >= p, the outcome is the same as without a proxy.

The order of the two scores changes the work and not the outcome, because an example that fails one test does not need
the other. So each node may choose the order by its own counts, and the log is the same for any number of nodes. The
proxy itself is part of the model: it is a function of the log, saved with the model, and equal on all replicas.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paraactive.data.examples import Doubles, Labels

_RETRY_PORTIONS = 16
"""Retry the proxy every 16 portions, even if it did not pay before."""


def least_certain(score: Doubles, error_bound: float, y: Labels | None) -> Doubles:
    """Of all scores within the error bound, those that are least certain.

    A rule whose p rises with doubt gives no larger p to any other score within the error bound.

    Parameters
    ----------
    score : array of float64
        Cheap scores, of shape (n,) or (n, classes).
    error_bound : float
        Largest error of a cheap score.
    y : array of int8 or None
        Labels: the result supports the label least. None: the result is nearest to the decision boundary.

    Returns
    -------
    array of float64
        Scores of the same shape.

    Examples
    --------
    >>> least_certain(np.array([2.0, 0.1]), 0.5, None).tolist()
    [1.5, 0.0]
    >>> least_certain(np.array([2.0, 0.1]), 0.5, np.array([1, -1])).tolist()
    [1.5, 0.6]
    >>> least_certain(np.array([[3.0, 1.0, 0.0]]), 0.5, None).tolist()
    [[2.5, 1.5, 0.5]]
    """
    if score.ndim == 1:
        return (
            score - y * error_bound if y is not None else np.sign(score) * np.maximum(np.abs(score) - error_bound, 0.0)
        )
    rows = np.arange(len(score))
    if y is not None:
        moved = score + error_bound
        moved[rows, y] -= 2.0 * error_bound
        return moved
    best = score.argmax(axis=1)
    second, top = np.partition(score, -2, axis=1)[:, -2:].T
    meet = np.maximum(top - error_bound, (top + second) / 2.0)[:, None]
    moved = np.minimum(score + error_bound, meet)
    moved[rows, best] = meet[:, 0]
    return moved


@dataclass(slots=True)
class ProxyPolicy:
    """Decides whether to compute the cheap score first, by counted operations and never by seconds.

    Parameters
    ----------
    passed : float, default=0.0
        Share of the latest examples that the proxy could not rule out.
    portions : int, default=0
        Number of portions so far.
    """

    passed: float = 0.0
    portions: int = 0

    def uses_proxy_first(self, cost: float) -> bool:
        """Decide for the next portion.

        Parameters
        ----------
        cost : float
            Cost of a cheap score, in exact scores.

        Returns
        -------
        bool
            True if the cheap score is to be computed first.
        """
        self.portions += 1
        return cost + self.passed < 1.0 or self.portions % _RETRY_PORTIONS == 1

    def record(self, passed: int, total: int) -> None:
        """Record what the proxy did in a portion.

        Parameters
        ----------
        passed : int
            Number of examples that the proxy could not rule out.
        total : int
            Number of examples.
        """
        share = passed / total
        self.passed = share if self.portions == 1 else self.passed + (share - self.passed) / 4
