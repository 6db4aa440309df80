"""The simulated engine: all nodes in this process, on the paper's clock.

Replicas that have applied the same log are equal, so one stands for all. The portions of a round are sifted one
after the other, in pieces small enough that the largest portion is known for every number of nodes at once: the log
does not depend on the number of nodes, so one pass gives the times of all.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate, pairwise

import numpy as np

from paraactive.examples import Entries
from paraactive.node import Node, Sifted
from paraactive.schedules.base import portion

CLOCKED = (1, 2, 4, 8, 16, 32, 64, 128)
"""The numbers of nodes that are always timed."""


class Simulated:
    """k nodes, one after the other. Communication and fetching are not counted, as in the paper."""

    def __init__(self, node: Node, nodes: int) -> None:
        self._node, self._nodes = node, nodes

    def sift(self, first: int, last: int, seen: int) -> tuple[list[Sifted], dict[int, float]]:
        """Each node its portion; see `Engine.sift`."""
        portions = {
            nodes: [portion(first, last, node, nodes) for node in range(nodes)]
            for nodes in sorted({*CLOCKED, self._nodes})
        }
        cuts = sorted({edge for ranges in portions.values() for pair in ranges for edge in pair})
        pieces = [self._node.sift(start, stop, seen) for start, stop in pairwise(cuts)]
        elapsed = dict(zip(cuts, accumulate((piece.sift_seconds for piece in pieces), initial=0.0), strict=True))
        largest = {k: max(elapsed[b] - elapsed[a] for a, b in ranges) for k, ranges in portions.items()}
        place = {cut: number for number, cut in enumerate(cuts)}
        passed_on = [
            self._sent_by(node, stop, pieces[place[start] : place[stop]])
            for node, (start, stop) in enumerate(portions[self._nodes])
        ]
        return passed_on, largest

    def _sent_by(self, node: int, stop: int, pieces: list[Sifted]) -> Sifted:
        """The pieces of one node's portion, as that node would have sent them."""
        sifted = Sifted.join([Sifted.nothing(stop, self._node.stream.width), *pieces])
        selected = sifted.selected
        return replace(sifted, selected=replace(selected, node=np.full(len(selected), node, np.int64)))

    def sift_first(self, first: int, last: int) -> Sifted:
        """See `Engine.sift_first`."""
        return self._node.sift_first(first, last)

    def take(self, first: int, last: int) -> Sifted:
        """See `Engine.take`."""
        return self._node.take(first, last)

    def apply(self, entries: Entries) -> float:
        """The one replica stands for all."""
        return self._node.apply(entries)

    def end_round(self) -> float:
        """The one replica stands for all."""
        return self._node.end_round()

    def close(self) -> None:
        """Nothing to end."""
