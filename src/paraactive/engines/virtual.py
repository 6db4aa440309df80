"""Algorithm 2 as a discrete-event simulation: any number of nodes and any links, on one core and a virtual clock.

Everything that nodes do is really done: they sift with the model that they would have, and what they select is learnt.
Only the time is imagined. Given costs make a run deterministic; measured ones make its times those of the learner.
"""

from __future__ import annotations

import bisect
import heapq
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import NamedTuple, TypeAlias

import numpy as np

from paraactive.basics.coins import coins
from paraactive.basics.validation import number as finite
from paraactive.basics.validation import positive
from paraactive.data.examples import Place, Stretch, Tile
from paraactive.engines.ladder import Ladder
from paraactive.schedules.asynchronous import step
from paraactive.schedules.base import Joined, Left, Message, Published
from paraactive.sifting.node import Node, Sifted


@dataclass(frozen=True)
class Cluster:
    """The machines and links that the simulated engine imagines."""

    slowness: Sequence[float] = ()
    """By node: how many times longer it takes for everything; 1 for those not named."""
    latency: float = 0.0
    """Seconds of a message from a node to the sequencer, or back."""
    jitter: float = 0.0
    """Up to so many seconds more, by chance."""
    sift_seconds: float | None = None
    """For one example; None: as measured."""
    update_seconds: float | None = None
    """For one entry; None: as measured."""
    seed: int = 0
    """Of the jitter."""

    def __post_init__(self) -> None:
        for slowness in self.slowness:
            positive("slowness", slowness)
        for name in ("latency", "jitter", "sift_seconds", "update_seconds"):
            value = getattr(self, name)
            if value is not None and finite(name, value) < 0:
                positive(name, value, why="time does not run backwards")

    @property
    def equal(self) -> bool:
        """True if all machines are alike and near."""
        return not self.latency and not self.jitter and all(each == 1 for each in self.slowness)

    def slowness_of(self, node: int) -> float:
        return self.slowness[node] if node < len(self.slowness) else 1.0

    def timed(self, sifted: Sifted, first: int) -> Sifted:
        """With the time that it is said to take, if one is given; it began at position `first`."""
        if self.sift_seconds is None:
            return sifted
        return replace(sifted, sift_seconds=self.sift_seconds * (sifted.last - first))

    def learning(self, stretch: Stretch, measured: float) -> float:
        """The seconds that learning takes."""
        return measured if self.update_seconds is None else self.update_seconds * len(stretch.entries)


class _Heard(NamedTuple):
    """A piece of the log as a virtual node learns it: where it ends, what it takes."""

    ends: Place
    seen: int
    seconds: float


@dataclass
class _VirtualNode:
    """A node without a model of its own: it knows how far it is, and borrows a model of that place to sift."""

    number: int
    slowness: float
    engine: Virtual
    place: Place
    seen: int
    heard: int
    """Stretches that it has learnt."""
    time: float = 0.0
    """Until when it is busy."""
    fresh: deque[tuple[float, Tile]] = field(default_factory=deque[tuple[float, Tile]])
    waits: bool = True
    """True if no turn of it is due."""
    alive: bool = True

    def learn(self, stretch: _Heard) -> float:
        """Move on in the log; that takes its time."""
        self.place, self.seen = stretch.ends, stretch.seen
        seconds = stretch.seconds * self.slowness
        self.time += seconds
        return seconds

    def sift(self, first: int, last: int, seen: int) -> Sifted:
        """Sift with a model of its place."""
        sifted = self.engine.sift(self, first, last, seen)
        self.time += sifted.sift_seconds
        return sifted


_Event: TypeAlias = "Message | _VirtualNode | tuple[_VirtualNode, Published]"


class Virtual:
    """The nodes, the links, and what is on its way."""

    def __init__(self, node: Node, nodes: int, cluster: Cluster) -> None:
        self._cluster, self.now = cluster, 0.0
        self._ladder = Ladder(node, keep=bool(cluster.latency or cluster.jitter))
        self._events: list[tuple[float, int, _Event]] = []
        """Messages that reach the sequencer, nodes whose turn it is, and nodes that have sifted, each at its time."""
        self._order = count()
        self._times: list[float] = []
        """When each stretch was announced."""
        self._ends = [_Heard(node.place, node.seen, 0.0)]
        """Where the log stands after that many stretches, and what learning all of them takes."""
        self._nodes = {number: self._new(number) for number in range(nodes)}

    def _new(self, number: int) -> _VirtualNode:
        top = self._ladder.top
        return _VirtualNode(
            number, self._cluster.slowness_of(number), self, top.place, top.seen, len(self._times), self.now
        )

    def numbers(self) -> list[int]:
        """Who is there."""
        return sorted(self._nodes)

    # What the sequencer does -------------------------------------------------------------------------------------

    def announce(self, stretch: Stretch, seconds: float) -> None:
        """The sequencer sends it to all."""
        self._times.append(self.now)
        self._ends.append(_Heard(stretch.ends, stretch.seen, self._ends[-1].seconds + seconds))
        self._ladder.announce(stretch)

    def grant(self, number: int, tile: Tile) -> None:
        """A tile is on its way to a node, behind all that was announced before."""
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
        """What reaches the sequencer next; the clock moves on to then."""
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
        raise AssertionError("nobody has anything to do, and the run is not over")

    def _replace(self, number: int) -> None:
        """A new node of this number, with the model of now; one that has it already is no more."""
        if number in self._nodes:
            self._nodes[number].alive = False
        self._nodes[number] = self._new(number)

    # What a node does --------------------------------------------------------------------------------------------

    def _give_turn(self, node: _VirtualNode) -> None:
        if node.waits and node.fresh:
            node.waits = False
            self._at(max(node.time, node.fresh[0][0]), node)

    def _turn(self, node: _VirtualNode) -> None:
        """Algorithm 2: all that has arrived, then one tile. What arrives while it learns waits for the next turn."""
        if not node.alive:
            return
        node.time = self.now
        published = step(node, self._waiting(node), node.fresh.popleft()[1])
        self._at(node.time, (node, published))

    def _publish(self, node: _VirtualNode, published: Published) -> None:
        """It has sifted, unless it was lost meanwhile."""
        if node.alive:
            node.waits = True
            self.send(self.now, published)
            self._give_turn(node)

    def _waiting(self, node: _VirtualNode) -> Iterator[_Heard]:
        """All that has reached it and that it has not learnt, in one."""
        before, node.heard = node.heard, self._arrived(node)
        yield self._between(before, node.heard)

    def _between(self, before: int, after: int) -> _Heard:
        end = self._ends[after]
        return end._replace(seconds=end.seconds - self._ends[before].seconds)

    def sift(self, node: _VirtualNode, first: int, last: int, seen: int) -> Sifted:
        """With the model of the node's place."""
        model = self._ladder.at(node.place, self._everywhere())
        sifted = self._cluster.timed(model.seen_by(node.number).sift(first, last, seen), first)
        return replace(sifted, sift_seconds=sifted.sift_seconds * node.slowness)

    # Links -------------------------------------------------------------------------------------------------------

    def send(self, time: float, message: Message) -> None:
        """From a node to the sequencer."""
        self._at(time + self._delay(), message)

    def _at(self, time: float, event: _Event) -> None:
        heapq.heappush(self._events, (time, next(self._order), event))

    def _delay(self) -> float:
        jitter = self._cluster.jitter
        chance = float(coins(self._cluster.seed, np.array([next(self._order)]))[0]) if jitter else 0.0
        return self._cluster.latency + jitter * chance

    def _arrivals(self, node: _VirtualNode, first: int, last: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """When these stretches reach a node. A link keeps the order."""
        jitter = self._cluster.jitter
        chance = coins(self._cluster.seed + 1 + node.number, np.arange(first, last)) if jitter else 0.0
        return np.maximum.accumulate(np.array(self._times[first:last]) + self._cluster.latency + jitter * chance)

    def _arrived(self, node: _VirtualNode) -> int:
        """How many stretches have reached it by now."""
        if not self._cluster.jitter:
            return max(node.heard, self._announced_before(self._cluster.latency))
        arrivals = self._arrivals(node, node.heard, len(self._times))
        return node.heard + int(np.searchsorted(arrivals, self.now, side="right"))

    def _everywhere(self) -> Place:
        """The place that every node that sifts from now on has reached."""
        return self._ends[self._announced_before(self._cluster.latency + self._cluster.jitter)].ends

    def _announced_before(self, seconds: float) -> int:
        """How many stretches were on their way for so long. Added to, as arrivals are, so that it rounds as they do."""
        return bisect.bisect_right(self._times, self.now, key=lambda time: time + seconds)

    # Joining and leaving -----------------------------------------------------------------------------------------

    def lose(self, number: int, restarts_after: float | None = None) -> None:
        """A node is gone, with all that it had in hand; the sequencer hears of it, and perhaps a new one comes."""
        self._nodes.pop(number).alive = False
        self._at(self.now + self._cluster.latency, Left(number))
        if restarts_after is not None:
            self._at(self.now + self._cluster.latency + restarts_after, Joined(number))

    def resize(self, nodes: int) -> None:
        """Nodes join or leave."""
        for number in [each for each in self._nodes if each >= nodes]:
            self.lose(number)
        for number in range(nodes):
            if number not in self._nodes:
                self._at(self.now + self._cluster.latency, Joined(number))

    def finish(self) -> dict[int, str]:
        """All that is on its way arrives, and everybody learns it. The digests of the models there."""
        for node in self._nodes.values():
            node.learn(self._between(node.heard, len(self._times)))
            node.heard = len(self._times)
            assert node.place == self._ladder.top.place
        return dict.fromkeys(self._nodes, self._ladder.drained())
