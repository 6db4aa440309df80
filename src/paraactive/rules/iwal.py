"""The query probability of IWAL (Algorithm 3 of the paper), and a rule that uses it with real learners.

For finite hypothesis classes, where the gap is known exactly, `theory.Iwal` runs the algorithm itself.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from paraactive.basics.philox import RESOLUTION
from paraactive.basics.validation import number
from paraactive.data.examples import Doubles, Ints
from paraactive.errors import InputError
from paraactive.rules._formula import margin

C1, C2 = 5.0 + 2.0 * 2.0**0.5, 5.0
"""Constants of the paper."""
_LARGEST = 1e12


def check_c0(value: object) -> float:
    """Return C0 as a float.

    Parameters
    ----------
    value : float
        Value to check.

    Returns
    -------
    float
        C0, at least 2.

    Raises
    ------
    InputError
        If the value is not a number, below 2 or above 1e12.
    """
    plain = number("c0", value)
    if plain < 2:
        raise InputError(
            f"c0 is {value!r}",
            why="C0 is of the order of log(hypotheses/delta), and the theorems require C0 >= 2",
            remedy="give c0 >= 2; a smaller c0 selects fewer examples",
        )
    if plain > _LARGEST:
        raise InputError(f"c0 is {value!r}", why="a c0 this large selects every example", remedy="give a smaller c0")
    return plain


def deviation(n: Doubles | Ints | int, c0: float) -> Doubles:
    """Return e = C0 log(n + 1) / n, the squared deviation of weighted errors over n examples.

    Parameters
    ----------
    n : ndarray
        Number of examples, 1 or more.
    c0 : float
        The constant C0.

    Returns
    -------
    ndarray
        e, with the shape of n.
    """
    return c0 * np.log(n + 1.0) / n


def solve_for_probability(gap: Doubles, e: Doubles) -> Doubles:
    """Return the s <= 1 that solves gap = (c1/sqrt(s) - c1 + 1) sqrt(e) + (c2/s - c2 + 1) e, or 1 if s is larger.

    The equation is quadratic in z = 1/sqrt(s). Its positive root, in the form without cancellation, is
    z = 2 K / (c1 + sqrt(c1^2 + 4 c2 K sqrt(e))), with K = gap/sqrt(e) + c1 - 1 + (c2 - 1) sqrt(e).
    The function takes arrays; `theory` compiles it for numbers.

    Parameters
    ----------
    gap : ndarray
        Difference of weighted errors, 0 or more.
    e : ndarray
        Squared deviation, see `deviation`.

    Returns
    -------
    ndarray
        s, 0 < s <= 1.
    """
    root = np.sqrt(e)
    excess = gap / root + (C1 - 1.0) + (C2 - 1.0) * root
    z = 2.0 * excess / (C1 + np.sqrt(C1 * C1 + 4.0 * C2 * excess * root))
    # If the gap is below sqrt(e) + e, the root z is below 1, and s would be above 1.
    return 1.0 / np.maximum(z, 1.0) ** 2


def query_probability(gap: ArrayLike, n: ArrayLike, c0: float) -> Doubles:
    """Return the probability with which IWAL queries a label, in closed form.

    With e = C0 log(n + 1) / n, P is 1 if G <= sqrt(e) + e, else the s in (0, 1) that solves
    G = (c1/sqrt(s) - c1 + 1) sqrt(e) + (c2/s - c2 + 1) e, where c1 = 5 + 2 sqrt(2) and c2 = 5. At n = 0, P is 1.

    Parameters
    ----------
    gap : array-like
        G = err(h') - err(h) >= 0, where h is the best hypothesis and h' the best hypothesis that predicts the other
        label for this example. Both errors are weighted.
    n : array-like
        Number of examples behind these errors.
    c0 : float
        The constant C0, at least 2.

    Returns
    -------
    ndarray or float
        Probabilities, with the broadcast shape of gap and n.

    Raises
    ------
    InputError
        If gap or n has negative or infinite values, or c0 is not in its range.

    Examples
    --------
    >>> query_probability([0.0, 0.1, 0.5], n=10_000, c0=2).round(4).tolist()
    [1.0, 0.7493, 0.1985]
    >>> query_probability(0.1, n=1_000_000, c0=2).round(4)
    np.float64(0.0936)
    """
    gap, n, c0 = np.asarray(gap, np.float64), np.asarray(n, np.float64), check_c0(c0)
    for name, array in (("gap", gap), ("n", n)):
        if not np.all((array >= 0) & (array <= _LARGEST**2)):
            raise InputError(
                f"{name} has values that are negative or not finite",
                why="a gap is a difference to the best error, and n counts examples",
                remedy=f"give {name} >= 0",
            )
    known = np.maximum(n, 1.0)
    return np.where(n > 0, solve_for_probability(gap, deviation(known, c0)), 1.0)[
        ()
    ]  # [()] turns a 0-d array into a number.


@dataclass(frozen=True)
class IwalMargin:
    """Select with the query probability of IWAL, where the margin estimates the gap: G = min(1, |f(x)|).

    The estimate follows Karampatziakis and Langford. Let w be the importance that x would need, with the other label,
    to reverse its own prediction. Then w/n is the weighted error that separates the two predictions, so G = w/n. A
    learner that minimizes the mean loss of n examples takes steps of 1/n, so an importance of w moves f(x) by w/n for a
    loss of slope 1 (hinge, or logistic far from the boundary). So w = n |f(x)| and G = |f(x)|, at most 1 because G is a
    difference of error rates.

    This is the gap of an ideal learner; it is not measured. LaSVM and Network take much larger steps, and a gap
    measured on them would make IWAL query almost every example. The theorems of `theory` do not cover this rule.

    The probability of `Margin` falls exponentially with the margin. The probability of this rule does not fall below
    about 71 C0 log(n)/n, so weights stay moderate and examples far from the boundary are still selected sometimes. The
    rule is label-blind.

    Parameters
    ----------
    c0 : float, default=2.0
        The constant C0 of IWAL, at least 2. A larger c0 selects more examples.

    Examples
    --------
    >>> import numpy as np
    >>> IwalMargin(c0=2).probability(np.array([0.0, -0.1, 2.0]), np.array([400, 400, 40_000])).round(4).tolist()
    [1.0, 1.0, 0.0285]
    """

    c0: float = 2.0
    needs_labels: ClassVar[Literal[False]] = False
    needs_scores: ClassVar[bool] = True
    rises_with_doubt: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "c0", check_c0(self.c0))

    def probability(self, score: Doubles, seen: Ints) -> Doubles:
        """See `BlindRule.probability`."""
        return np.maximum(query_probability(np.minimum(margin(score), 1.0), seen, self.c0), RESOLUTION)

    def describe(self) -> dict[str, Any]:
        """Return the constructor's parameters by name."""
        return asdict(self)
