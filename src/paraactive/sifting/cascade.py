"""The cascade: an example needs an exact score only if a cheap one cannot rule it out.

Its coin u is tossed once, and first. A learner's proxy gives a cheap score, which is off by no more than its guard,
nearly always; moved by the guard towards doubt it gives p1. The exact score gives p. An example is selected if
u < min(p1, p), and that is the probability that travels with it: exact, whatever the proxy is worth. Where p1 >= p,
nothing differs from sifting without a proxy.

Which of the two scores is computed first changes the work, not the outcome: what fails one test need not take the
other. So the choice is free to follow what was counted on this node, and the log is the same for any number of nodes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paraactive.data.examples import Doubles, Labels

_LOOK_AGAIN = 16
"""Of so many portions, one asks the proxy first even if that did not pay before."""


def doubtful(score: Doubles, guard: float, y: Labels | None) -> Doubles:
    """The scores no farther than the guard from these that speak least for the label; without one, least clearly.

    A rule whose p rises with doubt gives no higher p to any other score that near.

    >>> doubtful(np.array([2.0, 0.1]), 0.5, None).tolist()
    [1.5, 0.0]
    >>> doubtful(np.array([2.0, 0.1]), 0.5, np.array([1, -1])).tolist()
    [1.5, 0.6]
    >>> doubtful(np.array([[3.0, 1.0, 0.0]]), 0.5, None).tolist()
    [[2.5, 1.5, 0.5]]
    """
    if score.ndim == 1:
        return score - y * guard if y is not None else np.sign(score) * np.maximum(np.abs(score) - guard, 0.0)
    rows = np.arange(len(score))
    if y is not None:
        moved = score + guard
        moved[rows, y] -= 2.0 * guard
        return moved
    best = score.argmax(axis=1)
    second, top = np.partition(score, -2, axis=1)[:, -2:].T
    meet = np.maximum(top - guard, (top + second) / 2.0)[:, None]
    moved = np.minimum(score + guard, meet)
    moved[rows, best] = meet[:, 0]
    return moved


@dataclass(slots=True)
class Economy:
    """Whether asking the proxy first pays, by operations counted and never by seconds."""

    passed: float = 0.0
    """The part of what the proxy was asked about first that it could not rule out, lately."""
    portions: int = 0

    def asks_first(self, cost: float) -> bool:
        """True if the proxy, of this cost in exact scores, is to be asked first for the next portion."""
        self.portions += 1
        return cost + self.passed < 1.0 or self.portions % _LOOK_AGAIN == 1

    def note(self, passed: int, asked: int) -> None:
        """So many were not ruled out."""
        share = passed / asked
        self.passed = share if self.portions == 1 else self.passed + (share - self.passed) / 4
