"""Write the log of a run file, as the `Log` of a schedule: whole rounds or tiles are committed, with their hashes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import chain

from paraactive.data.events import Round
from paraactive.data.examples import Entries, Place, Selected, Stretch, Tile
from paraactive.runs.runfile import seals
from paraactive.runs.runfile.chain import ROUND, round_row
from paraactive.runs.runfile.database import Database
from paraactive.runs.runfile.entries import EntryTable
from paraactive.runs.runfile.features import Blobs, to_blobs
from paraactive.runs.runfile.log_end import LogEnd
from paraactive.runs.runfile.log_reader import LogReader
from paraactive.runs.runfile.stored import SQLValue, StoredEntries
from paraactive.sifting.log import LearnedExamples
from paraactive.streams.base import Stream

_SECONDS_BETWEEN_COMMITS = 0.5


class LogWriter:
    """The durable log of a run; see `Log`.

    Parameters
    ----------
    database : Database
        The open run file.
    end : LogEnd
        Where the log ends.
    reader : LogReader
        Reads the same log.

    Attributes
    ----------
    delays : Counter of int
        See `Log.delays`.
    """

    def __init__(self, database: Database, end: LogEnd, reader: LogReader) -> None:
        self._database, self._end, self._reader = database, end, reader
        self._entries = EntryTable(database)
        self._keeps_features = True
        self._stream: Stream | None = None
        # Entries that no link of the chain of hashes covers yet.
        self._pending: list[tuple[Selected, Blobs, Blobs]] = []
        self.delays = reader.count_delays()

    @property
    def version(self) -> int:
        """Number of entries."""
        return self._end.version

    @property
    def seen(self) -> int:
        """Number of examples that the cluster has seen."""
        return self._end.seen

    @property
    def rounds(self) -> int:
        """Number of rounds that have ended, with the warmstart."""
        return self._end.rounds

    @property
    def round_version(self) -> int:
        """Number of entries up to the end of the last round."""
        return self._end.round_version

    def use_stream(self, stream: Stream) -> None:
        """Set the stream of the run. Entries are written without features if the stream can make them again.

        Parameters
        ----------
        stream : Stream
            The stream of the run.
        """
        self._stream, self._keeps_features = stream, not stream.regenerates

    def append(self, selected: Selected) -> Entries:
        """See `Log.append`. The next commit makes the entries durable."""
        entries = Entries(self._end.version, selected)
        nothing: Blobs = [None] * len(entries)
        values, columns = to_blobs(selected.examples.x) if self._keeps_features else (nothing, nothing)
        self._entries.insert(entries, values, columns)
        self._end.version = entries.last
        self._pending.append((selected, values, columns))
        if self._end.rounds:
            self.delays.update(entries.entry_lag.tolist())
        return entries

    def round_end(self, last: int) -> int:
        """See `Log.round_end`."""
        return last

    def end_round(self, ended: Round) -> Round:
        """See `Log.end_round`. Commits if the last commit was half a second ago."""
        row = round_row(ended)
        with self._database.writing():
            self._database.execute(
                f"INSERT INTO rounds ({ROUND}, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*row, self._extend_chain(row)),
            )
        end = self._end
        end.rounds, end.seen, end.round_version = end.rounds + 1, ended.seen, ended.version
        if time.monotonic() - self._database.committed_at > _SECONDS_BETWEEN_COMMITS:
            self.commit()
        return ended

    def accept(self, tile: Tile, selected: Selected, ended: Round | None) -> Entries:
        """See `Log.accept`. Commits the tile."""
        entries = self.append(selected)
        self._end.seen += tile.last - tile.first
        row = [*map(int, tile), self._end.seen, self._end.version]
        with self._database.writing():
            self._database.execute(
                "INSERT INTO tiles (first, last, seen, version, hash) VALUES (?, ?, ?, ?, ?)",
                (*row, self._extend_chain(row)),
            )
        if ended:
            self.end_round(ended)
        self.commit()
        return entries

    def commit(self) -> None:
        """Make all rounds durable that have ended."""
        self._database.commit()

    def accepted(self) -> list[Tile]:
        """See `Log.accepted`."""
        return self._reader.accepted()

    def stretches_after(self, place: Place) -> list[Stretch]:
        """See `Log.stretches_after`."""
        return list(self._reader.stretches(place, self._stream))

    def learned(self) -> LearnedExamples:
        """See `Log.learned`."""
        return self._reader.learned()

    def everything(self) -> Selected:
        """Read all entries, in order."""
        return self._reader.everything(self._stream)

    def _extend_chain(self, header: Sequence[SQLValue]) -> bytes:
        """Return the hash of a link that covers all pending entries."""
        stored = StoredEntries.from_rows([])
        if len(self._pending) == 1:
            stored = StoredEntries.from_selected(*self._pending[0])
        elif self._pending:
            selected, values, columns = zip(*self._pending, strict=True)
            stored = StoredEntries.from_selected(Selected.concatenate(selected), [*chain(*values)], [*chain(*columns)])
        self._end.hash, self._pending = seals.hash_of_link(self._end.hash, header, stored), []
        return self._end.hash
