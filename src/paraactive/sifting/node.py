"""A node: a replica of the learner with a rule and the stream. It sifts with its current model and applies the log."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from paraactive.data.examples import Entries, Examples, Ints, Place, Selected, Stretch
from paraactive.data.labels import UNKNOWN, check_labels
from paraactive.errors import InputError, LogGapError
from paraactive.learners.base import Learner
from paraactive.learners.rows import learn
from paraactive.rules.base import Rule
from paraactive.sifting.cascade import Economy
from paraactive.sifting.select import choose, take_all
from paraactive.streams.base import Stream

TILE = 1024
"""Examples fetched and sifted together. It bounds memory; no score depends on it. It is as large as that, because those
of a tile that need an exact score are few."""
_LONGEST_LOOK = 256
_SHORTEST_LOOK = 4
"""Examples scored ahead at least, where the model may change after each."""


@dataclass(frozen=True, slots=True)
class Sifted:
    """What a node passes on of a portion of the stream, and the time it took there."""

    last: int
    """One past the last position that was sifted."""
    selected: Selected
    fetch_seconds: float
    sift_seconds: float
    scored: int = 0
    """Exact scores that were computed."""
    lowered: int = 0
    """Selected examples whose p the learner's proxy made smaller."""
    node: int = 0
    update_seconds: float | None = None
    """Learning of this node since it last passed something on; None: on a model that it shares with all."""
    queued_seconds: float = 0.0
    """Between the arrival of the work at the node and its beginning."""
    transfer_seconds: float = 0.0
    """Of the work to the node and of this back."""

    @staticmethod
    def nothing(last: int, width: int, node: int = 0) -> Sifted:
        """No examples, none selected."""
        return Sifted(last, Selected.empty(width), 0.0, 0.0, node=node)

    @staticmethod
    def join(parts: list[Sifted]) -> Sifted:
        """Portions that follow on each other, as one."""
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
    """One replica. All replicas that have applied the same entries are equal."""

    def __init__(self, learner: Learner, rule: Rule, stream: Stream, seed: int, number: int = 0) -> None:
        self.learner, self.rule, self.stream, self.seed, self.number = learner, rule, stream, seed, number
        self.economy = Economy()
        self.version = self.rounds = self.seen = 0
        """Log entries applied, rounds ended, examples that the cluster has seen as far as this replica knows."""
        self._look = _SHORTEST_LOOK

    def sift(self, first: int, last: int, seen: int) -> Sifted:
        """The selected of the positions first..last, by the current model, all with the same n = seen."""
        tiles = [self._sift(*self._fetch(a, b), np.full(b - a, seen)) for a, b in _tiles(first, last)]
        return Sifted.join([Sifted.nothing(first, self.stream.width, self.number), *tiles])

    def sift_first(self, first: int, last: int) -> Sifted:
        """Sift one by one until an example is selected; n is the position of each.

        A few are scored ahead together, because that is faster; what lies behind the first selected is forgotten.
        """
        parts = [Sifted.nothing(first, self.stream.width, self.number)]
        while first < last:
            fresh, fetched = self._fetch(first, min(first + self._look, last))
            part = self._sift(fresh, fetched, fresh.index, most=1)
            parts.append(part)
            if len(part.selected):
                self._look = max(self._look // 2, _SHORTEST_LOOK)
                break
            first, self._look = part.last, min(2 * self._look, _LONGEST_LOOK)
        return Sifted.join(parts)

    def take(self, first: int, last: int) -> Sifted:
        """Everything at these positions, with p = 1: the warmstart."""
        fresh, fetched = self._fetch(first, last)
        return Sifted(last, take_all(fresh, np.full(len(fresh), 0), self.version), fetched, 0.0)

    @property
    def place(self) -> Place:
        """How far it is in the log."""
        return Place(self.version, self.rounds)

    def seen_by(self, number: int) -> Node:
        """The same replica through the eyes of node `number`, to sift with."""
        return self._on(self.stream, number)

    def reading(self, stream: Any) -> Node:
        """The same replica with another stream, to sift with; it need only have `read`, `width` and `classes`."""
        return self._on(stream, self.number)

    def _on(self, stream: Any, number: int) -> Node:
        node = Node(self.learner, self.rule, stream, self.seed, number)
        node.economy = self.economy
        node.stand_at(self.place, self.seen)
        return node

    def twin(self) -> Node:
        """Another replica, equal and apart."""
        node = Node(copy.deepcopy(self.learner), self.rule, self.stream, self.seed, self.number)
        node.stand_at(self.place, self.seen)
        return node

    def stand_at(self, place: Place, seen: int) -> None:
        """The learner was given a model of this place."""
        (self.version, self.rounds), self.seen = place, seen

    def learn(self, stretch: Stretch) -> float:
        """Learn a stretch of the log, or what is new in it. Returns the seconds it took."""
        self.seen = max(self.seen, stretch.seen)
        if stretch.ends <= self.place:
            return 0.0
        seconds = self.apply(stretch.entries.since(self.version))
        if stretch.ends_round and stretch.rounds == self.rounds:
            seconds += self.end_round()
        return seconds

    def apply(self, entries: Entries) -> float:
        """Learn from entries that follow on those applied before. Returns the seconds it took."""
        if entries.first != self.version:
            raise LogGapError(
                f"entries from {entries.first} on for a model that has applied {self.version}",
                why="a replica applies every entry once, in order",
                remedy="replay the log from there",
            )
        start = time.perf_counter()
        if len(entries):
            learn(self.learner, entries.selected)
        self.version = entries.last
        return time.perf_counter() - start

    def end_round(self) -> float:
        """Let the learner do what it does between rounds. Returns the seconds it took."""
        start = time.perf_counter()
        self.learner.end_round()
        self.rounds += 1
        return time.perf_counter() - start

    def _fetch(self, first: int, last: int) -> tuple[Examples, float]:
        start = time.perf_counter()
        fresh = self.stream.read(first, last)
        if len(fresh) != last - first:
            raise InputError(
                f"the stream gave {len(fresh)} rows for the positions {first} to {last - 1}",
                why="each position is one example",
                remedy="correct its read or its length; paraactive.checks.check_stream tries both",
            )
        # Only a rule that sees labels must have them here; others are asked for what they select.
        check_labels(
            fresh.y if self.rule.needs_labels is True else fresh.y[fresh.y != UNKNOWN], len(self.stream.classes)
        )
        return fresh, time.perf_counter() - start

    def _sift(self, fresh: Examples, fetched: float, seen: Ints, most: int | None = None) -> Sifted:
        """Sift these; if there are more selected than `most`, it was only up to there that they were sifted."""
        start = time.perf_counter()
        choice = choose(self.learner, self.rule, self.seed, fresh, seen, self.version, self.economy)
        selected = choice.selected.take(slice(0, most))
        last = selected.examples.index[-1] if most is not None and len(selected) == most else fresh.index[-1]
        lowered = int(np.count_nonzero(choice.lowered[:most]))
        return Sifted(
            int(last) + 1, selected, fetched, time.perf_counter() - start, choice.scored, lowered, self.number
        )


def relearn(learner: Learner, stretch: Stretch) -> None:
    """What a stretch of the log does to a model, on a node or off it."""
    if len(stretch.entries):
        learn(learner, stretch.entries.selected)
    if stretch.ends_round:
        learner.end_round()


def _tiles(first: int, last: int) -> Iterator[tuple[int, int]]:
    for a in range(first, last, TILE):
        yield a, min(a + TILE, last)
