"""Shards: consecutive rows of a table that are decoded together, and the order in which a pass reads them.

Each pass reads the shards in its own order, one window after the other. A *window* is as many shards as fit into 64 MB,
at least one. The rows of a window are shuffled together. So a pass decodes each shard once and holds the shards of one
or two windows. A table that fits into one window is shuffled completely.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from paraactive.basics import philox
from paraactive.data.examples import Ints
from paraactive.streams.lru_cache import LRUCache

# Maximum size of a shard of several pieces.
SHARD_BYTES = 16 << 20
WINDOW_BYTES = 64 << 20
# Memory of a row without its features: label, weight, and position in the order.
_ROW_BYTES = 32


class Piece(NamedTuple):
    """The smallest number of consecutive rows that can be decoded alone.

    Parameters
    ----------
    file : int
        Number of the file.
    first : int
        Number of the first row in the file.
    rows : int
        Number of rows.
    place : tuple
        Where the piece is in the file, in terms of the reader of the file.
    """

    file: int
    first: int
    rows: int
    place: tuple[int | str, ...]


class Shard(NamedTuple):
    """Consecutive pieces that are decoded together.

    Parameters
    ----------
    first : int
        Number of the first row in the whole table.
    rows : int
        Number of rows.
    pieces : tuple of Piece
        The pieces.
    """

    first: int
    rows: int
    pieces: tuple[Piece, ...]


def row_bytes(width: int) -> int:
    """Return the memory of a decoded row, in bytes.

    Parameters
    ----------
    width : int
        Number of features.

    Returns
    -------
    int
        Bytes.
    """
    return 4 * width + _ROW_BYTES


def make_shards(pieces: Sequence[Piece], width: int) -> tuple[Shard, ...]:
    """Join consecutive pieces to shards of at most 16 MB. A larger piece is a shard by itself.

    Parameters
    ----------
    pieces : sequence of Piece
        All pieces of a table.
    width : int
        Number of features.

    Returns
    -------
    tuple of Shard
        The shards.

    Examples
    --------
    >>> pieces = [Piece(0, 0, 2, (0,)), Piece(0, 2, 3, (1,)), Piece(1, 0, 900_000, (0,))]
    >>> [(shard.first, shard.rows) for shard in make_shards(pieces, width=1)]
    [(0, 5), (5, 900000)]
    """
    most = SHARD_BYTES // row_bytes(width)
    shards: list[Shard] = []
    run: list[Piece] = []
    first = rows = 0
    for piece in [*(each for each in pieces if each.rows), None]:
        if run and (piece is None or rows + piece.rows > most):
            shards.append(Shard(first, rows, tuple(run)))
            first, rows, run = first + rows, 0, []
        if piece is not None:
            run.append(piece)
            rows += piece.rows
    return tuple(shards)


@dataclass(frozen=True)
class _Pass:
    """The windows of one pass: their seed, the first position of each window, and the shards of each window."""

    seed: int
    starts: list[int]
    windows: list[Ints]


class ShardOrder:
    """The row and shard at each position of the stream.

    Parameters
    ----------
    sizes : sequence of int
        Number of rows of each shard.
    width : int
        Number of features.
    seed : int
        Seed of the order.
    shuffle : bool
        Whether each pass has its own random order.
    """

    def __init__(self, sizes: Sequence[int], width: int, seed: int, shuffle: bool) -> None:
        self._sizes, self._seed, self._shuffle = np.array(sizes, np.int64), seed, shuffle
        self._most = WINDOW_BYTES // row_bytes(width)
        self._firsts = np.cumsum(self._sizes) - self._sizes
        self.rows = int(self._sizes.sum())
        self._passes: LRUCache[_Pass] = LRUCache(2, lambda _: 1)
        self._orders: LRUCache[Ints] = LRUCache(WINDOW_BYTES, lambda order: order.nbytes)

    def find(self, index: Ints) -> Iterator[tuple[int, Ints, Ints]]:
        """Find the rows at the given positions, shard by shard, in the order in which the shards first occur.

        Parameters
        ----------
        index : ndarray of int64
            Positions in the stream.

        Yields
        ------
        number : int
            Number of a shard.
        where : ndarray of int
            Which of the positions are in the shard.
        rows : ndarray of int64
            Row numbers in the shard.
        """
        row = self._rows_at(index) if self._shuffle else index % self.rows
        shard = np.searchsorted(self._firsts, row, side="right") - 1
        for number in dict.fromkeys(shard.tolist()):
            where = np.flatnonzero(shard == number)
            yield number, where, row[where] - self._firsts[number]

    def _rows_at(self, index: Ints) -> Ints:
        row = np.empty_like(index)
        number, place = index // self.rows, index % self.rows
        for each in np.unique(number).tolist():
            one = self._passes.get(each, lambda each=each: self._plan(each))
            window = np.searchsorted(one.starts, place, side="right") - 1
            for inside in np.unique(window[number == each]).tolist():
                where = np.flatnonzero((number == each) & (window == inside))
                order = self._orders.get((each, inside), lambda one=one, inside=inside: self._shuffled(one, inside))
                row[where] = order[place[where] - one.starts[inside]]
        return row

    def _plan(self, number: int) -> _Pass:
        # Each pass has its own seed, so that shards and windows have another order in each pass.
        high, low = philox.words(self._seed, philox.ORDER, np.array([number], np.int64))[0, :2].tolist()
        seed = high << 32 | low
        order = philox.permutation(seed, philox.ORDER, len(self._sizes))
        ends = np.cumsum(self._sizes[order]).tolist()
        starts, windows, taken = [], [], 0
        while taken < len(order):
            start = ends[taken - 1] if taken else 0
            stop = max(taken + 1, bisect_right(ends, start + self._most))
            starts.append(start)
            windows.append(order[taken:stop])
            taken = stop
        return _Pass(seed, starts, windows)

    def _shuffled(self, one: _Pass, window: int) -> Ints:
        """Return the rows of a window in the order of this pass."""
        shards = np.sort(one.windows[window]).tolist()
        ends = self._firsts + self._sizes
        rows = np.concatenate([np.arange(int(self._firsts[each]), int(ends[each])) for each in shards])
        return rows[philox.permutation(one.seed, philox.ORDER, len(rows), window + 1)]
