"""Entries as they are stored in the run file, column by column. Hashes are computed from this form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from paraactive.data.examples import Doubles, Ints, Labels, Selected
from paraactive.runs.runfile.features import Blobs, JoinedBlobs, to_score_blobs

SQLValue: TypeAlias = int | float | str | bytes | None
"""A value of a row."""


class StoredEntries(NamedTuple):
    """Columns of consecutive entries.

    Parameters
    ----------
    position, key, y, p, seen, version, importance : array
        The columns of the table `entries`.
    values : JoinedBlobs
        The features. None where the stream can make them again.
    columns : JoinedBlobs
        The column numbers of sparse features. None for dense features.
    scores : JoinedBlobs
        The scores of the sifting model. Empty for entries without scores.
    """

    position: Ints
    key: Ints
    y: Labels
    p: Doubles
    seen: Ints
    version: Ints
    importance: Doubles
    values: JoinedBlobs
    columns: JoinedBlobs
    scores: JoinedBlobs

    @staticmethod
    def from_selected(selected: Selected, values: Blobs, columns: Blobs) -> StoredEntries:
        """Convert entries that are about to be written.

        Parameters
        ----------
        selected : Selected
            The entries.
        values, columns : sequence of bytes or None
            The features of each entry, as `to_blobs` returns them.

        Returns
        -------
        StoredEntries
            The same entries.
        """
        examples = selected.examples
        return StoredEntries(
            examples.index, examples.key, examples.y, selected.p, selected.seen, selected.version, examples.importance,
            JoinedBlobs.of(values), JoinedBlobs.of(columns), JoinedBlobs.of_some(to_score_blobs(selected.score)),
        )  # fmt: skip

    @staticmethod
    def from_rows(rows: Sequence[tuple[Any, ...]]) -> StoredEntries:
        """Convert rows that were read.

        Parameters
        ----------
        rows : sequence of tuple
            One row for each entry, with the columns in the order of the attributes.

        Returns
        -------
        StoredEntries
            The same entries.
        """
        position, key, y, p, seen, version, importance, values, columns, scores = (
            zip(*rows, strict=True) if rows else [()] * 10
        )
        return StoredEntries(
            np.array(position, np.int64), np.array(key, np.int64), np.array(y, np.int8), np.array(p, np.float64),
            np.array(seen, np.int64), np.array(version, np.int64), np.array(importance, np.float64),
            JoinedBlobs.of(values), JoinedBlobs.of(columns), JoinedBlobs.of_some(scores),
        )  # fmt: skip

    def between(self, first: int, last: int) -> StoredEntries:
        """Return the entries first <= i < last.

        Parameters
        ----------
        first, last : int
            Range of entries, counted from the first of these.

        Returns
        -------
        StoredEntries
            The entries of the range.
        """
        part = slice(first, last)
        return StoredEntries(
            self.position[part], self.key[part], self.y[part], self.p[part], self.seen[part], self.version[part],
            self.importance[part], self.values.between(first, last), self.columns.between(first, last),
            self.scores.between(first, last),
        )  # fmt: skip
