"""A model that several threads sift with while one thread learns."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager

from paraactive.data.examples import Stretch
from paraactive.sifting.node import Node


class SharedModel:
    """Two copies of a replica: threads sift with the front while the back learns, then the two are swapped.

    Only one thread may call `learn` and `finish`. Any number of threads may sift.

    Parameters
    ----------
    node : Node
        The replica. It becomes one of the two copies.
    """

    def __init__(self, node: Node) -> None:
        self._front, self._back = node, node.twin()
        self._missed: list[Stretch] = []  # Stretches that the front has learned and the back has not.
        self._readers: Counter[int] = Counter()
        self._left = threading.Condition()

    @contextmanager
    def reading(self) -> Generator[Node]:
        """Return a context manager that gives the newest model. The model does not change inside of it."""
        with self._left:
            front = self._front
            self._readers[id(front)] += 1
        try:
            yield front
        finally:
            with self._left:
                self._readers[id(front)] -= 1
                self._left.notify_all()

    def learn(self, stretch: Stretch) -> float:
        """Learn a stretch. Threads that begin to sift after this call use the new model.

        Parameters
        ----------
        stretch : Stretch
            It begins where the previous stretch ended.

        Returns
        -------
        float
            Seconds that one copy took to learn it.
        """
        self._learn_missed()
        seconds = self._back.learn(stretch)
        self._missed.append(stretch)
        with self._left:
            self._front, self._back = self._back, self._front
        return seconds

    @property
    def latest(self) -> Node:
        """The copy that has learned everything."""
        return self._front

    def finish(self) -> list[Node]:
        """Wait for all readers.

        Returns
        -------
        list of Node
            Both copies. Each has learned everything.
        """
        self._learn_missed()
        return [self._front, self._back]

    def _learn_missed(self) -> None:
        """Bring the back up to date, as soon as no thread reads it."""
        back = self._back
        with self._left:
            self._left.wait_for(lambda: not self._readers[id(back)])
        while self._missed:
            back.learn(self._missed[0])
            del self._missed[0]
