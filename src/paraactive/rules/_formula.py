"""Formulas that several rules share."""

from __future__ import annotations

import numpy as np

from paraactive.basics.philox import RESOLUTION
from paraactive.data.examples import Doubles, Ints

WHY_ETA = "the sampling probability must fall as the margin grows"


def margin(score: Doubles) -> Doubles:
    """Return the distance of each score from the decision boundary.

    Parameters
    ----------
    score : ndarray of shape (n,) or (n, classes)
        Scores of two classes, or one score per class.

    Returns
    -------
    ndarray of shape (n,)
        |f| for two classes, otherwise the best score minus the second best.

    Examples
    --------
    >>> margin(np.array([-2.0, 0.5])).tolist(), margin(np.array([[0.0, 3.0, 1.0]])).tolist()
    ([2.0, 0.5], [2.0])
    """
    if score.ndim == 1:
        return np.abs(score)
    second, best = np.partition(score, -2, axis=1)[:, -2:].T
    return best - second


def margin_probability(eta: float, distance: Doubles, seen: Ints) -> Doubles:
    """Return 2 / (1 + exp(eta * distance * sqrt(seen))), the paper's sampling probability.

    Parameters
    ----------
    eta : float
        How fast the probability falls with the distance.
    distance : ndarray of shape (n,)
        Distance of each example from the decision boundary, 0 or more.
    seen : ndarray of shape (n,)
        Number of examples that the whole cluster has seen.

    Returns
    -------
    ndarray of shape (n,)
        Probabilities; 1 at distance 0.
    """
    steepness = eta * np.sqrt(seen.astype(np.float64))
    # exp overflows at 709. Long before that, the probability is below the resolution of the random numbers.
    return np.maximum(2.0 / (1.0 + np.exp(np.minimum(steepness * distance, 700.0))), RESOLUTION)
