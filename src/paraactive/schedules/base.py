"""What a schedule is given: a plan, and an engine that hosts the nodes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from paraactive.data.events import Round
from paraactive.data.examples import Stretch, Tile
from paraactive.errors import InputError, counted
from paraactive.sifting.log import Log
from paraactive.sifting.node import Node, Sifted

_LARGEST_TILE = 1024
"""Of the asynchronous schedule: as many as are sifted together elsewhere, because few of a tile need an exact score."""


@dataclass(frozen=True)
class Plan:
    """How far, and in what steps."""

    examples: int
    """Examples to see in all, the warmstart included."""
    batch: int
    """B: fresh examples of a round, over all nodes."""
    warmstart: int
    """Examples that are learnt before sifting begins."""
    nodes: int
    """k."""
    lag: int = 1
    """Pipelined: rounds that the sifting model is behind Algorithm 1."""
    delay: int | None = None
    """Asynchronous: examples that the cluster may see between the model that sifted an example and the example's place
    in the log. None: two batches."""

    def __post_init__(self) -> None:
        for name in ("examples", "batch", "nodes"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}", why="a run needs some", remedy=f"give {name} >= 1")
        for name in ("warmstart", "lag"):
            if getattr(self, name) < 0:
                raise InputError(f"{name} is {getattr(self, name)}", why="it is a count", remedy="give 0 or more")
        if self.batch < self.nodes:
            raise InputError(
                f"batch is {self.batch} for {counted(self.nodes, 'node')}",
                why="a round gives each node batch/nodes fresh examples, and some would get none",
                remedy=f"give batch >= {self.nodes}, or fewer nodes",
            )
        if self.delay is not None and self.delay < self.nodes:
            raise InputError(
                f"delay is {self.delay} for {counted(self.nodes, 'node')}",
                why="while a node sifts one example, each of the others may pass one on",
                remedy=f"give delay >= {self.nodes}, best several batches, or fewer nodes",
            )

    @property
    def longest_delay(self) -> int:
        """The bound of the asynchronous schedule, in examples."""
        return 2 * self.batch if self.delay is None else self.delay

    @property
    def tile(self) -> int:
        """Asynchronous: fresh examples that a node takes at once. Small enough that the bound is kept with room to
        spare when each node has two tiles and all are equally fast.
        """
        return max(1, min(_LARGEST_TILE, self.batch // (2 * self.nodes), self.longest_delay // (2 * self.nodes)))


@dataclass(frozen=True, slots=True)
class Published:
    """What a node passes on of one tile, and what it knew when it sifted it."""

    node: int
    tile: Tile
    sifted: Sifted
    seen: int
    """Examples seen by the cluster, as its model knew it: n of the rule."""


@dataclass(frozen=True, slots=True)
class Joined:
    """A node is ready for its first tile."""

    node: int


@dataclass(frozen=True, slots=True)
class Left:
    """A node is gone; what it held will not come."""

    node: int


Message: TypeAlias = Published | Joined | Left


class Engine(Protocol):
    """Where nodes live. It moves what they select and what they learn, and knows no algorithm.

    The model that sifts is the one of the beginning of a sift: what is applied before its end does not change it.
    """

    # Round by round ----------------------------------------------------------------------------------------------

    def begin_sift(self, first: int, last: int, seen: int) -> None:
        """Each node begins to sift its portion of these positions with its model as it is."""
        ...

    def end_sift(self) -> tuple[list[Sifted], dict[int, float]]:
        """What the nodes pass on, in the order of the stream, and for several k the largest sift time of k portions."""
        ...

    def sift_first(self, first: int, last: int) -> Sifted:
        """One node sifts until one example is selected."""
        ...

    def take(self, first: int, last: int) -> Sifted:
        """All of these positions, with p = 1."""
        ...

    # Tile by tile ------------------------------------------------------------------------------------------------

    def begin_asynchronous(self) -> Sequence[int]:
        """The nodes go over to Algorithm 2. Returns who is there; others will be `Joined`."""
        ...

    def grant(self, node: int, tile: Tile) -> None:
        """A fresh tile for this node's Q_F."""
        ...

    def receive(self) -> Message:
        """What comes next from any node; waits for it."""
        ...

    def resize(self, nodes: int) -> None:
        """So many nodes from now on: some will have `Joined` or `Left`."""
        ...

    # Both --------------------------------------------------------------------------------------------------------

    def apply(self, stretch: Stretch) -> float:
        """All replicas learn this. Returns the seconds on one replica."""
        ...

    @property
    def model(self) -> Node:
        """A replica that has learnt everything applied, to look at between rounds."""
        ...

    @property
    def updates(self) -> tuple[str, str]:
        """Who learns, and why it is done so."""
        ...

    def now(self) -> float:
        """Seconds on the engine's clock."""
        ...

    def finish(self) -> dict[int, str]:
        """Wait until all replicas have learnt everything. Returns the digest of each."""
        ...

    def close(self) -> None:
        """End the nodes; nothing of theirs is left."""
        ...


Schedule: TypeAlias = Callable[[Engine, Log, Plan], Generator[Round]]
"""Runs from where the log stands to the end of the plan, one round for each item."""


def portion(first: int, last: int, node: int, nodes: int) -> tuple[int, int]:
    """The positions of node `node` of `nodes`: contiguous, of equal size up to one.

    >>> [portion(0, 10, node, 4) for node in range(4)]
    [(0, 2), (2, 5), (5, 7), (7, 10)]
    """
    count = last - first
    return first + node * count // nodes, first + (node + 1) * count // nodes
