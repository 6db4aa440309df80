"""Faults on the simulated engine, where any interleaving can be had: nodes are killed, links delay and repeat what is
published, and sequencers die between any two of their steps. What is in the log in the end is there once, and is the
model of everybody.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from making import run_spec, two_moons
from paraactive import Arrays, LaSVM, Network
from paraactive.data.events import Round
from paraactive.data.examples import Entries, Place, Selected, Stretch, Tile
from paraactive.engines import Cluster, Simulated
from paraactive.engines.simulated.virtual import Virtual
from paraactive.learners import Learner
from paraactive.rules import PaperMargin
from paraactive.runs.runfile import RunFile
from paraactive.runs.runfile.log_writer import LogWriter
from paraactive.schedules import Plan, asynchronous
from paraactive.schedules.engine import Joined, Message, Published
from paraactive.sifting.log import Log, MemoryLog
from paraactive.sifting.node import Node

X, Y = two_moons(340, noise=0.3, seed=0)
MOONS = Arrays(X, Y, seed=1)
KILLS = 6
"""In each run."""
STEPS = ("before receive", "after receive", "before accept", "after accept", "before apply", "after apply", "round")
"""Where a sequencer may die."""
HALF_WRITTEN = ("within accept", "before commit")
"""Where it may die with a run file besides."""


class DiedError(Exception):
    """The sequencer, on purpose."""


@dataclass(frozen=True)
class Kill:
    """A node is lost some messages after the kill before, and perhaps comes back."""

    messages: int
    node: int
    restarts_after: float | None


@dataclass(frozen=True)
class Death:
    """The sequencer dies when it takes this step for the so manyeth time; with it everything that is not on disk."""

    step: str
    times: int
    cold: bool


@dataclass
class Fate:
    """What goes wrong in a run, and what came of it."""

    kills: list[Kill]
    deaths: list[Death]
    late: list[float]
    """Seconds that what is published takes longer, one after the other, again and again."""
    twice: list[bool]
    """Whether it comes twice, likewise."""
    killed: list[int] = field(default_factory=list[int])
    """How many tiles had come when each node was killed."""
    died: int = 0
    accepted: list[tuple[Selected, int, Round | None]] = field(default_factory=list[tuple[Selected, int, Round | None]])
    """What was accepted: selected, examples seen with it, and the round that ended."""
    published: list[Published] = field(default_factory=list[Published])
    _steps: Counter[str] = field(default_factory=Counter[str])
    _messages: int = 0
    _sent: int = 0
    _coming: set[int] = field(default_factory=set[int])

    def step(self, name: str) -> None:
        """The sequencer takes a step, perhaps its last."""
        self._steps[name] += 1
        if self.deaths and self.deaths[0].step == name and self.deaths[0].times <= self._steps[name]:
            self.died += 1
            self._steps.clear()
            raise DiedError

    @contextmanager
    def accepting(self, log: Log, selected: Selected, ended: Round | None) -> Generator[None]:
        """The sequencer writes a tile; it may die just before or after."""
        self.step("before accept")
        yield
        self.accepted.append((selected, log.seen, ended))
        self.step("after accept")

    def before_message(self, virtual: Virtual) -> None:
        self._messages += 1
        live = virtual.numbers()
        if self.kills and live and self._messages >= self.kills[0].messages:
            kill, self._messages = self.kills.pop(0), 0
            number, after = live[kill.node % len(live)], kill.restarts_after
            if len(live) == 1 and not self._coming and after is None:
                after = 0.1  # Somebody must do the work.
            virtual.lose(number, after)
            self._coming |= set[int]() if after is None else {number}
            self.killed.append(len(self.published))

    def came(self, message: Message) -> None:
        if isinstance(message, Joined):
            self._coming.discard(message.node)
        if isinstance(message, Published):
            self.published.append(message)
            assert len(self.published) < 5000, "no end in sight"

    def everybody_is_back(self) -> None:
        self._coming.clear()

    def link(self) -> tuple[float, bool]:
        """How much later the next thing that is published comes, and whether it comes twice."""
        self._sent += 1
        return self.late[self._sent % len(self.late)], self.twice[self._sent % len(self.twice)]


class BadLinks(Virtual):
    """Links that delay, reorder and repeat."""

    def __init__(self, node: Node, nodes: int, cluster: Cluster, fate: Fate) -> None:
        super().__init__(node, nodes, cluster)
        self._fate = fate

    def send(self, time: float, message: Message) -> None:
        later, twice = self._fate.link()
        super().send(time + later, message)
        if twice:
            super().send(time + 2 * later, message)


class Fragile(Simulated):
    """Nodes that are killed, and a sequencer that dies."""

    def __init__(self, node: Node, nodes: int, cluster: Cluster, fate: Fate) -> None:
        super().__init__(node, nodes, cluster)
        self._fate = fate

    def begin_asynchronous(self) -> list[int]:
        if self._virtual is None:
            self._virtual = BadLinks(self._node, self._nodes, self._cluster, self._fate)
        return super().begin_asynchronous()

    def receive(self) -> Message:
        self._fate.step("before receive")
        self._fate.before_message(self.virtual)
        message = super().receive()
        self._fate.came(message)
        self._fate.step("after receive")
        return message

    def apply(self, stretch: Stretch) -> float:
        if not self._virtual:
            return super().apply(stretch)
        self._fate.step("before apply")
        seconds = super().apply(stretch)
        self._fate.step("after apply")
        return seconds


class FragileLog(MemoryLog):
    """A sequencer may die just before or after it writes."""

    fate: Fate

    def accept(self, tile: Tile, selected: Selected, ended: Round | None) -> Entries:
        with self.fate.accepting(self, selected, ended):
            return super().accept(tile, selected, ended)


class FragileWriter(LogWriter):
    """A sequencer may die also in the middle of writing."""

    fate: Fate

    def accept(self, tile: Tile, selected: Selected, ended: Round | None) -> Entries:
        with self.fate.accepting(self, selected, ended):
            return super().accept(tile, selected, ended)

    def append(self, selected: Selected) -> Entries:
        entries = super().append(selected)
        if self.rounds:
            self.fate.step("within accept")
        return entries

    def commit(self) -> None:
        if self.rounds and self._database.in_transaction:
            self.fate.step("before commit")
        super().commit()


New: TypeAlias = Callable[[], Learner]


def network() -> Network:
    return Network(hidden=4)


def svm() -> LaSVM:
    return LaSVM(gamma=1.0, gap=0.2)  # With a gap it matters where rounds end.


def new_node(new: New) -> Node:
    return Node(new(), PaperMargin(0.05), MOONS, seed=4)


def plan_for(nodes: int, delay: int | None = None) -> Plan:
    """Tiles of five examples, sixty of them."""
    return Plan(340, 10 * nodes, 40, nodes, delay=delay)


@st.composite
def fates(draw: st.DrawFn, steps: tuple[str, ...] = STEPS) -> Fate:
    kills = st.builds(Kill, st.integers(1, 8), st.integers(0, 5), st.none() | st.sampled_from([0.0, 0.01, 0.2]))
    deaths = st.builds(Death, st.sampled_from(steps), st.integers(1, 10), st.booleans())
    return Fate(
        draw(st.lists(kills, min_size=KILLS, max_size=KILLS)),
        draw(st.lists(deaths, min_size=1, max_size=5)),
        draw(st.lists(st.sampled_from([0.0, 0.0, 0.02, 0.3]), min_size=1, max_size=7)),
        draw(st.lists(st.booleans(), min_size=1, max_size=5)),
    )


clusters = st.builds(
    Cluster,
    slowness=st.lists(st.sampled_from([1.0, 0.5, 6.0]), max_size=5),
    latency=st.sampled_from([0.0, 0.004, 0.1]),
    jitter=st.sampled_from([0.0, 0.01, 0.3]),
    sift_seconds=st.just(1e-3),
    update_seconds=st.sampled_from([0.0, 2e-3]),
    seed=st.integers(0, 3),
)


def check(log: MemoryLog | LogWriter, engine: Simulated, plan: Plan, new: New) -> None:
    """Everything is in the log once, and the log is everybody's model."""
    assert log.seen == plan.examples
    assert log.accepted() == [Tile(plan.warmstart, plan.examples)]
    rebuilt, positions, rounds = new_node(new), list[int](), list[Stretch]()
    for stretch in log.stretches_after(Place(0, 0)):
        rebuilt.learn(stretch)
        positions += stretch.entries.selected.examples.index.tolist()
        rounds.append(stretch)
    assert len(set(positions)) == len(positions) == log.version
    assert positions[: plan.warmstart] == list(range(plan.warmstart))
    assert len(positions) > plan.warmstart
    assert [stretch.rounds for stretch in rounds] == list(range(log.rounds))
    assert all(stretch.ends_round for stretch in rounds)
    for number, stretch in enumerate(rounds[:-1]):
        assert 0 <= stretch.seen - plan.warmstart - number * plan.batch < plan.tile
    assert rounds[-1].seen == plan.examples
    assert min(log.delays) >= 0
    digests = engine.finish()
    assert digests == dict.fromkeys(engine.virtual.numbers(), rebuilt.learner.digest())
    assert len(digests) >= 1
    assert engine.model.learner.digest() == rebuilt.learner.digest()
    assert engine.model.place == rebuilt.place


def check_sifted(fate: Fate, plan: Plan, new: New) -> None:
    """Each tile that was ever published was sifted with the model of what its node knew: replay, and sift it again."""
    node, seen, rounds = new_node(new), plan.warmstart, 1
    node.learn(Stretch(Entries(0, node.take(0, plan.warmstart).selected), 0, plan.warmstart))
    waiting = list(reversed(fate.accepted))
    for published in sorted(fate.published, key=lambda published: published.seen):
        while waiting and waiting[-1][1] <= published.seen:
            selected, seen, ended = waiting.pop()
            node.learn(Stretch(Entries(node.version, selected), rounds, seen, ends_round=ended is not None))
            rounds += ended is not None
        again, selected = node.sift(*published.tile, seen=published.seen).selected, published.sifted.selected
        assert np.array_equal(again.examples.index, selected.examples.index)
        assert np.array_equal(again.p, selected.p)
        assert np.array_equal(again.version, selected.version)


def run_in_memory(fate: Fate, cluster: Cluster, plan: Plan, new: New) -> None:
    log = FragileLog(keep=True)
    log.fate = fate

    def engine_of_its_own() -> Fragile:
        return Fragile(new_node(new), plan.nodes, cluster, fate)

    engine = engine_of_its_own()
    while not _goes_to_the_end(engine, log, plan, fate):
        if fate.deaths.pop(0).cold:
            engine = engine_of_its_own()
            fate.everybody_is_back()
    check(log, engine, plan, new)
    check_sifted(fate, plan, new)


def _goes_to_the_end(engine: Simulated, log: MemoryLog | LogWriter, plan: Plan, fate: Fate) -> bool:
    """False if the sequencer died on the way."""
    rounds = asynchronous(engine, log, plan)
    try:
        for ended in rounds:
            if ended.number:
                fate.step("round")
    except DiedError:
        rounds.close()
        return False
    return True


def run_on_disk(path: Path, fate: Fate, cluster: Cluster, plan: Plan, new: New) -> None:
    engine, over = Fragile(new_node(new), plan.nodes, cluster, fate), False
    RunFile.create(path, run_spec()).close()
    while not over:
        with suppress(DiedError), RunFile.resume(path) as file:
            log = FragileWriter(file.database, file._end, file.log)
            log.fate = fate
            log.use_stream(MOONS)
            while not _goes_to_the_end(engine, log, plan, fate):
                death = fate.deaths.pop(0)
                if death.cold or death.step in HALF_WRITTEN:
                    engine = Fragile(new_node(new), plan.nodes, cluster, fate)
                    fate.everybody_is_back()
                    raise DiedError  # The file is closed as it is, as in a process that ends.
            over = True
    with RunFile.read(path) as file:
        file.writer.use_stream(MOONS)
        check(file.writer, engine, plan, new)
    check_sifted(fate, plan, new)


@pytest.mark.parametrize(("new", "runs", "kills"), [(network, 90, 500), (svm, 30, 150)], ids=["network", "svm"])
def test_hundreds_of_kills_lose_nothing_and_repeat_nothing(new: New, runs: int, kills: int) -> None:
    killed, died, again = 0, 0, 0

    @given(fate=fates(), cluster=clusters, nodes=st.integers(1, 5), delay=st.sampled_from([None, 8, 20]))
    @settings(max_examples=runs, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    def go(fate: Fate, cluster: Cluster, nodes: int, delay: int | None) -> None:
        nonlocal killed, died, again
        run_in_memory(fate, cluster, plan_for(nodes, delay), new)
        killed, died, again = (
            killed + len(fate.killed),
            died + fate.died,
            again + len(fate.published) - len(fate.accepted),
        )

    go()
    assert killed >= kills
    assert died >= runs // 2  # Sequencers.
    assert again >= 5 * runs  # Tiles that were published, and not needed.


@given(
    fate=fates((*STEPS, *HALF_WRITTEN)),
    cluster=clusters,
    nodes=st.integers(1, 5),
    delay=st.sampled_from([None, 8, 20]),
    new=st.sampled_from([network, svm]),
)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_run_file_has_everything_once_after_any_faults(
    fate: Fate, cluster: Cluster, nodes: int, delay: int | None, new: New
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        run_on_disk(Path(folder) / "run.db", fate, cluster, plan_for(nodes, delay), new)


NEAR = Cluster(sift_seconds=1e-3, update_seconds=1e-3)
FAR = Cluster(sift_seconds=1e-3, update_seconds=1e-3, latency=0.01, jitter=0.05)


@pytest.mark.parametrize("cold", [False, True], ids=["the nodes live on", "everything is gone"])
@pytest.mark.parametrize("step", STEPS)
def test_sequencers_may_die_again_and_again_at_the_same_step(step: str, cold: bool) -> None:
    fate = Fate([], [Death(step, times, cold) for times in (1, 1, 2, 3, 1, 1)], late=[0.0], twice=[False])
    run_in_memory(fate, FAR, plan_for(3), svm)
    assert fate.died == 6


@pytest.mark.parametrize("step", [*STEPS, *HALF_WRITTEN])
def test_sequencers_of_a_run_file_may_die_again_and_again_at_the_same_step(step: str, tmp_path: Path) -> None:
    fate = Fate([], [Death(step, times, cold=True) for times in (1, 1, 2, 3, 1, 1)], late=[0.0], twice=[False])
    run_on_disk(tmp_path / "run.db", fate, FAR, plan_for(3), svm)
    assert fate.died == 6


@pytest.mark.parametrize("cluster", [NEAR, FAR], ids=["near", "far"])
def test_a_node_that_is_killed_at_each_message_changes_nothing_for_the_others(cluster: Cluster) -> None:
    fate = Fate([Kill(1, 0, restarts_after=0.0)] * 50, [], late=[0.0], twice=[False])
    run_in_memory(fate, cluster, plan_for(3), svm)
    assert len(fate.killed) == 50
    assert {published.node for published in fate.published} >= {1, 2}


def test_everything_that_is_published_may_come_twice_and_in_any_order() -> None:
    fate = Fate([], [], late=[0.0, 0.9, 0.1, 0.0, 0.4], twice=[True])
    run_in_memory(fate, NEAR, plan_for(4), svm)
    assert len(fate.published) > 1.8 * len(fate.accepted)
    order = [published.tile for published in fate.published]
    assert order != sorted(order)


def test_a_dead_nodes_last_words_count() -> None:
    """All nodes are killed when what they published is on its way: it is accepted, and not sifted again."""
    fate = Fate([Kill(2, 0, 9.0), Kill(1, 0, 9.0), Kill(1, 0, 9.0)], [], late=[1.0], twice=[False])
    run_in_memory(fate, NEAR, plan_for(3), svm)
    assert fate.killed == [1, 2, 3]  # Of six tiles that were sifted in the first second.
    assert {published.node for published in fate.published[3:6]} == {0, 1, 2}
    assert len(fate.published) == len(fate.accepted)


def test_a_tile_that_is_being_sifted_is_lost_with_its_node_and_sifted_by_another() -> None:
    fate = Fate([Kill(2, 1, None)], [], late=[0.0], twice=[False])
    run_in_memory(fate, Cluster((1.0, 1000.0, 1.0), sift_seconds=1e-3, update_seconds=0.0), plan_for(3), svm)
    assert {published.node for published in fate.published} == {0, 2}
    assert len(fate.published) == len(fate.accepted)


class DiesInWarmstart(Simulated):
    """The first time that it is to learn, the sequencer dies: just before, or just after."""

    died, learns = False, False

    def apply(self, stretch: Stretch) -> float:
        if self.died:
            return super().apply(stretch)
        self.died = True
        if self.learns:
            super().apply(stretch)
        raise DiedError


@pytest.mark.parametrize("learns", [False, True], ids=["before it was learnt", "after it was learnt"])
def test_a_sequencer_that_died_in_the_warmstart_begins_it_anew(learns: bool) -> None:
    engine, log, plan = DiesInWarmstart(new_node(svm), 3, NEAR), MemoryLog(keep=True), plan_for(3)
    engine.learns = learns
    with pytest.raises(DiedError):
        next(asynchronous(engine, log, plan))
    for _ in asynchronous(engine, log, plan):
        pass
    check(log, engine, plan, svm)
    first = plan.warmstart * 3 // 4
    assert set(log.entries[0].selected.version.tolist()) == {0, first}, "the rest is scored by the model of the first"
