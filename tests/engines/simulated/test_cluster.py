from __future__ import annotations

import pytest

from engines.stretches import STRETCHES, replica, svm
from paraactive.engines import Cluster
from paraactive.errors import InputError


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"slowness": (1.0, 0.0)}, "slowness"),
        ({"latency": -1.0}, "latency"),
        ({"jitter": float("nan")}, "jitter"),
        ({"update_seconds": -0.5}, "update_seconds"),
    ],
)
def test_impossible_machines_are_refused(wrong: dict[str, float], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Cluster(**wrong)  # pyright: ignore[reportArgumentType]


def test_times_that_are_given_replace_those_that_were_measured() -> None:
    node, stretch = replica(svm()), STRETCHES[0]
    sifted = node.sift(100, 130, seen=100)
    given, measured = Cluster(sift_seconds=0.5, update_seconds=0.25), Cluster()
    assert given.timed(sifted, 100).sift_seconds == 0.5 * 30
    assert given.learning(stretch, 9.0) == 0.25 * len(stretch.entries)
    assert measured.timed(sifted, 100) is sifted
    assert measured.learning(stretch, 9.0) == 9.0


def test_nodes_without_a_factor_are_as_fast_as_this_machine() -> None:
    cluster = Cluster(slowness=(1.0, 4.0))
    assert [cluster.slowness_of(node) for node in range(4)] == [1.0, 4.0, 1.0, 1.0]
    assert not cluster.equal
    assert Cluster(slowness=(1.0, 1.0)).equal
    assert not Cluster(latency=0.1).equal
    assert not Cluster(jitter=0.1).equal
