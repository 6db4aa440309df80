"""Features of entries as they lie in the run file: float32 bytes, and of sparse rows the columns they stand in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from paraactive.data.examples import Features, Floats, Ints, SparseRows

Blobs: TypeAlias = Sequence[bytes | None]


class Bytes(NamedTuple):
    """The blobs of several rows as one."""

    data: memoryview
    ends: Ints
    """Where in the data each row ends."""
    is_null: bool
    """True if the rows have no bytes at all, because a stream can make them again, or because they are dense."""

    @staticmethod
    def of(blobs: Blobs) -> Bytes:
        """These, of which all are None or none is.

        >>> Bytes.of([b"abc", b"", b"d"]).between(0, 2).data.tobytes()
        b'abc'
        """
        if not blobs or blobs[0] is None:
            if any(blob is not None for blob in blobs):
                raise ValueError("some entries have features and others have none")
            return Bytes(memoryview(bytearray()), np.zeros(len(blobs), np.int64), True)
        # Writable, as torch likes and as those of streams are: for others our loops would be compiled once more.
        data = bytearray().join(blobs)  # pyright: ignore[reportArgumentType] (a None is a TypeError, as it should be)
        lengths = np.fromiter(map(len, blobs), np.int64, len(blobs))  # pyright: ignore[reportArgumentType]
        return Bytes(memoryview(data), np.cumsum(lengths), False)

    def between(self, first: int, last: int) -> Bytes:
        """Those of the rows first <= i < last."""
        if (first, last) == (0, len(self.ends)):
            return self
        start = int(self.ends[first - 1]) if first else 0
        stop = int(self.ends[last - 1]) if last > first else start
        return Bytes(self.data[start:stop], self.ends[first:last] - start, self.is_null)


def to_blobs(x: Features) -> tuple[Blobs, Blobs]:
    r"""For each row its values, and their columns in int32; of a dense row all values, and None.

    >>> to_blobs(SparseRows.of(np.array([[0, 1, 0]], np.float32)))
    ([b'\x00\x00\x80?'], [b'\x01\x00\x00\x00'])
    """
    if not isinstance(x, SparseRows):
        return [row.tobytes() for row in x], [None] * len(x)
    ends = zip(x.indptr.tolist(), x.indptr[1:].tolist(), strict=False)
    places = [slice(first, last) for first, last in ends]
    return [x.data[place].tobytes() for place in places], [x.indices[place].tobytes() for place in places]


def dense_rows(values: Bytes) -> Floats:
    """The rows that these are the bytes of."""
    return np.frombuffer(values.data, np.float32).reshape(len(values.ends), -1)


def sparse_rows(values: Bytes, columns: Bytes, width: int) -> SparseRows:
    """The same of sparse rows; a ValueError if they make no sense."""
    data, indices = np.frombuffer(values.data, np.float32), np.frombuffer(columns.data, np.int32)
    rows = SparseRows(data, indices, np.concatenate([[0], columns.ends // indices.itemsize]), width)
    rows.check()
    return rows
