"""Formulas that several rules share."""

from __future__ import annotations

from typing import Any

import numpy as np

from paraactive.basics.philox import RESOLUTION
from paraactive.basics.validation import number, positive
from paraactive.data.examples import Doubles, Ints
from paraactive.errors import InputError

WHY_ETA = "the sampling probability must fall as the margin grows"
AUTO = "auto"


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


def margin_probability(
    eta: float, distance: Doubles, seen: Ints, theta: float | str = 0.0, steepest: float | None = None
) -> Doubles:
    """Return 2 / (1 + exp(slope * distance)), where slope = min(eta / (theta + 1 / sqrt(seen)), steepest).

    With theta = 0 and no `steepest`, this is the paper's sampling probability 2 / (1 + exp(eta * distance * sqrt(n))).

    Parameters
    ----------
    eta : float
        How fast the probability falls with the distance.
    distance : ndarray of shape (n,)
        Distance of each example from the decision boundary, 0 or more.
    seen : ndarray of shape (n,)
        Number of examples that the whole cluster has seen.
    theta : float or "auto", default=0.0
        Error that the best possible model would make. "auto" counts as 0: nothing is known of it yet.
    steepest : float, optional
        Upper bound on the slope. Default: no bound.

    Returns
    -------
    ndarray of shape (n,)
        Probabilities; 1 at distance 0.

    Examples
    --------
    >>> distance, seen = np.array([0.0, 1.0]), np.array([400, 400])
    >>> margin_probability(0.1, distance, seen).round(3).tolist()
    [1.0, 0.238]
    >>> margin_probability(0.1, distance, seen, theta=0.2).round(3).tolist()
    [1.0, 0.803]
    """
    root = np.sqrt(seen.astype(np.float64))
    noise = 0.0 if isinstance(theta, str) else theta
    slope = eta * root / (1.0 + noise * root)  # eta / (theta + 1 / sqrt(n)), and eta sqrt(n) to the bit if theta is 0
    if steepest is not None:
        slope = np.minimum(slope, steepest)
    # exp overflows at 709. Long before that, the probability is below the resolution of the random numbers.
    return np.maximum(2.0 / (1.0 + np.exp(np.minimum(slope * distance, 700.0))), RESOLUTION)


def check_margin_rule(rule: Any) -> None:
    """Check the parameters eta, theta and steepest of a rule, and replace them by plain numbers.

    Parameters
    ----------
    rule : Margin, SignedMargin or LeastMargin
        The rule, which is being constructed. An InputError names a parameter that is out of its range.
    """
    object.__setattr__(rule, "eta", positive("eta", rule.eta, WHY_ETA))
    if rule.theta != AUTO:
        object.__setattr__(rule, "theta", _error_rate(rule.theta))
    if rule.steepest is not None:
        object.__setattr__(rule, "steepest", positive("steepest", rule.steepest, WHY_ETA))


def _error_rate(value: object) -> float:
    theta = value if isinstance(value, str) else number("theta", value)
    if isinstance(theta, str) or not 0.0 <= theta <= 1.0:
        raise InputError(
            f"theta is {value!r}",
            why="it is the error of the best possible model",
            remedy="give a number from 0 to 1, or 'auto' to estimate it from the run",
        )
    return theta
