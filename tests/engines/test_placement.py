"""Every engine starts from a placement."""

from __future__ import annotations

from contextlib import closing

import pytest

from engines.stretches import STRETCHES, replica, svm
from paraactive.engines import ENGINES, Cluster, Placement, Simulated, Threads, blueprint
from paraactive.schedules import Plan


@pytest.mark.parametrize(("name", "kind"), [("threads", Threads), ("simulated", Simulated)])
def test_an_engine_is_started_by_its_name(name: str, kind: type) -> None:
    placement = Placement(name, cluster=Cluster(latency=0.5))
    with closing(ENGINES[name](replica(svm()), Plan(500, 100, 100, 2), placement, lambda _: None)) as engine:
        assert isinstance(engine, kind)
        assert engine.sift(0, 40, seen=0)[0][-1].last == 40


def test_updates_are_automatic_by_default() -> None:
    assert Placement("threads") == Placement("threads", "auto", None, None)


def test_a_blueprint_is_untrained_and_apart() -> None:
    node = replica(svm())
    untrained = node.learner.digest()
    copy = blueprint(node)
    node.learn(STRETCHES[0])
    assert copy.learner.digest() == untrained != node.learner.digest()
    assert (copy.rule, copy.stream, copy.seed, copy.place) == (node.rule, node.stream, node.seed, (0, 0))
