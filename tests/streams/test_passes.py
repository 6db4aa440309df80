"""Passes over rows: the row at each position."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paraactive.basics import philox
from paraactive.errors import InputError
from paraactive.streams.passes import checked_passes, rows_at


@given(st.integers(1, 20), st.integers(0, 2**63), st.booleans(), st.randoms())
@settings(deadline=None)
def test_the_rows_are_those_of_all_passes_written_one_after_the_other(rows: int, seed: int, shuffle: bool, random: Any):
    orders = [philox.permutation(seed, philox.ORDER, rows, number).tolist() for number in range(4)]
    whole = [row for order in orders for row in (order if shuffle else range(rows))]
    index = [random.randrange(4 * rows) for _ in range(30)]
    assert rows_at(np.array(index), rows, seed, shuffle).tolist() == [whole[position] for position in index]


def test_the_positions_given_are_left_as_they_were():
    index = np.arange(5, 12)
    rows_at(index, 3, 1, True)
    assert index.tolist() == list(range(5, 12))


@pytest.mark.parametrize("passes", [0, -1, 1.5, "2"])
def test_passes_are_a_whole_number_from_1_on(passes: Any):
    with pytest.raises(InputError, match="passes is"):
        checked_passes(passes)
    assert (checked_passes(1), checked_passes(None)) == (1, None)
    counted: Any = np.int64(3)
    assert type(checked_passes(counted)) is int
