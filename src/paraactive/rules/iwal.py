"""IWAL's query probability (Algorithm 3 of the paper), and the rule that uses it with real learners.

For finite classes, where the gap is known exactly, `theory.Iwal` runs the algorithm itself.
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


def check_c0(value: Any) -> float:
    """C0 as a float, at least 2."""
    plain = number("c0", value)
    if plain < 2:
        raise InputError(
            f"c0 is {value!r}",
            why="C0 is of the order of log(hypotheses/delta), and the theorems need it to be 2 at least",
            remedy="give c0 >= 2; the smaller, the fewer are selected",
        )
    if plain > _LARGEST:
        raise InputError(f"c0 is {value!r}", why="with that much everything is selected", remedy="give a smaller c0")
    return plain


def deviation(n: Any, c0: float) -> Any:
    """e = C0 log(n + 1) / n, for n >= 1: how far, squared, weighted errors over n examples may stray."""
    return c0 * np.log(n + 1.0) / n


def solve_for_probability(gap: Any, e: Any) -> Any:
    """The s that solves gap = (c1/sqrt(s) - c1 + 1) sqrt(e) + (c2/s - c2 + 1) e, or 1 where that is above 1.

    It is a quadratic in z = 1/sqrt(s). Its positive root, in the form in which nothing cancels:
    z = 2 K / (c1 + sqrt(c1^2 + 4 c2 K sqrt(e))), with K = gap/sqrt(e) + c1 - 1 + (c2 - 1) sqrt(e).
    For arrays, and compiled for numbers.
    """
    root = np.sqrt(e)
    excess = gap / root + (C1 - 1.0) + (C2 - 1.0) * root
    z = 2.0 * excess / (C1 + np.sqrt(C1 * C1 + 4.0 * C2 * excess * root))
    # Below a gap of sqrt(e) + e the root is under 1, where s would be above 1.
    return 1.0 / np.maximum(z, 1.0) ** 2


def query_probability(gap: ArrayLike, n: ArrayLike, c0: float) -> Doubles:
    """With which probability IWAL asks for a label, in closed form.

    gap : G = err(h') - err(h) >= 0, the weighted errors of the best hypothesis and of the best among those that predict
        otherwise here.
    n : examples that these errors are taken over.
    c0 : C0 >= 2.

    With e = C0 log(n + 1) / n it is P = 1 if G <= sqrt(e) + e, else the s in (0, 1) that solves
    G = (c1/sqrt(s) - c1 + 1) sqrt(e) + (c2/s - c2 + 1) e, where c1 = 5 + 2 sqrt(2) and c2 = 5. At n = 0 it is 1.

    >>> query_probability([0.0, 0.1, 0.5], n=10_000, c0=2).round(4).tolist()
    [1.0, 0.7493, 0.1985]
    >>> query_probability(0.1, n=1_000_000, c0=2).round(4)
    np.float64(0.0936)
    """
    gap, n, c0 = np.asarray(gap, np.float64), np.asarray(n, np.float64), check_c0(c0)
    for name, array in (("gap", gap), ("n", n)):
        if not np.all((array >= 0) & (array <= _LARGEST**2)):
            raise InputError(
                f"{name} has values below 0, or not finite",
                why="a gap is how much worse the next best is, and n counts examples",
                remedy=f"give {name} >= 0",
            )
    known = np.maximum(n, 1.0)
    return np.where(n > 0, solve_for_probability(gap, deviation(known, c0)), 1.0)[()]  # A number for numbers.


@dataclass(frozen=True)
class IwalMargin:
    """P of IWAL (see `query_probability`), its gap estimated from the margin: G = min(1, |f(x)|). Label-blind.

    Karampatziakis and Langford's idea: if x needs the importance w, with the other label, to turn its own prediction
    round, then w/n is the weighted error that separates the two predictions: G = w/n. A learner that follows the mean
    loss of n examples takes steps of 1/n, so an importance of w moves f(x) by w/n, in the units of a loss of slope 1
    (hinge; logistic, far out). So w = n |f(x)|, and G = |f(x)|; more than 1 it cannot be, it is a difference of error
    rates.

    That is the gap of an ideal learner, not a measured one. LaSVM and Network take far longer steps: a weight of a few
    units turns their prediction round, and with the gap that follows from it IWAL would ask for nearly everything. The
    theorems promise nothing for this rule.

    `Margin` falls exponentially with the margin; this one stops at about 71 C0 log(n)/n, so weights stay moderate,
    and what is far from the boundary is still looked at now and then. The larger C0, the more are selected.

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
        """p of each example."""
        return np.maximum(query_probability(np.minimum(margin(score), 1.0), seen, self.c0), RESOLUTION)

    def describe(self) -> dict[str, Any]:
        """The constructor's parameters."""
        return asdict(self)
