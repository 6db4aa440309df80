"""Parameter checks and the one formula that the margin rules share."""

from __future__ import annotations

import math

import numpy as np

from paraactive.errors import InputError
from paraactive.examples import Doubles, Ints

_LEAST = 2.0**-53
"""The smallest probability that a coin of 53 bits can toss exactly."""


def check_eta(eta: float) -> None:
    """Eta must be a positive, finite number."""
    if not (math.isfinite(eta) and eta > 0):
        raise InputError(
            f"eta is {eta}",
            why="it says how fast the query probability falls with the margin, so it must be a positive number",
            remedy="give eta > 0, for example 0.1",
        )


def check_fraction(**values: float) -> None:
    """Each value must lie in (0, 1]."""
    for name, value in values.items():
        if not 0 < value <= 1:
            raise InputError(
                f"{name} is {value}", why="it is a probability that may not be 0", remedy=f"give 0 < {name} <= 1"
            )


def margin_probability(eta: float, margin: Doubles, seen: Ints) -> Doubles:
    """2 / (1 + exp(eta * margin * sqrt(seen))): 1 at margin 0, and falling faster the more was seen."""
    steepness = eta * np.sqrt(seen.astype(np.float64))
    # exp overflows at 709; the probability is below the coin's resolution long before.
    return np.maximum(2.0 / (1.0 + np.exp(np.minimum(steepness * margin, 700.0))), _LEAST)
