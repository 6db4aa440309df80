"""One model that several sift with. A second copy comes into being only where somebody learns while others sift."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from paraactive.basics.state import State
from paraactive.data.examples import Place, Stretch
from paraactive.sifting.node import Node, Sifted


@dataclass(frozen=True, slots=True)
class Model:
    """A whole model, to be sent to a replica."""

    state: State
    place: Place
    seen: int

    @staticmethod
    def of(node: Node) -> Model:
        """The model of this replica."""
        return Model(node.learner.save(), node.place, node.seen)

    @property
    def nbytes(self) -> int:
        """What it weighs when it is sent."""
        return sum(array.nbytes for array in self.state.values())


class SharedModel:
    """Sifters read the front. If nobody does, the front itself learns; otherwise the back does, until it is shown.

    One thread learns and shows; any number may read.
    """

    def __init__(self, node: Node) -> None:
        self._front: Node = node
        self._back: Node | None = None
        self._ahead: list[Stretch | Model] = []
        """What the back has learnt and the front has not."""
        self._behind: list[Stretch | Model] = []
        """What the front has learnt and the back has not."""
        self._readers: Counter[int] = Counter()
        self._left = threading.Condition()

    def enter(self) -> Node:
        """The front, which stays as it is until `leave`."""
        with self._left:
            self._readers[id(self._front)] += 1
            return self._front

    def leave(self, node: Node) -> None:
        """Done with it."""
        with self._left:
            self._readers[id(node)] -= 1
            self._left.notify_all()

    @contextmanager
    def reading(self) -> Generator[Node]:
        """`enter` and `leave`."""
        node = self.enter()
        try:
            yield node
        finally:
            self.leave(node)

    def learn(self, news: Stretch | Model) -> float:
        """Learn without disturbing who reads. Returns the seconds that the news took on one copy."""
        if self._back is None:
            with self._left:
                busy = self._readers[id(self._front)] > 0
            if not busy:
                # No reader can come in between: the one thread that learns is the one that lets them in, or shows
                # them a back; see `begin_sift` and `begin_asynchronous` of the engines.
                return _learn(self._front, news)
            self.split()
        back = self._catch_up()
        self._ahead.append(news)
        return _learn(back, news)

    def split(self) -> None:
        """Make the second copy now."""
        if self._back is None:
            self._back = self._front.twin()

    def show(self) -> None:
        """What was learnt is what is read from now on."""
        if self._back is not None and self._ahead:
            with self._left:
                self._front, self._back = self._back, self._front
            self._behind, self._ahead = self._behind + self._ahead, []

    @property
    def latest(self) -> Node:
        """The copy that has learnt everything."""
        return self._back if self._back is not None and self._ahead else self._front

    def copies(self) -> list[Node]:
        """All copies, each with everything learnt; nobody may be reading."""
        self.show()
        return [self._front] if self._back is None else [self._front, self._catch_up()]

    def _catch_up(self) -> Node:
        """The back, with all that the front has learnt, once the last reader has left it."""
        back = self._back
        assert back is not None
        with self._left:
            self._left.wait_for(lambda: not self._readers[id(back)])
        for news in self._behind:
            _learn(back, news)
        self._behind = []
        return back


class OnSharedModel:
    """What an engine does with a shared model of its own, in real time."""

    _shared: SharedModel

    @property
    def model(self) -> Node:
        """See `Engine.model`."""
        return self._shared.latest

    def sift_first(self, first: int, last: int) -> Sifted:
        """See `Engine.sift_first`; this replica is as good as any."""
        return self.model.sift_first(first, last)

    def take(self, first: int, last: int) -> Sifted:
        """See `Engine.take`."""
        return self.model.take(first, last)

    def now(self) -> float:
        """The real time."""
        return time.perf_counter()


def _learn(node: Node, news: Stretch | Model) -> float:
    if isinstance(news, Stretch):
        return node.learn(news)
    node.learner.load(news.state)
    node.stand_at(news.place, news.seen)
    return 0.0
