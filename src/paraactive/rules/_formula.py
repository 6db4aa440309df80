"""The one formula that the margin rules share."""

from __future__ import annotations

import numpy as np

from paraactive.examples import Doubles, Ints
from paraactive.philox import RESOLUTION

WHY_ETA = "it says how fast the query probability falls with the margin, so it must be a positive number"


def margin_probability(eta: float, margin: Doubles, seen: Ints) -> Doubles:
    """2 / (1 + exp(eta * margin * sqrt(seen))): 1 at margin 0, and falling faster the more was seen."""
    steepness = eta * np.sqrt(seen.astype(np.float64))
    # exp overflows at 709; the probability is below what a coin can toss long before.
    return np.maximum(2.0 / (1.0 + np.exp(np.minimum(steepness * margin, 700.0))), RESOLUTION)
