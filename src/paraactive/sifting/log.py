"""The log: the total order of all selected examples. A learner that learns it from the start becomes the model.

This module has the contract and a log in memory. The durable log is the run file.
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
    """Gives each selected example its place in the total order, and records where rounds end."""

    @property
    def version(self) -> int:
        """Number of entries so far."""
        ...

    @property
    def seen(self) -> int:
        """Number of examples that the cluster has seen."""
        ...

    @property
    def rounds(self) -> int:
        """Number of rounds so far, including the warmstart."""
        ...

    @property
    def round_version(self) -> int:
        """Number of entries up to the end of the last round."""
        ...

    @property
    def delays(self) -> Counter[int]:
        """Number of sifted entries by their lag in entries."""
        ...

    def append(self, selected: Selected) -> Entries:
        """Give examples their places in the total order.

        Parameters
        ----------
        selected : Selected
            The examples.

        Returns
        -------
        Entries
            The same examples with their places.
        """
        ...

    def round_end(self, last: int) -> int:
        """Where the present round ends, after its entries were appended.

        Parameters
        ----------
        last : int
            One past the last position that was sifted.

        Returns
        -------
        int
            `last`; less if a log that pays for labels ends the round before its last example.
        """
        ...

    def end_round(self, ended: Round) -> Round:
        """End a round: all entries since the last call belong to it.

        Parameters
        ----------
        ended : Round
            The round.

        Returns
        -------
        Round
            The round as it is in the log. A log that pays for labels may end a round before its last example.
        """
        ...

    def accept(self, tile: Tile, selected: Selected, ended: Round | None) -> Entries:
        """Append the selected examples of a tile, and end a round if one ends with it.

        If the log is on disk, this returns after the commit, because other replicas may learn the entries from then on.

        Parameters
        ----------
        tile : Tile
            The tile, which may have been sifted at any time.
        selected : Selected
            Its selected examples.
        ended : Round or None
            The round that ends with the tile.

        Returns
        -------
        Entries
            The examples with their places.
        """
        ...

    def accepted(self) -> list[Tile]:
        """The accepted tiles in the order of the stream. Tiles that touch are joined."""
        ...

    def stretches_after(self, place: Place) -> list[Stretch]:
        """The stretches that a replica at a place has not learned.

        Parameters
        ----------
        place : Place
            The place of the replica.

        Returns
        -------
        list of Stretch
            In the order of the log.
        """
        ...

    def learned(self) -> LearnedExamples:
        """The examples in the log, in order."""
        ...


@dataclass(frozen=True)
class Question:
    """Labels that an oracle is asked for together.

    Parameters
    ----------
    batch : str
        A key that is the same when the same rows are asked for again.
    position : array of int64
        Positions of the examples in the stream.
    key : array of int64
        Row numbers in the user's data.
    """

    batch: str
    position: Ints
    key: Ints

    def __len__(self) -> int:
        return len(self.position)

    @staticmethod
    def grouped(rows: Iterable[tuple[str, int, int]]) -> list[Question]:
        """Group rows by their batch.

        Parameters
        ----------
        rows : iterable of (str, int, int)
            Batch, position and key of each row.

        Returns
        -------
        list of Question
            One question for each batch, in the order in which the batches first occur.
        """
        batches: dict[str, list[tuple[int, int]]] = {}
        for batch, position, key in rows:
            batches.setdefault(batch, []).append((position, key))
        return [Question(batch, *np.array(each, np.int64).T) for batch, each in batches.items()]


class WeightedExample(NamedTuple):
    """An example that was learned, with its weight.

    Parameters
    ----------
    key : int
        Row number in the user's data.
    p : float
        Probability with which the example was selected.
    weight : float
        Importance / p.
    """

    key: int
    p: float
    weight: float


@dataclass(frozen=True, slots=True)
class LearnedExamples:
    """The examples that were learned, in order, including the warmstart.

    Parameters
    ----------
    key : array of int64
        Row numbers in the user's data. A row has the same number in each pass.
    p : array of float64
        Probabilities with which the examples were selected.
    weight : array of float64
        Importance / p.
    """

    key: Ints
    p: Doubles
    weight: Doubles

    @staticmethod
    def of(selected: Selected) -> LearnedExamples:
        """The keys, probabilities and weights of selected examples.

        Parameters
        ----------
        selected : Selected
            The examples.

        Returns
        -------
        LearnedExamples
            The same without features.
        """
        return LearnedExamples(selected.examples.key, selected.p, selected.weight)

    @staticmethod
    def nothing() -> LearnedExamples:
        """No examples."""
        return LearnedExamples(np.zeros(0, np.int64), np.zeros(0), np.zeros(0))

    @staticmethod
    def concatenate(parts: Sequence[LearnedExamples]) -> LearnedExamples:
        """Join parts in their order.

        Parameters
        ----------
        parts : sequence of LearnedExamples
            The parts.

        Returns
        -------
        LearnedExamples
            All examples.
        """
        return LearnedExamples(
            np.concatenate([part.key for part in parts]),
            np.concatenate([part.p for part in parts]),
            np.concatenate([part.weight for part in parts]),
        )

    def heaviest(self, count: int) -> list[WeightedExample]:
        """The examples with the largest weights.

        Parameters
        ----------
        count : int
            Number of examples.

        Returns
        -------
        list of WeightedExample
            The heaviest first. Of equal weights, the first learned comes first.
        """
        order = np.argsort(-self.weight, kind="stable")[: whole("count", count, 0)]
        return [WeightedExample(int(self.key[i]), float(self.p[i]), float(self.weight[i])) for i in order]


def joined(tiles: Iterable[Tile]) -> list[Tile]:
    """Sort tiles by position, and join those that touch.

    Parameters
    ----------
    tiles : iterable of Tile
        The tiles.

    Returns
    -------
    list of Tile
        Tiles with gaps between them.

    Examples
    --------
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
    """A log for runs without a run file.

    Parameters
    ----------
    keep : bool, default=False
        Whether to keep the entries with their features.
    """

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
        """See `Log.append`."""
        entries = Entries(self.version, selected)
        self.version = entries.last
        self._learned.append(LearnedExamples.of(selected))
        if self.rounds:
            self.delays.update(entries.entry_lag.tolist())
        if self._keep and self.entries and not self.rounds:  # The warmstart may come in two parts.
            self.entries = [Entries(0, Selected.concatenate([self.entries[0].selected, selected]))]
        elif self._keep:
            self.entries.append(entries)
        return entries

    def round_end(self, last: int) -> int:
        """See `Log.round_end`."""
        return last

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
        """See `Log.stretches_after`. There are none if entries are not kept."""
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

    def everything(self) -> Selected:
        """All entries in order. They must have been kept."""
        parts = [entries.selected for entries in self.entries if len(entries)]
        return Selected.concatenate(parts) if parts else Selected.empty(0)

    def answers(self) -> dict[int, int | None]:
        """See `oracle.Answers.answers`."""
        return self._answers

    def open_questions(self) -> list[Question]:
        """See `oracle.Answers.open_questions`."""
        return [each for each in self._questions if not set(each.position.tolist()) <= self._answers.keys()]

    def record_question(self, question: Question) -> None:
        """See `oracle.Answers.record_question`."""
        self._questions = [*self.open_questions(), question]

    def record_answers(self, position: Ints, y: Sequence[int | None]) -> None:
        """See `oracle.Answers.record_answers`."""
        self._answers.update(zip(position.tolist(), y, strict=True))

    def commit(self) -> None:
        """See `oracle.Answers.commit`. There is nothing to do in memory."""

    def _between(self, first: int, last: int) -> Entries:
        """The entries first <= sequence < last."""
        whole = Entries(0, Selected.concatenate([entries.selected for entries in self.entries]))
        return Entries(first, whole.selected.take(slice(first, last)))
