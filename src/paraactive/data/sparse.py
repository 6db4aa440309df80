"""Sparse rows of features, and functions for features that may be dense or sparse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from paraactive.data.array_types import Floats, Ints, RowSelection
from paraactive.errors import InputError


@dataclass(frozen=True, slots=True, eq=False)
class SparseRows:
    """Compressed sparse rows, as scipy's CSR, of float32 values.

    Within a row the feature numbers ascend without duplicates, and no stored value is 0, so equal rows have equal
    bytes. The constructor does not check this; `streams.sparse.sparse_rows` converts any matrix of a user.

    Parameters
    ----------
    data : ndarray of float32
        Nonzero values, row after row.
    indices : ndarray of int32
        Feature number of each value.
    indptr : ndarray of int64, shape (n + 1,)
        Where each row begins in `data` and `indices`, and where the last row ends.
    width : int
        Number of features.

    Examples
    --------
    >>> rows = SparseRows.of(np.array([[0, 2, 0], [0, 0, 0], [1, 0, 3]], np.float32))
    >>> rows.shape, rows.indices.tolist(), rows.indptr.tolist()
    ((3, 3), [1, 0, 2], [0, 1, 1, 3])
    >>> rows[np.array([2, 0])].dense().tolist()
    [[1.0, 0.0, 3.0], [0.0, 2.0, 0.0]]
    """

    data: Floats
    indices: NDArray[np.int32]
    indptr: Ints
    width: int

    def __post_init__(self) -> None:
        for name, kind in (("data", np.float32), ("indices", np.int32), ("indptr", np.int64)):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), kind))

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and number of features."""
        return len(self), self.width

    @property
    def nbytes(self) -> int:
        """Number of bytes of the three arrays."""
        return self.data.nbytes + self.indices.nbytes + self.indptr.nbytes

    @property
    def lengths(self) -> Ints:
        """Number of nonzero values in each row."""
        return np.diff(self.indptr)

    def __getitem__(self, rows: RowSelection) -> SparseRows:
        """Return the given rows in the given order. A slice without a step does not copy values."""
        if isinstance(rows, slice):
            first, last, step = rows.indices(len(self))
            if step == 1:
                return self._between(first, max(first, last))
        places = np.arange(len(self))[rows]
        if places.ndim != 1:
            raise InputError(f"rows are selected by {rows!r}", why="that is not a list of rows", remedy="give a slice")
        begins, lengths = self.indptr[places], self.lengths[places]
        indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        taken = np.arange(indptr[-1]) + np.repeat(begins - indptr[:-1], lengths)
        return SparseRows(self.data[taken], self.indices[taken], indptr, self.width)

    def _between(self, first: int, last: int) -> SparseRows:
        begin, end = self.indptr[first], self.indptr[last]
        return SparseRows(
            self.data[begin:end], self.indices[begin:end], self.indptr[first : last + 1] - begin, self.width
        )

    def check(self) -> None:
        """Check arrays that come from a file, because compiled loops do not check bounds.

        Raises
        ------
        ValueError
            If the arrays are not valid sparse rows.
        """
        begins, indices = self.indptr, self.indices
        if begins.ndim != 1 or indices.ndim != 1 or len(begins) < 1 or self.data.shape != indices.shape:
            raise ValueError("the arrays of sparse rows have wrong shapes")
        if begins[0] != 0 or begins[-1] != len(indices) or np.any(np.diff(begins) < 0):
            raise ValueError("sparse rows begin or end outside of their values")
        continues = np.ones(len(indices) + 1, np.bool_)
        continues[begins] = False
        if np.any((indices < 0) | (indices >= self.width)) or np.any((np.diff(indices) <= 0) & continues[1:-1]):
            raise ValueError("the feature numbers of sparse rows do not ascend")
        if not np.all(np.isfinite(self.data) & (self.data != 0)):
            raise ValueError("sparse rows contain zeros or values that are not finite")

    def __array__(self, *_: object, **__: object) -> NDArray[Any]:
        raise InputError(
            f"{len(self)} sparse rows of {self.width} features cannot become an array",
            why="sparse rows are made dense only on request",
            remedy="call dense()",
        )

    def dense(self) -> Floats:
        """Return the rows as an array of shape (n, width), zeros included."""
        out = np.zeros(self.shape, np.float32)
        out[np.repeat(np.arange(len(self)), self.lengths), self.indices] = self.data
        return out

    @staticmethod
    def of(dense: Floats) -> SparseRows:
        """Return dense rows as sparse rows.

        Parameters
        ----------
        dense : ndarray of shape (n, width)
            Rows in float32.

        Returns
        -------
        SparseRows
            The same rows without their zeros.
        """
        row, column = np.nonzero(dense)
        indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(row, minlength=len(dense)))])
        return SparseRows(dense[row, column], column.astype(np.int32), indptr, dense.shape[1])

    @staticmethod
    def concatenate(parts: Sequence[SparseRows]) -> SparseRows:
        """Join rows of the same width.

        Parameters
        ----------
        parts : sequence of SparseRows
            At least one part.

        Returns
        -------
        SparseRows
            The rows of all parts, in order.
        """
        begins = np.cumsum([0, *(len(part.data) for part in parts)])
        return SparseRows(
            np.concatenate([part.data for part in parts]),
            np.concatenate([part.indices for part in parts]),
            np.concatenate(
                [np.zeros(1, np.int64), *(part.indptr[1:] + b for part, b in zip(parts, begins, strict=False))]
            ),
            parts[0].width,
        )


# `Floats` or `SparseRows`, one row for each example. Not a union, because most code works with either of them.
Features: TypeAlias = Any


def dense(x: Features) -> Floats:
    """Return the rows as a dense array.

    Parameters
    ----------
    x : ndarray or SparseRows
        Rows of features.

    Returns
    -------
    ndarray of shape (n, width)
        The rows; a dense array is returned as it is.
    """
    return x.dense() if isinstance(x, SparseRows) else x


def join_features(parts: Sequence[Features]) -> Features:
    """Join rows of features. The result is sparse if one part is sparse; empty parts may be of either kind.

    Parameters
    ----------
    parts : sequence of ndarray or SparseRows
        At least one part.

    Returns
    -------
    ndarray or SparseRows
        The rows of all parts, in order.
    """
    sparse = [part for part in parts if isinstance(part, SparseRows)]
    if not sparse:
        return np.concatenate(parts)
    filled = [part for part in parts if len(part)]
    return SparseRows.concatenate([p if isinstance(p, SparseRows) else SparseRows.of(p) for p in filled] or sparse[:1])
