"""Read the log of a run file: rounds, tiles, stretches of entries, and figures of the selected examples."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from paraactive.basics.threads import one_blas_thread
from paraactive.basics.validation import whole
from paraactive.data.events import NodeTimes, Round
from paraactive.data.examples import Entries, Place, Selected, Stretch, Tile
from paraactive.data.labels import labels_of
from paraactive.learners.base import Learner
from paraactive.runs.runfile.chain import ROUND
from paraactive.runs.runfile.configuration import read_spec
from paraactive.runs.runfile.database import Database
from paraactive.runs.runfile.entries import EntryTable
from paraactive.runs.runfile.log_end import LogEnd
from paraactive.runs.runfile.seals import ChainCheck, check_nothing
from paraactive.runs.runfile.stored import StoredEntries
from paraactive.sifting.log import LearnedExamples, joined
from paraactive.sifting.measurements import Measurements
from paraactive.sifting.node import learn_stretch
from paraactive.streams.base import Stream


class LogReader:
    """Reads the log.

    Parameters
    ----------
    database : Database
        The open run file.
    end : LogEnd
        Where the log ends.
    """

    def __init__(self, database: Database, end: LogEnd) -> None:
        self._database, self._end = database, end
        self._entries = EntryTable(database)

    @property
    def needs_stream(self) -> bool:
        """Whether the file has entries without features, which the stream has to make again."""
        return self._entries.needs_stream

    def entries(self, first: int, last: int, stream: Stream | None) -> Entries:
        """Read the entries first <= sequence < last.

        Parameters
        ----------
        first, last : int
            Range of the log.
        stream : Stream or None
            Makes the features that the file does not have.

        Returns
        -------
        Entries
            The entries of the range.
        """
        return Entries(first, self._entries.selected(self._entries.stored(first, last), stream))

    def stretches(self, place: Place, stream: Stream | None, rounds: int | None = None) -> Iterator[Stretch]:
        """Read the log from a place on, round by round, and compare its hashes.

        Parameters
        ----------
        place : Place
            Where to begin.
        stream : Stream or None
            Makes the features that the file does not have.
        rounds : int, optional
            Number of rounds, counted from the start of the log, after which to end. Default: the whole log, with the
            entries after its last round.

        Yields
        ------
        Stretch
            The entries of one round, or those after the last round.
        """
        version, check = place.version, self._chain_check(place)
        last = self._end.rounds if rounds is None else min(rounds, self._end.rounds)
        for ended in self.ended_rounds(place.rounds):
            if ended.number >= last:
                break
            stored = self._entries.stored(version, ended.version)
            check(stored, ended.number)
            entries = Entries(version, self._entries.selected(stored, stream))
            yield Stretch(entries, ended.number, ended.seen)
            version = ended.version
        if version < self._end.version and rounds is None:
            stored = self._entries.stored(version, self._end.version)
            check(stored, None)
            entries = Entries(version, self._entries.selected(stored, stream))
            yield Stretch(entries, self._end.rounds, self._end.seen, ends_round=False)

    def everything(self, stream: Stream | None) -> Selected:
        """Read all entries, in order, and compare their hashes.

        Parameters
        ----------
        stream : Stream or None
            Makes the features that the file does not have.

        Returns
        -------
        Selected
            The entries.
        """
        parts = [each.entries.selected for each in self.stretches(Place(0, 0), stream) if len(each.entries)]
        return Selected.concatenate(parts) if parts else Selected.empty(0)

    def learn(self, learner: Learner, place: Place, stream: Stream | None, rounds: int | None = None) -> Place:
        """Let a learner learn the log from its place on. The parameters are those of `stretches`.

        Parameters
        ----------
        learner : Learner
            A learner that has learned the log up to `place`.
        place : Place
            Where to begin.
        stream : Stream or None
            Makes the features that the file does not have.
        rounds : int, optional
            Number of rounds after which to end. Default: the whole log.

        Returns
        -------
        Place
            The place of the learner afterwards.
        """
        with one_blas_thread():
            for stretch in self.stretches(place, stream, rounds):
                learn_stretch(learner, stretch)
                place = stretch.ends
        return place

    def ended_rounds(self, first: int = 0) -> Iterator[Round]:
        """Read the rounds.

        Parameters
        ----------
        first : int, optional
            Number of the round to begin with. Default: 0, the warmstart.

        Yields
        ------
        Round
            The rounds in their order.
        """
        with self._database.reading():
            rows = self._database.execute(f"SELECT {ROUND} FROM rounds WHERE number >= ? ORDER BY number", (first,))
            for *numbers, elapsed, scored, lowered, nodes in rows.fetchall():
                seconds = {int(k): each for k, each in json.loads(elapsed).items()}
                times = tuple(NodeTimes(*each) for each in json.loads(nodes))
                yield Round(*numbers, elapsed=seconds, scored=scored, lowered=lowered, nodes=times)

    def accepted(self) -> list[Tile]:
        """Read the accepted tiles. See `Log.accepted`."""
        with self._database.reading():
            return joined(Tile(*row) for row in self._database.execute("SELECT first, last FROM tiles"))

    def tiles_sifted(self) -> list[tuple[int, int | None]]:
        """Read how far behind each tile was sifted.

        Returns
        -------
        list of (int, int or None)
            For each tile, in the order of the log: the examples seen up to its end, and the examples that the model
            that sifted it had seen. None if nothing of the tile was selected, because only entries record the model.
        """
        with self._database.reading():
            return self._database.execute(
                "WITH tile AS (SELECT number, seen, version, "
                "lag(version, 1, (SELECT version FROM rounds WHERE number = 0)) OVER (ORDER BY number) AS before "
                "FROM tiles) "
                "SELECT seen, (SELECT min(seen) FROM entries WHERE sequence >= before AND sequence < tile.version) "
                "FROM tile ORDER BY number"
            ).fetchall()

    def learned(self) -> LearnedExamples:
        """Read which examples are in the log. See `Log.learned`."""
        with self._database.reading():
            rows = self._database.execute("SELECT key, p, importance FROM entries ORDER BY sequence").fetchall()
        key, p, importance = zip(*rows, strict=True) if rows else ((), (), ())
        p = np.array(p, np.float64)
        return LearnedExamples(np.array(key, np.int64), p, np.array(importance, np.float64) / p)

    def measure(self, measured: Measurements) -> None:
        """Add up the scores of all entries, round by round.

        Parameters
        ----------
        measured : Measurements
            The sums, still empty.
        """
        version = 0
        for ended in self.ended_rounds():
            measured.add(self._entries.unfeatured(version, ended.version))
            measured.end_round(ended.seen)
            version = ended.version
        measured.add(self._entries.unfeatured(version, self._end.version))

    def positions(self) -> list[int]:
        """Read the positions in the stream of all entries, in the order of the log."""
        with self._database.reading():
            rows = self._database.execute("SELECT position FROM entries ORDER BY sequence")
            return [position for (position,) in rows]

    def heaviest(self, count: int = 10) -> list[dict[str, Any]]:
        """Read the entries with the largest weights, without their features.

        Parameters
        ----------
        count : int, optional
            Number of entries. Default: 10.

        Returns
        -------
        list of dict
            `sequence`, `position`, `key`, `y`, `p` and `weight` of each entry, the heaviest first. The weight is that
            with which the model learned the entry, with class weights and cap.
        """
        names = ("sequence", "position", "key", "y", "p", "weight")
        with self._database.reading():
            learner = read_spec(self._database.connection).learner
            cap, by_class = learner.number("cap"), learner.get("class_weight")
            by_class = by_class if isinstance(by_class, list) else []
            labels = labels_of(np.arange(len(by_class)), len(by_class)).tolist()
            values: list[Any] = [each for pair in zip(labels, by_class, strict=True) for each in pair]
            weight = "importance / p" + " * iif(y = ?, ?, 1)" * len(by_class)
            if cap is not None:
                weight, values = f"min({weight}, ?)", [*values, cap]
            rows = self._database.execute(
                f"SELECT sequence, position, key, y, p, {weight} AS weight FROM entries "
                "ORDER BY weight DESC, sequence LIMIT ?",
                (*values, whole("count", count, 0)),
            ).fetchall()
        return [dict(zip(names, row, strict=True)) for row in rows]

    def count_delays(self) -> Counter[int]:
        """Count the entries after the warmstart by their lag in entries.

        Returns
        -------
        Counter of int
            Lag in entries -> number of entries.
        """
        with self._database.reading():
            rows = self._database.execute(
                "SELECT sequence - version, count(*) FROM entries "
                "WHERE sequence >= (SELECT version FROM rounds WHERE number = 0) GROUP BY sequence - version"
            )
            return Counter(dict(rows))

    def check(self) -> None:
        """Compare the whole log with its hashes.

        Raises
        ------
        RunFileError
            If a hash does not match.
        """
        check, version = self._chain_check(Place(0, 0)), 0
        for ended in self.ended_rounds():
            check(self._entries.stored(version, ended.version), ended.number)
            version = ended.version
        check(self._entries.stored(version, self._end.version), None)

    def _chain_check(self, place: Place) -> Callable[[StoredEntries, int | None], None]:
        if not self._database.has_hashes:
            return check_nothing
        return ChainCheck(self._database.path, self._end.links(), place).follow
