"""Rows with classes and weights: what X and y of a user become in `ParaActiveClassifier`."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from paraactive.data.examples import Doubles, Examples, Features, Floats, SparseRows
from paraactive.data.labels import labels_of
from paraactive.learners import LaSVM, Learner
from paraactive.learners.lasvm.scale import scale_of
from paraactive.learners.standardized import innermost, is_standardized

MAX_DEDUP_ROWS = 10_000
"""Equal rows are merged only in data with at most this number of rows, because merging sorts the rows."""
MAX_DEDUP_VALUES = 20_000_000
"""Equal rows are merged only in data with at most this number of values. In sparse rows, zeros do not count."""


@dataclass(frozen=True)
class Rows:
    """Rows to learn.

    Parameters
    ----------
    x : Features
        The features.
    number : array of int
        Number of the class of each row.
    weight : array of float
        Weight of each row.
    row : array of int
        Row number in the user's X.
    """

    x: Features
    number: NDArray[np.intp]
    weight: Doubles
    row: NDArray[np.intp]

    def take(self, rows: NDArray[np.intp]) -> Rows:
        """Return some of the rows.

        Parameters
        ----------
        rows : array of int
            Places of the rows.

        Returns
        -------
        Rows
            In the order of `rows`.
        """
        return Rows(self.x[rows], self.number[rows], self.weight[rows], self.row[rows])

    def examples(self, classes: int, first: int = 0) -> Examples:
        """Return the rows as examples.

        Parameters
        ----------
        classes : int
            Number of classes.
        first : int, default=0
            Key of the first row of the user's X.

        Returns
        -------
        Examples
            With the weights as importance.
        """
        return Examples(self.x, labels_of(self.number, classes), first + self.row, importance=self.weight)

    def scale(self) -> float:
        """Return the kernel coefficient that gamma="scale" means for these rows.

        Returns
        -------
        float
            The coefficient.
        """
        return scale_of(self.x, self.weight)

    def set_gamma(self, learner: Learner) -> None:
        """Compute gamma="scale" of an SVM from all of these rows. The SVM itself would take the first 64.

        Parameters
        ----------
        learner : Learner
            The untrained learner. Of other learners, and if features are standardized inside of it, nothing is changed.
        """
        inner = innermost(learner)
        if isinstance(inner, LaSVM) and inner.gamma == "scale" and not is_standardized(learner):
            inner.gamma = self.scale()

    def held_out(self, part: float, seed: int) -> NDArray[np.bool_]:
        """Choose rows to hold out: a part of each class, but never a whole class.

        Parameters
        ----------
        part : float
            Part of each class, between 0 and 1.
        seed : int
            Seed of the choice.

        Returns
        -------
        array of bool
            True for each row to hold out.
        """
        rng, chosen = np.random.default_rng(seed), np.zeros(len(self.number), np.bool_)
        for number in np.unique(self.number).tolist():
            own = rng.permutation(np.flatnonzero(self.number == number))
            chosen[own[: min(round(part * len(own)), len(own) - 1)]] = True
        return chosen

    def merged_duplicates(self) -> Rows:
        """Merge equal rows of the same class, and add their weights.

        Returns
        -------
        Rows
            The different rows, sorted; all rows unchanged if there are too many to sort.
        """
        x, numbers = self.x, self.number.astype(np.float32)
        if len(numbers) > MAX_DEDUP_ROWS or (x.data if isinstance(x, SparseRows) else x).size > MAX_DEDUP_VALUES:
            return self
        table = _sortable(numbers, x) if isinstance(x, SparseRows) else np.column_stack([numbers, x])
        _, first, group = np.unique(table, axis=0, return_index=True, return_inverse=True)
        return replace(self.take(first), weight=np.bincount(group.ravel(), self.weight))


def _sortable(numbers: Floats, x: SparseRows) -> NDArray[np.intp]:
    """Return the rank of each row, in the order that the same rows have if they are dense; equal rows share a rank.

    At the first difference between two rows, one row has a nonzero value where the other has zero or another value.
    So each value is coded as (k, value), with k = column - width for a negative value and k = width - column for a
    positive value, and the end of a row as (0, 0). These codes sort like the dense rows, also as big-endian bytes.
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
