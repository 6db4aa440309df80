"""Bounds of the theorems on IWAL with delays: on the error (Theorem 1) and on the number of labels (Theorem 2)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from paraactive.basics.validation import number, whole
from paraactive.data.examples import Doubles
from paraactive.errors import InputError
from paraactive.rules.iwal import C1, C2, check_c0, deviation
from paraactive.theory.delays import check_delta


class Constants(NamedTuple):
    """The constants that Theorem 2 hides in its O(). (1, 1, 0) is its printed form.

    Parameters
    ----------
    root : float
        Factor of sqrt(e) in `label_complexity_bound`.
    linear : float
        Factor of e.
    logarithm : float
        Factor of e log(1/e).
    """

    root: float
    linear: float
    logarithm: float


_A = (C1 - 1.0 + math.sqrt(2.0)) / 4.0
# About (14.5, 1, 6.7). The constants come from the proof below, which keeps all constants. They are far from tight.
PROVEN = Constants(4.0 / 3.0 * (C1 + 1.0 + _A), 1.0, 4.0 / 3.0 * C2)
#
# Proof. If C0 is sufficient, all deviations are within their bounds with probability 1 - delta. Then every h has
#     |err(h,S) - err(h*,S) - D(h)| <= A(h) := u sqrt(e) + u^2 e,  u = 1/sqrt(least P_s at which h and h* differ),
# with D(h) = err(h) - err(h*), and for h_t itself u^2 <= 2, which is Theorem 1. Let P_s be that least one, G_s its gap.
#  1. If h_s differs from h* at X_s, G_s <= err(h*,S) - err(h_s,S) <= sqrt(2e) + 2e, so u^2 <= 1.2.
#  2. Otherwise G_s <= err(h,S) - err(h_s,S) <= D(h) + A(h) + sqrt(2e) + 2e; with G_s from the equation of P_s,
#     D(h) >= ((c1-1)(u-1) - sqrt(2)) sqrt(e) + ((c2-1)(u^2-1) - 2) e.
# In both cases A(h) <= D(h)/4 + a sqrt(e) + 1.5 e with a = (c1-1+sqrt(2))/4. At step t, either h_t or h'_t differs
# from h* at X_t: call it h. Then D(h) <= G_t + A(h), so D(h) <= 4/3 (G_t + a sqrt(e) + 1.5 e). Where P_t >= p, G_t is
# at most the right side g(p) of its equation, so X_t lies in DIS(h*, 2 err(h*) + 4/3 (g(p) + a sqrt(e) + 1.5 e)).
# Integrating P(P_t >= p) <= theta * radius over p from e to 1, and 1 below e, gives for the step at most
#     2 theta err(h*) + 4/3 theta ((c1 + 1 + a) sqrt(e) + c2 e log(1/e)) + e.
# Where all hypotheses predict the same, `Iwal` sets the gap to 1. There the radius is at least 4/3, and the step is
# within the bound if theta is at least 1. So a smaller theta counts as 1, and the last e as theta e.


def sufficient_c0(hypotheses: int, delta: float) -> float:
    """Return a C0 for which the theorems hold with probability 1 - delta.

    It is the least C0 with 16 log(2 (2 + n log2 n) n (n+1) |H| / delta) / n <= C0 log(n+1) / n for all n >= 1: the
    deviation bound of Beygelzimer, Hsu, Langford and Zhang (2010). It is O(log(|H|/delta)), with a large constant. In
    practice, a C0 of a few units gives the same accuracy and asks for far fewer labels.

    Parameters
    ----------
    hypotheses : int
        Number of hypotheses |H|, at least 2.
    delta : float
        Probability with which the theorems may fail, in (0, 1).

    Returns
    -------
    float
        C0, at least 2.

    Examples
    --------
    >>> round(sufficient_c0(1000, delta=0.05), 1)
    276.6
    """
    count, delta = whole("hypotheses", hypotheses, 2), check_delta(delta)
    n = np.arange(1, 1 << 12, dtype=np.float64)  # The quotient falls with n, so the first values are enough.
    logarithm = np.log(2 * (2 + n * np.log2(n)) * n * (n + 1)) + math.log(count / delta)
    return max(2.0, float(np.max(16 * logarithm / np.log(n + 1))))


def generalization_bound(n: ArrayLike, c0: float) -> Doubles:
    """Bound the error by Theorem 1.

    With probability 1 - delta, err(h_t) - err(h*) <= sqrt(2 C0 log(n+1)/n) + 2 C0 log(n+1)/n, where n = n_t.

    Parameters
    ----------
    n : array_like of float
        n_t: number of known steps.
    c0 : float
        C0, at least 2. `sufficient_c0` returns the C0 for a delta.

    Returns
    -------
    array of float64
        The bound; infinite where n is 0.

    Examples
    --------
    >>> generalization_bound([100, 10_000], c0=2).round(3).tolist()
    [0.614, 0.064]
    """
    known = _counts("n", n)
    e = deviation(np.maximum(known, 1.0), check_c0(c0))
    return np.where(known > 0, np.sqrt(2 * e) + 2 * e, np.inf)[()]


def delayed_generalization_bound(t: ArrayLike, delay: int, c0: float) -> Doubles:
    """Bound the error for delays of at most B, by the corollary of Theorem 1: t - B replaces n_t.

    For random delays, give a B_t with P(max tau > B_t) <= delta, as `random_delay_bound` returns it. Then the bound
    holds with probability 1 - 2 delta.

    Parameters
    ----------
    t : array_like of float
        The steps.
    delay : int
        B: bound on the delay, in examples, at least 1.
    c0 : float
        C0, at least 2.

    Returns
    -------
    array of float64
        The bound; infinite where t <= B.

    Examples
    --------
    >>> delayed_generalization_bound([100, 10_000], delay=100, c0=2).round(4).tolist()
    [inf, 0.0647]
    """
    return generalization_bound(np.maximum(_counts("t", t) - whole("delay", delay, 1), 0), c0)


def label_complexity_bound(
    n: ArrayLike, c0: float, theta: float, best_error: float, *, constants: Constants = PROVEN
) -> Doubles:
    """Bound the expected number of labels by Theorem 2.

    After step t it is

        sum over s <= t of min(1, theta (2 err(h*) + root sqrt(e_s) + linear e_s + logarithm e_s log(1/e_s))),

    with e_s = C0 log(n_s+1)/n_s. The paper has 1 + 2 theta err(h*) n_t + O(theta sum of (sqrt(e_s) + e_s)); here the
    constants are explicit. With the default constants and a sufficient C0, the conditional expectations of the steps
    are within the bound with probability 1 - delta, as in Theorem 1; without that condition, add delta t. A step asks
    for at most one label, and a step without known steps counts 1.

    Parameters
    ----------
    n : array_like of float
        n_1, n_2, ... n_t: number of known steps at each step.
    c0 : float
        C0, at least 2.
    theta : float
        Disagreement coefficient. A value below 1 counts as 1.
    best_error : float
        err(h*), in [0, 1].
    constants : Constants, optional
        Constants of the bound. Default: those of the proof.

    Returns
    -------
    array of float64
        The bound after each step.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Examples
    --------
    >>> n = np.arange(100_000)
    >>> label_complexity_bound(n, c0=2, theta=2, best_error=0.0)[-1].round()
    np.float64(70794.0)
    >>> label_complexity_bound(n, c0=2, theta=2, best_error=0.0, constants=Constants(1, 1, 0))[-1].round()
    np.float64(5706.0)
    """
    known, theta = _counts("n", n), max(1.0, _at_least_zero("theta", theta))
    best_error, constants = _at_least_zero("best_error", best_error), Constants(*constants)
    if best_error > 1:
        raise InputError(f"best_error is {best_error}", why="it is a probability", remedy="give best_error <= 1")
    e = deviation(np.maximum(known, 1.0), check_c0(c0))
    log = np.log(np.maximum(1.0 / e, 1.0))
    step = 2 * best_error + constants.root * np.sqrt(e) + constants.linear * e + constants.logarithm * e * log
    step = np.minimum(1.0, theta * step)
    return np.cumsum(np.where(known > 0, step, 1.0))


def delayed_label_complexity_bound(
    t: int, delay: int, c0: float, theta: float, best_error: float, *, constants: Constants = PROVEN
) -> float:
    """Bound the expected number of labels for delays of at most B, by the corollary of Theorem 2.

    The corollary has B + 2 theta err(h*) (t-1) + O(theta sqrt(t-B) sqrt(C0 log t) + theta C0 log t). This function
    returns Theorem 2 with n_s = max(s - B, 0), which is at most as large.

    Parameters
    ----------
    t : int
        The step.
    delay : int
        B: bound on the delay, in examples, at least 1.
    c0 : float
        C0, at least 2.
    theta : float
        Disagreement coefficient. A value below 1 counts as 1.
    best_error : float
        err(h*), in [0, 1].
    constants : Constants, optional
        Constants of the bound. Default: those of the proof.

    Returns
    -------
    float
        The bound after step t.

    Examples
    --------
    >>> round(delayed_label_complexity_bound(100_000, 1000, c0=2, theta=2, best_error=0.0))
    71326
    """
    steps, delay = np.arange(1, whole("t", t, 1) + 1), whole("delay", delay, 1)
    known = np.maximum(steps - delay, 0)
    return float(label_complexity_bound(known, c0, theta, best_error, constants=constants)[-1])


def _counts(name: str, given: ArrayLike) -> Doubles:
    array = np.asarray(given, np.float64)
    if not np.all((array >= 0) & np.isfinite(array)):
        raise InputError(
            f"{name} has a value below 0, or not finite", why="it counts examples", remedy=f"give {name} >= 0"
        )
    return array


def _at_least_zero(name: str, given: float) -> float:
    plain = number(name, given)
    if plain < 0:
        raise InputError(f"{name} is {given!r}", why="it cannot be negative", remedy=f"give {name} >= 0")
    return plain
