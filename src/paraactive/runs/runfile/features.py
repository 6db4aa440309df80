"""Features of entries as they are stored in the run file: float32 bytes, and for sparse rows their column numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from paraactive.data.examples import Features, Floats, Ints, SparseRows

Blobs: TypeAlias = Sequence[bytes | None]


class JoinedBlobs(NamedTuple):
    """The blobs of consecutive rows, joined to one.

    Parameters
    ----------
    data : memoryview
        All bytes.
    ends : array of int
        Where in the data each row ends.
    is_null : bool
        Whether the rows have no bytes, because a stream can make them again or because they are dense.
    """

    data: memoryview
    ends: Ints
    is_null: bool

    @staticmethod
    def of(blobs: Blobs) -> JoinedBlobs:
        """Join blobs.

        Parameters
        ----------
        blobs : sequence of bytes or None
            One blob for each row. Either all are None or none is.

        Returns
        -------
        JoinedBlobs
            The joined blobs.

        Examples
        --------
        >>> JoinedBlobs.of([b"abc", b"", b"d"]).between(0, 2).data.tobytes()
        b'abc'
        """
        if not blobs or blobs[0] is None:
            if any(blob is not None for blob in blobs):
                raise ValueError("some entries have features and others have none")
            return JoinedBlobs(memoryview(bytearray()), np.zeros(len(blobs), np.int64), True)
        # Writable, as torch wants it and as the arrays of streams are: loops would be compiled again for other arrays.
        data = bytearray().join(blobs)  # pyright: ignore[reportArgumentType] (a None is a TypeError, as it should be)
        lengths = np.fromiter(map(len, blobs), np.int64, len(blobs))  # pyright: ignore[reportArgumentType]
        return JoinedBlobs(memoryview(data), np.cumsum(lengths), False)

    @staticmethod
    def of_some(blobs: Blobs) -> JoinedBlobs:
        """Join blobs of which any may be None. These count as empty.

        Parameters
        ----------
        blobs : sequence of bytes or None
            One blob for each row.

        Returns
        -------
        JoinedBlobs
            The joined blobs.
        """
        return JoinedBlobs.of([blob or b"" for blob in blobs])

    def between(self, first: int, last: int) -> JoinedBlobs:
        """Return the blobs of the rows first <= i < last.

        Parameters
        ----------
        first, last : int
            Range of rows.

        Returns
        -------
        JoinedBlobs
            The blobs of the range, without a copy.
        """
        if (first, last) == (0, len(self.ends)):
            return self
        start = int(self.ends[first - 1]) if first else 0
        stop = int(self.ends[last - 1]) if last > first else start
        return JoinedBlobs(self.data[start:stop], self.ends[first:last] - start, self.is_null)


def to_blobs(x: Features) -> tuple[Blobs, Blobs]:
    r"""Convert rows of features to bytes.

    Parameters
    ----------
    x : array or SparseRows
        The rows.

    Returns
    -------
    values : list of bytes
        For each row its values, float32; for sparse rows only those that are stored.
    columns : list of bytes or None
        For each sparse row the column numbers of its values, int32. None for each dense row.

    Examples
    --------
    >>> to_blobs(SparseRows.of(np.array([[0, 1, 0]], np.float32)))
    ([b'\x00\x00\x80?'], [b'\x01\x00\x00\x00'])
    """
    if not isinstance(x, SparseRows):
        return [row.tobytes() for row in x], [None] * len(x)
    ends = zip(x.indptr.tolist(), x.indptr[1:].tolist(), strict=False)
    places = [slice(first, last) for first, last in ends]
    return [x.data[place].tobytes() for place in places], [x.indices[place].tobytes() for place in places]


def to_score_blobs(score: Floats) -> Blobs:
    """Convert scores to bytes.

    Parameters
    ----------
    score : array of float32, shape (rows, 1) or (rows, classes)
        The scores. A row without a score has NaN.

    Returns
    -------
    list of bytes or None
        None for each row without a score.
    """
    known = ~np.isnan(score[:, 0])
    return [row.tobytes() if has else None for row, has in zip(score.astype("<f4"), known.tolist(), strict=True)]


def score_rows(scores: JoinedBlobs) -> Floats:
    """Convert bytes to scores.

    Parameters
    ----------
    scores : JoinedBlobs
        The scores of each row; empty for a row without a score.

    Returns
    -------
    array of float32, shape (rows, 1) or (rows, classes)
        The scores; NaN for a row without a score.
    """
    lengths = np.diff(scores.ends, prepend=0) // 4
    out = np.full((len(lengths), int(lengths.max(initial=1))), np.nan, np.float32)
    out[lengths > 0] = np.frombuffer(scores.data, "<f4").reshape(-1, out.shape[1])
    return out


def dense_rows(values: JoinedBlobs) -> Floats:
    """Convert bytes to dense rows.

    Parameters
    ----------
    values : JoinedBlobs
        The values of each row.

    Returns
    -------
    array of float32, shape (rows, features)
        The rows.
    """
    return np.frombuffer(values.data, np.float32).reshape(len(values.ends), -1)


def sparse_rows(values: JoinedBlobs, columns: JoinedBlobs, width: int) -> SparseRows:
    """Convert bytes to sparse rows.

    Parameters
    ----------
    values : JoinedBlobs
        The stored values of each row.
    columns : JoinedBlobs
        Their column numbers.
    width : int
        Number of features of a row.

    Returns
    -------
    SparseRows
        The rows.

    Raises
    ------
    ValueError
        If values and columns do not fit together.
    """
    data, indices = np.frombuffer(values.data, np.float32), np.frombuffer(columns.data, np.int32)
    rows = SparseRows(data, indices, np.concatenate([[0], columns.ends // indices.itemsize]), width)
    rows.check()
    return rows
