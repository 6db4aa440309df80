"""The log: the total order of all that was selected. Whoever applies it from the start has the model.

This module has the contract and a log in memory; the durable one is the run file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from paraactive.basics.validation import whole
from paraactive.data.events import Round
from paraactive.data.examples import Doubles, Entries, Ints, Place, Selected, Stretch, Tile


class Log(Protocol):
    """Gives each selected example its place, and remembers where rounds end."""

    @property
    def version(self) -> int:
        """Entries so far."""
        ...

    @property
    def seen(self) -> int:
        """Examples seen by the cluster."""
        ...

    @property
    def rounds(self) -> int:
        """Rounds so far, the warmstart included."""
        ...

    @property
    def round_version(self) -> int:
        """Entries up to the end of the last round."""
        ...

    @property
    def delays(self) -> Counter[int]:
        """How many of the sifted entries had which delay."""
        ...

    def append(self, selected: Selected) -> Entries:
        """The same examples with their places in the total order."""
        ...

    def end_round(self, ended: Round) -> Round:
        """What was appended since the last call is one round.

        Returns the round as it is in the log: one that has to pay for labels may end a round before its last example.
        """
        ...

    def accept(self, tile: Tile, selected: Selected, ended: Round | None) -> Entries:
        """`append` what was selected of a tile that was sifted at any time, and `end_round` if a round ends with it.

        All of it is on disk before this returns, if the log is on disk: replicas elsewhere may hear of it from now on.
        """
        ...

    def accepted(self) -> list[Tile]:
        """The tiles that were accepted, joined where they touch, in the order of the stream."""
        ...

    def stretches_after(self, place: Place) -> list[Stretch]:
        """The stretches of the log that a replica at this place has yet to learn."""
        ...

    def learned(self) -> LearnedExamples:
        """Which examples are in it, in order."""
        ...


@dataclass(frozen=True)
class Question:
    """Labels that an oracle is asked for together."""

    batch: str
    """A key that is the same when the same rows are asked for again."""
    position: Ints
    """Where in the stream the examples are."""
    key: Ints
    """Which rows of the user's data they are."""

    def __len__(self) -> int:
        return len(self.position)

    @staticmethod
    def grouped(rows: Iterable[tuple[str, int, int]]) -> list[Question]:
        """Rows of (batch, position, key), put together by batch, in the order in which the batches first come."""
        batches: dict[str, list[tuple[int, int]]] = {}
        for batch, position, key in rows:
            batches.setdefault(batch, []).append((position, key))
        return [Question(batch, *np.array(each, np.int64).T) for batch, each in batches.items()]


class Weighed(NamedTuple):
    """An example that was learnt, and how much it counted."""

    key: int
    p: float
    weight: float


@dataclass(frozen=True, slots=True)
class LearnedExamples:
    """Which examples were learnt, in order, the warmstart included."""

    key: Ints
    """Which example: the row of the user's data, whatever the pass."""
    p: Doubles
    weight: Doubles
    """Importance/p."""

    @staticmethod
    def of(selected: Selected) -> LearnedExamples:
        """These."""
        return LearnedExamples(selected.examples.key, selected.p, selected.weight)

    @staticmethod
    def nothing() -> LearnedExamples:
        """No examples."""
        return LearnedExamples(np.zeros(0, np.int64), np.zeros(0), np.zeros(0))

    @staticmethod
    def concatenate(parts: Sequence[LearnedExamples]) -> LearnedExamples:
        """The parts one after the other."""
        columns = ([getattr(part, name) for part in parts] for name in ("key", "p", "weight"))
        return LearnedExamples(*map(np.concatenate, columns))

    def heaviest(self, count: int) -> list[Weighed]:
        """The examples of the largest weights, the heaviest first; of equal ones, those that came first."""
        order = np.argsort(-self.weight, kind="stable")[: whole("count", count, 0)]
        return [Weighed(int(self.key[i]), float(self.p[i]), float(self.weight[i])) for i in order]


def joined(tiles: Iterable[Tile]) -> list[Tile]:
    """Tiles in the order of the stream, those that touch as one.

    >>> joined([Tile(5, 9), Tile(0, 2), Tile(2, 4)])
    [Tile(first=0, last=4), Tile(first=5, last=9)]
    """
    whole: list[Tile] = []
    for tile in sorted(tiles):
        if whole and whole[-1].last >= tile.first:
            whole[-1] = Tile(whole[-1].first, max(whole[-1].last, tile.last))
        else:
            whole.append(tile)
    return whole


class MemoryLog:
    """A log for runs without a run file: it counts, and keeps the entries whole if asked to."""

    def __init__(self, keep: bool = False) -> None:
        self.version = self.seen = self.rounds = self.round_version = 0
        self.delays: Counter[int] = Counter()
        self.entries: list[Entries] = []
        self._keep, self._ended = keep, list[Round]()
        self._accepted: list[Tile] = []
        self._learned: list[LearnedExamples] = []
        self._answers: dict[int, int | None] = {}
        self._questions: list[Question] = []

    def append(self, selected: Selected) -> Entries:
        """The same examples with their places in the total order."""
        entries = Entries(self.version, selected)
        self.version = entries.last
        self._learned.append(LearnedExamples.of(selected))
        if self.rounds:
            self.delays.update(entries.entry_lag.tolist())
        if self._keep:
            self.entries.append(entries)
        return entries

    def end_round(self, ended: Round) -> Round:
        """See `Log.end_round`."""
        self.seen, self.round_version = ended.seen, ended.version
        self.rounds += 1
        if self._keep:
            self._ended.append(ended)
        return ended

    def accept(self, tile: Tile, selected: Selected, ended: Round | None) -> Entries:
        """See `Log.accept`."""
        self._accepted = joined([*self._accepted, tile])
        entries = self.append(selected)
        self.seen += tile.last - tile.first
        if ended:
            self.end_round(ended)
        return entries

    def accepted(self) -> list[Tile]:
        """See `Log.accepted`."""
        return self._accepted

    def stretches_after(self, place: Place) -> list[Stretch]:
        """See `Log.stretches_after`. Nothing if entries are not kept."""
        version, stretches = place.version, list[Stretch]()
        for ended in self._ended[place.rounds :]:
            stretches.append(Stretch(self._between(version, ended.version), ended.number, ended.seen))
            version = ended.version
        if self._keep and version < self.version:
            stretches.append(Stretch(self._between(version, self.version), self.rounds, self.seen, ends_round=False))
        return stretches

    def learned(self) -> LearnedExamples:
        """See `Log.learned`."""
        return LearnedExamples.concatenate([LearnedExamples.nothing(), *self._learned])

    def answers(self) -> dict[int, int | None]:
        """See `oracle.Answers`."""
        return self._answers

    def open_questions(self) -> list[Question]:
        """See `oracle.Answers`."""
        return [each for each in self._questions if not set(each.position.tolist()) <= self._answers.keys()]

    def record_question(self, question: Question) -> None:
        """See `oracle.Answers`."""
        self._questions = [*self.open_questions(), question]

    def record_answers(self, position: Ints, y: Sequence[int | None]) -> None:
        """See `oracle.Answers`."""
        self._answers.update(zip(position.tolist(), y, strict=True))

    def commit(self) -> None:
        """See `oracle.Answers`: memory is as safe as it can be."""

    def _between(self, first: int, last: int) -> Entries:
        """The entries first <= sequence < last."""
        whole = Entries(0, Selected.concatenate([entries.selected for entries in self.entries]))
        return Entries(first, whole.selected.take(slice(first, last)))
