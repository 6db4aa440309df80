"""Models at several places of the log, for simulated nodes that are not equally far."""

from __future__ import annotations

import bisect
from operator import attrgetter

from paraactive.data.examples import Place, Stretch
from paraactive.sifting.node import Node

_RUNGS = 8
"""Models kept at once, besides the top. One that is gone is made again from the one below it."""


class Ladder:
    """The top has learnt everything. The lowest rung is where every node has been; others are in between.

    What a model is, is a function of its place: so nodes at one place share one model.
    """

    def __init__(self, top: Node, keep: bool) -> None:
        self.top = top
        self._rungs: list[Node] = [top.twin()] if keep else []
        self._stretches: list[Stretch] = []

    def announce(self, stretch: Stretch) -> None:
        """The top has learnt this."""
        if self._rungs:
            self._stretches.append(stretch)

    def at(self, place: Place, everywhere: Place) -> Node:
        """The model of this place; nobody will ask for one before `everywhere` again."""
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
        """The digest of all models once they have learnt everything."""
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
        """What every rung has learnt is not needed any more."""
        first = bisect.bisect_right(self._stretches, self._rungs[0].place, key=attrgetter("ends"))
        del self._stretches[:first]
