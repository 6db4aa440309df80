"""Rows to be learnt, with their classes and weights: what a user's X and y become in `ParaActiveClassifier`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraactive.examples import Doubles, Examples, Floats
from paraactive.labels import labels_of
from paraactive.learners.lasvm import scale_for, scale_of
from paraactive.streams.sparse import is_sparse

_SMALL = 10_000
"""Rows up to which equal rows are taken together."""
_DENSE = 20_000_000
"""Numbers up to which sparse rows are made dense for it."""


@dataclass(frozen=True)
class Rows:
    """Rows that are to be learnt."""

    x: Any
    """float32, or sparse."""
    number: NDArray[np.intp]
    """Of its class."""
    weight: Doubles
    row: NDArray[np.intp]
    """Where it is in the user's X."""

    def take(self, rows: NDArray[np.intp]) -> Rows:
        return Rows(self.x[rows], self.number[rows], self.weight[rows], self.row[rows])

    def examples(self, classes: int, first: int = 0) -> Examples:
        """As they travel; rows of the user's X are counted from `first` on."""
        index = first + self.row
        return Examples(self.dense(), labels_of(self.number, classes), index, importance=self.weight)

    def dense(self) -> Floats:
        """The rows, all of them dense."""
        return self.x.toarray() if is_sparse(self.x) else self.x

    def scale(self) -> float:
        """gamma="scale" of them all."""
        if not is_sparse(self.x):
            return scale_of(self.x, self.weight)
        width, total = self.x.shape[1], self.weight.sum()
        mean = float(self.weight @ (self.x @ np.ones(width))) / (width * total)
        square = float(self.weight @ (self.x.multiply(self.x) @ np.ones(width))) / (width * total)
        return scale_for(width, square - mean**2)

    def held_out(self, part: float, seed: int) -> NDArray[np.bool_]:
        """Which rows to hold out: that part of each class, but never all of one."""
        rng, chosen = np.random.default_rng(seed), np.zeros(len(self.number), np.bool_)
        for number in np.unique(self.number).tolist():
            own = rng.permutation(np.flatnonzero(self.number == number))
            chosen[own[: min(round(part * len(own)), len(own) - 1)]] = True
        return chosen

    def taken_together(self) -> Rows:
        """In an order of their own, equal ones as one of their joint weight, if they are not too many to be sorted."""
        if len(self.number) > _SMALL or self.x.shape[0] * self.x.shape[1] > _DENSE:
            return self
        dense = replace(self, x=self.dense())
        table = np.column_stack([self.number.astype(np.float32), dense.x])
        _, first, group = np.unique(table, axis=0, return_index=True, return_inverse=True)
        together = dense.take(first)
        return replace(together, weight=np.bincount(group.ravel(), self.weight))
