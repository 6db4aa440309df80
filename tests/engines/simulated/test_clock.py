from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraactive.engines.simulated.clock import CLOCKED, edges, largest_portions


@given(first=st.integers(0, 99), seconds=st.lists(st.floats(0, 5), min_size=1, max_size=60), also=st.integers(1, 70))
def test_the_largest_portion_is_that_of_a_sum_over_single_examples(first: int, seconds: list[float], also: int) -> None:
    last = first + len(seconds)  # Each piece is one example.
    largest = largest_portions(range(first, last + 1), seconds, also)
    assert set(largest) == {*CLOCKED, also}
    for k, found in largest.items():
        portions = [sum(seconds[a - first : b - first]) for a, b in pairwise(edges(first, last, k))]
        assert found == pytest.approx(max(portions), abs=1e-9)


def test_a_portion_that_ends_within_a_piece_counts_its_share() -> None:
    assert largest_portions([10, 20], [8.0], also=5)[5] == pytest.approx(1.6)
    assert edges(10, 20, 4) == [10, 12, 15, 17, 20]
