"""The paper's clock: the largest sift time of k portions, for several k, from one pass."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

CLOCKED = (1, 2, 4, 8, 16, 32, 64, 128)
"""The numbers of nodes whose times are always reported."""


def edges(first: int, last: int, nodes: int) -> list[int]:
    """Return the positions at which the portions of a round begin and end.

    Parameters
    ----------
    first, last : int
        The positions of the round: first <= position < last.
    nodes : int
        Number of portions.

    Returns
    -------
    list of int
        nodes + 1 positions.
    """
    return (first + np.arange(nodes + 1) * (last - first) // nodes).tolist()  # As `portion`, for all nodes at once.


def largest_portions(cuts: Sequence[int], seconds: Sequence[float], also: int) -> dict[int, float]:
    """Return the largest sift time of k equal portions, for several k.

    A portion that ends within a piece counts its share of that piece.

    Parameters
    ----------
    cuts : sequence of int
        The positions at which pieces begin and end.
    seconds : sequence of float
        The sift time of each piece.
    also : int
        A number of portions to report besides `CLOCKED`.

    Returns
    -------
    dict of int to float
        Seconds, by number of portions.

    Examples
    --------
    >>> largest_portions([0, 4, 8], [1.0, 3.0], also=3)[2], largest_portions([0, 4, 8], [1.0, 3.0], also=3)[4]
    (3.0, 1.5)
    """
    total = np.concatenate([[0.0], np.cumsum(seconds)])
    return {
        k: float(np.diff(np.interp(edges(cuts[0], cuts[-1], k), cuts, total)).max()) for k in sorted({*CLOCKED, also})
    }
