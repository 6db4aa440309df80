"""What a schedule is given: a plan, and an engine that hosts the nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from paraactive.errors import InputError
from paraactive.events import Round
from paraactive.examples import Entries
from paraactive.log import Log
from paraactive.node import Sifted


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

    def __post_init__(self) -> None:
        for name in ("examples", "batch", "nodes"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}", why="a run needs some", remedy=f"give {name} >= 1")
        if self.warmstart < 0:
            raise InputError(f"warmstart is {self.warmstart}", why="it is a count", remedy="give 0 or more")
        if self.batch < self.nodes:
            raise InputError(
                f"batch is {self.batch} for {self.nodes} nodes",
                why="a round gives each node batch/nodes fresh examples, and some would get none",
                remedy=f"give batch >= {self.nodes}, or fewer nodes",
            )


class Engine(Protocol):
    """Where nodes live. It moves what they select and what they apply, and knows no algorithm."""

    def sift(self, first: int, last: int, seen: int) -> tuple[list[Sifted], dict[int, float]]:
        """Each node sifts its portion of these positions with its model as it is.

        Returns what the nodes pass on, in node order, and for several k the largest sift time of k portions.
        """
        ...

    def sift_first(self, first: int, last: int) -> Sifted:
        """The first node sifts until one example is selected."""
        ...

    def take(self, first: int, last: int) -> Sifted:
        """All of these positions, with p = 1."""
        ...

    def apply(self, entries: Entries) -> float:
        """All replicas learn from these. Returns the seconds on one replica."""
        ...

    def end_round(self) -> float:
        """All replicas do what they do between rounds. Returns the seconds on one replica."""
        ...

    def close(self) -> None:
        """End the nodes; nothing of theirs is left."""
        ...


Schedule: TypeAlias = Callable[[Engine, Log, Plan], Iterator[Round]]
"""Runs from where the log stands to the end of the plan, one round for each item."""


def portion(first: int, last: int, node: int, nodes: int) -> tuple[int, int]:
    """The positions of node `node` of `nodes`: contiguous, of equal size up to one.

    >>> [portion(0, 10, node, 4) for node in range(4)]
    [(0, 2), (2, 5), (5, 7), (7, 10)]
    """
    count = last - first
    return first + node * count // nodes, first + (node + 1) * count // nodes
