"""The formulas that rules share."""

from __future__ import annotations

import numpy as np

from paraactive.basics.philox import RESOLUTION
from paraactive.data.examples import Doubles, Ints

WHY_ETA = "it says how fast the query probability falls with the margin, so it must be a positive number"


def margin(score: Doubles) -> Doubles:
    """How far a score is from the other decision: |f| of two classes, best minus second best of more.

    >>> margin(np.array([-2.0, 0.5])).tolist(), margin(np.array([[0.0, 3.0, 1.0]])).tolist()
    ([2.0, 0.5], [2.0])
    """
    if score.ndim == 1:
        return np.abs(score)
    second, best = np.partition(score, -2, axis=1)[:, -2:].T
    return best - second


def margin_probability(eta: float, distance: Doubles, seen: Ints) -> Doubles:
    """2 / (1 + exp(eta * distance * sqrt(seen))): 1 at distance 0, and falling faster the more was seen."""
    steepness = eta * np.sqrt(seen.astype(np.float64))
    # exp overflows at 709; the probability is below what a coin can toss long before.
    return np.maximum(2.0 / (1.0 + np.exp(np.minimum(steepness * distance, 700.0))), RESOLUTION)
