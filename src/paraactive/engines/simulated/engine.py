"""The simulated engine: all nodes in this process, on an imagined clock.

In rounds, replicas that have applied the same log are equal, so one replica stands for all. The portions of a round are
sifted one after the other, in pieces so small that the largest portion is known for every number of nodes at once: the
log does not depend on the number of nodes, so one pass gives the times of all. For Algorithm 2 see `virtual`.
"""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import pairwise

from paraactive.data.examples import Examples, Stretch, Tile
from paraactive.engines.replica import UsesDriverReplica
from paraactive.engines.simulated.clock import CLOCKED, edges, largest_portions
from paraactive.engines.simulated.cluster import Cluster
from paraactive.engines.simulated.virtual import Virtual
from paraactive.learners.base import proxy_of
from paraactive.schedules.engine import Message
from paraactive.sifting.node import Node, Sifted
from paraactive.streams.base import Stream


class Simulated(UsesDriverReplica):
    """k nodes that work one after the other.

    Reading examples takes no time on the clock, as in the paper. Messages take the time that the cluster says.

    Parameters
    ----------
    node : Node
        The replica.
    nodes : int
        Number of imagined nodes.
    cluster : Cluster, optional
        The imagined machines and links. Default: equal machines, and messages that take no time.
    """

    updates = "shared", "the nodes are simulated on one model, and nothing is sent"

    def __init__(self, node: Node, nodes: int, cluster: Cluster | None = None) -> None:
        self._node, self._nodes, self._cluster = node, nodes, cluster or Cluster()
        self._virtual: Virtual | None = None

    # In rounds -----------------------------------------------------------------------------------------------------

    def sift(self, first: int, last: int, seen: int) -> tuple[list[Sifted], dict[int, float]]:
        """See `Engine.sift`."""
        if proxy_of(self._node.learner) is not None:
            return self._sift_for_each(first, last, seen)
        ends = edges(first, last, self._nodes)
        cuts = sorted({edge for k in (*CLOCKED, self._nodes) for edge in edges(first, last, k)})
        pieces = [self._cluster.timed(self._node.sift(a, b, seen), a) for a, b in pairwise(cuts)]
        place = {cut: number for number, cut in enumerate(cuts)}
        sent = [self._sent_by(node, b, pieces[place[a] : place[b]]) for node, (a, b) in enumerate(pairwise(ends))]
        if self._cluster.equal:
            return sent, largest_portions(cuts, [piece.sift_seconds for piece in pieces], self._nodes)
        return sent, {self._nodes: max(part.sift_seconds + part.transfer_seconds for part in sent)}

    def _sift_for_each(self, first: int, last: int, seen: int) -> tuple[list[Sifted], dict[int, float]]:
        """Sift portion by portion for each k, because with a proxy the times of pieces do not add up.

        The proxy leaves few exact scores, and each of them is cheaper when more of them are computed together.
        """
        held = _HeldStream(self._node.stream, first, last)
        node = self._node.with_stream(held)
        sent, largest = [Sifted.nothing(first, self._node.stream.width)], dict[int, float]()
        for k in sorted({*CLOCKED, self._nodes} if self._cluster.equal else {self._nodes}):
            pieces = [
                self._sent_by(number, b, [self._cluster.timed(held.counted(node.sift(a, b, seen), a), a)])
                for number, (a, b) in enumerate(pairwise(edges(first, last, k)))
            ]
            largest[k] = max(part.sift_seconds + part.transfer_seconds for part in pieces)
            sent = pieces if k == self._nodes else sent
        return sent, largest

    def _sent_by(self, node: int, stop: int, pieces: list[Sifted]) -> Sifted:
        """Join the pieces of one portion, as its node would have sent them."""
        sifted = Sifted.join([Sifted.nothing(stop, self._node.stream.width, node), *pieces])
        return replace(
            sifted,
            sift_seconds=sifted.sift_seconds * self._cluster.slowness_of(node),
            transfer_seconds=2 * self._cluster.latency,
        )

    # Without rounds ------------------------------------------------------------------------------------------------

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
        """See `Engine.resize`."""
        self._nodes = nodes
        if self._virtual:
            self._virtual.resize(nodes)

    # In both -------------------------------------------------------------------------------------------------------

    @property
    def model(self) -> Node:
        """See `Engine.model`."""
        return self._node

    def apply(self, stretch: Stretch) -> float:
        """See `Engine.apply`. In rounds, the slowest of the imagined replicas counts."""
        seconds = self._cluster.learning(stretch, self._node.learn(stretch))
        if self._virtual:
            self._virtual.announce(stretch, seconds)
        elif stretch.rounds:  # The warmstart is learned once, and the nodes start with its model.
            seconds *= max(self._cluster.slowness_of(node) for node in range(self._nodes))
        return seconds

    def now(self) -> float:
        """Return the imagined time, in seconds."""
        return self._virtual.now if self._virtual else 0.0

    def finish(self) -> dict[int, str]:
        """See `Engine.finish`."""
        if self._virtual:
            return self._virtual.finish()
        return {0: self._node.learner.digest()}

    def close(self) -> None:
        """See `Engine.close`. There is nothing to release."""


class _HeldStream:
    """The fresh examples of a round, read once, as the stream of a node that sifts them several times."""

    def __init__(self, stream: Stream, first: int, last: int) -> None:
        start = time.perf_counter()
        self._first, self._examples = first, stream.read(first, last)
        self._seconds = (time.perf_counter() - start) / max(1, last - first)
        self.width, self.classes = stream.width, stream.classes

    def read(self, first: int, last: int) -> Examples:
        """See `Stream.read`."""
        return self._examples.take(slice(first - self._first, last - self._first))

    def counted(self, sifted: Sifted, first: int) -> Sifted:
        """Add the time that reading its examples took."""
        return replace(sifted, fetch_seconds=self._seconds * (sifted.last - first))
