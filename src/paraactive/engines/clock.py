"""The paper's clock: the largest sift time of k portions, for several k, from one pass."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paraactive.schedules.base import portion

CLOCKED = (1, 2, 4, 8, 16, 32, 64, 128)
"""The numbers of nodes that are always timed."""


def edges(first: int, last: int, nodes: int) -> list[int]:
    """Where the portions of `nodes` nodes begin and end."""
    return [first, *(portion(first, last, node, nodes)[1] for node in range(nodes))]


def largest_portions(cuts: Sequence[int], seconds: Sequence[float], also: int) -> dict[int, float]:
    """The largest sift time of k equal portions, from the times of the pieces between the cuts.

    A portion that ends within a piece counts its share of it.

    >>> largest_portions([0, 4, 8], [1.0, 3.0], also=3)[2], largest_portions([0, 4, 8], [1.0, 3.0], also=3)[4]
    (3.0, 1.5)
    """
    total = np.concatenate([[0.0], np.cumsum(seconds)])
    return {
        k: float(np.diff(np.interp(edges(cuts[0], cuts[-1], k), cuts, total)).max()) for k in sorted({*CLOCKED, also})
    }
