"""Rows to learn, with their classes and weights: what a user's X and y become in `ParaActiveClassifier`."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from paraactive.data.examples import Doubles, Examples, Features, Floats, SparseRows
from paraactive.data.labels import labels_of
from paraactive.learners.lasvm.scale import scale_of

_SMALL = 10_000
"""Rows up to which equal rows are taken together."""
_FEW = 20_000_000
"""Numbers up to which they are; of sparse rows what is not 0 counts."""


@dataclass(frozen=True)
class Rows:
    """Rows to learn."""

    x: Features
    number: NDArray[np.intp]
    """Of its class."""
    weight: Doubles
    row: NDArray[np.intp]
    """Where it is in the user's X."""

    def take(self, rows: NDArray[np.intp]) -> Rows:
        return Rows(self.x[rows], self.number[rows], self.weight[rows], self.row[rows])

    def examples(self, classes: int, first: int = 0) -> Examples:
        """As they travel; rows of the user's X are counted from `first` on."""
        return Examples(self.x, labels_of(self.number, classes), first + self.row, importance=self.weight)

    def scale(self) -> float:
        """gamma="scale" of them all."""
        return scale_of(self.x, self.weight)

    def held_out(self, part: float, seed: int) -> NDArray[np.bool_]:
        """Which rows to hold out: that part of each class, but never all of one."""
        rng, chosen = np.random.default_rng(seed), np.zeros(len(self.number), np.bool_)
        for number in np.unique(self.number).tolist():
            own = rng.permutation(np.flatnonzero(self.number == number))
            chosen[own[: min(round(part * len(own)), len(own) - 1)]] = True
        return chosen

    def taken_together(self) -> Rows:
        """In an order of their own, equal ones as one of their joint weight, if they are not too many to be sorted."""
        x, numbers = self.x, self.number.astype(np.float32)
        if len(numbers) > _SMALL or (x.data if isinstance(x, SparseRows) else x).size > _FEW:
            return self
        table = _sortable(numbers, x) if isinstance(x, SparseRows) else np.column_stack([numbers, x])
        _, first, group = np.unique(table, axis=0, return_index=True, return_inverse=True)
        return replace(self.take(first), weight=np.bincount(group.ravel(), self.weight))


def _sortable(numbers: Floats, x: SparseRows) -> NDArray[np.intp]:
    """For each row its place among all, in the order that the same rows have if they are dense; equal rows share one.

    Where two rows first differ in what is not 0, the one has a value where the other has 0, or another value there. So
    a value counts as (k, value) with k = column - width if it is negative and width - column if not, and the end of a
    row as (0, 0): in this order the rows are in theirs. As bytes, the higher first, texts of them compare alike.
    """
    negative = x.data < 0
    column = np.where(negative, x.indices, 2 * x.width - x.indices.astype(np.int64)).astype(np.uint64)
    bits = x.data.view(np.uint32)
    value = np.where(negative, ~bits, bits | np.uint32(1 << 31))
    coded = ((column << np.uint64(32)) | value).astype(">u8")
    end = np.array(x.width << 32, ">u8").tobytes()
    texts = [
        number.astype(">u4").tobytes() + coded[first:last].tobytes() + end
        for number, first, last in zip(numbers, x.indptr, x.indptr[1:], strict=False)
    ]
    place = {text: at for at, text in enumerate(sorted(set(texts)))}
    return np.array([place[text] for text in texts], np.intp)
