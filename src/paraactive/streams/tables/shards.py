"""Shards: runs of a table's rows that are decoded together, and the order in which a pass goes through them.

A pass takes the shards in an order of its own, some at a time: a *window* is as many as fit into 64 MB, and at least
one. It goes through all rows of a window, mixed, before it begins the next. So reading on decodes each shard once,
and holds the shards of a window or two; a table of one window is shuffled as a whole.
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

SHARD_BYTES = 16 << 20
"""Neighbouring pieces of a file make one shard while their rows fit into this."""
WINDOW_BYTES = 64 << 20
_ROW_BYTES = 32
"""What a row takes beside its features: label, weight, place in the order."""


class Piece(NamedTuple):
    """The smallest run of rows that can be decoded alone."""

    file: int
    """Number of its file."""
    first: int
    """Number, in the file, of its first row."""
    rows: int
    place: tuple[int | str, ...]
    """Where it is in the file, as the reader of the file knows it."""


class Shard(NamedTuple):
    """Neighbouring pieces, decoded together."""

    first: int
    """Number, in the whole table, of its first row."""
    rows: int
    pieces: tuple[Piece, ...]


def row_bytes(width: int) -> int:
    """What a decoded row takes in memory."""
    return 4 * width + _ROW_BYTES


def make_shards(pieces: Sequence[Piece], width: int) -> tuple[Shard, ...]:
    """The pieces in runs of 16 MB or less; a larger piece makes a shard by itself.

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
    """The windows of one pass."""

    seed: int
    starts: list[int]
    """The first position of each window, in the pass."""
    windows: list[Ints]
    """The shards of each window."""


class ShardOrder:
    """Which row of which shard is at which position of the stream."""

    def __init__(self, sizes: Sequence[int], width: int, seed: int, shuffle: bool) -> None:
        self._sizes, self._seed, self._shuffle = np.array(sizes, np.int64), seed, shuffle
        self._most = WINDOW_BYTES // row_bytes(width)
        self._firsts = np.cumsum(self._sizes) - self._sizes
        self.rows = int(self._sizes.sum())
        self._passes: LRUCache[_Pass] = LRUCache(2, lambda _: 1)
        self._orders: LRUCache[Ints] = LRUCache(WINDOW_BYTES, lambda order: order.nbytes)

    def find(self, index: Ints) -> Iterator[tuple[int, Ints, Ints]]:
        """Shard by shard: its number, which of the positions are in it, and the rows in it that they have.

        They come in the order in which they are met, so that those which are passed soonest are the oldest.
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
                order = self._orders.get((each, inside), lambda one=one, inside=inside: self._mix(one, inside))
                row[where] = order[place[where] - one.starts[inside]]
        return row

    def _plan(self, number: int) -> _Pass:
        # A seed for each pass: then shards and windows of all passes have orders of their own.
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

    def _mix(self, one: _Pass, window: int) -> Ints:
        """The rows of a window, in the order of this pass."""
        shards = np.sort(one.windows[window]).tolist()
        ends = self._firsts + self._sizes
        rows = np.concatenate([np.arange(int(self._firsts[each]), int(ends[each])) for each in shards])
        return rows[philox.permutation(one.seed, philox.ORDER, len(rows), window + 1)]
