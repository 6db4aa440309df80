"""The driver's side of nodes in other processes: gives them work, keeps them up to date, and replaces lost ones.

The driver has its own replica. This replica is evaluated and saved, new nodes get their model from it, and the digests
of the other replicas are compared with its digest.
"""

from __future__ import annotations

import time
import warnings
from collections import deque
from collections.abc import Callable

from paraactive.basics.threads import one_thread
from paraactive.data.events import Event, NodeJoined, NodeLost, NodeSilent, ReplicaRebuilt
from paraactive.data.examples import Stretch, Tile
from paraactive.engines.remote.comparisons import Comparison, Comparisons
from paraactive.engines.remote.mailbox import Mailbox
from paraactive.engines.remote.messages import Check, Digest, Done, Failed, Fresh, Gone, Ready, Stop
from paraactive.engines.remote.portions import Portions
from paraactive.engines.remote.remote_node import RemoteNode
from paraactive.engines.remote.sending import Sender
from paraactive.engines.remote.silence import SECONDS_TO_ANSWER, SECONDS_TO_START, Silence
from paraactive.engines.remote.transport import Transport
from paraactive.engines.replica import UsesDriverReplica
from paraactive.errors import NodesLostError, NodeWarning, ReplicaError, ReplicaWarning
from paraactive.schedules.engine import Joined, Left, Message, Published
from paraactive.sifting.node import Node, Sifted

_DRIVER = -1
"""The number of the driver where it sifts in place of silent nodes."""
_UNANSWERED_BYTES = 8 << 20
"""Stretches of this size are sent to a node before it answers. The rest is sent with its next tile."""
CHECK_ROUNDS = 7
"""Replicas are compared after this many rounds, and at the end."""
_MOST_FAILURES = 3
"""A node that is lost this often without an answer is not started again."""
_MOST_COMPARISONS = 10
"""At the end, replicas that differ are rebuilt and compared again, at most this often."""


class Remote(UsesDriverReplica):
    """k nodes behind a transport.

    A node that owes an answer for too long is silent: other nodes sift its portion, or the driver if no other node is
    ready. The first answer wins. A silent node takes part again as soon as it sends a message.

    Parameters
    ----------
    transport : Transport
        Starts the nodes and carries the messages.
    node : Node
        The driver's replica.
    nodes : int
        Number of nodes.
    updates : {"auto", "replicated", "central"}, optional
        Whether nodes are sent entries or whole models. Default: "auto", whichever is smaller.
    delay : int, optional
        Bound on the delay in the asynchronous schedule, in examples. With central updates a node is sent the model when
        its own is a quarter of this behind. Default: 0.
    observe : callable, optional
        Called with each event about nodes and replicas.
    patience : float, optional
        The shortest time, in seconds, after which a node is silent. The time grows with those of the answers.
        Default: 5.
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
        patience: float = SECONDS_TO_ANSWER,
    ) -> None:
        self._transport, self._node, self._delay, self._observe = transport, node, delay, observe
        self._nodes = {number: RemoteNode(number) for number in range(nodes)}
        self._mailbox = Mailbox(transport, self._nodes)
        self._sender = Sender(node, self._mailbox, updates)
        self._silence = Silence(patience)
        self._comparisons = Comparisons(self._rebuild)
        self._portions = Portions()
        self._tiles: deque[Tile] | None = None  # Tiles of the driver, if it takes part in the asynchronous schedule.
        self._asynchronous = self._waited = False
        self._changes: deque[Joined | Left] = deque()  # Not yet reported to the schedule.
        try:
            for number in self._nodes:
                transport.start(number)
        except BaseException:
            transport.close()
            raise

    @property
    def model(self) -> Node:
        """See `Engine.model`."""
        return self._node

    @property
    def updates(self) -> tuple[str, str]:
        """See `Engine.updates`."""
        return self._sender.updates.chosen()

    def now(self) -> float:
        """See `Engine.now`."""
        return time.perf_counter()

    # In rounds -----------------------------------------------------------------------------------------------------

    def sift(self, first: int, last: int, seen: int) -> tuple[list[Sifted], dict[int, float]]:
        """See `Engine.sift`. Other nodes sift the portion of a lost or silent node, with the same result."""
        self._wait_for_nodes()
        self._portions.begin(first, last, seen, max(1, len(self._available())))
        while not self._portions.finished:
            self._assign_portions()
            message = self._receive(0.0 if self._is_alone() else None)
            if isinstance(message, Done):
                self._portions.accept(message)
            elif isinstance(message, Left):
                self._portions.take_back(message.node)
            elif message is None and self._is_alone():
                self._portions.sift_here(self._node.numbered(_DRIVER))
        sifted = self._portions.sifted()
        return sifted, {len(self._nodes): max(part.sift_seconds for part in sifted)}

    def _assign_portions(self) -> None:
        """Give the portions that no node sifts to nodes that have nothing to sift."""
        idle = deque(node for node in self._available() if not node.tiles)
        for part in self._portions.unassigned():
            if idle:
                node = idle.popleft()
                self._sender.update(node)
                self._post_tile(node, part.assign(node.number))

    # Without rounds ------------------------------------------------------------------------------------------------

    def begin_asynchronous(self) -> list[int]:
        """See `Engine.begin_asynchronous`."""
        self._wait_for_nodes()
        self._asynchronous = True
        return [node.number for node in self._available()]

    def grant(self, node: int, tile: Tile) -> None:
        """See `Engine.grant`. The node is brought up to date first."""
        if node == _DRIVER and self._tiles is not None:
            self._tiles.append(tile)
        elif node in self._nodes and self._nodes[node].available:
            receiver = self._nodes[node]
            if self._sender.updates.replicated or self._node.seen - receiver.seen > self._delay // 4:
                self._sender.update(receiver)
            self._post_tile(receiver, Fresh(tile))

    def receive(self) -> Message:
        """See `Engine.receive`. While no node answers, the driver takes part as another node."""
        while True:
            self._join_or_leave()
            message = self._receive(0.0 if self._tiles else None)
            if message:
                return message.published if isinstance(message, Done) else message
            if self._tiles:
                return self._sift_here(self._tiles.popleft())

    def _join_or_leave(self) -> None:
        if self._is_alone() and self._tiles is None:
            self._tiles = deque()
            self._changes.append(Joined(_DRIVER))
        elif self._tiles is not None and not self._is_alone():
            self._tiles = None
            self._changes.append(Left(_DRIVER))

    def _sift_here(self, tile: Tile) -> Published:
        node = self._node
        with one_thread():  # As on the nodes.
            return Published(_DRIVER, tile, node.numbered(_DRIVER).sift(*tile, node.seen), node.seen)

    def resize(self, nodes: int) -> None:
        """See `Engine.resize`."""
        for number in [each for each in self._nodes if each >= nodes]:
            self._end(number)
            self._changes.append(Left(number))
        for number in range(nodes):
            if number not in self._nodes:
                self._nodes[number] = RemoteNode(number, self._mailbox.listened)
                self._transport.start(number)

    # Learning ------------------------------------------------------------------------------------------------------

    def apply(self, stretch: Stretch) -> float:
        """See `Engine.apply`. Nodes that are sent the entries learn at the same time as the driver's replica."""
        self._sender.remember(stretch)
        if self._sender.updates.replicated:
            self._update_all()
        with one_thread():  # As on the nodes: sums of BLAS depend on the number of threads.
            seconds = self._node.learn(stretch)
        self._silence.took(seconds)
        if not self._asynchronous and not self._sender.updates.replicated:
            self._update_all()
        self._sender.weigh(stretch)
        if stretch.ends_round and stretch.rounds % CHECK_ROUNDS == CHECK_ROUNDS - 1:
            self._compare()
        return seconds

    def _update_all(self) -> None:
        for node in self._available():
            if node.unanswered_bytes < _UNANSWERED_BYTES or not self._asynchronous:
                self._sender.update(node)

    # Messages ------------------------------------------------------------------------------------------------------

    def _post_tile(self, node: RemoteNode, fresh: Fresh) -> None:
        node.expect(self._mailbox.listened)
        node.tiles += 1
        self._mailbox.post(node, fresh)

    def _receive(self, timeout: float | None) -> Joined | Left | Done | None:
        """Return the next message for the schedule. None for other messages, or if none arrives in time."""
        if self._changes:
            return self._changes.popleft()
        received = self._mailbox.next(timeout, self._silence.limit)
        if received is None:
            self._find_silent()
            return None
        number, message = received
        node = self._nodes.get(number)
        if node is None:
            return None
        match message:
            case Failed(error):
                raise error
            case Gone(why):
                return self._lost(node, why)
            case Ready():
                return self._welcome(node)
            case Digest(digest):
                self._heard(node)
                node.checks -= 1
                self._comparisons.answer(number, digest)
                return None
            case Done():
                self._heard(node)
                node.tiles -= 1
                self._silence.answered(message.published.sifted)
                return message

    def _heard(self, node: RemoteNode) -> None:
        """A node has answered. If it was silent it takes part again, and is brought up to date with its next work."""
        node.heard(self._mailbox.listened)
        if node.silent:
            node.silent = False
            self._observe(NodeJoined(node.number, self._node.version))
            self._changes.append(Joined(node.number))

    # Nodes that come and go ----------------------------------------------------------------------------------------

    def _available(self) -> list[RemoteNode]:
        """Return the nodes that can be given work, by number."""
        return [node for _, node in sorted(self._nodes.items()) if node.available]

    def _is_starting(self) -> bool:
        return any(node.starting for node in self._nodes.values())

    def _is_alone(self) -> bool:
        """Return whether the driver must sift, because no node does and none is expected."""
        return not self._available() and not self._is_starting()

    def _wait_for_nodes(self) -> None:
        """Wait for all nodes at the beginning, and later for one."""
        while self._is_starting() and not (self._waited and self._available()):
            self._receive(None)
        self._waited = True

    def _welcome(self, node: RemoteNode) -> Joined:
        node.joined()
        self._sender.send_model(node)
        self._observe(NodeJoined(node.number, self._node.version))
        return Joined(node.number)

    def _lost(self, node: RemoteNode, why: str) -> Left:
        """Start another node in place of a lost one, unless that has failed too often."""
        self._observe(NodeLost(node.number, why))
        node.lost(self._mailbox.listened)
        if node.failures < _MOST_FAILURES:
            self._transport.start(node.number)
        elif len(self._nodes) > 1:
            _warn(
                f"node {node.number} is lost ({why}) and was started {_MOST_FAILURES} times without success; "
                "the run continues without it"
            )
            del self._nodes[node.number]
        else:
            raise NodesLostError(
                "no node is left",
                why=f"the last one was started {_MOST_FAILURES} times without success ({why})",
                remedy="read what the node wrote to standard error; a run file can be resumed with another engine",
            )
        self._comparisons.forget(node.number)
        return Left(node.number)

    def _find_silent(self) -> None:
        """Let other nodes do the work of nodes that owe an answer for too long."""
        late, missing = self._silence.find(self._nodes.values(), self._mailbox.listened)
        for node in late + missing:
            node.silent = True
            self._observe(NodeSilent(node.number, self._mailbox.listened - node.since))
            self._changes.append(Left(node.number))
            self._comparisons.skip(node.number)
        instead = "the driver sifts" if self._is_alone() else "other nodes sift"
        for node in late:
            limit = f"{self._silence.limit:.0f} s"
            _warn(f"node {node.number} has not answered for {limit}; {instead} its portion until it answers")
        if missing:
            ready = f"{len(self._available())} of {len(self._nodes)} nodes are ready after {SECONDS_TO_START:.0f} s"
            _warn(f"{ready}; {instead} until more are ready")

    def _end(self, number: int) -> None:
        self._transport.end(number)
        del self._nodes[number]
        self._comparisons.forget(number)

    # Comparing replicas --------------------------------------------------------------------------------------------

    def _compare(self) -> Comparison:
        """Ask all replicas for their digests at this place of the log."""
        nodes = self._available()
        digest = self._node.learner.digest()
        comparison = self._comparisons.begin(self._node.version, digest, [node.number for node in nodes])
        for node in nodes:
            self._sender.update(node)
            node.expect(self._mailbox.listened)
            node.checks += 1
            self._mailbox.post(node, Check())
        return comparison

    def _rebuild(self, number: int, version: int) -> None:
        """Send the model to a node whose replica differs."""
        warnings.warn(
            f"the replica of node {number} differed from the others at entry {version}, and was rebuilt",
            ReplicaWarning,
            stacklevel=2,
        )
        self._observe(ReplicaRebuilt(number, version))
        self._sender.send_model(self._nodes[number])

    # The end -------------------------------------------------------------------------------------------------------

    def finish(self) -> dict[int, str]:
        """See `Engine.finish`. Silent nodes are given up. A replica that differs is rebuilt and compared again.

        Raises
        ------
        ReplicaError
            If replicas still differ after being rebuilt several times.
        """
        for _ in range(_MOST_COMPARISONS):
            while not self._available() and self._is_starting():  # The last node may have been lost just now.
                self._receive(None)
            comparison = self._compare()
            while comparison.waiting:
                self._receive(None)
            if comparison.answers == dict.fromkeys((node.number for node in self._available()), comparison.expected):
                self._give_up_silent()
                return comparison.answers
        raise ReplicaError(
            f"replicas differ, although they were given the same model {_MOST_COMPARISONS} times",
            why="a learner that loads what another one saved is not equal to it",
            remedy="check that load(save()) gives a learner with the same digest",
        )

    def _give_up_silent(self) -> None:
        for node in [node for node in self._nodes.values() if node.ready and node.silent]:
            _warn(f"node {node.number} did not answer at the end of the run; its replica was not compared")
            self._observe(NodeLost(node.number, "it did not answer at the end of the run"))
            self._end(node.number)

    def close(self) -> None:
        """Ask the nodes to stop, and end those that do not."""
        for node in self._nodes.values():
            self._mailbox.post(node, Stop())
        self._transport.close()


def _warn(text: str) -> None:
    warnings.warn(text, NodeWarning, stacklevel=3)
