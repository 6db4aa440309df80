"""Features of entries as they lie in the run file: float32 bytes, and of sparse rows the columns they stand in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from paraactive.examples import Features, Floats, SparseRows

Blobs: TypeAlias = Sequence[bytes | None]


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


def dense_rows(values: Sequence[bytes]) -> Floats:
    """The rows that these are the bytes of."""
    return np.frombuffer(bytearray().join(values), np.float32).reshape(len(values), -1)  # writable, as torch likes


def sparse_rows(values: Sequence[bytes], columns: Sequence[bytes], width: int) -> SparseRows:
    """The same of sparse rows; a ValueError if they make no sense."""
    # Writable, as those of streams are: for others our loops would be compiled once more.
    data = np.frombuffer(bytearray().join(values), np.float32)
    indices = np.frombuffer(bytearray().join(columns), np.int32)
    lengths = [len(blob) // data.itemsize for blob in columns]
    rows = SparseRows(data, indices, np.cumsum([0, *lengths]), width)
    rows.check()
    return rows
