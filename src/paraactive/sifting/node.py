"""A node: a replica of the learner with a rule and the stream. It sifts with its current model and learns the log."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from paraactive.data.examples import Entries, Examples, Ints, Place, Selected, Stretch
from paraactive.data.labels import UNKNOWN, check_labels
from paraactive.errors import InputError, LogGapError
from paraactive.learners.base import Learner
from paraactive.learners.rows import learn
from paraactive.rules.base import Rule
from paraactive.sifting.cascade import ProxyPolicy
from paraactive.sifting.select import choose, take_all
from paraactive.streams.base import Stream

CHUNK_ROWS = 1024
"""Number of examples that are read and sifted together. It bounds memory, and no score depends on it. It is large
because only few examples of a chunk need an exact score."""
_MAX_LOOKAHEAD = 256
_MIN_LOOKAHEAD = 4
"""Number of examples that are scored ahead where the model may change after each of them."""


class Readable(Protocol):
    """What a node needs of a stream to sift."""

    @property
    def width(self) -> int:
        """Number of features."""
        ...

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the labels."""
        ...

    def read(self, first: int, last: int) -> Examples:
        """See `Stream.read`."""
        ...


@dataclass(frozen=True, slots=True)
class Sifted:
    """What a node passes on of a portion of the stream, and the time that it took.

    Parameters
    ----------
    last : int
        One past the last position that was sifted.
    selected : Selected
        The selected examples.
    fetch_seconds, sift_seconds : float
        Time to read the examples, and to select from them.
    scored : int, default=0
        Number of exact scores that were computed.
    lowered : int, default=0
        Number of selected examples whose p the learner's proxy made smaller.
    node : int, default=0
        Number of the node.
    update_seconds : float or None, default=None
        Time that the node spent learning since it last passed something on. None: it shares its model with all nodes.
    queued_seconds : float, default=0.0
        Time between the arrival of the work at the node and its start.
    transfer_seconds : float, default=0.0
        Time to send the work to the node and the result back.
    """

    last: int
    selected: Selected
    fetch_seconds: float
    sift_seconds: float
    scored: int = 0
    lowered: int = 0
    node: int = 0
    update_seconds: float | None = None
    queued_seconds: float = 0.0
    transfer_seconds: float = 0.0

    @staticmethod
    def nothing(last: int, width: int, node: int = 0) -> Sifted:
        """The result of sifting no examples.

        Parameters
        ----------
        last : int
            The position before which sifting stopped.
        width : int
            Number of features.
        node : int, default=0
            Number of the node.

        Returns
        -------
        Sifted
            The empty result.
        """
        return Sifted(last, Selected.empty(width), 0.0, 0.0, node=node)

    @staticmethod
    def join(parts: list[Sifted]) -> Sifted:
        """Join results of portions that follow each other.

        Parameters
        ----------
        parts : list of Sifted
            The results, in the order of the stream.

        Returns
        -------
        Sifted
            One result.
        """
        return Sifted(
            parts[-1].last,
            Selected.concatenate([part.selected for part in parts]),
            sum(part.fetch_seconds for part in parts),
            sum(part.sift_seconds for part in parts),
            sum(part.scored for part in parts),
            sum(part.lowered for part in parts),
            parts[0].node,
        )


class Node:
    """One replica of the learner, with a rule and the stream. Replicas that have learned the same entries are equal.

    Parameters
    ----------
    learner : Learner
        The learner.
    rule : Rule
        Sets the probability p of each example.
    stream : Stream
        The training data.
    seed : int
        Seed of the coins.
    number : int, default=0
        Number of the node.
    """

    def __init__(self, learner: Learner, rule: Rule, stream: Stream, seed: int, number: int = 0) -> None:
        self.learner, self.rule, self.stream, self.seed, self.number = learner, rule, stream, seed, number
        self.proxy_policy = ProxyPolicy()
        self.version = self.rounds = self.seen = 0
        """Log entries learned, rounds ended, and examples that the cluster has seen as far as this replica knows."""
        self._lookahead = _MIN_LOOKAHEAD
        self._source: Readable = stream

    def sift(self, first: int, last: int, seen: int) -> Sifted:
        """Sift the examples at positions first <= position < last with the current model.

        Parameters
        ----------
        first, last : int
            The positions.
        seen : int
            The number n that the rule uses for all of them.

        Returns
        -------
        Sifted
            The selected examples.
        """
        chunks = [self._sift(*self._fetch(a, b), np.full(b - a, seen)) for a, b in _chunks(first, last)]
        return Sifted.join([Sifted.nothing(first, self._source.width, self.number), *chunks])

    def sift_first(self, first: int, last: int) -> Sifted:
        """Sift one example after the other until one is selected. The rule's n is the position of each example.

        Several examples are scored ahead together, because that is faster. Results after the selected one are dropped.

        Parameters
        ----------
        first, last : int
            The positions.

        Returns
        -------
        Sifted
            At most one selected example.
        """
        parts = [Sifted.nothing(first, self._source.width, self.number)]
        while first < last:
            fresh, fetched = self._fetch(first, min(first + self._lookahead, last))
            part = self._sift(fresh, fetched, fresh.index, most=1)
            parts.append(part)
            if len(part.selected):
                self._lookahead = max(self._lookahead // 2, _MIN_LOOKAHEAD)
                break
            first, self._lookahead = part.last, min(2 * self._lookahead, _MAX_LOOKAHEAD)
        return Sifted.join(parts)

    def take(self, first: int, last: int) -> Sifted:
        """Select all examples at these positions with p = 1, as in the warmstart.

        Parameters
        ----------
        first, last : int
            The positions.

        Returns
        -------
        Sifted
            All examples.
        """
        fresh, fetched = self._fetch(first, last)
        return Sifted(last, take_all(fresh, np.full(len(fresh), 0), self.version), fetched, 0.0)

    @property
    def place(self) -> Place:
        """Place of the replica in the log."""
        return Place(self.version, self.rounds)

    def numbered(self, number: int) -> Node:
        """The same replica under the number of another node, to sift with.

        Parameters
        ----------
        number : int
            Number of the node.

        Returns
        -------
        Node
            A node that shares the learner.
        """
        return self._shared(self._source, number)

    def with_stream(self, stream: Readable) -> Node:
        """The same replica with another source of examples, to sift with.

        Parameters
        ----------
        stream : Readable
            The examples.

        Returns
        -------
        Node
            A node that shares the learner.
        """
        return self._shared(stream, self.number)

    def _shared(self, source: Readable, number: int) -> Node:
        node = Node(self.learner, self.rule, self.stream, self.seed, number)
        node._source, node.proxy_policy = source, self.proxy_policy
        node.set_place(self.place, self.seen)
        return node

    def twin(self) -> Node:
        """A copy of the replica that shares nothing with it.

        Returns
        -------
        Node
            The copy.
        """
        node = Node(copy.deepcopy(self.learner), self.rule, self.stream, self.seed, self.number)
        node.set_place(self.place, self.seen)
        return node

    def set_place(self, place: Place, seen: int) -> None:
        """Record that the learner has been given a model of another place in the log.

        Parameters
        ----------
        place : Place
            The place.
        seen : int
            Number of examples that the cluster has seen.
        """
        (self.version, self.rounds), self.seen = place, seen

    def learn(self, stretch: Stretch) -> float:
        """Learn the entries of a stretch that are new to this replica.

        Parameters
        ----------
        stretch : Stretch
            Consecutive entries of the log.

        Returns
        -------
        float
            Seconds that it took.
        """
        self.seen = max(self.seen, stretch.seen)
        if stretch.ends <= self.place:
            return 0.0
        seconds = self.learn_entries(stretch.entries.since(self.version))
        if stretch.ends_round and stretch.rounds == self.rounds:
            seconds += self.end_round()
        return seconds

    def learn_entries(self, entries: Entries) -> float:
        """Learn entries that follow those learned before.

        Parameters
        ----------
        entries : Entries
            The entries. A LogGapError is raised if there is a gap before them.

        Returns
        -------
        float
            Seconds that it took.
        """
        if entries.first != self.version:
            raise LogGapError(
                f"entries from {entries.first} on for a model that has learned {self.version}",
                why="a replica learns every entry once, in order",
                remedy="replay the log from there",
            )
        start = time.perf_counter()
        if len(entries):
            learn(self.learner, entries.selected)
        self.version = entries.last
        return time.perf_counter() - start

    def end_round(self) -> float:
        """Let the learner finish a round.

        Returns
        -------
        float
            Seconds that it took.
        """
        start = time.perf_counter()
        self.learner.end_round()
        self.rounds += 1
        return time.perf_counter() - start

    def _fetch(self, first: int, last: int) -> tuple[Examples, float]:
        start = time.perf_counter()
        fresh = self._source.read(first, last)
        if len(fresh) != last - first:
            raise InputError(
                f"the stream gave {len(fresh)} rows for the positions {first} to {last - 1}",
                why="each position is one example",
                remedy="correct its read or its length; paraactive.checks.check_stream tries both",
            )
        # A rule that needs labels must have all of them here. For other rules, labels may be fetched after selection.
        check_labels(
            fresh.y if self.rule.needs_labels is True else fresh.y[fresh.y != UNKNOWN], len(self._source.classes)
        )
        return fresh, time.perf_counter() - start

    def _sift(self, fresh: Examples, fetched: float, seen: Ints, most: int | None = None) -> Sifted:
        """Sift these examples, up to the one that is selected as number `most`."""
        start = time.perf_counter()
        choice = choose(self.learner, self.rule, self.seed, fresh, seen, self.version, self.proxy_policy)
        selected = choice.selected.take(slice(0, most))
        last = selected.examples.index[-1] if most is not None and len(selected) == most else fresh.index[-1]
        lowered = int(np.count_nonzero(choice.lowered[:most]))
        return Sifted(
            int(last) + 1, selected, fetched, time.perf_counter() - start, choice.scored, lowered, self.number
        )


def learn_stretch(learner: Learner, stretch: Stretch) -> None:
    """Let a learner learn a stretch of the log, outside of a node.

    Parameters
    ----------
    learner : Learner
        The learner, at the place where the stretch begins.
    stretch : Stretch
        Consecutive entries of the log.
    """
    if len(stretch.entries):
        learn(learner, stretch.entries.selected)
    if stretch.ends_round:
        learner.end_round()


def _chunks(first: int, last: int) -> Iterator[tuple[int, int]]:
    for a in range(first, last, CHUNK_ROWS):
        yield a, min(a + CHUNK_ROWS, last)
