"""Nodes that live elsewhere, whatever carries the messages: sends them work and news, and replaces those that are lost.

The driver has a replica of its own. It is what is evaluated and saved, what new nodes get their model from, and what
the digests of the others are compared with.
"""

from __future__ import annotations

import time
import warnings
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Protocol

from threadpoolctl import ThreadpoolController

from paraactive.engines.letters import Incoming, Letter, Outgoing
from paraactive.engines.messages import Check, Digest, Done, Failed, Fresh, FromNode, Gone, News, Ready, Stop, ToNode
from paraactive.engines.shared import Model, OnSharedModel, SharedModel
from paraactive.engines.updates import Updates
from paraactive.errors import NodesLostError, NodeWarning, ReplicaError, ReplicaWarning
from paraactive.events import Event, NodeJoined, NodeLost, ReplicaRebuilt
from paraactive.examples import Place, Stretch, Tile
from paraactive.node import Node, Sifted
from paraactive.schedules.base import Joined, Left, Message, portion

_PATIENCE = 60.0
"""Seconds to wait for nodes to start, and at the end for their digests. Only a node that hangs takes that long."""
_WINDOW_BYTES = 64 << 20
"""Of the latest stretches, kept for nodes that are behind. Who is further behind gets the whole model."""
_UNANSWERED_BYTES = 8 << 20
"""News that are sent to a node before it answers; the rest goes out with its next tile."""
_WEIGHED_ROUNDS = 4
"""The model is weighed after each so many rounds, to choose between sending it and sending entries."""
_CHECK_ROUNDS = 7
"""Replicas are compared after each so many rounds, and at the end. Odd, because where a node learns while it sifts, two
copies of its model take turns."""
_LOST_IN_A_ROW = 3
"""A node that is lost so often without having done anything is not started again."""
_COMPARISONS = 10
"""At the end: replicas that differ are rebuilt and compared again, so often."""


class Transport(Protocol):
    """Starts nodes and carries letters. It may delay, repeat and reorder them, and never blocks but in `receive`."""

    def start(self, number: int) -> None:
        """Start a node; it will be `Ready`, or `Gone`."""
        ...

    def send(self, number: int, letter: Letter[ToNode]) -> None:
        """To a node that was started."""
        ...

    def receive(self, timeout: float | None) -> tuple[int, Letter[FromNode] | Gone] | None:
        """What comes next from any node, nothing of one that was ended or is `Gone`; None if nothing comes in time."""
        ...

    def end(self, number: int) -> None:
        """End a node now. Nothing more will come from it."""
        ...

    def close(self) -> None:
        """End all nodes, which have been told to stop; nothing of theirs is left."""
        ...


@dataclass
class _Checking:
    """A comparison of all replicas at one place of the log."""

    number: int
    place: Place
    expected: str
    """The digest of the driver's replica."""
    waiting: set[int]
    answers: dict[int, str] = field(default_factory=dict[int, str])


@dataclass
class _Peer:
    """What the driver knows of a node."""

    ready: bool = False
    told: int = 0
    """Stretches that it has been told, of all that there were."""
    seen: int = 0
    """Examples that the cluster had seen as of then."""
    unanswered: int = 0
    """Bytes of news since it last said something."""
    lost_in_a_row: int = 0
    asked: deque[_Checking] = field(default_factory=deque[_Checking])
    """What its next answers are about."""
    renewed: int = 0
    """Comparisons before this one are about a model that it has no more."""
    outgoing: Outgoing[ToNode] = field(default_factory=Outgoing[ToNode])
    incoming: Incoming[FromNode] = field(default_factory=Incoming[FromNode])


class Remote(OnSharedModel):
    """k nodes behind a transport. The shared model is the driver's replica."""

    def __init__(
        self,
        transport: Transport,
        node: Node,
        nodes: int,
        *,
        updates: str = "auto",
        delay: int = 0,
        observe: Callable[[Event], None] = lambda _: None,
    ) -> None:
        self._transport, self._shared, self._observe = transport, SharedModel(node), observe
        self._updates, self._delay = Updates(updates), delay
        self._libraries = ThreadpoolController()
        self._window: deque[Stretch] = deque()
        self._window_bytes = self._applied = 0
        self._model_bytes = Model.of(node).nbytes
        self._front: Node | None = None
        """The model that the nodes are sifting with."""
        self._parts: dict[int, tuple[Fresh, int]] = {}
        """Round by round: what is not yet done, and who does it."""
        self._posted: dict[int, float] = {}
        """When each part was sent out."""
        self._done: dict[int, Sifted] = {}
        self._asynchronous = self._waited = False
        self._checks = 0
        self._news: deque[Joined | Left] = deque()
        """What the driver itself has to say to the schedule."""
        self._arrived: deque[tuple[int, FromNode]] = deque()
        """What nodes have said, in order, and nobody has read yet."""
        self._peers = {number: _Peer() for number in range(nodes)}
        try:
            for number in self._peers:
                transport.start(number)
        except BaseException:
            transport.close()
            raise

    # Round by round ----------------------------------------------------------------------------------------------

    def begin_sift(self, first: int, last: int, seen: int) -> None:
        """See `Engine.begin_sift`: the portions go to those who are there."""
        self._wait_for_nodes()
        self._shared.show()
        self._front = self._shared.enter()
        ready = self._ready()
        self._done = {}
        for part, number in enumerate(ready):
            self._tell(number)
            fresh = Fresh(Tile(*portion(first, last, part, len(ready))), part, seen)
            self._give_part(part, fresh, number)

    def _give_part(self, part: int, fresh: Fresh, number: int) -> None:
        self._parts[part], self._posted[part] = (fresh, number), time.perf_counter()
        self._post(number, fresh)

    def end_sift(self) -> tuple[list[Sifted], dict[int, float]]:
        """See `Engine.end_sift`. What a lost node was sifting is sifted by another: it comes to the same."""
        try:
            while self._parts:
                message = self._receive(None)
                if isinstance(message, Done) and message.part in self._parts:
                    del self._parts[message.part]
                    self._done[message.part] = self._with_transfer(message.part, message.published.sifted)
                elif isinstance(message, Joined | Left):
                    self._give_parts_anew(message.node)
        finally:
            if self._front:
                self._shared.leave(self._front)
            self._front = None
        sifted = [self._done[part] for part in sorted(self._done)]
        return sifted, {len(self._peers): max(part.sift_seconds for part in sifted)}

    def _with_transfer(self, part: int, sifted: Sifted) -> Sifted:
        """The time from here and back, less what the node did meanwhile: durations of two clocks, never their times."""
        there = sifted.queued_seconds + sifted.fetch_seconds + sifted.sift_seconds
        return replace(sifted, transfer_seconds=max(0.0, time.perf_counter() - self._posted[part] - there))

    def _give_parts_anew(self, changed: int) -> None:
        """Who is there takes what nobody does."""
        ready = self._ready()
        load = Counter(dict.fromkeys(ready, 0))
        load.update([number for _, number in self._parts.values() if number in load])
        for part, (fresh, number) in self._parts.items():
            if ready and (number == changed or number not in load):
                least = min(ready, key=lambda each: load[each])
                load[least] += 1
                again = Fresh(fresh.tile, part, fresh.seen, same_model=True)
                self._give_part(part, again, least)

    # Tile by tile ------------------------------------------------------------------------------------------------

    def begin_asynchronous(self) -> list[int]:
        """See `Engine.begin_asynchronous`."""
        self._wait_for_nodes()
        self._asynchronous = True
        return self._ready()

    def grant(self, node: int, tile: Tile) -> None:
        """See `Engine.grant`: the news first, then the tile."""
        peer = self._peers.get(node)
        if peer and peer.ready:
            if self._updates.replicated or self.model.seen - peer.seen > self._delay // 4:
                self._tell(node)
            self._post(node, Fresh(tile))

    def receive(self) -> Message:
        """See `Engine.receive`."""
        while True:
            message = self._receive(None)
            if message:
                return message.published if isinstance(message, Done) else message

    def resize(self, nodes: int) -> None:
        """Nodes join or leave."""
        for number in [each for each in self._peers if each >= nodes]:
            self._transport.end(number)
            self._ask_no_more(number, self._peers.pop(number))
            self._news.append(Left(number))
        for number in range(nodes):
            if number not in self._peers:
                self._peers[number] = _Peer(renewed=self._checks)
                self._transport.start(number)

    # Learning ----------------------------------------------------------------------------------------------------

    def apply(self, stretch: Stretch) -> float:
        """All replicas learn this, the driver's too: side by side with the others where they are sent the entries."""
        self._remember(stretch)
        self._updates.choose(stretch, self._model_bytes)
        if self._updates.replicated:
            self._tell_all()
        with self._libraries.limit(limits=1):  # As on the nodes: sums of BLAS depend on how many threads add them up.
            seconds = self._shared.learn(stretch)
        if self._asynchronous:
            self._shared.show()
        elif not self._updates.replicated:
            self._tell_all()
        if stretch.ends_round and stretch.rounds % _WEIGHED_ROUNDS == 0:
            self._model_bytes = Model.of(self.model).nbytes
        if stretch.ends_round and stretch.rounds % _CHECK_ROUNDS == _CHECK_ROUNDS - 1:
            self._check()
        return seconds

    def _remember(self, stretch: Stretch) -> None:
        self._applied += 1
        self._window.append(stretch)
        self._window_bytes += stretch.nbytes
        while self._window_bytes > _WINDOW_BYTES and len(self._window) > 1:
            self._window_bytes -= self._window.popleft().nbytes

    def _tell_all(self) -> None:
        for number in self._ready():
            if self._peers[number].unanswered < _UNANSWERED_BYTES or not self._asynchronous:
                self._tell(number)

    def _tell(self, number: int) -> None:
        """Send a node what it has not been told: the stretches, or the whole model."""
        peer = self._peers[number]
        missing = self._applied - peer.told
        if not missing:
            return
        if missing > len(self._window) or not self._updates.replicated:
            self._send_model(number, self.model)
            return
        stretches = list(islice(self._window, len(self._window) - missing, None))
        self._sent(peer, self._applied, stretches[-1].seen, sum(stretch.nbytes for stretch in stretches))
        self._post(number, News([*stretches], beside=self._front is not None))

    def _send_model(self, number: int, node: Node) -> None:
        """The whole model; it may be one that is a few stretches old."""
        model = Model.of(node)
        older = sum(stretch.ends > model.place for stretch in self._window)
        self._sent(self._peers[number], self._applied - older, model.seen, model.nbytes)
        self._post(number, News([model], beside=self._front not in (None, node)))

    def _sent(self, peer: _Peer, told: int, seen: int, count: int) -> None:
        peer.told, peer.seen, peer.unanswered = told, seen, peer.unanswered + count
        self._updates.sent(count)

    # Coming and going --------------------------------------------------------------------------------------------

    def _ready(self) -> list[int]:
        return [number for number, peer in sorted(self._peers.items()) if peer.ready]

    def _wait_for_nodes(self) -> None:
        """Once, until all are there; later the run goes on with those that are."""
        if not self._waited:
            self._receive_while(lambda: len(self._ready()) < len(self._peers), time.monotonic() + _PATIENCE)
            self._waited = True
            if len(self._ready()) < len(self._peers):
                there = f"{len(self._ready())} of {len(self._peers)} nodes are there"
                _warn(f"{there} after {_PATIENCE:.0f} s; going on with them")
        while not self._ready():
            self._receive(None)

    def _receive_while(self, waiting: Callable[[], object], end: float) -> None:
        """Take in what comes for as long as something is waited for, until that time at most."""
        while waiting() and time.monotonic() < end:
            self._receive(max(0.0, end - time.monotonic()))

    def _receive(self, timeout: float | None) -> Joined | Left | Done | None:
        """The next message that matters to a schedule; None for others, or if nothing comes in time."""
        if self._news:
            return self._news.popleft()
        if not self._arrived:
            self._take_in(self._transport.receive(timeout))
        if not self._arrived:
            return None
        number, message = self._arrived.popleft()
        peer = self._peers.get(number)
        if peer is None:
            return None
        if isinstance(message, Failed):
            raise message.error
        if isinstance(message, Gone):
            return self._lost(number, peer, message.why)
        if isinstance(message, Ready):
            return self._welcome(number, peer)
        peer.unanswered = peer.lost_in_a_row = 0
        if isinstance(message, Digest):
            self._answered(number, peer, message)
            return None
        return message

    def _take_in(self, received: tuple[int, Letter[FromNode] | Gone] | None) -> None:
        if received is None or received[0] not in self._peers:
            return
        number, letter = received
        messages = [letter] if isinstance(letter, Gone) else self._peers[number].incoming.accept(letter)
        self._arrived.extend((number, message) for message in messages)

    def _post(self, number: int, message: ToNode) -> None:
        self._transport.send(number, self._peers[number].outgoing.letter(message))

    def _welcome(self, number: int, peer: _Peer) -> Joined:
        """A node gets the model that the others sift with; with its next work, what they were told since."""
        peer.ready, peer.told, peer.unanswered = True, 0, 0
        self._send_model(number, self._front or self.model)
        self._observe(NodeJoined(number, self.model.version))
        return Joined(number)

    def _lost(self, number: int, peer: _Peer, why: str) -> Left:
        self._observe(NodeLost(number, why))
        peer.ready, peer.lost_in_a_row = False, peer.lost_in_a_row + 1
        peer.outgoing, peer.incoming = Outgoing[ToNode](), Incoming[FromNode]()
        if peer.lost_in_a_row < _LOST_IN_A_ROW:
            self._transport.start(number)
        elif len(self._peers) > 1:
            _warn(f"node {number} is lost ({why}) and was started {_LOST_IN_A_ROW} times in vain; going on without it")
            del self._peers[number]
        else:
            raise NodesLostError(
                "no node is left",
                why=f"the last was started {_LOST_IN_A_ROW} times in vain ({why})",
                remedy="look at what it wrote to standard error; a run file can be resumed with another engine",
            )
        self._ask_no_more(number, peer)
        return Left(number)

    # Comparing ---------------------------------------------------------------------------------------------------

    def _check(self) -> _Checking:
        """Ask all replicas for their digests at this place of the log."""
        checking = _Checking(self._checks, self.model.place, self.model.learner.digest(), set(self._ready()))
        self._checks += 1
        for number in self._ready():
            self._tell(number)
            self._peers[number].asked.append(checking)
            self._post(number, Check())
        return checking

    def _answered(self, number: int, peer: _Peer, said: Digest) -> None:
        checking = peer.asked.popleft()
        checking.answers[number] = said.digest
        self._strike(number, checking)

    def _ask_no_more(self, number: int, peer: _Peer) -> None:
        """It will not answer."""
        peer.renewed = self._checks
        while peer.asked:
            self._strike(number, peer.asked.popleft())

    def _strike(self, number: int, checking: _Checking) -> None:
        checking.waiting.discard(number)
        if not checking.waiting:
            self._compare(checking)

    def _compare(self, checking: _Checking) -> None:
        """Who differs is named, and rebuilt."""
        version, peers = checking.place.version, self._peers
        answers = {
            number: digest
            for number, digest in checking.answers.items()
            if number in peers and peers[number].renewed <= checking.number
        }
        different = [number for number, digest in answers.items() if digest != checking.expected]
        if len(different) == len(answers) > 1 and len(set(answers.values())) == 1:
            raise ReplicaError(
                "the driver's replica differs from all others, which agree",
                why="its memory was damaged, or its processor differs from theirs",
                remedy="resume the run file: the model is rebuilt from the log",
            )
        for number in different:
            warnings.warn(
                f"the replica of node {number} differed from the others at entry {version}, and was rebuilt",
                ReplicaWarning,
                stacklevel=2,
            )
            self._observe(ReplicaRebuilt(number, version))
            self._send_model(number, self._front or self.model)
            peers[number].renewed = self._checks

    # Both --------------------------------------------------------------------------------------------------------

    @property
    def updates(self) -> tuple[str, str]:
        """Which way of updating was chosen, and why."""
        return self._updates.chosen()

    def finish(self) -> dict[int, str]:
        """See `Engine.finish`. Who does not answer is lost; who differs is rebuilt, and all are asked again."""
        for _ in range(_COMPARISONS):
            end = time.monotonic() + _PATIENCE
            self._receive_while(lambda: not self._ready(), end)  # The last may have been lost just now.
            checking = self._check()
            self._receive_while(partial(bool, checking.waiting), end)
            for number in sorted(checking.waiting):
                self._give_up(number, f"it did not answer for {_PATIENCE:.0f} s")
            if checking.answers == dict.fromkeys(self._ready(), checking.expected):
                with self._libraries.limit(limits=1):
                    self._shared.copies()
                return checking.answers
        raise ReplicaError(
            f"replicas differ, though they were given the same model {_COMPARISONS} times",
            why="a learner that loads what another saved is not equal to it",
            remedy="see that load(save()) gives a learner of the same digest",
        )

    def _give_up(self, number: int, why: str) -> None:
        _warn(f"node {number} is given up: {why}")
        self._observe(NodeLost(number, why))
        self._transport.end(number)
        self._ask_no_more(number, self._peers.pop(number))

    def close(self) -> None:
        """Tell the nodes to stop, and see to it that they do."""
        for number in self._peers:
            self._post(number, Stop())
        self._transport.close()


def _warn(said: str) -> None:
    warnings.warn(said, NodeWarning, stacklevel=3)
