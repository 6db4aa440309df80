"""The disagreement coefficient theta: how fast the region in which good hypotheses disagree shrinks.

theta = sup over r > 0 of P(X in DIS(h*, r)) / r, where DIS(h*, r) is the set of x on which some h with
P(h(X) != h*(X)) <= r differs from h*. It is computed exactly for finite classes on points, and in closed form where the
geometry is known.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from paraactive.basics.validation import number, whole
from paraactive.data.examples import Doubles
from paraactive.errors import InputError
from paraactive.theory.predictions import Predictions, as_predictions


def disagreement_coefficient(predictions: Predictions | ArrayLike, best: int, *, above: float = 0.0) -> float:
    """Compute theta of a finite class exactly, with equal probabilities of all points.

    A point enters DIS(h*, r) at the least distance from h* of a hypothesis that differs at the point. So the quotient
    is largest at one of the distances, where it is (points that have entered) / (points) / r.

    Parameters
    ----------
    predictions : Predictions or array_like
        A finite class on points, or a matrix of shape (points, hypotheses).
    best : int
        Number of the hypothesis h*.
    above : float, optional
        Take the sup over r > `above` only. Default: 0, which is the definition. With few points, the smallest radii
        reflect the points and not their distribution.

    Returns
    -------
    float
        theta; 0 if no hypothesis differs from h*.

    Examples
    --------
    >>> import numpy as np
    >>> from paraactive.theory import Thresholds
    >>> x = (np.arange(1000) + 0.5) / 1000
    >>> disagreement_coefficient(Thresholds(np.linspace(0, 1, 101)).on(x), best=40)
    2.0
    """
    predictions, above = as_predictions(predictions), number("above", above)
    if above < 0:
        raise InputError(f"above is {above}", why="it is a distance", remedy="give above >= 0")
    star = predictions.of(best)
    distance = predictions.mistakes(star) / predictions.points
    enters = np.concatenate(
        [np.where(rows != star[where, None], distance, np.inf).min(axis=1) for where, rows in predictions.blocks()]
    )
    radii = np.unique(distance[distance > 0])
    entered = np.searchsorted(np.sort(enters), radii, side="right") / predictions.points
    if above > 0:
        # Just above `above`, the region is that of the largest radius up to it.
        entered = np.concatenate([[np.mean(enters <= above)], entered[radii > above]])
        radii = np.concatenate([[above], radii[radii > above]])
    return float(np.max(entered / radii, initial=0.0))


def threshold_disagreement_coefficient(left: float = 0.5) -> float:
    """Return theta of all thresholds on a line, under a continuous distribution.

    It is sup over r of (min(r, a) + min(r, 1-a)) / r.

    Parameters
    ----------
    left : float, optional
        a: the probability to the left of the best cut, in [0, 1]. Default: 0.5.

    Returns
    -------
    float
        2, or 1 if the cut is at an end.

    Examples
    --------
    >>> threshold_disagreement_coefficient(), threshold_disagreement_coefficient(0.0)
    (2.0, 1.0)
    """
    plain = number("left", left)
    if not 0 <= plain <= 1:
        raise InputError(f"left is {left!r}", why="it is a probability", remedy="give 0 <= left <= 1")
    return 2.0 if 0 < plain < 1 else 1.0


def sphere_disagreement_coefficient(dimensions: int) -> float:
    """Return theta of all linear separators through the origin, for the uniform distribution on a sphere.

    h and h* differ with probability angle/pi, so DIS(h*, r) = {x : |w*.x| <= sin(pi r)}. Its probability is concave in
    r, so the sup is the slope at 0, which is 2 pi times the density of a coordinate at 0:
    theta = 2 sqrt(pi) Gamma(d/2) / Gamma((d-1)/2).

    Parameters
    ----------
    dimensions : int
        d: number of dimensions, at least 2.

    Returns
    -------
    float
        theta: 2 for d = 2, and about sqrt(2 pi d) for large d.

    Examples
    --------
    >>> [round(sphere_disagreement_coefficient(d), 3) for d in (2, 3, 10, 100)]
    [2.0, 3.142, 7.314, 24.878]
    """
    d = whole("dimensions", dimensions, 2)
    if d > 10**6:  # The difference of two so large logarithms has no correct digits, so use the formula of Stirling.
        return math.sqrt(2 * math.pi) * math.sqrt(d - 1.5)
    return 2 * math.sqrt(math.pi) * math.exp(math.lgamma(d / 2) - math.lgamma((d - 1) / 2))


def sphere_disagreement(r: ArrayLike, dimensions: int) -> Doubles:
    """Return P(X in DIS(h*, r)) for linear separators and the uniform distribution on a sphere.

    It is c times the integral of cos^(d-2) from 0 to pi r, with c = 2 Gamma(d/2) / (sqrt(pi) Gamma((d-1)/2)). The
    integral is computed numerically (Gauss-Legendre, 64 points).

    Parameters
    ----------
    r : array_like of float
        Distances, at least 0.
    dimensions : int
        d: number of dimensions, at least 2.

    Returns
    -------
    array of float64
        The probability; 1 for r >= 1/2.

    Examples
    --------
    >>> float(sphere_disagreement(0.01, dimensions=3).round(6))
    0.031411
    """
    d = whole("dimensions", dimensions, 2)
    radius = np.asarray(r, np.float64)
    if not np.all(radius >= 0):
        raise InputError("r has a value below 0, or not a number", why="it is a distance", remedy="give r >= 0")
    angle = np.minimum(np.pi * np.minimum(radius, 0.5), 9.0 / math.sqrt(d))  # Beyond, cos^(d-2) is below 1e-17.
    points, weights = np.polynomial.legendre.leggauss(64)
    inner = np.cos(angle[..., None] * (points + 1) / 2) ** (d - 2)
    return sphere_disagreement_coefficient(d) / np.pi * angle / 2 * (inner @ weights)
