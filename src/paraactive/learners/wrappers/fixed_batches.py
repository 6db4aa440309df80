"""Rows scored in batches of a fixed size, for models that use the matrix products of another library.

The bits of a product depend on the shape of the call. Here the shape is always the same. If the size is a multiple of
64, no row is left for a library's loop for the remainder, and a row's score mostly does not depend on its place in the
batch, nor on the other rows (OpenBLAS, oneDNN, MKL on Intel processors). No library promises this, and MKL on AMD
processors does not keep it for all widths. So each model is tested once, on the first rows that it scores. If the last
bits of a score depend on the place, each row is scored alone. If more than the last bits depends on it, the score of a
row depends on other rows, and the model is refused.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from paraactive.data.examples import Doubles, Features, SparseRows
from paraactive.errors import InputError, SlowScoresWarning

DEFAULT_ROWS = 64
"""Rows scored together: the smallest number that was exact with every model tried."""
_SHIFTS = (1, 7, 34)
_ROUNDING = 1e-4
"""Smaller differences, relative to the largest score, are rounding."""

ScoreBatch: TypeAlias = Callable[[Features], Doubles]
"""Returns the scores of a batch of exactly the fixed size, dense or sparse as the rows were given."""


class FixedBatches:
    """Scores any number of rows with a function that always gets the same number of rows.

    Parameters
    ----------
    rows : int
        Number of rows in a batch. The last batch is padded with zeros.

    Examples
    --------
    >>> FixedBatches(4).score(lambda batch: batch.sum(axis=1), np.ones((6, 3)), ())
    array([3., 3., 3., 3., 3., 3.])
    >>> FixedBatches(4).score(lambda batch: batch.sum(axis=1) - batch.mean(), np.eye(6), ())
    Traceback (most recent call last):
    ...
    paraactive.errors.InputError: the score of a row depends on the rows that it is scored with: the log would depend on
    how a batch is split among nodes; give tile=1 to score each row alone, or a model that scores each row alone.
    """

    def __init__(self, rows: int) -> None:
        self.rows = self._wanted = rows
        self._tested, self._testing = False, threading.Lock()

    def __reduce__(self) -> tuple[type[FixedBatches], tuple[int]]:
        # The test is repeated after unpickling, which may be on another processor.
        return FixedBatches, (self._wanted,)

    def score(self, score_batch: ScoreBatch, x: Features, columns: tuple[int, ...]) -> Doubles:
        """Return the score of each row.

        Parameters
        ----------
        score_batch : callable
            Scores one batch of the fixed size.
        x : ndarray or SparseRows
            Rows of features.
        columns : tuple of int
            Shape of the score of one row: () or (classes,).

        Returns
        -------
        ndarray of float64, shape (n, *columns)
            The scores.

        Raises
        ------
        InputError
            If the score of a row depends on other rows.
        """
        out = np.zeros((len(x), *columns))
        if len(x) and not self._tested:
            with self._testing:  # Threads may share a model: one tests it, and the others wait.
                if not self._tested:
                    self._test(score_batch, x)
        for first in range(0, len(x), self.rows):
            rows = x[first : first + self.rows]
            out[first : first + self.rows] = score_batch(self._padded(rows))[: len(rows)]
        return out

    def _padded(self, rows: Features) -> Features:
        if isinstance(rows, SparseRows):
            ends = np.full(self.rows - len(rows), rows.indptr[-1])
            return SparseRows(rows.data, rows.indices, np.append(rows.indptr, ends), rows.width)
        if len(rows) == self.rows:
            return np.ascontiguousarray(rows)
        batch = np.zeros((self.rows, rows.shape[1]), rows.dtype)
        batch[: len(rows)] = rows
        return batch

    def _test(self, score_batch: ScoreBatch, x: Features) -> None:
        """Score the first rows among other rows, among zeros, and at several places in the batch."""
        if self.rows > 1:
            first = x[: (self.rows + 1) // 2]
            alone = score_batch(self._padded(first))
            error = max(self._difference(score_batch, first, alone, shift) for shift in (0, *_SHIFTS))
            if error > _ROUNDING:
                raise InputError(
                    "the score of a row depends on the rows that it is scored with",
                    why="the log would depend on how a batch is split among nodes",
                    remedy="give tile=1 to score each row alone, or a model that scores each row alone",
                )
            if error:
                warnings.warn(
                    "rows are scored one by one, which is slower: on this processor the last bits of a score depend on "
                    f"its place among {self.rows} rows, and the log would depend on how a batch is split among nodes",
                    SlowScoresWarning,
                    stacklevel=2,
                )
                self.rows = 1
        self._tested = True

    def _difference(self, score_batch: ScoreBatch, first: Features, alone: Doubles, shift: int) -> float:
        """Return the difference of scores at other places, relative to the largest score; 0 if no bit differs."""
        rows = np.roll(np.arange(self.rows) % len(first), shift)
        scores, expected = score_batch(self._padded(first[rows])), alone[rows]
        if scores.tobytes() == expected.tobytes():
            return 0.0
        largest = float(np.abs(expected).max())
        # The smallest float if bits differ and numbers do not, as 0 and -0; infinite if a score is not finite.
        error = float(np.abs(scores - expected).max()) / max(largest, np.finfo(np.float64).tiny)
        return max(error, np.finfo(np.float64).tiny) if np.isfinite(error) else np.inf
