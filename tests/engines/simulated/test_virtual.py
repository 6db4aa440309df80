"""Virtual nodes: many of them on few models, each sifting with exactly the model that it would have."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.stretches import replica, svm
from paraactive import Network
from paraactive.data.examples import Place, Stretch, Tile
from paraactive.engines import Cluster, Simulated
from paraactive.engines.simulated import ladder
from paraactive.learners import Learner
from paraactive.schedules import Plan, asynchronous
from paraactive.schedules.engine import Joined, Left, Message, Published
from paraactive.sifting.log import MemoryLog

FAR = Cluster(sift_seconds=1e-3, update_seconds=1e-3, latency=0.01, jitter=0.1)
"""Messages take longer than a tile, by chance: nodes are at many places."""


class Watched(Simulated):
    """Remembers what came and what was learnt; before a message comes, something may happen to the nodes."""

    def __init__(self, learner: Callable[[], Learner], nodes: int, cluster: Cluster) -> None:
        super().__init__(replica(learner()), nodes, cluster)
        self.new = learner
        self.happens: dict[int, Callable[[], object]] = {}
        self.came: list[Message] = []
        self.learned: list[Stretch] = []
        self.known_at_grant: dict[tuple[int, Tile], int] = {}
        self.rungs = 0

    def grant(self, node: int, tile: Tile) -> None:
        self.known_at_grant[node, tile] = self.model.seen
        super().grant(node, tile)

    def receive(self) -> Message:
        self.happens.pop(len(self.came), lambda: None)()
        self.came.append(super().receive())
        self.rungs = max(self.rungs, len(self.virtual._ladder._rungs))
        return self.came[-1]

    def apply(self, stretch: Stretch) -> float:
        self.learned.append(stretch)
        return super().apply(stretch)

    def run(self, plan: Plan) -> MemoryLog:
        """To the end, where everybody must have the same model: that of the log."""
        log = MemoryLog(keep=True)
        for _ in asynchronous(self, log, plan):
            pass
        assert not self.happens, "the run was over before it happened"
        assert log.seen == plan.examples
        assert log.accepted() == [Tile(plan.warmstart, plan.examples)]
        rebuilt = replica(self.new())
        for stretch in log.stretches_after(Place(0, 0)):
            rebuilt.learn(stretch)
        assert self.finish() == dict.fromkeys(self.virtual.numbers(), rebuilt.learner.digest())
        assert self.model.learner.digest() == rebuilt.learner.digest()
        return log

    def published(self, since: int = 0) -> list[Published]:
        return [message for message in self.came[since:] if isinstance(message, Published)]

    def sifters(self, since: int = 0) -> set[int]:
        """Who published after that many messages."""
        return {published.node for published in self.published(since)}

    def assert_sifted_with_the_models_of_their_places(self) -> None:
        """The slow and obvious way: for each tile, replay the log up to what its node knew, and sift it again."""
        node, waiting = replica(self.new()), list(reversed(self.learned))
        for published in sorted(self.published(), key=lambda published: published.seen):
            while waiting and waiting[-1].seen <= published.seen:
                node.learn(waiting.pop())
            again, selected = node.sift(*published.tile, seen=published.seen).selected, published.sifted.selected
            assert np.array_equal(again.examples.index, selected.examples.index)
            assert np.array_equal(again.p, selected.p)
            assert np.array_equal(again.version, selected.version)
            assert set(selected.seen.tolist()) <= {published.seen}


# The models of virtual nodes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kept", [1, 2, 8])
@pytest.mark.parametrize("learner", [svm, lambda: Network(hidden=4)], ids=["svm", "network"])
def test_nodes_at_many_places_sift_each_with_the_model_of_its_place(
    learner: Callable[[], Learner], kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ladder, "_RUNGS", kept)
    engine = Watched(learner, 8, FAR)
    log = engine.run(Plan(900, 160, 100, 8))
    engine.assert_sifted_with_the_models_of_their_places()
    assert engine.rungs == kept if kept < 8 else engine.rungs > 3
    assert len({int(version) for entries in log.entries[1:] for version in entries.selected.version}) > 20


@given(
    nodes=st.integers(1, 9),
    latency=st.sampled_from([0.0, 0.003, 0.1]),
    jitter=st.sampled_from([0.0, 0.02, 0.5]),
    update=st.sampled_from([0.0, 1e-3, 0.05]),
    slowness=st.lists(st.sampled_from([0.3, 1.0, 7.0]), max_size=9),
    seed=st.integers(0, 9),
)
@settings(max_examples=25, deadline=None)
def test_the_model_that_sifts_is_that_of_the_nodes_place_on_any_machines_and_links(
    nodes: int, latency: float, jitter: float, update: float, slowness: list[float], seed: int
) -> None:
    cluster = Cluster(slowness, latency, jitter, sift_seconds=1e-3, update_seconds=update, seed=seed)
    engine = Watched(svm, nodes, cluster)
    engine.run(Plan(500, 60, 50, nodes, delay=max(nodes, 70)))
    engine.assert_sifted_with_the_models_of_their_places()


@pytest.mark.parametrize(
    ("nodes", "latency", "jitter"),
    [(1, 0.1, 0.0), (3, 0.1, 0.0), (4, 0.013, 0.0), (4, 0.1, 0.3)],
)
def test_what_was_accepted_reaches_a_node_before_a_tile_that_is_handed_out_after_it(
    nodes: int, latency: float, jitter: float
) -> None:
    cluster = Cluster(latency=latency, jitter=jitter, sift_seconds=1e-3, update_seconds=1e-2)
    engine = Watched(lambda: Network(hidden=4), nodes, cluster)
    engine.run(Plan(900, 100, 100, nodes))
    for published in engine.published():
        assert published.seen >= engine.known_at_grant[published.node, published.tile]


def test_nodes_that_are_near_and_alike_need_one_model() -> None:
    engine = Watched(svm, 8, Cluster(sift_seconds=1e-3, update_seconds=1e-3))
    engine.run(Plan(900, 160, 100, 8))
    engine.assert_sifted_with_the_models_of_their_places()
    assert engine.rungs == 0


def test_a_thousand_nodes_take_part() -> None:
    cluster = Cluster(sift_seconds=1e-2, update_seconds=1e-3, latency=0.005)
    engine = Watched(lambda: Network(hidden=4), 1024, cluster)
    log = engine.run(Plan(2500, 1024, 200, 1024))
    assert engine.sifters() == set(range(1024)) == set(engine.finish())
    positions = np.concatenate([entries.selected.examples.index for entries in log.entries])
    assert len(np.unique(positions)) == len(positions)


def test_measured_times_do_as_well_as_given_ones() -> None:
    engine = Watched(svm, 4, Cluster(latency=1e-4))
    engine.run(Plan(900, 160, 100, 4))
    engine.assert_sifted_with_the_models_of_their_places()
    assert engine.now() > 0


# Nodes that come and go --------------------------------------------------------------------------------------------

PLAN = Plan(900, 120, 100, 4)


def test_what_a_lost_node_held_is_sifted_by_others() -> None:
    engine = Watched(svm, 4, FAR)
    engine.happens[10] = lambda: engine.virtual.lose(2)
    engine.run(PLAN)
    gone = engine.came.index(Left(2))
    assert 2 in engine.sifters()
    assert 2 not in {published.node for published in engine.published(gone + 10)}
    assert engine.finish().keys() == {0, 1, 3}
    engine.assert_sifted_with_the_models_of_their_places()


def test_a_lost_node_takes_what_it_has_in_hand_with_it() -> None:
    engine = Watched(svm, 4, Cluster(sift_seconds=1e-3, update_seconds=1e-3))
    engine.happens[10] = lambda: engine.virtual.lose(2)
    engine.run(PLAN)
    assert sum(published.node == 2 for published in engine.published(10)) <= 1  # What it was just about to send.


def test_a_lost_node_comes_back_with_everything_learnt_and_takes_part() -> None:
    engine = Watched(svm, 4, FAR)
    engine.happens[10] = lambda: engine.virtual.lose(2, restarts_after=0.2)
    engine.run(PLAN)
    left, joined = engine.came.index(Left(2)), engine.came.index(Joined(2))
    assert left < joined
    known = max(published.seen for published in engine.published()[:10])
    after = [published for published in engine.published(joined) if published.node == 2]
    assert after[-1].seen > known
    assert engine.finish().keys() == {0, 1, 2, 3}
    engine.assert_sifted_with_the_models_of_their_places()


def test_a_run_in_which_all_are_lost_goes_on_when_one_comes_back() -> None:
    engine = Watched(svm, 4, FAR)

    def lose_all() -> None:
        for number in engine.virtual.numbers():
            engine.virtual.lose(number, restarts_after=5.0 if number == 3 else None)

    engine.happens[15] = lose_all
    engine.run(PLAN)
    joined = engine.came.index(Joined(3))
    assert engine.sifters(joined) == {3}
    assert engine.finish().keys() == {3}
    engine.assert_sifted_with_the_models_of_their_places()


def test_more_nodes_join_and_most_of_them_leave_again() -> None:
    engine = Watched(svm, 2, FAR)
    engine.happens[8] = lambda: engine.resize(7)
    engine.happens[40] = lambda: engine.resize(3)
    engine.run(Plan(900, 140, 100, 2))
    assert engine.sifters() == set(range(7))
    assert [message.node for message in engine.came if isinstance(message, Joined)] == [2, 3, 4, 5, 6]
    assert [message.node for message in engine.came if isinstance(message, Left)] == [3, 4, 5, 6]
    assert engine.finish().keys() == {0, 1, 2}
    engine.assert_sifted_with_the_models_of_their_places()


def test_a_node_that_is_called_for_while_it_restarts_takes_part_like_any_other() -> None:
    engine = Watched(svm, 4, FAR)

    def lose_and_call() -> None:
        engine.virtual.lose(1, restarts_after=0.05)
        engine.resize(4)

    engine.happens[10] = lose_and_call
    engine.run(PLAN)
    assert engine.finish().keys() == {0, 1, 2, 3}
    engine.assert_sifted_with_the_models_of_their_places()


@given(sizes=st.lists(st.tuples(st.integers(1, 12), st.integers(1, 9)), max_size=8), jitter=st.sampled_from([0.0, 0.1]))
@settings(max_examples=25, deadline=None)
def test_any_changes_of_the_number_of_nodes_end_in_the_model_of_the_log(
    sizes: list[tuple[int, int]], jitter: float
) -> None:
    engine = Watched(lambda: Network(hidden=4), 3, Cluster((), 0.01, jitter, 1e-3, 1e-3))
    moment = 0
    for after, nodes in sizes:
        moment += after
        if moment < 60:
            engine.happens[moment] = lambda nodes=nodes: engine.resize(nodes)
    engine.run(Plan(900, 60, 100, 3))
    engine.assert_sifted_with_the_models_of_their_places()
