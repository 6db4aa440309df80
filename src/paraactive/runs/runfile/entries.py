"""The table `entries` of a run file: selected examples in the total order."""

from __future__ import annotations

import numpy as np

from paraactive.data.examples import Entries, Examples, Features, Selected
from paraactive.errors import InputError
from paraactive.runs.runfile.configuration import read_spec
from paraactive.runs.runfile.database import Database
from paraactive.runs.runfile.errors import corruption
from paraactive.runs.runfile.features import Blobs, dense_rows, score_rows, sparse_rows, to_score_blobs
from paraactive.runs.runfile.stored import StoredEntries
from paraactive.streams.base import Stream

_COLUMNS = "position, key, y, p, seen, version, importance, x, columns"
_SCORE = {True: "score", False: "NULL"}
"""How the score is read: older formats have none."""


class EntryTable:
    """Reads and writes entries.

    Parameters
    ----------
    database : Database
        The open run file.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def insert(self, entries: Entries, values: Blobs, columns: Blobs) -> None:
        """Write entries.

        Parameters
        ----------
        entries : Entries
            The entries with their places in the total order.
        values, columns : sequence of bytes or None
            Their features, as `to_blobs` returns them, or None where the stream can make them again.
        """
        selected, examples = entries.selected, entries.selected.examples
        rows = zip(
            entries.sequence.tolist(), examples.index.tolist(), examples.key.tolist(), examples.y.tolist(),
            selected.p.tolist(), selected.seen.tolist(), selected.version.tolist(), examples.importance.tolist(),
            values, columns, to_score_blobs(selected.score), strict=True,
        )  # fmt: skip
        with self._database.writing():
            statement = "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
            self._database.connection.executemany(statement, rows)

    def stored(self, first: int, last: int) -> StoredEntries:
        """Read the entries first <= sequence < last as they are stored.

        Parameters
        ----------
        first, last : int
            Range of the log.

        Returns
        -------
        StoredEntries
            The entries of the range.

        Raises
        ------
        RunFileError
            If an entry of the range is missing.
        """
        with self._database.reading():
            rows = self._database.execute(
                f"SELECT {_COLUMNS}, {_SCORE[self._database.has_scores]} FROM entries "
                "WHERE sequence >= ? AND sequence < ? ORDER BY sequence",
                (first, last),
            ).fetchall()
            if len(rows) != last - first:
                missing = f"{last - first - len(rows)} of the entries {first} to {last - 1} are not there"
                raise corruption(self._database.path, missing)
            return StoredEntries.from_rows(rows)

    def unfeatured(self, first: int, last: int) -> Selected:
        """Read the entries first <= sequence < last without their features.

        Parameters
        ----------
        first, last : int
            Range of the log.

        Returns
        -------
        Selected
            Entries of width 0.
        """
        with self._database.reading():
            score = _SCORE[self._database.has_scores]
            rows = self._database.execute(
                f"SELECT position, key, y, p, seen, version, importance, NULL, NULL, {score} FROM entries "
                "WHERE sequence >= ? AND sequence < ? ORDER BY sequence",
                (first, last),
            ).fetchall()
            stored = StoredEntries.from_rows(rows)
        nothing = np.zeros((len(rows), 0), np.float32)
        examples = Examples(nothing, stored.y, stored.position, stored.key, stored.importance)
        return Selected(examples, stored.p, stored.seen, stored.version, score_rows(stored.scores))

    def selected(self, stored: StoredEntries, stream: Stream | None) -> Selected:
        """Convert stored entries to selected examples.

        Parameters
        ----------
        stored : StoredEntries
            The entries.
        stream : Stream or None
            Makes the features that the file does not have.

        Returns
        -------
        Selected
            The same entries with their features.
        """
        if not len(stored.position):
            return Selected.empty(0)
        features = self._features(stored, stream)
        examples = Examples(features, stored.y, stored.position, stored.key, stored.importance)
        return Selected(examples, stored.p, stored.seen, stored.version, score_rows(stored.scores))

    def _features(self, stored: StoredEntries, stream: Stream | None) -> Features:
        """Return features. Those read together are all made by the stream, all dense or all sparse."""
        if stream is not None and stored.values.is_null:
            made = stream.at(stored.position).x
            if len(made) != len(stored.position):
                raise InputError(
                    f"the stream gave {len(made)} rows for {len(stored.position)} positions",
                    why="each position is one example",
                    remedy="correct its method at; paraactive.checks.check_stream tests it",
                )
            return made
        if stored.columns.is_null:
            return dense_rows(stored.values)
        return sparse_rows(stored.values, stored.columns, read_spec(self._database.connection).data.width)

    @property
    def needs_stream(self) -> bool:
        """Whether the file has entries without features, which the stream has to make again."""
        with self._database.reading():
            row = self._database.execute("SELECT x IS NULL FROM entries LIMIT 1").fetchone()
        return row is not None and bool(row[0])
