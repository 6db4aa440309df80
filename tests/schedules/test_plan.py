from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraactive.errors import InputError
from paraactive.schedules import Plan, portion


@given(first=st.integers(0, 1000), count=st.integers(0, 500), nodes=st.integers(1, 200))
def test_portions_cover_everything_once_and_differ_by_at_most_one(first: int, count: int, nodes: int) -> None:
    pieces = [portion(first, first + count, node, nodes) for node in range(nodes)]
    assert [i for a, b in pieces for i in range(a, b)] == list(range(first, first + count))
    sizes = {b - a for a, b in pieces}
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ((0, 10, 0, 1), "examples is 0"),
        ((10, 0, 0, 1), "batch is 0"),
        ((10, 10, -1, 1), "warmstart is -1"),
        ((10, 10, 0, 0), "nodes is 0"),
        ((100, 10, 0, 11), "batch is 10 for 11 nodes"),
    ],
)
def test_impossible_plans_are_refused(plan: tuple[int, int, int, int], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Plan(*plan)


@given(batch=st.integers(1, 5000), nodes=st.integers(1, 200), delay=st.integers(1, 20_000) | st.none())
def test_two_tiles_of_each_node_fit_into_the_delay(batch: int, nodes: int, delay: int | None) -> None:
    plan = Plan(10_000, batch + nodes, 0, nodes, None if delay is None else delay + nodes)
    assert plan.longest_delay == (2 * plan.batch if plan.delay is None else plan.delay)
    assert 1 <= plan.tile <= 1024
    assert plan.tile == 1 or 2 * nodes * plan.tile <= min(plan.batch, plan.longest_delay)


def test_a_delay_that_is_shorter_than_the_number_of_nodes_is_refused() -> None:
    with pytest.raises(InputError, match="delay is 3 for 4 nodes"):
        Plan(100, 10, 0, 4, delay=3)
