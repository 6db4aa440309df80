"""Models at several places of the log, for simulated nodes that are not equally far."""

from __future__ import annotations

import bisect
from operator import attrgetter

from paraactive.data.examples import Place, Stretch
from paraactive.sifting.node import Node

_RUNGS = 8
"""Models that are kept besides the top. A model that was dropped is made again from the one below it."""


class Ladder:
    """Models at several places of the log. A model is a function of its place, so nodes at one place share one model.

    The top has learned everything. The lowest rung is at a place that every node has reached. The others are between.

    Parameters
    ----------
    top : Node
        The sequencer's replica.
    keep : bool
        Whether models below the top are needed.
    """

    def __init__(self, top: Node, keep: bool) -> None:
        self.top = top
        self._rungs: list[Node] = [top.twin()] if keep else []
        self._stretches: list[Stretch] = []

    def announce(self, stretch: Stretch) -> None:
        """Record a stretch that the top has learned.

        Parameters
        ----------
        stretch : Stretch
            The stretch.
        """
        if self._rungs:
            self._stretches.append(stretch)

    def at(self, place: Place, everywhere: Place) -> Node:
        """Return the model of a place.

        Parameters
        ----------
        place : Place
            The place.
        everywhere : Place
            No model of an earlier place will be asked for again.

        Returns
        -------
        Node
            A replica to sift with.
        """
        if place == self.top.place:
            return self.top
        self._advance(self._rungs[0], min(everywhere, place))
        self._rungs = [self._rungs[0], *(rung for rung in self._rungs[1:] if rung.place > self._rungs[0].place)]
        self._forget()
        below = self._rungs[bisect.bisect_right(self._rungs, place, key=attrgetter("place")) - 1]
        if below.place == place:
            return below
        rung = below.twin()
        self._advance(rung, place)
        bisect.insort(self._rungs, rung, key=attrgetter("place"))
        if len(self._rungs) > _RUNGS:
            del self._rungs[1]
        return rung

    def drained(self) -> str:
        """Let all models learn everything, and return their common digest."""
        for rung in self._rungs:
            self._advance(rung, self.top.place)
        digests = {node.learner.digest() for node in (self.top, *self._rungs)}
        assert len(digests) == 1, "replicas of one place differ"
        return digests.pop()

    def _advance(self, rung: Node, place: Place) -> None:
        first = bisect.bisect_right(self._stretches, rung.place, key=attrgetter("ends"))
        for stretch in self._stretches[first:]:
            if stretch.ends > place:
                break
            rung.learn(stretch)

    def _forget(self) -> None:
        """Drop the stretches that every rung has learned."""
        first = bisect.bisect_right(self._stretches, self._rungs[0].place, key=attrgetter("ends"))
        del self._stretches[:first]
