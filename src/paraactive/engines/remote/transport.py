"""The contract of what carries messages between the driver and its nodes."""

from __future__ import annotations

from typing import Protocol

from paraactive.engines.remote.letters import Letter
from paraactive.engines.remote.messages import FromNode, Gone, ToNode


class Transport(Protocol):
    """Starts nodes and carries letters.

    It may delay, repeat and reorder letters. No method but `receive` and `close` waits.
    """

    def start(self, number: int) -> None:
        """Start a node. `Ready` or `Gone` is received from it.

        Parameters
        ----------
        number : int
            Number of the node.
        """
        ...

    def send(self, number: int, letter: Letter[ToNode]) -> None:
        """Send a letter to a node that was started.

        Parameters
        ----------
        number : int
            Number of the node.
        letter : Letter of ToNode
            The letter.
        """
        ...

    def receive(self, timeout: float | None) -> tuple[int, Letter[FromNode] | Gone] | None:
        """Wait for the next letter of any node.

        Parameters
        ----------
        timeout : float, optional
            Seconds to wait. None: wait until a letter arrives.

        Returns
        -------
        tuple of (int, Letter or Gone) or None
            Number of the node, and its letter. None if no letter arrives in time. Letters of a node that was ended or
            is `Gone` are dropped.
        """
        ...

    def end(self, number: int) -> None:
        """End a node now. Nothing more is received from it.

        Parameters
        ----------
        number : int
            Number of the node.
        """
        ...

    def close(self) -> None:
        """End all nodes, which have received `Stop`, and release everything that they hold."""
        ...
