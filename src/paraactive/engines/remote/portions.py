"""The portions of one round, and which node sifts each of them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count

from paraactive.basics.threads import one_thread
from paraactive.data.examples import Tile
from paraactive.engines.remote.messages import Done, Fresh
from paraactive.schedules.plan import portion
from paraactive.sifting.node import CHUNK_ROWS, Node, Sifted


@dataclass(eq=False)
class Part:
    """A portion of a round that is not yet sifted.

    Parameters
    ----------
    number : int
        Counted over the whole run, so that a late answer is never taken for one of a later round.
    tile : Tile
        The positions.
    seen : int
        Number n of examples that the cluster has seen, for the rule.
    node : int, optional
        The node that sifts the part. None if no node does.
    posted : dict of int to float, optional
        By node: when the part was sent to it.
    chunks : list of Sifted, optional
        What the driver has sifted of the part.
    """

    number: int
    tile: Tile
    seen: int
    node: int | None = None
    posted: dict[int, float] = field(default_factory=dict[int, float])
    chunks: list[Sifted] = field(default_factory=list[Sifted])

    def assign(self, node: int) -> Fresh:
        """Record which node sifts the part, and return the message to this node.

        Parameters
        ----------
        node : int
            Number of the node.
        """
        self.node, self.posted[node] = node, time.perf_counter()
        return Fresh(self.tile, self.number, self.seen)


class Portions:
    """The portions of the current round."""

    def __init__(self) -> None:
        self._numbers = count()
        self._open: dict[int, Part] = {}
        self._done: dict[int, Sifted] = {}

    def begin(self, first: int, last: int, seen: int, portions: int) -> None:
        """Cut a round into portions.

        Parameters
        ----------
        first, last : int
            The positions of the round: first <= position < last.
        seen : int
            Number n of examples that the cluster has seen, for the rule.
        portions : int
            Number of portions.
        """
        self._done = {}
        for place in range(portions):
            part = Part(next(self._numbers), Tile(*portion(first, last, place, portions)), seen)
            self._open[part.number] = part

    @property
    def finished(self) -> bool:
        """True if all portions are sifted."""
        return not self._open

    def unassigned(self) -> Iterator[Part]:
        """Return the parts that no node sifts."""
        return (part for part in self._open.values() if part.node is None)

    def accept(self, done: Done) -> None:
        """Accept an answer. The first answer to a part wins.

        Parameters
        ----------
        done : Done
            The answer of a node.
        """
        part = self._open.pop(done.part, None)
        if part:
            published = done.published
            self._done[part.number] = _with_transfer(published.sifted, part.posted[published.node])

    def take_back(self, node: int) -> None:
        """Let other nodes sift the part of a node that is lost or silent.

        Parameters
        ----------
        node : int
            Number of the node.
        """
        for part in self._open.values():
            if part.node == node:
                part.node = None

    def sift_here(self, node: Node) -> None:
        """Sift one chunk of the first part with this replica. Between chunks the driver can read letters.

        Parameters
        ----------
        node : Node
            The driver's replica.
        """
        part = next(iter(self._open.values()))
        first = part.chunks[-1].last if part.chunks else part.tile.first
        last = min(first + CHUNK_ROWS, part.tile.last)
        with one_thread():  # As on the nodes.
            part.chunks.append(node.sift(first, last, part.seen))
        if last == part.tile.last:
            self._done[part.number] = Sifted.join(part.chunks)
            del self._open[part.number]

    def sifted(self) -> list[Sifted]:
        """Return the answers to all portions, in the order of the stream."""
        return [self._done[number] for number in sorted(self._done)]


def _with_transfer(sifted: Sifted, posted: float) -> Sifted:
    """Add the time that messages took: from sending the part to its answer, less the time that the node reports.

    Only durations of the two clocks are compared, never their times.
    """
    there = sifted.queued_seconds + sifted.fetch_seconds + sifted.sift_seconds
    return replace(sifted, transfer_seconds=max(0.0, time.perf_counter() - posted - there))
