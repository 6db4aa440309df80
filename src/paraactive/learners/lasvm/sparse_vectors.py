"""Sparse vectors in slots, with their kernel values: the support vectors of a model that learns sparse rows.

It does what `dense_vectors` does, with the same bits. The values of the stored rows lie one row after the other, for
reading, and once more in lists by feature, for products (`sparse_kernels`). A stored row has an id and never moves; a
slot has the id of its vector. Stored rows without a slot are removed when there are many of them.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paraactive.basics.state import State
from paraactive.data.examples import Doubles, Floats, Ints, SparseRows
from paraactive.learners.lasvm import sparse_kernels as loops
from paraactive.learners.lasvm.vector_loops import SparseArrays
from paraactive.learners.lasvm.vectors import Kernel
from paraactive.learners.rows import check_features
from paraactive.learners.wrappers.rows_state import rows_from_state, rows_to_state

_MAX_UNUSED = 256
"""Stored rows without a slot are removed if there are more than this, and more than a quarter of the slots."""

_Scalar = TypeVar("_Scalar", bound=np.generic)


def norms(rows: SparseRows) -> Floats:
    """Return ||x||^2 of each row, with the bits of the dense rows.

    Parameters
    ----------
    rows : SparseRows
        The rows.
    """
    out = np.empty(len(rows), np.float32)
    loops.squared_norms(rows.data, rows.indices, rows.indptr, out)
    return out


class SparseVectors:
    """Sparse vectors in slots 0 to count - 1; see `Vectors` for the methods.

    Parameters
    ----------
    width : int
        Number of features.

    Examples
    --------
    >>> vectors = SparseVectors(3)
    >>> vectors.append(SparseRows.of(np.array([[1, 0, 0], [0, 2, 0], [0, 0, 3]], np.float32)))
    >>> vectors.arrange(np.array([2, 1]))
    >>> vectors.rows().dense().tolist()
    [[0.0, 0.0, 3.0], [0.0, 2.0, 0.0]]
    """

    sparse = True
    norms = staticmethod(norms)

    def __init__(self, width: int) -> None:
        self.width, self.count = width, 0
        self._ids, self._ss = np.zeros(0, np.int64), np.zeros(0, np.float32)
        self._remove_all()

    def _remove_all(self) -> None:
        """Remove all stored rows."""
        self._held = 0
        self._begin, self._length = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._data, self._indices = np.zeros(0, np.float32), np.zeros(0, np.int32)
        self._end = 0  # Where the values of the next row begin.
        self._heads = np.full((8, 4), -1, np.int64)
        self._who, self._what = np.zeros(0, np.uint32), np.zeros(0, np.float32)
        self._used = self._features = 0  # Places of `_who` in use, and number of lists.

    def __len__(self) -> int:
        return self.count

    @property
    def nbytes(self) -> int:
        """Memory of all arrays, in bytes."""
        return sum(each.nbytes for each in vars(self).values() if isinstance(each, np.ndarray))

    @property
    def squared_norms(self) -> Floats:
        """Squared norm of each slot's vector."""
        return self._ss[: self.count]

    # Rows as they come -------------------------------------------------------------------------------------------

    def of_its_kind(self, x: ArrayLike | SparseRows) -> SparseRows:
        """See `Vectors.of_its_kind`."""
        rows = check_features(x, self.width)
        return rows if isinstance(rows, SparseRows) else SparseRows.of(rows)

    def relative(self, x: ArrayLike | SparseRows) -> SparseRows:
        """See `Vectors.relative`. There is no center: relative to one, zeros would not stay zeros."""
        return self.of_its_kind(x)

    def center_on(self, x: SparseRows) -> None:
        """See `Vectors.center_on`. Does nothing: there is no center."""

    # Slots -------------------------------------------------------------------------------------------------------

    def reserve(self, slots: int) -> None:
        """See `Vectors.reserve`."""
        self._ids, self._ss = _grown(self._ids, slots), _grown(self._ss, slots)

    def hold(self, x: SparseRows) -> Ints:
        """See `Vectors.hold`. Returns the ids of the stored rows."""
        if self._held - self.count > max(_MAX_UNUSED, self.count // 4):
            self._remove_unused()
        first, self._held = self._held, self._held + len(x)
        end = self._end + len(x.data)
        self._data, self._indices = _grown(self._data, end), _grown(self._indices, end)
        self._begin, self._length = _grown(self._begin, self._held), _grown(self._length, self._held)
        self._data[self._end : end], self._indices[self._end : end] = x.data, x.indices
        self._begin[first : self._held], self._length[first : self._held] = self._end + x.indptr[:-1], x.lengths
        self._end = end
        self._add_to_lists(first)
        return np.arange(first, self._held)

    def append(self, x: SparseRows) -> None:
        """Put the rows into the slots from `count` on.

        Parameters
        ----------
        x : SparseRows
            The rows.
        """
        ids, last = self.hold(x), self.count + len(x)
        self.reserve(last)
        self._ids[self.count : last], self._ss[self.count : last] = ids, norms(x)
        self.count = last

    def replace(self, x: SparseRows) -> None:
        """See `Vectors.replace`."""
        self.count = 0
        self._remove_all()
        self.append(x)

    def arrange(self, slots: Ints) -> None:
        """Move the vector of slots[c] into slot c, and remove all other vectors.

        Parameters
        ----------
        slots : ndarray of int64
            The slots whose vectors stay, in their new order.
        """
        for each in (self._ids, self._ss):
            each[: len(slots)] = each[slots]
        self.count = len(slots)

    def rows(self, slots: Ints | None = None) -> SparseRows:
        """See `Vectors.rows`."""
        ids = self._live if slots is None else self._ids[slots]
        lengths = self._length[ids]
        indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        taken = np.arange(indptr[-1]) + np.repeat(self._begin[ids] - indptr[:-1], lengths)
        return SparseRows(self._data[taken], self._indices[taken], indptr, self.width)

    def original(self) -> SparseRows:
        """See `Vectors.original`."""
        return self.rows()

    @property
    def _live(self) -> Ints:
        return self._ids[: self.count]

    # Kernel values -----------------------------------------------------------------------------------------------

    def kernel_rows(self, x: SparseRows, xx: Floats, kernel: Kernel, out: Floats) -> None:
        """See `Vectors.kernel_rows`."""
        rows = x.data, x.indices, x.indptr, xx
        loops.kernel_rows(*rows, *self._lists(), self._held, self._live, self._ss, *kernel, out)

    def kernel_sums(self, x: SparseRows, xx: Floats, alpha: Doubles, kernel: Kernel, out: Doubles) -> None:
        """See `Vectors.kernel_sums`."""
        rows = x.data, x.indices, x.indptr, xx
        loops.kernel_sums(*rows, *self._lists(), self._held, self._live, self._ss, *kernel, alpha, out)

    @staticmethod
    def kernel_within(x: SparseRows, xx: Floats, kernel: Kernel) -> Floats:
        """See `Vectors.kernel_within`."""
        stored, out = SparseVectors(x.width), np.empty((len(x), len(x)), np.float32)
        stored.append(x)
        stored.kernel_rows(x, xx, kernel, out)
        return out

    def arrays(self, kernel: Kernel) -> SparseArrays:
        """See `Vectors.arrays`. The loops set ids and norms of slots. The caller of the loops sets `count`."""
        rows = self._data, self._indices, self._begin, self._length
        return SparseArrays(self._ids, self._held, *rows, *self._lists(), self._ss, *kernel)

    def _lists(self) -> tuple[Ints, NDArray[np.uint32], Floats]:
        return self._heads, self._who, self._what

    # State -------------------------------------------------------------------------------------------------------

    def save(self) -> State:
        """See `Vectors.save`."""
        return rows_to_state("vectors", self.rows())

    def load(self, state: State) -> None:
        """See `Vectors.load`."""
        self.replace(rows_from_state("vectors", state))

    # Memory ------------------------------------------------------------------------------------------------------

    def _remove_unused(self) -> None:
        """Remove the stored rows that have no slot."""
        kept = self.rows()
        self._remove_all()
        self._ids[: self.count] = self.hold(kept)

    def _add_to_lists(self, first: int) -> None:
        """Put the stored rows from `first` on into the lists."""
        while first < self._held:
            features = self._indices[self._begin[first] : self._begin[first] + self._length[first]]
            if 2 * (self._features + len(features)) > len(self._heads):
                self._enlarge_table(2 * (self._features + len(features)))
            room = self._used + loops.room_for(features, self._heads)
            self._who, self._what = _grown(self._who, room), _grown(self._what, room)
            rows = self._data, self._indices, self._begin, self._length
            first, self._used, self._features = loops.add_rows(
                first, self._held, *rows, *self._lists(), self._used, self._features
            )

    def _enlarge_table(self, least: int) -> None:
        """Make a larger table of features."""
        size = 1 << int(least - 1).bit_length()
        heads = np.full((size, 4), -1, np.int64)
        loops.rehash(self._heads, heads)
        self._heads = heads


def _grown(array: NDArray[_Scalar], least: int) -> NDArray[_Scalar]:
    """Return the array, or a copy of at least twice its length that has room for `least` items."""
    if least <= len(array):
        return array
    more = np.zeros(max(least, 2 * len(array)), array.dtype)
    more[: len(array)] = array
    return more
