"""Nodes that live elsewhere, whatever carries the messages: sends them work and news, and replaces those that are lost.

The driver has a replica of its own. It is what is evaluated and saved, what new nodes get their model from, and what
the digests of the others are compared with.
"""

from __future__ import annotations

import time
import warnings
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import count, islice
from typing import Protocol

from threadpoolctl import ThreadpoolController

from paraactive.data.events import Event, NodeJoined, NodeLost, NodeSilent, ReplicaRebuilt
from paraactive.data.examples import Place, Stretch, Tile
from paraactive.engines.letters import Incoming, Letter, Outgoing
from paraactive.engines.messages import Check, Digest, Done, Failed, Fresh, FromNode, Gone, News, Ready, Stop, ToNode
from paraactive.engines.shared import Model, OnSharedModel, SharedModel
from paraactive.engines.updates import Updates
from paraactive.errors import NodesLostError, NodeWarning, ReplicaError, ReplicaWarning
from paraactive.schedules.base import Joined, Left, Message, Published, portion
from paraactive.sifting.node import TILE, Node, Sifted

_SECONDS_TO_START = 60.0
"""A node that takes longer to start is not waited for."""
_SECONDS_TO_ANSWER = 5.0
"""A node that owes an answer for longer is silent, if the answers so far took a fifth of this or less."""
_TIMES_THE_LONGEST = 5.0
"""A node is silent if it takes this many times as long as the slowest answer so far."""
_SECONDS_OF_A_LISTEN = 1.0
"""Longest wait inside the transport at once."""
_DRIVER = -1
"""The number of the driver where it sifts in place of nodes that are silent."""
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
class _Part:
    """A portion of a round that is not yet sifted."""

    number: int
    """Counted over the whole run: an answer that is late by a round is never taken for one of this round."""
    tile: Tile
    seen: int
    node: int | None = None
    """The node that sifts it; None if no node does."""
    posted: dict[int, float] = field(default_factory=dict[int, float])
    """By node: when the part was sent to it."""
    pieces: list[Sifted] = field(default_factory=list[Sifted])
    """What the driver has sifted of it."""


@dataclass
class _Peer:
    """What the driver knows of a node."""

    since: float = 0.0
    """When it last said something, or was given something to answer while it owed nothing; on the driver's clock of
    listening. Before it is ready: when it was started."""
    ready: bool = False
    silent: bool = False
    """True if it owes an answer for too long. It gets no work and no news until it says something."""
    tiles: int = 0
    """Tiles that it was given and has not answered."""
    round: int = -1
    """The last round whose model it was given to sift with."""
    told: int = 0
    """Stretches that it has been told, of all that there were."""
    seen: int = 0
    """Examples that the cluster had seen as of then."""
    unanswered: int = 0
    """Bytes of news since it last said something."""
    lost_in_a_row: int = 0
    asked: deque[_Checking] = field(default_factory=deque[_Checking])
    """What its next digests are about."""
    renewed: int = 0
    """Comparisons before this one are about a model that it has no more."""
    outgoing: Outgoing[ToNode] = field(default_factory=Outgoing[ToNode])
    incoming: Incoming[FromNode] = field(default_factory=Incoming[FromNode])

    @property
    def owes(self) -> bool:
        """True if it was asked for something that it has not answered."""
        return self.tiles > 0 or len(self.asked) > 0


class Remote(OnSharedModel):
    """k nodes behind a transport. The shared model is the driver's replica.

    A node that owes an answer for too long is silent: others sift its portion, or the driver if there are no others.
    The first answer wins. When the node says something again, it takes part again. `patience` is the shortest time, in
    seconds, after which a node is silent; it grows with the times that answers take.
    """

    def __init__(
        self,
        transport: Transport,
        node: Node,
        nodes: int,
        *,
        updates: str = "auto",
        delay: int = 0,
        observe: Callable[[Event], None] = lambda _: None,
        patience: float = _SECONDS_TO_ANSWER,
    ) -> None:
        self._transport, self._shared, self._observe = transport, SharedModel(node), observe
        self._updates, self._delay = Updates(updates), delay
        self._libraries = ThreadpoolController()
        self._window: deque[Stretch] = deque()
        self._window_bytes = self._applied = 0
        self._model_bytes = Model.of(node).nbytes
        self._front: Node | None = None
        """The model that the nodes are sifting with."""
        self._patience, self._longest = patience, 0.0
        """The longest time, in seconds, that an answer or a lesson took so far."""
        self._listened = 0.0
        """Seconds spent waiting for letters. Silence is measured by it: a driver that was busy has heard nothing."""
        self._numbers, self._round = count(), 0
        self._parts: dict[int, _Part] = {}
        """Round by round: what is not yet done."""
        self._done: dict[int, Sifted] = {}
        self._tiles: deque[Tile] | None = None
        """Tile by tile: what the driver is to sift, if it takes part."""
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
        self._done, self._round = {}, self._round + 1
        portions = max(1, len(self._ready()))
        for place in range(portions):
            part = _Part(next(self._numbers), Tile(*portion(first, last, place, portions)), seen)
            self._parts[part.number] = part
        self._give_parts()

    def _give_parts(self) -> None:
        """Nodes that have nothing to sift take the parts that no node sifts."""
        idle = deque(number for number in self._ready() if not self._peers[number].tiles)
        for part in self._parts.values():
            if part.node is None and idle:
                self._give_part(part, idle.popleft())

    def _give_part(self, part: _Part, number: int) -> None:
        peer = self._peers[number]
        sifts_already = peer.round == self._round  # Then it has the model of this round, and maybe a newer one beside.
        if not sifts_already:
            self._send_front(number)
            peer.round = self._round
        part.node, part.posted[number] = number, time.perf_counter()
        self._post_tile(number, Fresh(part.tile, part.number, part.seen, same_model=sifts_already))

    def _send_front(self, number: int) -> None:
        """Bring a node to the model of this round."""
        if self._front is None or self._front is self.model:
            self._tell(number)
        else:
            self._send_model(number, self._front)

    def end_sift(self) -> tuple[list[Sifted], dict[int, float]]:
        """See `Engine.end_sift`. What a lost or silent node was sifting is sifted by another: it comes to the same."""
        try:
            while self._parts:
                self._give_parts()
                message = self._receive(0.0 if self._is_alone() else None)
                if isinstance(message, Done):
                    self._take_part(message)
                elif isinstance(message, Left):
                    self._take_back(message.node)
                elif message is None and self._is_alone():
                    self._sift_here(next(iter(self._parts.values())))
        finally:
            if self._front:
                self._shared.leave(self._front)
            self._front = None
        sifted = [self._done[part] for part in sorted(self._done)]
        return sifted, {len(self._peers): max(part.sift_seconds for part in sifted)}

    def _take_part(self, message: Done) -> None:
        """The first answer wins."""
        part = self._parts.pop(message.part, None)
        if part:
            published = message.published
            self._done[part.number] = _with_transfer(published.sifted, part.posted[published.node])

    def _take_back(self, node: int) -> None:
        for part in self._parts.values():
            if part.node == node:
                part.node = None

    def _sift_here(self, part: _Part) -> None:
        """The driver sifts a piece of the part; in between it hears whether a node is back."""
        assert self._front is not None
        first = part.pieces[-1].last if part.pieces else part.tile.first
        last = min(first + TILE, part.tile.last)
        with self._libraries.limit(limits=1):  # As on the nodes: sums of BLAS depend on how many threads add them up.
            part.pieces.append(self._front.seen_by(_DRIVER).sift(first, last, part.seen))
        if last == part.tile.last:
            self._done[part.number] = Sifted.join(part.pieces)
            del self._parts[part.number]

    # Tile by tile ------------------------------------------------------------------------------------------------

    def begin_asynchronous(self) -> list[int]:
        """See `Engine.begin_asynchronous`."""
        self._wait_for_nodes()
        self._asynchronous = True
        return self._ready()

    def grant(self, node: int, tile: Tile) -> None:
        """See `Engine.grant`: the news first, then the tile."""
        peer = self._peers.get(node)
        if node == _DRIVER and self._tiles is not None:
            self._tiles.append(tile)
        elif peer and peer.ready and not peer.silent:
            if self._updates.replicated or self.model.seen - peer.seen > self._delay // 4:
                self._tell(node)
            self._post_tile(node, Fresh(tile))

    def receive(self) -> Message:
        """See `Engine.receive`. Where no node answers, the driver takes part as another node."""
        while True:
            self._join_or_leave()
            message = self._receive(0.0 if self._tiles else None)
            if message:
                return message.published if isinstance(message, Done) else message
            if self._tiles:
                return self._publish(self._tiles.popleft())

    def _join_or_leave(self) -> None:
        if self._is_alone() and self._tiles is None:
            self._tiles = deque()
            self._news.append(Joined(_DRIVER))
        elif self._tiles is not None and not self._is_alone():
            self._tiles = None
            self._news.append(Left(_DRIVER))

    def _publish(self, tile: Tile) -> Published:
        node = self.model
        with self._libraries.limit(limits=1):
            return Published(_DRIVER, tile, node.seen_by(_DRIVER).sift(*tile, node.seen), node.seen)

    def resize(self, nodes: int) -> None:
        """Nodes join or leave."""
        for number in [each for each in self._peers if each >= nodes]:
            self._transport.end(number)
            self._ask_no_more(number, self._peers.pop(number))
            self._news.append(Left(number))
        for number in range(nodes):
            if number not in self._peers:
                self._peers[number] = _Peer(self._listened, renewed=self._checks)
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
        self._longest = max(self._longest, seconds)
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
        """The nodes that are there and not silent."""
        return [number for number, peer in sorted(self._peers.items()) if peer.ready and not peer.silent]

    def _is_starting(self) -> bool:
        """True if a node is expected to be ready soon."""
        return any(not peer.ready and not peer.silent for peer in self._peers.values())

    def _is_alone(self) -> bool:
        """True if the driver must sift, because no node does and none is expected."""
        return not self._ready() and not self._is_starting()

    def _wait_for_nodes(self) -> None:
        """Once, until all are there; later the run goes on with those that are."""
        while self._is_starting() and not (self._waited and self._ready()):
            self._receive(None)
        self._waited = True

    def _receive(self, timeout: float | None) -> Joined | Left | Done | None:
        """The next message that matters to a schedule; None for others, or if nothing comes in time or for a while."""
        if self._news:
            return self._news.popleft()
        if not self._arrived:
            self._take_in(self._listen(timeout))
        if not self._arrived:
            self._find_silent()
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
        self._heard(number, peer)
        if isinstance(message, Digest):
            self._answered(number, peer, message)
            return None
        peer.tiles -= 1
        self._longest = max(self._longest, _busy(message.published.sifted))
        return message

    def _listen(self, timeout: float | None) -> tuple[int, Letter[FromNode] | Gone] | None:
        longest = min(_SECONDS_OF_A_LISTEN, self._limit / 8)
        seconds = longest if timeout is None else min(timeout, longest)
        start = time.perf_counter()
        received = self._transport.receive(seconds)
        self._listened += min(seconds, time.perf_counter() - start)  # A driver that was stopped did not listen longer.
        return received

    def _take_in(self, received: tuple[int, Letter[FromNode] | Gone] | None) -> None:
        if received is None or received[0] not in self._peers:
            return
        number, letter = received
        messages = [letter] if isinstance(letter, Gone) else self._peers[number].incoming.accept(letter)
        self._arrived.extend((number, message) for message in messages)

    def _post_tile(self, number: int, fresh: Fresh) -> None:
        peer = self._peers[number]
        self._expect(peer)
        peer.tiles += 1
        self._post(number, fresh)

    def _post(self, number: int, message: ToNode) -> None:
        self._transport.send(number, self._peers[number].outgoing.letter(message))

    def _welcome(self, number: int, peer: _Peer) -> Joined:
        """A node gets the model that the others sift with; with its next work, what they were told since."""
        peer.ready, peer.silent, peer.told, peer.unanswered, peer.tiles = True, False, 0, 0, 0
        self._send_model(number, self._front or self.model)
        peer.round = self._round
        self._observe(NodeJoined(number, self.model.version))
        return Joined(number)

    def _lost(self, number: int, peer: _Peer, why: str) -> Left:
        self._observe(NodeLost(number, why))
        peer.ready, peer.silent, peer.tiles, peer.since = False, False, 0, self._listened
        peer.lost_in_a_row += 1
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

    # Silence -----------------------------------------------------------------------------------------------------

    @property
    def _limit(self) -> float:
        """Seconds after which a node that owes an answer is silent."""
        return max(self._patience, _TIMES_THE_LONGEST * self._longest)

    def _expect(self, peer: _Peer) -> None:
        """Something is asked of a node: from now on it owes an answer."""
        if not peer.owes:
            peer.since = self._listened

    def _heard(self, number: int, peer: _Peer) -> None:
        """A node has said something. If it was silent it takes part again; its next work brings it up to date."""
        peer.unanswered = peer.lost_in_a_row = 0
        peer.since = self._listened
        if peer.silent:
            peer.silent = False
            self._observe(NodeJoined(number, self.model.version))
            self._news.append(Joined(number))

    def _find_silent(self) -> None:
        """Others do the work of nodes that owe an answer for too long."""
        late = [number for number, peer in self._peers.items() if peer.ready and self._is_late(peer, self._limit)]
        missing = [
            number for number, peer in self._peers.items() if not peer.ready and self._is_late(peer, _SECONDS_TO_START)
        ]
        for number in late + missing:
            peer = self._peers[number]
            peer.silent = True
            self._observe(NodeSilent(number, self._listened - peer.since))
            self._news.append(Left(number))
            for checking in list(peer.asked):  # It keeps its place there: its digests may still come, in this order.
                self._strike(number, checking)
        instead = "other nodes sift" if self._ready() or self._is_starting() else "the driver sifts"
        for number in late:
            _warn(f"node {number} has not answered for {self._limit:.0f} s; {instead} its portion until it answers")
        if missing:
            there = f"{len(self._ready())} of {len(self._peers)} nodes are ready after {_SECONDS_TO_START:.0f} s"
            _warn(f"{there}; {instead} until more are ready")

    def _is_late(self, peer: _Peer, limit: float) -> bool:
        return not peer.silent and (peer.owes or not peer.ready) and self._listened - peer.since > limit

    # Comparing ---------------------------------------------------------------------------------------------------

    def _check(self) -> _Checking:
        """Ask all replicas for their digests at this place of the log."""
        checking = _Checking(self._checks, self.model.place, self.model.learner.digest(), set(self._ready()))
        self._checks += 1
        for number in self._ready():
            self._tell(number)
            self._expect(self._peers[number])
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
        """See `Engine.finish`. A silent node is lost; one that differs is rebuilt, and all are asked again."""
        for _ in range(_COMPARISONS):
            while not self._ready() and self._is_starting():  # The last may have been lost just now.
                self._receive(None)
            checking = self._check()
            while checking.waiting:
                self._receive(None)
            if checking.answers == dict.fromkeys(self._ready(), checking.expected):
                self._give_up_silent()
                with self._libraries.limit(limits=1):
                    self._shared.copies()
                return checking.answers
        raise ReplicaError(
            f"replicas differ, though they were given the same model {_COMPARISONS} times",
            why="a learner that loads what another saved is not equal to it",
            remedy="see that load(save()) gives a learner of the same digest",
        )

    def _give_up_silent(self) -> None:
        """The run has ended: nodes that were ready and are silent are not waited for."""
        for number in [number for number, peer in self._peers.items() if peer.ready and peer.silent]:
            _warn(f"node {number} did not answer at the end of the run; its replica was not compared with the others")
            self._observe(NodeLost(number, "it did not answer at the end of the run"))
            self._transport.end(number)
            self._ask_no_more(number, self._peers.pop(number))

    def close(self) -> None:
        """Tell the nodes to stop, and see to it that they do."""
        for number in self._peers:
            self._post(number, Stop())
        self._transport.close()


def _busy(sifted: Sifted) -> float:
    """Seconds that a node was at work for this answer, and for what it had to learn before."""
    work = sifted.fetch_seconds + sifted.sift_seconds
    return work + sifted.queued_seconds + (sifted.update_seconds or 0.0)


def _with_transfer(sifted: Sifted, posted: float) -> Sifted:
    """The time from here and back, less what the node did meanwhile: durations of two clocks, never their times."""
    there = sifted.queued_seconds + sifted.fetch_seconds + sifted.sift_seconds
    return replace(sifted, transfer_seconds=max(0.0, time.perf_counter() - posted - there))


def _warn(said: str) -> None:
    warnings.warn(said, NodeWarning, stacklevel=3)
