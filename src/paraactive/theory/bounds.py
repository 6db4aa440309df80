"""What the theorems promise of IWAL with delays: how far from the best it ends, and how many labels it asks for."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from paraactive.basics.validation import number, whole
from paraactive.data.examples import Doubles
from paraactive.errors import InputError
from paraactive.rules.iwal import C1, C2, check_c0, deviation
from paraactive.theory.delays import check_delta


class Constants(NamedTuple):
    """The constants that Theorem 2 hides in its O(): see `label_complexity_bound`. (1, 1, 0) is its printed form."""

    root: float
    linear: float
    logarithm: float


_A = (C1 - 1.0 + math.sqrt(2.0)) / 4.0
PROVEN = Constants(4.0 / 3.0 * (C1 + 1.0 + _A), 1.0, 4.0 / 3.0 * C2)
"""About (14.5, 1, 6.7), from a proof (in the comment below) that keeps all constants. They are far from tight."""
# Where the deviations stay within bounds, as they do with probability 1 - delta if C0 is sufficient, every h has
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
# Where all predict the same, `Iwal` takes the gap to be 1: there the radius is at least 4/3, and all is within the
# bound if theta is at least 1. So a smaller theta counts as 1, and the last e as theta e.


def sufficient_c0(hypotheses: int, delta: float) -> float:
    """A C0 with which the theorems hold with probability 1 - delta, for a class of so many hypotheses.

    The least C0 with 16 log(2 (2 + n log2 n) n (n+1) |H| / delta) / n <= C0 log(n+1) / n for all n >= 1: the deviation
    bound of Beygelzimer, Hsu, Langford and Zhang (2010). It is O(log(|H|/delta)), with a large constant; in practice a
    C0 of a few units does as well and asks for far fewer labels.

    >>> round(sufficient_c0(1000, delta=0.05), 1)
    276.6
    """
    count, delta = whole("hypotheses", hypotheses, 2), check_delta(delta)
    n = np.arange(1, 1 << 12, dtype=np.float64)  # The quotient falls with n, so the first is the largest; to be sure.
    logarithm = np.log(2 * (2 + n * np.log2(n)) * n * (n + 1)) + math.log(count / delta)
    return max(2.0, float(np.max(16 * logarithm / np.log(n + 1))))


def generalization_bound(n: ArrayLike, c0: float) -> Doubles:
    """Theorem 1: with probability 1 - delta, err(h_t) - err(h*) <= sqrt(2 C0 log(n+1)/n) + 2 C0 log(n+1)/n, n = n_t.

    Infinite at n = 0. See `sufficient_c0` for the C0 that goes with a delta.

    >>> generalization_bound([100, 10_000], c0=2).round(3).tolist()
    [0.614, 0.064]
    """
    known = _counts("n", n)
    e = deviation(np.maximum(known, 1.0), check_c0(c0))
    return np.where(known > 0, np.sqrt(2 * e) + 2 * e, np.inf)[()]


def delayed_generalization_bound(t: ArrayLike, delay: int, c0: float) -> Doubles:
    """Corollary, delays of at most B: Theorem 1 with t - B in place of n_t. Infinite for t <= B.

    For random delays give a B_t with P(max tau > B_t) <= delta, as `random_delay_bound` has it; then it holds with
    probability 1 - 2 delta.

    >>> delayed_generalization_bound([100, 10_000], delay=100, c0=2).round(4).tolist()
    [inf, 0.0647]
    """
    return generalization_bound(np.maximum(_counts("t", t) - whole("delay", delay, 1), 0), c0)


def label_complexity_bound(
    n: ArrayLike, c0: float, theta: float, best_error: float, *, constants: Constants = PROVEN
) -> Doubles:
    """Theorem 2: how many labels are asked for in expectation after each of the steps, n = n_1, n_2, ... n_t.

        sum over s <= t of min(1, theta (2 err(h*) + root sqrt(e_s) + linear e_s + logarithm e_s log(1/e_s))),

    e_s = C0 log(n_s+1)/n_s; `theta` is the disagreement coefficient (below 1 it counts as 1), `best_error` is err(h*).
    The paper has 1 + 2 theta err(h*) n_t + O(theta sum of (sqrt(e_s) + e_s)); the constants are explicit here. With the
    default ones, and a C0 that is sufficient, the expectations of the steps given those before them keep to it with
    probability 1 - delta (as in Theorem 1); without that condition add delta t. No step asks for more than one label; a
    step that knows nothing counts 1.

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
    """Corollary, delays of at most B: B + 2 theta err(h*) (t-1) + O(theta sqrt(t-B) sqrt(C0 log t) + theta C0 log t).

    Computed as Theorem 2 with n_s = max(s - B, 0), which is at most that.

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


def _at_least_zero(name: str, given: Any) -> float:
    plain = number(name, given)
    if plain < 0:
        raise InputError(f"{name} is {given!r}", why="it cannot be negative", remedy=f"give {name} >= 0")
    return plain
