"""Comparing the digests of replicas."""

from __future__ import annotations

import pytest

from paraactive.engines.remote.comparisons import Comparisons
from paraactive.errors import ReplicaError


@pytest.fixture
def rebuilt() -> list[tuple[int, int]]:
    """The nodes that were rebuilt, and the versions at which they differed."""
    return []


@pytest.fixture
def comparisons(rebuilt: list[tuple[int, int]]) -> Comparisons:
    return Comparisons(lambda number, version: rebuilt.append((number, version)))


def test_a_replica_that_differs_is_rebuilt_once(comparisons: Comparisons, rebuilt: list[tuple[int, int]]) -> None:
    comparisons.begin(10, "a", [0, 1, 2])
    comparisons.begin(20, "b", [0, 1, 2])
    for number, digest in ((0, "a"), (1, "wrong"), (2, "a")):
        comparisons.answer(number, digest)
    assert rebuilt == [(1, 10)]
    for number, digest in ((0, "b"), (1, "wrong too"), (2, "b")):  # It was asked before it was rebuilt.
        comparisons.answer(number, digest)
    assert rebuilt == [(1, 10)]


def test_a_comparison_ends_without_the_nodes_that_are_silent_or_gone(
    comparisons: Comparisons, rebuilt: list[tuple[int, int]]
) -> None:
    comparison = comparisons.begin(10, "a", [0, 1, 2, 3])
    comparisons.answer(0, "a")
    comparisons.skip(1)
    comparisons.forget(2)
    assert comparison.waiting == {3}
    comparisons.answer(3, "wrong")
    assert rebuilt == [(3, 10)]
    comparisons.answer(1, "a")  # The silent node has kept its place in the order.
    assert comparison.answers == {0: "a", 1: "a", 3: "wrong"}


def test_a_digest_of_a_node_that_is_gone_does_not_count(
    comparisons: Comparisons, rebuilt: list[tuple[int, int]]
) -> None:
    comparisons.begin(10, "a", [0, 1])
    comparisons.answer(0, "wrong")
    comparisons.forget(0)
    comparisons.answer(1, "a")
    assert rebuilt == []


def test_a_driver_that_differs_from_all_others_is_an_error(comparisons: Comparisons) -> None:
    comparisons.begin(10, "a", [0, 1])
    comparisons.answer(0, "b")
    with pytest.raises(ReplicaError, match="the driver's replica differs from all others"):
        comparisons.answer(1, "b")
