"""The contract between a schedule and an engine, which hosts the nodes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from paraactive.data.events import Round
from paraactive.data.examples import Stretch, Tile
from paraactive.schedules.plan import Plan
from paraactive.sifting.log import Log
from paraactive.sifting.node import Node, Sifted


@dataclass(frozen=True, slots=True)
class Published:
    """The selected examples of one tile.

    Parameters
    ----------
    node : int
        Number of the node that sifted the tile.
    tile : Tile
        The positions that were sifted.
    sifted : Sifted
        The selected examples, and the times measured on the node.
    seen : int
        Number n of examples that the cluster had seen, as far as the model that sifted knew. The rule used it.
    """

    node: int
    tile: Tile
    sifted: Sifted
    seen: int


@dataclass(frozen=True, slots=True)
class Joined:
    """A node is ready for its first tile.

    Parameters
    ----------
    node : int
        Number of the node.
    """

    node: int


@dataclass(frozen=True, slots=True)
class Left:
    """A node is gone, and will not publish the tiles that it held.

    Parameters
    ----------
    node : int
        Number of the node.
    """

    node: int


Message: TypeAlias = Published | Joined | Left


class Engine(Protocol):
    """Hosts the nodes: moves what they select and what they learn. It contains no algorithm."""

    # In rounds -----------------------------------------------------------------------------------------------------

    def sift(self, first: int, last: int, seen: int) -> tuple[list[Sifted], dict[int, float]]:
        """Let each node sift its portion of a round with its current model.

        Parameters
        ----------
        first, last : int
            The positions of the round: first <= position < last.
        seen : int
            Number n of examples that the cluster has seen. The rule uses it.

        Returns
        -------
        list of Sifted
            The selected examples, in the order of the stream.
        dict of int to float
            For several numbers k of nodes: the largest sift time of k portions, in seconds.
        """
        ...

    def sift_first(self, first: int, last: int) -> Sifted:
        """Let one node sift these positions until an example is selected.

        Parameters
        ----------
        first, last : int
            The positions: first <= position < last.
        """
        ...

    def take(self, first: int, last: int, scored: bool = False) -> Sifted:
        """Select all of these positions, with p = 1.

        Parameters
        ----------
        first, last : int
            The positions: first <= position < last.
        scored : bool, default=False
            Whether to score them with the current model.
        """
        ...

    # Without rounds ------------------------------------------------------------------------------------------------

    def begin_asynchronous(self) -> Sequence[int]:
        """Let the nodes run Algorithm 2.

        Returns
        -------
        sequence of int
            The nodes that are ready. A `Joined` is received for each later one.
        """
        ...

    def grant(self, node: int, tile: Tile) -> None:
        """Add a fresh tile to the queue Q_F of a node.

        Parameters
        ----------
        node : int
            Number of the node.
        tile : Tile
            The tile.
        """
        ...

    def receive(self) -> Message:
        """Wait for the next message of any node."""
        ...

    def resize(self, nodes: int) -> None:
        """Change the number of nodes. A `Joined` or `Left` is received for each node that comes or goes.

        Parameters
        ----------
        nodes : int
            The new number of nodes.
        """
        ...

    # In both -------------------------------------------------------------------------------------------------------

    def apply(self, stretch: Stretch) -> float:
        """Send a stretch of the log to all replicas.

        Parameters
        ----------
        stretch : Stretch
            It begins at the place where the previous stretch ended.

        Returns
        -------
        float
            Seconds that one replica took to learn the stretch.
        """
        ...

    @property
    def model(self) -> Node:
        """A replica that has learned every stretch that was applied. Read it between rounds only."""
        ...

    @property
    def updates(self) -> tuple[str, str]:
        """Which replicas learn ("shared", "replicated" or "central"), and the reason."""
        ...

    def now(self) -> float:
        """Return the time on the clock of the engine, in seconds."""
        ...

    def finish(self) -> dict[int, str]:
        """Wait until all replicas have learned everything.

        Returns
        -------
        dict of int to str
            The digest of each replica, by number of the node.
        """
        ...

    def close(self) -> None:
        """End the nodes, and release everything that they hold."""
        ...


Schedule: TypeAlias = Callable[[Engine, Log, Plan], Generator[Round]]
"""Runs from the end of the log to the end of the plan. It yields each round when the round has ended."""
