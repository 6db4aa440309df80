"""Algorithm 2 on the simulated engine, where times are given and so every run can be done again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import sqrt

import numpy as np
import pytest
from numpy.typing import ArrayLike

from making import two_moons
from paraactive import Arrays, LaSVM, Network
from paraactive.data.events import Round
from paraactive.data.examples import Place, Selected, Tile
from paraactive.engines import Cluster, Simulated
from paraactive.learners import Learner
from paraactive.rules import PaperMargin, Rule
from paraactive.schedules import Plan, Schedule, asynchronous, synchronous
from paraactive.schedules.asynchronous import step
from paraactive.schedules.engine import Message, Published
from paraactive.sifting.log import MemoryLog
from paraactive.sifting.node import Node, Sifted

X, Y = two_moons(900, noise=0.3, seed=0)
MOONS = Arrays(X, Y, seed=1)
EAGER = PaperMargin(0.2)

CLUSTERS = {
    "alike and near": Cluster(sift_seconds=1e-3, update_seconds=1e-2),
    "sifting costs nothing": Cluster(sift_seconds=0.0, update_seconds=1e-2),
    "far": Cluster(sift_seconds=1e-3, update_seconds=1e-3, latency=0.03),
    "slow ones": Cluster(sift_seconds=1e-3, update_seconds=1e-3, slowness=(5.0, 1.0, 0.5)),
    "all at once": Cluster(
        sift_seconds=1e-3, update_seconds=1e-3, latency=0.01, jitter=0.2, slowness=(1.0, 8.0), seed=3
    ),
}
LEARNERS: dict[str, Callable[[], Learner]] = {
    "svm": lambda: LaSVM(gamma=1.0, gap=0.2),  # With a gap it matters where rounds end.
    "network": lambda: Network(hidden=4),
}
clusters = pytest.mark.parametrize("cluster", CLUSTERS.values(), ids=CLUSTERS.keys())
learners = pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS.keys())


class Done:
    """A run from its beginning to its end, and all that came of it."""

    def __init__(
        self,
        learner: Learner,
        cluster: Cluster,
        plan: Plan,
        schedule: Schedule = asynchronous,
        rule: Rule = EAGER,
        seed: int = 4,
    ) -> None:
        self.plan, self.log, self.learner = plan, MemoryLog(keep=True), learner
        self.engine = Watched(Node(learner, rule, MOONS, seed), plan.nodes, cluster)
        self.rounds: list[Round] = list(schedule(self.engine, self.log, plan))
        self.digests = self.engine.finish()

    @property
    def selected(self) -> Selected:
        return Selected.concatenate([entries.selected for entries in self.log.entries])

    @property
    def sifted(self) -> Selected:
        """What is in the log but for the warmstart."""
        return self.selected.take(slice(self.rounds[0].version, None))

    @property
    def seconds(self) -> float:
        return sum(ended.elapsed[self.plan.nodes] for ended in self.rounds[1:])


class Watched(Simulated):
    """A simulated engine that remembers what it was told."""

    def __init__(self, node: Node, nodes: int, cluster: Cluster) -> None:
        super().__init__(node, nodes, cluster)
        self.published: list[Published] = []
        self.known_at_grant: dict[tuple[int, Tile], int] = {}

    def grant(self, node: int, tile: Tile) -> None:
        self.known_at_grant[node, tile] = self.model.seen
        super().grant(node, tile)

    def receive(self) -> Message:
        message = super().receive()
        if isinstance(message, Published):
            self.published.append(message)
        return message


class Noted:
    """Something that Algorithm 2 takes for a node."""

    def __init__(self) -> None:
        self.number, self.seen, self.done = 7, 100, list[object]()

    def learn(self, stretch: int) -> float:
        self.done.append(("learn", stretch))
        self.seen += stretch
        return 0.0

    def sift(self, first: int, last: int, seen: int) -> Sifted:
        self.done.append(("sift", first, last, seen))
        return Sifted.nothing(last, 2)


def test_a_node_learns_all_that_waits_before_it_sifts_and_n_is_what_it_then_knows() -> None:
    node = Noted()
    published = step(node, [10, 20, 5], Tile(300, 310))
    assert node.done == [("learn", 10), ("learn", 20), ("learn", 5), ("sift", 300, 310, 135)]
    assert (published.node, published.tile, published.seen) == (7, Tile(300, 310), 135)


def test_a_node_with_nothing_to_learn_sifts_with_the_model_that_it_has() -> None:
    node = Noted()
    assert step(node, [], Tile(0, 4)).seen == 100
    assert node.done == [("sift", 0, 4, 100)]


def test_what_comes_while_a_node_learns_is_learnt_before_it_sifts() -> None:
    node = Noted()

    def queue() -> Iterator[int]:
        while len(node.done) < 4:
            yield 2

    assert step(node, queue(), Tile(0, 4)).seen == 108


@learners
@clusters
def test_two_runs_are_the_same_to_the_last_bit_of_log_and_clock(
    learner: Callable[[], Learner], cluster: Cluster
) -> None:
    one, other = (Done(learner(), cluster, Plan(900, 100, 100, 3)) for _ in range(2))
    for a, b in zip(_columns(one.selected), _columns(other.selected), strict=True):
        assert np.array_equal(a, b)
    assert [(ended.seen, ended.version, ended.elapsed) for ended in one.rounds[1:]] == [
        (ended.seen, ended.version, ended.elapsed) for ended in other.rounds[1:]
    ]
    assert one.learner.digest() == other.learner.digest()


def _columns(selected: Selected) -> tuple[ArrayLike, ...]:
    examples = selected.examples
    return examples.x, examples.y, examples.index, selected.p, selected.seen, selected.version


@learners
@clusters
def test_every_position_is_accepted_once_and_what_was_selected_is_there_once(
    learner: Callable[[], Learner], cluster: Cluster
) -> None:
    done = Done(learner(), cluster, Plan(900, 100, 100, 3))
    positions = done.selected.examples.index
    assert done.log.accepted() == [Tile(100, 900)]
    assert done.log.seen == 900
    assert len(set(positions.tolist())) == len(positions) == done.log.version
    assert sorted(positions[:100].tolist()) == list(range(100))
    assert 150 < len(positions) < 800
    assert ((done.selected.p > 0) & (done.selected.p <= 1)).all()
    assert (done.sifted.p < 1).any()
    assert {published.node for published in done.engine.published} == {0, 1, 2}


@learners
@clusters
def test_each_entry_says_how_old_the_model_was_that_chose_it(learner: Callable[[], Learner], cluster: Cluster) -> None:
    plan = Plan(900, 100, 100, 3)
    done = Done(learner(), cluster, plan)
    counted = 0
    for entries in done.log.entries[1:]:
        assert (entries.entry_lag >= 0).all()
        assert len(set(entries.selected.version.tolist())) <= 1  # A tile is sifted with one model.
        counted += len(entries)
    assert sum(done.log.delays.values()) == counted
    assert max(done.log.delays) <= plan.longest_delay + plan.tile
    for ended, before in zip(done.rounds[1:], done.rounds, strict=False):
        within = done.selected.take(slice(before.version, ended.version))
        assert (within.seen <= ended.seen).all()
        assert (before.seen - within.seen <= plan.longest_delay).all()


@learners
@clusters
def test_rounds_end_at_their_marks_and_add_up(learner: Callable[[], Learner], cluster: Cluster) -> None:
    plan = Plan(850, 100, 100, 3)
    done = Done(learner(), cluster, plan)
    assert [ended.number for ended in done.rounds] == list(range(9))
    for number, ended in enumerate(done.rounds[1:-1], start=1):
        assert 0 <= ended.seen - (100 + 100 * number) < plan.tile
    assert done.rounds[-1].seen == 850
    assert sum(ended.selected for ended in done.rounds) == done.rounds[-1].version == done.log.version
    assert all(ended.elapsed.keys() == {3} and ended.elapsed[3] >= 0 for ended in done.rounds[1:])


@learners
@clusters
def test_the_log_and_its_rounds_rebuild_the_model(learner: Callable[[], Learner], cluster: Cluster) -> None:
    done = Done(learner(), cluster, Plan(900, 100, 100, 3))
    fresh = Node(learner(), EAGER, MOONS, seed=4)
    for stretch in done.log.stretches_after(Place(0, 0)):
        fresh.learn(stretch)
    assert done.digests == dict.fromkeys(range(3), fresh.learner.digest())
    assert done.learner.digest() == fresh.learner.digest()
    assert (fresh.version, fresh.rounds, fresh.seen) == (done.log.version, done.log.rounds, 900)


@learners
@pytest.mark.parametrize("plan", [Plan(900, 100, 100, 1), Plan(777, 64, 50, 1), Plan(300, 40, 0, 1)], ids=str)
def test_one_node_without_latency_goes_tile_by_tile(learner: Callable[[], Learner], plan: Plan) -> None:
    """It has two tiles in hand, but has learnt what it selected of the first before it sifts the second."""
    done = Done(learner(), Cluster(sift_seconds=1e-3, update_seconds=1e-2), plan)
    node = Node(learner(), EAGER, MOONS, seed=4)
    first, rounds = plan.warmstart * 3 // 4, 1
    log = [node.take(0, first).selected]
    node.learner.update(log[0])
    node.version = first
    log.append(node.take(first, plan.warmstart, scored=True).selected)
    node.learner.update(log[1])
    node.learner.end_round()
    node.version = seen = plan.warmstart
    while seen < plan.examples:
        last = min(seen + plan.tile, plan.examples)
        log.append(node.sift(seen, last, seen=seen).selected)
        if len(log[-1]):
            node.learner.update(log[-1])
        node.version, seen = node.version + len(log[-1]), last
        if seen - plan.warmstart >= rounds * plan.batch or seen == plan.examples:
            node.learner.end_round()
            rounds += 1
    for a, b in zip(_columns(Selected.concatenate(log)), _columns(done.selected), strict=True):
        assert np.array_equal(a, b)
    assert (done.log.rounds, done.learner.digest()) == (rounds, node.learner.digest())


@clusters
def test_what_was_accepted_before_a_tile_was_handed_out_is_in_the_model_that_sifts_it(cluster: Cluster) -> None:
    engine = Done(Network(hidden=4), cluster, Plan(900, 100, 100, 3)).engine
    for published in engine.published:
        assert published.seen >= engine.known_at_grant[published.node, published.tile]


def test_a_plan_that_ends_within_the_warmstart_learns_just_that() -> None:
    done = Done(LaSVM(gamma=1.0), Cluster(), Plan(50, 100, 400, 2))
    assert done.selected.examples.index.tolist() == list(range(50))
    assert len(done.rounds) == 1


@pytest.mark.parametrize(
    ("cluster", "plan", "again"),
    [
        (CLUSTERS["all at once"], Plan(420, 60, 20, 3), 0.0),
        (
            Cluster(sift_seconds=1e-3, update_seconds=1e-4, jitter=1e-3, slowness=(1.0, *[5.0] * 5)),
            Plan(160, 60, 20, 6, delay=6),
            0.3,
        ),
    ],
    ids=["any links", "many tiles too late and sifted again"],
)
def test_weighted_counts_are_unbiased(cluster: Cluster, plan: Plan, again: float) -> None:
    """The mean over many seeds of the coins, with an interval that a p that is wrong by a few percent would leave."""
    sifted, estimates = 0, np.zeros((120, 3))
    for seed in range(len(estimates)):
        done = Done(Network(hidden=4), cluster, plan, rule=PaperMargin(0.1), seed=seed)
        weight, examples = done.sifted.weight, done.sifted.examples
        estimates[seed] = weight.sum(), weight[examples.y > 0].sum(), weight[examples.x[:, 0] > 1].sum()
        sifted += sum(published.tile.last - published.tile.first for published in done.engine.published)
    fresh = MOONS.read(plan.warmstart, plan.examples)
    truth = np.array([len(fresh), (fresh.y > 0).sum(), (fresh.x[:, 0] > 1).sum()])
    error = 3.5 * estimates.std(axis=0, ddof=1) / sqrt(len(estimates))
    assert (np.abs(estimates.mean(axis=0) - truth) < error).all()
    assert (error < 0.05 * truth).all()
    assert sifted >= (1 + again) * len(fresh) * len(estimates)


def test_one_slow_node_of_eight_holds_back_nobody() -> None:
    cluster = Cluster(sift_seconds=1e-3, update_seconds=1e-4, latency=1e-3, slowness=(1.0, 1.0, 4.0))
    plan = Plan(900, 160, 100, 8)
    held_back = Done(Network(hidden=4), cluster, plan, schedule=synchronous)
    free = Done(Network(hidden=4), cluster, plan)
    assert held_back.log.seen == free.log.seen == 900
    assert held_back.seconds > 2 * free.seconds
    sifted = {number: sum(p.node == number for p in free.engine.published) for number in range(8)}
    assert 0 < sifted[2] < min(count for number, count in sifted.items() if number != 2)


def test_equal_nodes_are_as_fast_as_in_rounds_and_not_faster_than_their_number() -> None:
    cluster, plan = Cluster(sift_seconds=1e-3, update_seconds=0.0), Plan(900, 160, 100, 8)
    free, rounds = (Done(Network(hidden=4), cluster, plan, schedule=each) for each in (asynchronous, synchronous))
    assert free.seconds * 1.000001 >= 800 * 1e-3 / 8
    assert free.seconds < 1.1 * rounds.seconds


def test_the_clock_counts_learning_on_every_node() -> None:
    """With sifting for nothing, what is left is that each replica learns the log, from one end to the other."""
    done = Done(Network(hidden=4), Cluster(sift_seconds=0.0, update_seconds=1.0), Plan(900, 100, 100, 3))
    # What the last tiles selected is learnt after the end.
    assert len(done.sifted) * 0.8 < done.seconds <= len(done.sifted)
