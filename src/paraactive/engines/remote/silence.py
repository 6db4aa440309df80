"""When a node that owes an answer counts as silent."""

from __future__ import annotations

from collections.abc import Iterable

from paraactive.engines.remote.remote_node import RemoteNode
from paraactive.sifting.node import Sifted

SECONDS_TO_START = 60.0
"""A node that takes longer to start is not waited for."""
SECONDS_TO_ANSWER = 5.0
"""The shortest time after which a node is silent."""
_TIMES_THE_LONGEST = 5.0
"""A node is silent if it takes this many times as long as the slowest answer so far."""


class Silence:
    """Decides which nodes are silent. The limit grows with the times that answers take.

    Parameters
    ----------
    patience : float
        The shortest time, in seconds, after which a node is silent.
    """

    def __init__(self, patience: float) -> None:
        self._patience, self._longest = patience, 0.0

    @property
    def limit(self) -> float:
        """Seconds after which a node that owes an answer is silent."""
        return max(self._patience, _TIMES_THE_LONGEST * self._longest)

    def took(self, seconds: float) -> None:
        """Record how long an answer or an update took.

        Parameters
        ----------
        seconds : float
            Time from the question to the answer, in seconds.
        """
        self._longest = max(self._longest, seconds)

    def answered(self, sifted: Sifted) -> None:
        """Record how long a node worked for this answer, and on what it had to learn before.

        Parameters
        ----------
        sifted : Sifted
            The answer, with the times that were measured on the node.
        """
        work = sifted.fetch_seconds + sifted.sift_seconds
        self.took(work + sifted.queued_seconds + (sifted.update_seconds or 0.0))

    def find(self, nodes: Iterable[RemoteNode], now: float) -> tuple[list[RemoteNode], list[RemoteNode]]:
        """Return the nodes that have become silent.

        Parameters
        ----------
        nodes : iterable of RemoteNode
            All nodes.
        now : float
            The time on the clock of `Mailbox.listened`, in seconds.

        Returns
        -------
        late : list of RemoteNode
            Nodes that owe an answer for too long.
        missing : list of RemoteNode
            Nodes that did not start in time.
        """
        waited_for = [node for node in nodes if not node.silent]
        late = [node for node in waited_for if node.ready and node.owes and now - node.since > self.limit]
        missing = [node for node in waited_for if not node.ready and now - node.since > SECONDS_TO_START]
        return late, missing
