"""Budgets: how many examples a run is to select, and the scale of p that follows from what rounds selected."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import sqrt

import numpy as np

from paraactive.basics.validation import fraction, positive
from paraactive.errors import InputError

AUTO = "auto"
OPERATIONS = 0.75e6
"""Operations for each example of the stream that the default budget allows for learning. It was chosen such that the
60 000 digits may keep the 9 000 vectors that they need, and 50 000 rows of a few columns can all be learned."""
OPERATIONS_PER_VECTOR = 50.0
"""Operations for each vector beside the products of its features: the kernel function and the steps of LASVM."""
_LEAST, _MOST, _LEAST_OF_LIMIT = 1e-3, 1e3, 0.02
"""Bounds on the scale of p. A limit must not make p so small that the weights of a few examples rule the model."""
_LEAST_PART = 0.25
"""However much was selected before, this part of the growth of the budget is selected."""
_SMOOTHING = 2.0
"""Added to the numbers of a round under a rate, so that a few selected examples do not change the scale at once."""
_GROWTH = re.compile(r"\s*(?:(?P<factor>[0-9.eE+]+)\s*\*)?\s*n\s*\*\*\s*(?P<power>[0-9.]+)\s*")


@dataclass(frozen=True)
class Budget:
    """Number of entries that the log may have after n examples: constant + factor * n ** power.

    p depends on a scale, the same for all examples of a round, that follows from what the rounds before selected; see
    `sampling.Adjustment`. So p stays the exact probability of selection, and weights 1/p stay unbiased.

    Parameters
    ----------
    constant, factor, power : float
        The formula.
    is_limit : bool
        True: p is only made smaller. False: p is also made larger, until the number is reached.
    """

    constant: float
    factor: float
    power: float
    is_limit: bool

    def allowed(self, seen: int) -> float:
        """Number of entries that the log may have.

        Parameters
        ----------
        seen : int
            Number n of examples seen.

        Returns
        -------
        float
            The number.
        """
        return self.constant + self.factor * seen**self.power

    @property
    def first_scale(self) -> float:
        """The scale of p in the first round, when nothing is known of p: a rate is kept even if all p are 1."""
        return 1.0 if self.is_limit else min(self.factor, 1.0)

    def next_scale(self, scale: float, selected: float, sifted: int, entries: int, seen: int) -> float:
        """The scale of p in the next round.

        Under a rate, what was selected in excess is paid back over as many examples as have been seen: if one round
        paid for it, p would be tiny there, and a few examples would have most of the weight. What a limit still allows
        may be selected at once.

        Parameters
        ----------
        scale : float
            Scale of the last round.
        selected : float
            Number of examples that it selected.
        sifted : int
            Number of examples that it sifted.
        entries : int
            Number of entries of the log.
        seen : int
            Number of examples seen.

        Returns
        -------
        float
            The scale.

        Examples
        --------
        >>> budget = Budget(0, 10, 0.5, is_limit=True)
        >>> round(budget.next_scale(1.0, selected=50, sifted=100, entries=90, seen=100), 2)
        1.0
        >>> round(budget.next_scale(1.0, selected=100, sifted=100, entries=100, seen=100), 2)
        0.41
        """
        ahead = sifted if self.is_limit else max(seen, sifted)
        later = self.allowed(seen + ahead)
        wanted = max(later - entries, _LEAST_PART * (later - self.allowed(seen))) * sifted / ahead
        if self.is_limit:
            return min(max(scale * wanted / max(selected, 0.5), _LEAST_OF_LIMIT), 1.0)
        return min(max(scale * (wanted + _SMOOTHING) / (selected + _SMOOTHING), _LEAST), _MOST)


def find_budget(select: float | int | str | None, width: int, warmstart: int, examples: int) -> Budget | None:
    """The budget that a user asks for.

    Parameters
    ----------
    select : float, int, str or None
        A rate below 1, a total, a growth such as "20*n**0.5", "auto", or None.
    width : int
        Number of features, for "auto".
    warmstart : int
        Number of examples learned before sifting begins. A rate and a total do not count them.
    examples : int
        Number of examples of the run.

    Returns
    -------
    Budget or None
        The budget; None if there is none.

    Examples
    --------
    >>> find_budget(0.25, width=2, warmstart=1000, examples=5000).allowed(5000)
    2000.0
    >>> find_budget(500, width=2, warmstart=1000, examples=5000).allowed(5000)
    1500.0
    >>> find_budget("20*n**0.5", width=2, warmstart=1000, examples=5000).allowed(10_000)
    2000.0
    """
    if select is None:
        return None
    if isinstance(select, str):
        if select == AUTO:
            return Budget(float(warmstart), sqrt(OPERATIONS / (width + OPERATIONS_PER_VECTOR)), 0.5, is_limit=True)
        return _growth(select)
    sifted = max(examples - warmstart, 1)
    rate = min(positive("select", select) / sifted, 1.0) if is_total(select) else fraction("select", select)
    return Budget(warmstart * (1.0 - rate), rate, 1.0, is_limit=False)


def is_total(select: float | str | None) -> bool:
    """Whether a budget is a number of examples, and not a rate or a growth.

    Parameters
    ----------
    select : float, int, str or None
        What the user gives.

    Returns
    -------
    bool
        True for whole numbers of an integer type, and for numbers above 1.

    Examples
    --------
    >>> is_total(500), is_total(500.0), is_total(1), is_total(0.5), is_total("auto")
    (True, True, True, False, False)
    """
    if select is None or isinstance(select, str | bool):
        return False
    return isinstance(select, int | np.integer) or select > 1.0


def _growth(text: str) -> Budget:
    found = _GROWTH.fullmatch(text)
    power = float(found["power"]) if found else 0.0
    if found is None or not 0.0 < power <= 1.0:
        raise InputError(
            f"select is {text!r}",
            why="it is a rate below 1, a total, a growth with a power of at most 1, or 'auto'",
            remedy="give one as 0.1, 5000, '20*n**0.5' or 'auto'",
        )
    return Budget(0.0, positive("select", float(found["factor"] or 1.0)), power, is_limit=True)
