"""A node: a replica of the learner with a rule and the stream. It sifts with its current model and learns the log."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator
from typing import Protocol

import numpy as np

from paraactive.data.examples import Entries, Examples, Ints, Place, Stretch
from paraactive.data.labels import UNKNOWN, check_labels
from paraactive.errors import InputError, LogGapError
from paraactive.learners.base import Learner, capabilities_of
from paraactive.learners.rows import learn
from paraactive.rules.base import Rule, at_noise
from paraactive.sifting.cascade import ProxyPolicy
from paraactive.sifting.measurements import Measurements
from paraactive.sifting.sampling import Adjustment, Sampling
from paraactive.sifting.select import choose, take_all
from paraactive.sifting.sifted import Sifted
from paraactive.streams.base import Stream, StreamDetails

CHUNK_ROWS = 1024
"""Number of examples that are read and sifted together. It bounds memory, and no score depends on it. It is large
because only few examples of a chunk need an exact score."""
_MAX_LOOKAHEAD = 256
_MIN_LOOKAHEAD = 4
"""Number of examples that are scored ahead where the model may change after each of them."""


_PLAIN = Sampling()


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
    sampling : Sampling, optional
        What is done to the p of the rule. Default: nothing.

    Attributes
    ----------
    measured : Measurements
        What the entries learned so far say about the models on the way.
    """

    def __init__(
        self, learner: Learner, rule: Rule, stream: Stream, seed: int, number: int = 0, sampling: Sampling = _PLAIN
    ) -> None:
        self.learner, self.rule, self.stream, self.seed, self.number = learner, rule, stream, seed, number
        self.sampling = sampling
        self.proxy_policy = ProxyPolicy()
        self.measured = self.no_measurements()
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

    def no_measurements(self) -> Measurements:
        """Measurements of a run with this learner and rule, of which no entry is known yet.

        Returns
        -------
        Measurements
            Without any sums.
        """
        details, rule = StreamDetails(self.stream), self.rule
        return Measurements(
            len(self.stream.classes), capabilities_of(self.learner).log_odds, rule.needs_scores, self.sampling.budget,
            details.first_pass, is_blind=rule.needs_labels is not True, is_asked=not details.labelled,
        )  # fmt: skip

    def take(self, first: int, last: int, scored: bool = False) -> Sifted:
        """Select all examples at these positions with p = 1, as in the warmstart.

        Parameters
        ----------
        first, last : int
            The positions.
        scored : bool, default=False
            Whether to score them with the current model, for the estimates of the run.

        Returns
        -------
        Sifted
            All examples.
        """
        fresh, fetched = self._fetch(first, last)
        model = self.learner if scored else None
        return Sifted(last, take_all(fresh, np.full(len(fresh), 0), self.version, model), fetched, 0.0)

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
        node = Node(self.learner, self.rule, self.stream, self.seed, number, self.sampling)
        node._source, node.proxy_policy, node.measured = source, self.proxy_policy, self.measured
        node.set_place(self.place, self.seen)
        return node

    def twin(self) -> Node:
        """A copy of the replica that shares nothing with it.

        Returns
        -------
        Node
            The copy.
        """
        node = Node(copy.deepcopy(self.learner), self.rule, self.stream, self.seed, self.number, self.sampling)
        node.measured = copy.deepcopy(self.measured)
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
        entries = stretch.entries.since(self.version)
        seconds = self.learn_entries(entries)
        self.measured.add(entries.selected)
        if stretch.ends_round and stretch.rounds == self.rounds:
            seconds += self.end_round()
            self.measured.end_round(stretch.seen)
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
        return self.sampling.weighted(fresh, len(self._source.classes)), time.perf_counter() - start

    def _adjustment(self) -> Adjustment:
        # A rule that ignores scores selects as it says, whatever the importance.
        # The importance may contain the weight of the class, which a label-blind rule must not see.
        weighs = self.sampling.by_importance and self.rule.needs_scores and self.rule.needs_labels is True
        return self.measured.adjustment(self.sampling.floor, weighs)

    def _sift(self, fresh: Examples, fetched: float, seen: Ints, most: int | None = None) -> Sifted:
        """Sift these examples, up to the one that is selected as number `most`."""
        start = time.perf_counter()
        rule, adjustment = at_noise(self.rule, self.measured.theta), self._adjustment()
        choice = choose(self.learner, rule, self.seed, fresh, seen, self.version, self.proxy_policy, adjustment)
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
