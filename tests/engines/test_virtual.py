"""Virtual nodes: many of them on few models, each sifting with exactly the model that it would have."""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from making import two_moons
from paraactive import Arrays, LaSVM, Network
from paraactive.data.examples import Entries, Place, Stretch, Tile
from paraactive.engines import Cluster, Simulated, ladder
from paraactive.engines.ladder import Ladder
from paraactive.engines.shared import Model, SharedModel
from paraactive.errors import InputError
from paraactive.learners import Learner
from paraactive.rules import Margin
from paraactive.schedules import Plan, asynchronous
from paraactive.schedules.base import Joined, Left, Message, Published
from paraactive.sifting.log import MemoryLog
from paraactive.sifting.node import Node

X, Y = two_moons(900, noise=0.3, seed=0)
MOONS = Arrays(X, Y, seed=1, passes=4)

FAR = Cluster(sift_seconds=1e-3, update_seconds=1e-3, latency=0.01, jitter=0.1)
"""Messages take longer than a tile, by chance: nodes are at many places."""


def svm() -> LaSVM:
    return LaSVM(gamma=1.0, gap=0.2)  # With a gap it matters where rounds end.


def replica(learner: Learner) -> Node:
    return Node(learner, Margin(0.2), MOONS, seed=4)


class Watched(Simulated):
    """Remembers what came and what was learnt; before a message comes, something may happen to the nodes."""

    def __init__(self, learner: Callable[[], Learner], nodes: int, cluster: Cluster) -> None:
        super().__init__(replica(learner()), nodes, cluster)
        self.new = learner
        self.happens: dict[int, Callable[[], object]] = {}
        self.came: list[Message] = []
        self.learnt: list[Stretch] = []
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
        self.learnt.append(stretch)
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
        for stretch in log.unlearnt(Place(0, 0)):
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
        node, waiting = replica(self.new()), list(reversed(self.learnt))
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


# The ladder --------------------------------------------------------------------------------------------------------


def _stretches(count: int) -> list[Stretch]:
    """A log of so many pieces: some empty, some ending a round."""
    node, seen = replica(svm()), 60
    stretches = [Stretch(Entries(0, node.take(0, 60).selected), 0, 60)]
    node.learn(stretches[0])
    for number in range(1, count):
        last = seen + (8, 0, 15)[number % 3]
        selected = node.sift(seen, last, seen).selected
        stretches.append(Stretch(Entries(node.version, selected), node.rounds, last, ends_round=number % 4 == 0))
        node.learn(stretches[-1])
        seen = last
    return stretches


STRETCHES = _stretches(30)


def _digests() -> dict[Place, str]:
    node, digests = replica(svm()), dict[Place, str]()
    for stretch in STRETCHES:
        node.learn(stretch)
        digests[node.place] = node.learner.digest()
    return digests


DIGESTS = _digests()
"""The model of each place."""


@given(data=st.data(), kept=st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_a_ladder_has_the_model_of_every_place_that_is_asked_for(data: st.DataObject, kept: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ladder, "_RUNGS", kept)
        top = replica(svm())
        top.learn(STRETCHES[0])
        models, everywhere = Ladder(top, keep=True), 0
        for number in range(1, len(STRETCHES)):
            top.learn(STRETCHES[number])
            models.announce(STRETCHES[number])
            for _ in range(data.draw(st.integers(0, 2))):
                everywhere = data.draw(st.integers(everywhere, number))
                place = STRETCHES[data.draw(st.integers(everywhere, number))].ends
                model = models.at(place, STRETCHES[everywhere].ends)
                assert model.place == place
                assert model.learner.digest() == DIGESTS[place]
        assert models.drained() == top.learner.digest()


def test_a_ladder_forgets_what_everybody_has_learnt() -> None:
    top = replica(svm())
    top.learn(STRETCHES[0])
    models = Ladder(top, keep=True)
    for before, stretch in pairwise(STRETCHES):
        top.learn(stretch)
        models.announce(stretch)
        models.at(before.ends, before.ends)
        assert len(models._stretches) <= 4
        assert len(models._rungs) <= 2


# The shared model --------------------------------------------------------------------------------------------------


def _shared() -> SharedModel:
    node = replica(svm())
    node.learn(STRETCHES[0])
    return SharedModel(node)


def test_who_reads_sees_the_same_model_while_others_learn() -> None:
    shared = _shared()
    with shared.reading() as front:
        before, place = front.learner.digest(), front.place
        for stretch in STRETCHES[1:8]:
            shared.learn(stretch)
            assert (front.learner.digest(), front.place) == (before, place)
        assert shared.latest.learner.digest() == DIGESTS[STRETCHES[7].ends]
        shared.show()
        assert front.learner.digest() == before
        with shared.reading() as next_front:
            assert next_front.learner.digest() == DIGESTS[STRETCHES[7].ends]
    assert [copy.learner.digest() for copy in shared.copies()] == [DIGESTS[STRETCHES[7].ends]] * 2


def test_without_readers_the_one_copy_learns() -> None:
    shared = _shared()
    with shared.reading() as only:
        pass
    for stretch in STRETCHES[1:]:
        shared.learn(stretch)
        shared.show()
        with shared.reading() as front:
            assert front is only
            assert front.learner.digest() == DIGESTS[stretch.ends]
    assert shared.copies() == [only]


def test_what_is_learnt_is_not_read_before_it_is_shown() -> None:
    shared = _shared()
    shared.split()
    shared.learn(STRETCHES[1])
    with shared.reading() as front:
        assert front.place == STRETCHES[0].ends
    shared.show()
    with shared.reading() as front:
        assert front.place == STRETCHES[1].ends


def test_a_whole_model_may_come_instead_of_what_there_is_to_learn() -> None:
    other = replica(svm())
    for stretch in STRETCHES[:10]:
        other.learn(stretch)
    shared = _shared()
    with shared.reading() as front:
        shared.learn(STRETCHES[1])
        shared.learn(Model.of(other))
        assert front.place == STRETCHES[0].ends
        assert shared.latest.place == STRETCHES[9].ends
    shared.show()
    shared.learn(STRETCHES[10])
    assert [copy.learner.digest() for copy in shared.copies()] == [DIGESTS[STRETCHES[10].ends]] * 2
    assert [copy.seen for copy in shared.copies()] == [STRETCHES[10].seen] * 2


def test_learning_waits_for_the_last_who_reads_the_older_copy() -> None:
    shared = _shared()
    front = shared.enter()
    before = front.learner.digest()
    shared.learn(STRETCHES[1])
    shared.show()
    learning = threading.Thread(target=shared.learn, args=(STRETCHES[2],))
    learning.start()
    assert front.learner.digest() == before
    shared.leave(front)
    learning.join(timeout=60)
    assert not learning.is_alive()
    assert [copy.learner.digest() for copy in shared.copies()] == [DIGESTS[STRETCHES[2].ends]] * 2


@given(acts=st.lists(st.sampled_from(["enter", "leave", "learn", "show"]), max_size=len(STRETCHES) - 1))
@settings(max_examples=80, deadline=None)
def test_readers_see_whole_models_in_any_order_of_learning_showing_and_reading(acts: list[str]) -> None:
    shared, reading, waiting = _shared(), list[tuple[Node, Place]](), list(reversed(STRETCHES[1:]))
    shown = latest = STRETCHES[0].ends
    for act in acts:
        if act == "enter":
            reading.append((shared.enter(), shown))
        elif act == "leave" and reading:
            shared.leave(reading.pop(0)[0])
        elif act == "show":
            shared.show()
            shown = latest
        elif act == "learn" and not any(node is shared._back for node, _ in reading):  # It would wait for them.
            alone = shared._back is None and not reading
            latest = waiting[-1].ends
            shared.learn(waiting.pop())
            shown = latest if alone else shown
        for node, place in reading:
            assert node.place == place
            assert node.learner.digest() == DIGESTS[place]
    for node, _ in reading:
        shared.leave(node)
    assert {copy.learner.digest() for copy in shared.copies()} == {DIGESTS[latest]}


def test_threads_that_read_all_the_time_never_see_half_of_what_is_learnt() -> None:
    shared, over, wrong = _shared(), threading.Event(), list[Place]()
    shared.split()

    def read() -> None:
        while not over.is_set():
            with shared.reading() as front:
                place, digest = front.place, front.learner.digest()
                if digest != DIGESTS[place] or (front.place, front.learner.digest()) != (place, digest):
                    wrong.append(place)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    try:
        for stretch in STRETCHES[1:]:
            shared.learn(stretch)
            shared.show()
    finally:
        over.set()
        for reader in readers:
            reader.join(timeout=60)
    assert wrong == []
    assert [copy.learner.digest() for copy in shared.copies()] == [DIGESTS[STRETCHES[-1].ends]] * 2
