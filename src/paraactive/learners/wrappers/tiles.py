"""Rows scored in tiles of a fixed number, for models whose matrix products are somebody else's.

The bits of a product depend on the shape of the call. In a tile the shape is always the same, and where its rows are a
multiple of 64 no row falls to a library's loop for leftovers: then a row's score mostly does not depend on its place in
the tile, nor on the other rows (OpenBLAS, oneDNN, MKL on Intel's processors). No library promises it, and MKL on AMD's
does not keep it for all widths; so each model is tried once, on the first rows that it scores. If its last bits depend
on their place, each row is scored by itself; if more does, rows see each other, and the model is refused.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from paraactive.data.examples import Doubles, Features, SparseRows
from paraactive.errors import InputError, SlowScoresWarning

TILE = 64
"""Rows scored together: the fewest that were exact with every model tried."""
_SHIFTS = (1, 7, 34)
_ROUNDING = 1e-4
"""Of the largest score: what differs by less differs by rounding."""

ScoreTile: TypeAlias = Callable[[Any], Doubles]
"""Scores of exactly as many rows as a tile has, dense or sparse as they were given."""


class Tiles:
    """Scores any number of rows by a function that is only ever called with `rows` of them.

    >>> Tiles(4).score(lambda tile: tile.sum(axis=1), np.ones((6, 3)), ())
    array([3., 3., 3., 3., 3., 3.])
    >>> Tiles(4).score(lambda tile: tile.sum(axis=1) - tile.mean(), np.eye(6), ())
    Traceback (most recent call last):
    ...
    paraactive.errors.InputError: the score of a row depends on the rows that it is scored with: a log would depend on
    how a batch is cut among nodes; give tile=1, and each row is scored by itself, or a model that treats rows apart.
    """

    def __init__(self, rows: int) -> None:
        self.rows = self._wanted = rows
        self._tried, self._trying = False, threading.Lock()

    def __reduce__(self) -> tuple[type[Tiles], tuple[int]]:
        # Where it arrives there may be another processor.
        return Tiles, (self._wanted,)

    def score(self, score_tile: ScoreTile, x: Features, columns: tuple[int, ...]) -> Doubles:
        """The score of each row; `columns` is the shape of one."""
        out = np.zeros((len(x), *columns))
        if len(x) and not self._tried:
            with self._trying:  # Threads may share a model: one tries, and the others wait to know.
                if not self._tried:
                    self._try(score_tile, x)
        for first in range(0, len(x), self.rows):
            rows = x[first : first + self.rows]
            out[first : first + self.rows] = score_tile(self._filled(rows))[: len(rows)]
        return out

    def _filled(self, rows: Features) -> Features:
        if isinstance(rows, SparseRows):
            ends = np.full(self.rows - len(rows), rows.indptr[-1])
            return SparseRows(rows.data, rows.indices, np.append(rows.indptr, ends), rows.width)
        if len(rows) == self.rows:
            return np.ascontiguousarray(rows)
        tile = np.zeros((self.rows, rows.shape[1]), rows.dtype)
        tile[: len(rows)] = rows
        return tile

    def _try(self, score_tile: ScoreTile, x: Features) -> None:
        """The first rows among others, among zeros, and at several places in the tile."""
        if self.rows > 1:
            first = x[: (self.rows + 1) // 2]
            alone = score_tile(self._filled(first))
            off = max(self._off(score_tile, first, alone, shift) for shift in (0, *_SHIFTS))
            if off > _ROUNDING:
                raise InputError(
                    "the score of a row depends on the rows that it is scored with",
                    why="a log would depend on how a batch is cut among nodes",
                    remedy="give tile=1, and each row is scored by itself, or a model that treats rows apart",
                )
            if off:
                warnings.warn(
                    "rows are scored one by one, which is slower: on this processor the last bits of a score depend on "
                    f"its place among {self.rows} rows, and a log would depend on how a batch is cut among nodes",
                    SlowScoresWarning,
                    stacklevel=2,
                )
                self.rows = 1
        self._tried = True

    def _off(self, score_tile: ScoreTile, first: Features, alone: Doubles, shift: int) -> float:
        """By how much scores differ at other places and among other rows, as a part of the largest; 0 if in no bit."""
        rows = np.roll(np.arange(self.rows) % len(first), shift)
        scores, expected = score_tile(self._filled(first[rows])), alone[rows]
        if scores.tobytes() == expected.tobytes():
            return 0.0
        largest = float(np.abs(expected).max())
        # The least float there is where bits differ and numbers do not, as 0 and -0; not finite: as far as can be.
        off = float(np.abs(scores - expected).max()) / max(largest, np.finfo(np.float64).tiny)
        return max(off, np.finfo(np.float64).tiny) if np.isfinite(off) else np.inf
