"""Sparse vectors in slots, with their kernel values: the support vectors of a model whose rows are sparse.

What `dense_vectors` does for dense ones, with the same bits. The values of rows lie one after the other, to be read
out, and once more in lists by column, to be multiplied with (`sparse_kernels`). A row that is held has an id, and never
moves; a slot has the id of its vector. Rows that no slot has any more are swept up when there are many.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paraactive.basics.state import State
from paraactive.data.examples import Doubles, Floats, Ints, SparseRows
from paraactive.learners.lasvm import sparse_kernels as loops
from paraactive.learners.lasvm.vector_loops import SparseArrays
from paraactive.learners.lasvm.vectors import Kernel
from paraactive.learners.rows import check_features
from paraactive.learners.wrappers.rows_state import rows_from_state, rows_to_state

_IDLE = 256
"""Rows that no slot has: with more than so many, and more than a quarter of those that have one, they are swept up."""


def norms(rows: SparseRows) -> Floats:
    """||x||^2 of each row, with the bits that dense rows have."""
    out = np.empty(len(rows), np.float32)
    loops.squared_norms(rows.data, rows.indices, rows.indptr, out)
    return out


class SparseVectors:
    """Vectors in slots 0 to count - 1.

    Reading and scoring change nothing: any number of threads may do it at one time.

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
        self._drop_all()

    def _drop_all(self) -> None:
        """No row is held."""
        self._held = 0
        self._begin, self._length = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._data, self._indices = np.zeros(0, np.float32), np.zeros(0, np.int32)
        self._end = 0
        """Of the values: where the next row begins."""
        self._heads = np.full((8, 4), -1, np.int64)
        self._who, self._what = np.zeros(0, np.uint32), np.zeros(0, np.float32)
        self._used = self._columns = 0
        """Of the lists: how far they reach, and how many there are."""

    def __len__(self) -> int:
        return self.count

    @property
    def nbytes(self) -> int:
        """What all of it takes in memory."""
        return sum(each.nbytes for each in vars(self).values() if isinstance(each, np.ndarray))

    @property
    def squared_norms(self) -> Floats:
        """||s||^2 of each slot."""
        return self._ss[: self.count]

    # Rows as they come -------------------------------------------------------------------------------------------

    def of_its_kind(self, x: ArrayLike | SparseRows) -> SparseRows:
        """Rows of the right width, as they are held here."""
        rows = check_features(x, self.width)
        return rows if isinstance(rows, SparseRows) else SparseRows.of(rows)

    def relative(self, x: ArrayLike | SparseRows) -> SparseRows:
        """The same: there is no centre, relative to which zeros would not be zeros."""
        return self.of_its_kind(x)

    def centre_on(self, x: SparseRows) -> None:
        """Nothing."""

    # Slots -------------------------------------------------------------------------------------------------------

    def reserve(self, slots: int) -> None:
        """Room for so many slots."""
        self._ids, self._ss = _grown(self._ids, slots), _grown(self._ss, slots)

    def hold(self, x: SparseRows) -> Ints:
        """Have these rows at hand, to be put into slots by the loops. Returns their ids."""
        if self._held - self.count > max(_IDLE, self.count // 4):
            self._sweep()
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
        """Put the rows into the slots from `count` on."""
        ids, last = self.hold(x), self.count + len(x)
        self.reserve(last)
        self._ids[self.count : last], self._ss[self.count : last] = ids, norms(x)
        self.count = last

    def replace(self, x: SparseRows) -> None:
        """Have these rows in the slots, and no others."""
        self.count = 0
        self._drop_all()
        self.append(x)

    def arrange(self, slots: Ints) -> None:
        """Put into slot c what is in slots[c]; what is not named goes."""
        for each in (self._ids, self._ss):
            each[: len(slots)] = each[slots]
        self.count = len(slots)

    def rows(self, slots: Ints | None = None) -> SparseRows:
        """The vectors of these slots, in this order; by default of all."""
        ids = self._live if slots is None else self._ids[slots]
        lengths = self._length[ids]
        indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        taken = np.arange(indptr[-1]) + np.repeat(self._begin[ids] - indptr[:-1], lengths)
        return SparseRows(self._data[taken], self._indices[taken], indptr, self.width)

    def original(self) -> SparseRows:
        """The vectors as they were learnt."""
        return self.rows()

    @property
    def _live(self) -> Ints:
        return self._ids[: self.count]

    # Kernel values -----------------------------------------------------------------------------------------------

    def kernel_rows(self, x: SparseRows, xx: Floats, kernel: Kernel, out: Floats) -> None:
        """out[i, c] = K(x_i, s_c) for all slots c; xx are the `norms` of x."""
        rows = x.data, x.indices, x.indptr, xx
        loops.kernel_rows(*rows, *self._lists(), self._held, self._live, self._ss, *kernel, out)

    def kernel_sums(self, x: SparseRows, xx: Floats, alpha: Doubles, kernel: Kernel, out: Doubles) -> None:
        """out[i, m] = sum over all slots c of alpha[m, c] K(x_i, s_c)."""
        rows = x.data, x.indices, x.indptr, xx
        loops.kernel_sums(*rows, *self._lists(), self._held, self._live, self._ss, *kernel, alpha, out)

    @staticmethod
    def kernel_within(x: SparseRows, xx: Floats, kernel: Kernel) -> Floats:
        """out[i, j] = K(x_i, x_j)."""
        own, out = SparseVectors(x.width), np.empty((len(x), len(x)), np.float32)
        own.append(x)
        own.kernel_rows(x, xx, kernel, out)
        return out

    def arrays(self, kernel: Kernel) -> SparseArrays:
        """What the loops work on; they set `ids` and norms of slots, and whoever calls them the count."""
        rows = self._data, self._indices, self._begin, self._length
        return SparseArrays(self._ids, self._held, *rows, *self._lists(), self._ss, *kernel)

    def _lists(self) -> tuple[Ints, NDArray[np.uint32], Floats]:
        return self._heads, self._who, self._what

    # State -------------------------------------------------------------------------------------------------------

    def save(self) -> State:
        """The vectors."""
        return rows_to_state("vectors", self.rows())

    def load(self, state: State) -> None:
        """Become what was saved."""
        self.replace(rows_from_state("vectors", state))

    # Room --------------------------------------------------------------------------------------------------------

    def _sweep(self) -> None:
        """Hold what has a slot, and nothing else."""
        kept = self.rows()
        self._drop_all()
        self._ids[: self.count] = self.hold(kept)

    def _add_to_lists(self, first: int) -> None:
        """Rows from this one on."""
        while first < self._held:
            columns = self._indices[self._begin[first] : self._begin[first] + self._length[first]]
            if 2 * (self._columns + len(columns)) > len(self._heads):
                self._spread(2 * (self._columns + len(columns)))
            room = self._used + loops.room_for(columns, self._heads)
            self._who, self._what = _grown(self._who, room), _grown(self._what, room)
            rows = self._data, self._indices, self._begin, self._length
            first, self._used, self._columns = loops.add_rows(
                first, self._held, *rows, *self._lists(), self._used, self._columns
            )

    def _spread(self, least: int) -> None:
        """A larger table of columns."""
        size = 1 << int(least - 1).bit_length()
        heads = np.full((size, 4), -1, np.int64)
        loops.spread(self._heads, heads)
        self._heads = heads


def _grown(array: NDArray[Any], least: int) -> NDArray[Any]:
    """The array, or a copy with room for so many, at least twice as long."""
    if least <= len(array):
        return array
    more = np.zeros(max(least, 2 * len(array)), array.dtype)
    more[: len(array)] = array
    return more
