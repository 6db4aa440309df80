"""Sending stretches of the log, or whole models, to nodes."""

from __future__ import annotations

from collections import deque
from itertools import islice

from paraactive.data.examples import Stretch
from paraactive.engines.remote.mailbox import Mailbox
from paraactive.engines.remote.messages import Learn, Load
from paraactive.engines.remote.remote_node import RemoteNode
from paraactive.engines.remote.updates import Updates
from paraactive.engines.replica import ReplicaState
from paraactive.sifting.node import Node

_WINDOW_BYTES = 64 << 20
"""Size of the latest stretches, which are kept for nodes that are behind. Nodes further behind get the whole model."""
_ROUNDS_PER_WEIGHING = 4
"""The size of the model is measured after this many rounds, to choose between sending it and sending entries."""


class Sender:
    """Brings nodes up to date with the driver's replica.

    Parameters
    ----------
    node : Node
        The driver's replica.
    mailbox : Mailbox
        Carries the messages.
    updates : {"auto", "replicated", "central"}
        Whether nodes are sent entries or whole models.
    """

    def __init__(self, node: Node, mailbox: Mailbox, updates: str) -> None:
        self._node, self._mailbox, self.updates = node, mailbox, Updates(updates)
        self._window: deque[Stretch] = deque()
        self._window_bytes = self._count = 0
        self._model_bytes = ReplicaState.of(node).nbytes

    def remember(self, stretch: Stretch) -> None:
        """Record a stretch that all replicas must learn, and choose whether to send entries or models.

        Parameters
        ----------
        stretch : Stretch
            The stretch.
        """
        self._count += 1
        self._window.append(stretch)
        self._window_bytes += stretch.nbytes
        while self._window_bytes > _WINDOW_BYTES and len(self._window) > 1:
            self._window_bytes -= self._window.popleft().nbytes
        self.updates.choose(stretch, self._model_bytes)

    def weigh(self, stretch: Stretch) -> None:
        """Measure the size of the model from time to time. The driver's replica has learned the stretch.

        Parameters
        ----------
        stretch : Stretch
            The stretch.
        """
        if stretch.ends_round and stretch.rounds % _ROUNDS_PER_WEIGHING == 0:
            self._model_bytes = ReplicaState.of(self._node).nbytes

    def update(self, node: RemoteNode) -> None:
        """Send a node what it lacks: stretches, or the whole model.

        Parameters
        ----------
        node : RemoteNode
            The node.
        """
        missing = self._count - node.sent
        if not missing:
            return
        if missing > len(self._window) or not self.updates.replicated:
            self.send_model(node)
            return
        stretches = list(islice(self._window, len(self._window) - missing, None))
        self._record(node, self._count, stretches[-1].seen, sum(stretch.nbytes for stretch in stretches))
        self._mailbox.post(node, Learn(stretches))

    def send_model(self, node: RemoteNode) -> None:
        """Send a node the model of the driver's replica, which may not have learned the last stretches yet.

        Parameters
        ----------
        node : RemoteNode
            The node.
        """
        replica = ReplicaState.of(self._node)
        ahead = sum(stretch.ends > replica.place for stretch in self._window)
        self._record(node, self._count - ahead, replica.seen, replica.nbytes)
        self._mailbox.post(node, Load(replica))

    def _record(self, node: RemoteNode, sent: int, seen: int, count: int) -> None:
        node.sent, node.seen, node.unanswered_bytes = sent, seen, node.unanswered_bytes + count
        self.updates.sent(count)
