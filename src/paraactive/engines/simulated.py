"""The simulated engine: all nodes in this process, on a clock that is imagined.

Round by round, replicas that have applied the same log are equal, so one stands for all. The portions of a round are
sifted one after the other, in pieces small enough that the largest portion is known for every number of nodes at once:
the log does not depend on the number of nodes, so one pass gives the times of all. Tile by tile, see `virtual`.
"""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import pairwise

from paraactive.data.examples import Examples, Stretch, Tile
from paraactive.engines.clock import CLOCKED, edges, largest_portions
from paraactive.engines.virtual import Cluster, Virtual
from paraactive.learners.base import proxy_of
from paraactive.schedules.base import Message
from paraactive.sifting.node import Node, Sifted
from paraactive.streams.base import Stream


class Simulated:
    """k nodes, one after the other. Fetching is not counted, as in the paper; communication only if asked for."""

    updates = "shared", "the nodes are simulated on one model, and nothing is sent"

    def __init__(self, node: Node, nodes: int, cluster: Cluster | None = None) -> None:
        self._node, self._nodes, self._cluster = node, nodes, cluster or Cluster()
        self._sifted: tuple[list[Sifted], dict[int, float]] = [], {}
        self._virtual: Virtual | None = None

    # Round by round ----------------------------------------------------------------------------------------------

    def begin_sift(self, first: int, last: int, seen: int) -> None:
        """All of it, at once: so the model that sifts is the one of now."""
        if proxy_of(self._node.learner) is not None:
            self._sifted = self._sift_for_each(first, last, seen)
            return
        ends = edges(first, last, self._nodes)
        cuts = sorted({edge for k in (*CLOCKED, self._nodes) for edge in edges(first, last, k)})
        pieces = [self._cluster.timed(self._node.sift(a, b, seen), a) for a, b in pairwise(cuts)]
        place = {cut: number for number, cut in enumerate(cuts)}
        sent = [self._sent_by(node, b, pieces[place[a] : place[b]]) for node, (a, b) in enumerate(pairwise(ends))]
        if self._cluster.equal:
            largest = largest_portions(cuts, [piece.sift_seconds for piece in pieces], self._nodes)
        else:
            largest = {self._nodes: max(part.sift_seconds + part.transfer_seconds for part in sent)}
        self._sifted = sent, largest

    def _sift_for_each(self, first: int, last: int, seen: int) -> tuple[list[Sifted], dict[int, float]]:
        """The same with a proxy, portion by portion for each k.

        Its few exact scores are the cheaper the more of them there are at a time, so times of pieces do not add up.
        """
        held = _Held(self._node.stream, first, last)
        node = self._node.reading(held)
        sent, largest = [Sifted.nothing(first, self._node.stream.width)], dict[int, float]()
        for k in sorted({*CLOCKED, self._nodes} if self._cluster.equal else {self._nodes}):
            pieces = [
                self._sent_by(number, b, [self._cluster.timed(held.counted(node.sift(a, b, seen), a), a)])
                for number, (a, b) in enumerate(pairwise(edges(first, last, k)))
            ]
            largest[k] = max(part.sift_seconds + part.transfer_seconds for part in pieces)
            sent = pieces if k == self._nodes else sent
        return sent, largest

    def end_sift(self) -> tuple[list[Sifted], dict[int, float]]:
        """See `Engine.end_sift`."""
        return self._sifted

    def _sent_by(self, node: int, stop: int, pieces: list[Sifted]) -> Sifted:
        """The pieces of one node's portion, as that node would have sent them."""
        sifted = Sifted.join([Sifted.nothing(stop, self._node.stream.width, node), *pieces])
        return replace(
            sifted,
            sift_seconds=sifted.sift_seconds * self._cluster.slowness_of(node),
            transfer_seconds=2 * self._cluster.latency,
        )

    def sift_first(self, first: int, last: int) -> Sifted:
        """See `Engine.sift_first`."""
        return self._node.sift_first(first, last)

    def take(self, first: int, last: int) -> Sifted:
        """See `Engine.take`."""
        return self._node.take(first, last)

    # Tile by tile ------------------------------------------------------------------------------------------------

    def begin_asynchronous(self) -> list[int]:
        """See `Engine.begin_asynchronous`."""
        self._virtual = self._virtual or Virtual(self._node, self._nodes, self._cluster)
        return self._virtual.numbers()

    @property
    def virtual(self) -> Virtual:
        """The nodes of Algorithm 2."""
        assert self._virtual is not None, "begin_asynchronous comes first"
        return self._virtual

    def grant(self, node: int, tile: Tile) -> None:
        """See `Engine.grant`."""
        self.virtual.grant(node, tile)

    def receive(self) -> Message:
        """See `Engine.receive`."""
        return self.virtual.receive()

    def resize(self, nodes: int) -> None:
        """Nodes join or leave."""
        self._nodes = nodes
        if self._virtual:
            self._virtual.resize(nodes)

    # Both --------------------------------------------------------------------------------------------------------

    def apply(self, stretch: Stretch) -> float:
        """The one replica stands for all. In rounds, the slowest of them is waited for."""
        seconds = self._cluster.learning(stretch, self._node.learn(stretch))
        if self._virtual:
            self._virtual.announce(stretch, seconds)
        elif stretch.rounds:  # The warmstart is learnt once, and nodes begin with its model.
            seconds *= max(self._cluster.slowness_of(node) for node in range(self._nodes))
        return seconds

    @property
    def model(self) -> Node:
        """See `Engine.model`."""
        return self._node

    def now(self) -> float:
        """The imagined time."""
        return self._virtual.now if self._virtual else 0.0

    def finish(self) -> dict[int, str]:
        """See `Engine.finish`."""
        if self._virtual:
            return self._virtual.finish()
        return {0: self._node.learner.digest()}

    def close(self) -> None:
        """Nothing to end."""


class _Held:
    """The fresh examples of a round, read once, as the stream of a node that sifts them several times."""

    def __init__(self, stream: Stream, first: int, last: int) -> None:
        start = time.perf_counter()
        self._first, self._examples = first, stream.read(first, last)
        self._seconds = (time.perf_counter() - start) / max(1, last - first)
        self.width, self.classes = stream.width, stream.classes

    def read(self, first: int, last: int) -> Examples:
        """Those at these positions."""
        return self._examples.take(slice(first - self._first, last - self._first))

    def counted(self, sifted: Sifted, first: int) -> Sifted:
        """With the time that its examples took to read."""
        return replace(sifted, fetch_seconds=self._seconds * (sifted.last - first))
