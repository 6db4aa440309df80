from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paraactive.learners.lasvm.gradient_loops import DOWN, NONE, UP, search, step_and_search


@given(count=st.integers(1, 70), seed=st.integers(0, 10_000), values=st.sampled_from([2, 5, 1000]))
@settings(max_examples=300, deadline=None)
def test_a_walk_takes_the_step_and_finds_the_pair_that_a_search_finds(count: int, seed: int, values: int) -> None:
    rng, size = np.random.default_rng(seed), -(-count // 8) * 8
    g = rng.integers(0, values, size) / 7  # With few values there are many equal ones, of which the first counts.
    row_i, row_j = (rng.integers(0, 3, size).astype(np.float32) for _ in range(2))
    ways = rng.integers(0, 4, size).astype(np.uint8)
    ways[count:] = 0
    expected = g - 0.25 * (row_i.astype(np.float64) - row_j.astype(np.float64))
    pair = step_and_search(count, 0.25, row_i, row_j, g, ways)
    assert np.array_equal(g, expected)
    assert pair == search(count, expected, ways) == _plain(expected[:count], ways[:count])


def _plain(g: np.ndarray, ways: np.ndarray) -> tuple[int, int]:
    ups, downs = np.flatnonzero(ways & UP), np.flatnonzero(ways & DOWN)
    up = int(ups[g[ups].argmax()]) if len(ups) else NONE
    return up, int(downs[g[downs].argmin()]) if len(downs) else NONE


@pytest.mark.parametrize("count", [1, 8, 9])
def test_where_nothing_may_move_there_is_no_pair(count: int) -> None:
    zeros = np.zeros(16, np.float32)
    assert step_and_search(count, 0.0, zeros, zeros, np.ones(16), np.zeros(16, np.uint8)) == (NONE, NONE)
