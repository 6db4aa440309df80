"""Importance-aware steps (Karampatziakis and Langford, 2011): what a weight w does, as w tiny steps would.

A step along the gradient moves the output f by -k slope, where k is the sum over the parameters of step size times
(df/dparameter)^2. Scaled by a large weight, it overshoots. In w steps of weight 1, or in ever smaller ones, the
slope goes down on the way: df/dw = -k dloss/df. Where f is linear in the parameters this differential equation has a
closed form, which never overshoots. With the margin m = y f, the push is the integral of the slope over the weight,
(m' - m)/k: it stands in for weight times slope in a step.

>>> round(logistic_push(-2.0, 1e6, 1.0), 3), round(squared_push(-2.0, 1e6, 1.0), 3)
(15.815, 3.0)
"""

# pyright: basic, reportCallIssue=false

from __future__ import annotations

import math

from paraactive.basics.compiled import njit

_ENOUGH = 60
"""Newton's steps at most; a dozen do unless numbers are extreme."""


@njit(cache=True, nogil=True, error_model="numpy")
def logistic_push(margin, weight, k):
    """Of the loss log(1 + exp(-m)): the u >= 0 such that weight w moves m by k u, to m' + exp(m') = m + exp(m) + k w.

    That is m' = c - W(e^c), c the right side, W Lambert's function. For k -> 0 it is w / (1 + exp(m)), the plain step.
    """
    pull = math.exp(min(margin, 700.0))
    total = k * weight
    if total < 1e-9:
        return weight / (1.0 + pull)
    # The way d = m' - m solves d + exp(m) (exp(d) - 1) = k w: convex, so from above Newton comes down to the root.
    # Above it are k w / (1 + exp(m)), because exp(d) - 1 >= d, and log(1 + k w / exp(m)), because d >= 0.
    far = math.log(total) - margin
    way = min(total / (1.0 + pull), far if far > 30.0 else math.log1p(math.exp(far)))
    for _ in range(_ENOUGH):
        grown = math.exp(margin + way)
        gained = pull * math.expm1(way) if way < 1.0 else grown - pull
        less = (way + gained - total) / (1.0 + grown)
        way -= less
        if less <= 1e-15 * way:
            break
    return way / k


@njit(cache=True, nogil=True, error_model="numpy")
def squared_push(margin, weight, k):
    """Of the loss (1 - m)^2 / 2: the u such that weight w moves m by k u = (1 - m)(1 - exp(-k w)).

    For k -> 0 it is w (1 - m), the plain step.
    """
    total = k * weight
    if total < 1e-9:
        return weight * (1.0 - margin)
    return (1.0 - margin) * -math.expm1(-total) / k
