"""What the driver knows about a node in another process."""

from __future__ import annotations

from dataclasses import dataclass, field

from paraactive.engines.remote.letters import Incoming, Outgoing
from paraactive.engines.remote.messages import FromNode, ToNode


@dataclass(eq=False)
class RemoteNode:
    """What the driver knows about a node.

    Parameters
    ----------
    number : int
        Number of the node.
    since : float, optional
        When the driver began to wait for the node: the time of its last message, of the first work that it has not
        answered, or of its start. On the clock of `Mailbox.listened`.
    ready : bool, optional
        Whether the node has started.
    silent : bool, optional
        Whether the node has owed an answer for too long. It then gets no work until it sends a message.
    tiles : int, optional
        Number of tiles that the node has not answered.
    checks : int, optional
        Number of checks that the node has not answered.
    sent : int, optional
        Number of stretches of this run that the node was sent, in entries or as part of a whole model.
    seen : int, optional
        Number of examples that the cluster had seen at the end of the last of these stretches.
    unanswered_bytes : int, optional
        Bytes of stretches and models since the last message of the node.
    failures : int, optional
        How often the node was lost since its last message.
    """

    number: int
    since: float = 0.0
    ready: bool = False
    silent: bool = False
    tiles: int = 0
    checks: int = 0
    sent: int = 0
    seen: int = 0
    unanswered_bytes: int = 0
    failures: int = 0
    outgoing: Outgoing[ToNode] = field(default_factory=Outgoing[ToNode], init=False)
    incoming: Incoming[FromNode] = field(default_factory=Incoming[FromNode], init=False)

    @property
    def available(self) -> bool:
        """True if the node can be given work."""
        return self.ready and not self.silent

    @property
    def starting(self) -> bool:
        """True if the node is expected to be ready soon."""
        return not self.ready and not self.silent

    @property
    def owes(self) -> bool:
        """True if the node was asked for something that it has not answered."""
        return self.tiles > 0 or self.checks > 0

    def joined(self) -> None:
        """Record that the node is ready, with an untrained model."""
        self.ready, self.silent = True, False
        self.sent = self.unanswered_bytes = self.tiles = 0

    def lost(self, now: float) -> None:
        """Record that the node is gone. Another one with its number may be started.

        Parameters
        ----------
        now : float
            The time on the clock of `Mailbox.listened`, in seconds.
        """
        self.ready, self.silent, self.since = False, False, now
        self.tiles = self.checks = 0
        self.failures += 1
        self.outgoing, self.incoming = Outgoing[ToNode](), Incoming[FromNode]()

    def heard(self, now: float) -> None:
        """Record that the node has sent a message.

        Parameters
        ----------
        now : float
            The time on the clock of `Mailbox.listened`, in seconds.
        """
        self.unanswered_bytes = self.failures = 0
        self.since = now

    def expect(self, now: float) -> None:
        """Record that the node is asked for something, before it is counted: from now on it owes an answer.

        Parameters
        ----------
        now : float
            The time on the clock of `Mailbox.listened`, in seconds.
        """
        if not self.owes:
            self.since = now
