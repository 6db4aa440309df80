"""Algorithm 2 as a discrete-event simulation: any number of nodes and any links, on one core and a virtual clock.

The work of the nodes is real: each node sifts with the model that it would have on a cluster, and what the nodes select
is learned. Only the time is imagined. With given costs a run is deterministic; with measured costs its times are those
of the learner.
"""

from __future__ import annotations

import bisect
import heapq
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from typing import NamedTuple, TypeAlias

import numpy as np

from paraactive.basics.coins import coins
from paraactive.data.examples import Place, Stretch, Tile
from paraactive.engines.simulated.cluster import Cluster
from paraactive.engines.simulated.ladder import Ladder
from paraactive.schedules.asynchronous import step
from paraactive.schedules.engine import Joined, Left, Message, Published
from paraactive.sifting.node import Node, Sifted


class _Heard(NamedTuple):
    """Stretches of the log as a virtual node learns them: the place where they end, and the seconds that they take."""

    ends: Place
    seen: int
    seconds: float


@dataclass
class _VirtualNode:
    """A node without its own model: it knows its place in the log, and borrows a model of this place to sift."""

    number: int
    slowness: float
    engine: Virtual
    place: Place
    seen: int
    heard: int  # Number of stretches that the node has learned.
    time: float = 0.0  # The node is busy until then.
    fresh: deque[tuple[float, Tile]] = field(default_factory=deque[tuple[float, Tile]])
    waits: bool = True  # True if no event of the node is due.
    alive: bool = True

    def learn(self, stretch: _Heard) -> float:
        """See `Node.learn`: move on in the log, and spend the time that learning takes."""
        self.place, self.seen = stretch.ends, stretch.seen
        seconds = stretch.seconds * self.slowness
        self.time += seconds
        return seconds

    def sift(self, first: int, last: int, seen: int) -> Sifted:
        """See `Node.sift`: sift with a model of the place of this node."""
        sifted = self.engine.sift(self, first, last, seen)
        self.time += sifted.sift_seconds
        return sifted


_Event: TypeAlias = "Message | _VirtualNode | tuple[_VirtualNode, Published]"


class Virtual:
    """The nodes and links of a simulated cluster that runs Algorithm 2.

    Parameters
    ----------
    node : Node
        The replica of the sequencer.
    nodes : int
        Number of imagined nodes.
    cluster : Cluster
        Their speed, and that of the links.
    """

    def __init__(self, node: Node, nodes: int, cluster: Cluster) -> None:
        self._cluster, self.now = cluster, 0.0
        self._ladder = Ladder(node, keep=bool(cluster.latency or cluster.jitter))
        # Messages that reach the sequencer, nodes whose turn it is, and nodes that have sifted, each at its time.
        self._events: list[tuple[float, int, _Event]] = []
        self._order = count()
        self._times: list[float] = []  # The time at which each stretch was announced.
        # By number of stretches: the place where they end, and the seconds that learning all of them takes.
        self._ends = [_Heard(node.place, node.seen, 0.0)]
        self._nodes = {number: self._new(number) for number in range(nodes)}

    def _new(self, number: int) -> _VirtualNode:
        top = self._ladder.top
        return _VirtualNode(
            number, self._cluster.slowness_of(number), self, top.place, top.seen, len(self._times), self.now
        )

    def numbers(self) -> list[int]:
        """Return the numbers of the nodes, in order."""
        return sorted(self._nodes)

    # The sequencer -------------------------------------------------------------------------------------------------

    def announce(self, stretch: Stretch, seconds: float) -> None:
        """Send a stretch to all nodes.

        Parameters
        ----------
        stretch : Stretch
            The sequencer's replica has learned it.
        seconds : float
            Seconds that a node of slowness 1 takes to learn it.
        """
        self._times.append(self.now)
        self._ends.append(_Heard(stretch.ends, stretch.seen, self._ends[-1].seconds + seconds))
        self._ladder.announce(stretch)

    def grant(self, number: int, tile: Tile) -> None:
        """See `Engine.grant`. The tile arrives after all stretches that were announced before."""
        node = self._nodes.get(number)
        if node is None:
            return
        behind = self._arrivals(node, node.heard, len(self._times))
        arrives = max(self.now + self._delay(), behind.max(initial=0.0))
        if node.fresh:
            arrives = max(arrives, node.fresh[-1][0])
        node.fresh.append((arrives, tile))
        self._give_turn(node)

    def receive(self) -> Message:
        """See `Engine.receive`. The clock moves to the time at which the message arrives."""
        while self._events:
            self.now, _, event = heapq.heappop(self._events)
            if isinstance(event, _VirtualNode):
                self._turn(event)
            elif isinstance(event, tuple):
                self._publish(*event)
            else:
                if isinstance(event, Joined):
                    self._replace(event.node)
                return event
        raise AssertionError("no event is due, and the run is not over")

    def _replace(self, number: int) -> None:
        """Start a new node with the current model. It takes the place of a node with the same number."""
        if number in self._nodes:
            self._nodes[number].alive = False
        self._nodes[number] = self._new(number)

    # A node --------------------------------------------------------------------------------------------------------

    def _give_turn(self, node: _VirtualNode) -> None:
        if node.waits and node.fresh:
            node.waits = False
            self._at(max(node.time, node.fresh[0][0]), node)

    def _turn(self, node: _VirtualNode) -> None:
        """Run one iteration of Algorithm 2. A stretch that arrives meanwhile waits for the next iteration."""
        if not node.alive:
            return
        node.time = self.now
        published = step(node, self._waiting(node), node.fresh.popleft()[1])
        self._at(node.time, (node, published))

    def _publish(self, node: _VirtualNode, published: Published) -> None:
        """Send what a node has sifted, unless the node was lost since."""
        if node.alive:
            node.waits = True
            self.send(self.now, published)
            self._give_turn(node)

    def _waiting(self, node: _VirtualNode) -> Iterator[_Heard]:
        """Return all stretches that have arrived and that the node has not learned, as one."""
        before, node.heard = node.heard, self._arrived(node)
        yield self._between(before, node.heard)

    def _between(self, before: int, after: int) -> _Heard:
        end = self._ends[after]
        return end._replace(seconds=end.seconds - self._ends[before].seconds)

    def sift(self, node: _VirtualNode, first: int, last: int, seen: int) -> Sifted:
        """Sift with a model of the place of a node.

        Parameters
        ----------
        node : _VirtualNode
            The node that sifts.
        first, last : int
            The positions: first <= position < last.
        seen : int
            Number n of examples that the cluster has seen, as far as the node knows.

        Returns
        -------
        Sifted
            With the time that the node takes.
        """
        model = self._ladder.at(node.place, self._everywhere())
        sifted = self._cluster.timed(model.numbered(node.number).sift(first, last, seen), first)
        return replace(sifted, sift_seconds=sifted.sift_seconds * node.slowness)

    # Links -------------------------------------------------------------------------------------------------------

    def send(self, time: float, message: Message) -> None:
        """Send a message to the sequencer at a given time, in seconds.

        Parameters
        ----------
        time : float
            Virtual time of sending, in seconds.
        message : Message
            The message.
        """
        self._at(time + self._delay(), message)

    def _at(self, time: float, event: _Event) -> None:
        heapq.heappush(self._events, (time, next(self._order), event))

    def _delay(self) -> float:
        jitter = self._cluster.jitter
        chance = float(coins(self._cluster.seed, np.array([next(self._order)]))[0]) if jitter else 0.0
        return self._cluster.latency + jitter * chance

    def _arrivals(self, node: _VirtualNode, first: int, last: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """Return the times at which these stretches reach a node. A link keeps the order."""
        jitter = self._cluster.jitter
        chance = coins(self._cluster.seed + 1 + node.number, np.arange(first, last)) if jitter else 0.0
        return np.maximum.accumulate(np.array(self._times[first:last]) + self._cluster.latency + jitter * chance)

    def _arrived(self, node: _VirtualNode) -> int:
        """Return the number of stretches that have reached a node."""
        if not self._cluster.jitter:
            return max(node.heard, self._announced_before(self._cluster.latency))
        arrivals = self._arrivals(node, node.heard, len(self._times))
        return node.heard + int(np.searchsorted(arrivals, self.now, side="right"))

    def _everywhere(self) -> Place:
        """Return a place that every node that sifts from now on has reached."""
        return self._ends[self._announced_before(self._cluster.latency + self._cluster.jitter)].ends

    def _announced_before(self, seconds: float) -> int:
        """Return the number of stretches that were announced at least this long ago.

        The seconds are added to the times, as for arrivals, so that both are rounded equally.
        """
        return bisect.bisect_right(self._times, self.now, key=lambda time: time + seconds)

    # Joining and leaving -----------------------------------------------------------------------------------------

    def lose(self, number: int, restarts_after: float | None = None) -> None:
        """Let a node fail, with everything that it holds. The sequencer receives a `Left`.

        Parameters
        ----------
        number : int
            Number of the node.
        restarts_after : float, optional
            Seconds after which a new node of this number joins. Default: never.
        """
        self._nodes.pop(number).alive = False
        self._at(self.now + self._cluster.latency, Left(number))
        if restarts_after is not None:
            self._at(self.now + self._cluster.latency + restarts_after, Joined(number))

    def resize(self, nodes: int) -> None:
        """See `Engine.resize`."""
        for number in [each for each in self._nodes if each >= nodes]:
            self.lose(number)
        for number in range(nodes):
            if number not in self._nodes:
                self._at(self.now + self._cluster.latency, Joined(number))

    def finish(self) -> dict[int, str]:
        """See `Engine.finish`. All stretches arrive, and all nodes learn them."""
        for node in self._nodes.values():
            node.learn(self._between(node.heard, len(self._times)))
            node.heard = len(self._times)
            assert node.place == self._ladder.top.place
        return dict.fromkeys(self._nodes, self._ladder.drained())
