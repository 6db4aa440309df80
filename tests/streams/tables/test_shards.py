"""Shards of a table, and the order in which a pass reads them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paraactive.streams.tables import shards
from paraactive.streams.tables.shards import Piece, ShardOrder, make_shards, row_bytes


@given(st.lists(st.integers(0, 12), max_size=20), st.integers(1, 15))
def test_shards_are_consecutive_pieces_as_many_as_fit(sizes: list[int], most: int) -> None:
    pieces = [Piece(0, sum(sizes[:place]), rows, (place,)) for place, rows in enumerate(sizes)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shards, "SHARD_BYTES", most * row_bytes(3))
        made = make_shards(pieces, 3)
    assert [piece for shard in made for piece in shard.pieces] == [piece for piece in pieces if piece.rows]
    first = 0
    for shard in made:
        assert (shard.first, shard.rows) == (first, sum(piece.rows for piece in shard.pieces))
        assert shard.rows <= most or len(shard.pieces) == 1
        first += shard.rows
    for one, following in pairwise(made):
        assert one.rows + following.pieces[0].rows > most


def found(order: ShardOrder, sizes: list[int], index: list[int]) -> list[int]:
    """The row of the table at each position."""
    rows = np.full(len(index), -1)
    for number, where, inside in order.find(np.array(index, np.int64)):
        rows[where] = sum(sizes[:number]) + inside
    return rows.tolist()


@given(st.lists(st.integers(1, 9), min_size=1, max_size=8), st.integers(0, 2**63), st.integers(1, 20), st.data())
@settings(deadline=None)
def test_each_pass_has_every_row_once_and_stays_in_a_window(
    sizes: list[int], seed: int, window: int, data: st.DataObject
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shards, "WINDOW_BYTES", window * row_bytes(2))
        order, plain = ShardOrder(sizes, 2, seed, True), ShardOrder(sizes, 2, seed, False)
        total = sum(sizes)
        whole = found(order, sizes, list(range(3 * total)))
        for number in range(3):
            one = whole[number * total : (number + 1) * total]
            assert sorted(one) == list(range(total))
            shard_of = np.repeat(np.arange(len(sizes)), sizes)[one].tolist()
            reach = max(window, *sizes)
            for shard in set(shard_of):
                places = [place for place, each in enumerate(shard_of) if each == shard]
                assert max(places) - min(places) < reach
        index = data.draw(st.lists(st.integers(0, 3 * total - 1), max_size=20))
        assert found(order, sizes, index) == [whole[position] for position in index]
        assert found(plain, sizes, index) == [position % total for position in index]
