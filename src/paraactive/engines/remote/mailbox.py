"""Letters between the driver and all of its nodes, in order."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping

from paraactive.engines.remote.messages import FromNode, Gone, ToNode
from paraactive.engines.remote.remote_node import RemoteNode
from paraactive.engines.remote.transport import Transport

_LONGEST_WAIT = 1.0
"""Seconds that the driver waits inside a transport at once."""


class Mailbox:
    """Sends messages to nodes, and puts the letters of each node into order.

    Parameters
    ----------
    transport : Transport
        Carries the letters.
    nodes : mapping of int to RemoteNode
        The nodes by number. Letters of others are dropped.

    Attributes
    ----------
    listened : float
        Seconds that the driver has waited for letters. Silence is measured on this clock: while the driver is busy, it
        reads no letters.
    """

    def __init__(self, transport: Transport, nodes: Mapping[int, RemoteNode]) -> None:
        self._transport, self._nodes = transport, nodes
        self._arrived: deque[tuple[int, FromNode]] = deque()
        self.listened = 0.0

    def post(self, node: RemoteNode, message: ToNode) -> None:
        """Send a message to a node.

        Parameters
        ----------
        node : RemoteNode
            The node.
        message : ToNode
            The message.
        """
        self._transport.send(node.number, node.outgoing.letter(message))

    def next(self, timeout: float | None, patience: float) -> tuple[int, FromNode] | None:
        """Return the next message.

        Parameters
        ----------
        timeout : float, optional
            Seconds to wait. None: as long as the patience allows.
        patience : float
            Seconds after which a node is silent. The driver waits for a fraction of it at once.

        Returns
        -------
        tuple of (int, FromNode) or None
            Number of the node, and its message. None if no message arrives in time.
        """
        if not self._arrived:
            longest = min(_LONGEST_WAIT, patience / 8)
            self.collect(longest if timeout is None else min(timeout, longest))
        return self._arrived.popleft() if self._arrived else None

    def collect(self, seconds: float) -> None:
        """Wait for one letter, and keep the messages that can be read with it.

        Parameters
        ----------
        seconds : float
            Longest time to wait, in seconds.
        """
        start = time.perf_counter()
        received = self._transport.receive(seconds)
        self.listened += min(seconds, time.perf_counter() - start)  # More if the driver itself was stopped.
        if received is None or received[0] not in self._nodes:
            return
        number, letter = received
        messages = [letter] if isinstance(letter, Gone) else self._nodes[number].incoming.accept(letter)
        self._arrived.extend((number, message) for message in messages)

    def has_message_of(self, number: int) -> bool:
        """Return whether a message of a node has arrived and was not read.

        Parameters
        ----------
        number : int
            Number of the node.
        """
        return any(number == arrived for arrived, _ in self._arrived)
