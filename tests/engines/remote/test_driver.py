"""Nodes that are killed, stopped, cut off or wrong, as real processes: nothing is lost, nothing comes twice, and all
replicas are equal at the end.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Collection, Generator
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pytest

from disk import wait_until
from making import run_spec, two_moons
from paraactive import Arrays, Network
from paraactive.basics.coins import coins
from paraactive.data.events import Event, NodeJoined, NodeLost, NodeSilent, ReplicaRebuilt, Round
from paraactive.data.examples import Entries, Place, Selected, Tile
from paraactive.engines import Processes, Remote, Simulated, blueprint
from paraactive.engines.remote import Transport
from paraactive.engines.remote.driver import CHECK_ROUNDS
from paraactive.engines.remote.letters import Letter
from paraactive.engines.remote.messages import Digest, Done, Fresh, FromNode, Gone, Stop, ToNode
from paraactive.errors import NodesLostError, NodeWarning, ReplicaError, ReplicaWarning
from paraactive.learners import Learner
from paraactive.rules import Gradient, Rule
from paraactive.runs.runfile import RunFile
from paraactive.schedules import SCHEDULES, Plan
from paraactive.sifting.log import Log, MemoryLog
from paraactive.sifting.node import Node
from strange import Background, Doomed, Drifting, Forgetful, Steady, Stuck, claimed, nothing_left

SEED, WARMSTART, EXAMPLES, BATCH = 4, 200, 3000, 100
X, Y = two_moons(EXAMPLES, noise=0.3, seed=0)
ALL = ["synchronous", "asynchronous"]


def network() -> Network:
    return Network(hidden=8)


def moons() -> Arrays:
    return Arrays(X, Y)


@pytest.fixture(autouse=True)
def nothing_is_left() -> Generator[None]:
    """Whatever happens to nodes: no process, no thread, no pipe, no memory of theirs stays."""
    with nothing_left():
        yield


class Hosted:
    """A run on processes that a test drives by hand. What comes of it is compared by `check`."""

    def __init__(
        self,
        learner: Learner,
        schedule: str,
        nodes: int = 2,
        *,
        updates: str = "replicated",
        wrap: Callable[[Processes], Transport] = lambda processes: processes,
        log: Log | None = None,
        patience: float = 5.0,
    ) -> None:
        self.schedule, self.log = schedule, MemoryLog(keep=True) if log is None else log
        self.plan = Plan(EXAMPLES, BATCH, WARMSTART, nodes)
        self.node = Node(learner, rule_of(schedule), moons(), SEED)
        self.events: list[Event] = []
        self.digests: dict[int, str] = {}
        self.processes = Processes(blueprint(self.node))
        self.engine = Remote(
            wrap(self.processes), self.node, nodes,
            updates=updates, delay=self.plan.longest_delay, observe=self.events.append, patience=patience,
        )  # fmt: skip

    def __enter__(self) -> Hosted:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.engine.close()

    def rounds(self) -> Generator[Round]:
        return SCHEDULES[self.schedule](self.engine, self.log, self.plan)

    def go(self) -> list[Round]:
        """To the end of the run."""
        rounds = list(self.rounds())
        self.finish()
        return rounds

    def go_without_waiting(self) -> None:
        """To the end of the run, with those nodes that answer."""
        for _ in self.rounds():
            pass
        self.digests = self.engine.finish()

    def finish(self) -> None:
        """Compare the replicas when all are there: those too that were lost just before the end."""
        end = time.monotonic() + 60
        while len(self.engine._available()) < len(self.engine._nodes):
            assert time.monotonic() < end, "a node did not come back"
            self.engine._receive(1.0)
        self.digests = self.engine.finish()

    def told(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]

    def check(self, nodes: set[int] | None = None) -> None:
        """Nothing lost, nothing twice, all replicas equal; and round by round, the log of an undisturbed run."""
        assert self.digests.keys() == (nodes or set(range(self.plan.nodes)))
        assert set(self.digests.values()) == {self.node.learner.digest()}
        assert replayed(self.log) == self.node.learner.digest()
        assert self.log.seen == EXAMPLES
        whole = entries_of(self.log)
        if self.schedule == "asynchronous":
            assert self.log.accepted() == [Tile(WARMSTART, EXAMPLES)]
            assert sorted(whole.selected.examples.index.tolist()) == selected_by_coins()
        else:
            undisturbed, digest = alone(self.schedule)
            assert_same(whole.selected, undisturbed)
            assert self.node.learner.digest() == digest


def rule_of(schedule: str) -> Rule:
    """Of the asynchronous log, in which chance decides on the order, the rule makes sure what there is in it."""
    return Steady() if schedule == "asynchronous" else Gradient()


def selected_by_coins() -> list[int]:
    """The warmstart, and every position whose coin falls below the rate."""
    tossed = np.arange(WARMSTART, EXAMPLES)
    return [*range(WARMSTART), *tossed[coins(SEED, tossed) < Steady().rate].tolist()]


@cache
def alone(schedule: str) -> tuple[Selected, str]:
    """The log and the digest of a run that nothing happens to, on no processes at all."""
    log, learner = MemoryLog(keep=True), network()
    engine = Simulated(Node(learner, rule_of(schedule), moons(), SEED), 1)
    for _ in SCHEDULES[schedule](engine, log, Plan(EXAMPLES, BATCH, WARMSTART, 1)):
        pass
    return entries_of(log).selected, learner.digest()


def entries_of(log: Log) -> Entries:
    """The whole log."""
    stretches = log.stretches_after(Place(0, 0))
    return Entries(0, Selected.concatenate([stretch.entries.selected for stretch in stretches]))


def replayed(log: Log) -> str:
    """The digest of a replica that learns the log from its beginning."""
    node = Node(network(), Gradient(), moons(), SEED)
    for stretch in log.stretches_after(Place(0, 0)):
        node.learn(stretch)
    assert node.version == log.version
    return node.learner.digest()


def assert_same(one: Selected, other: Selected) -> None:
    """Bit for bit; only who sifted an example may differ."""
    for a, b in (
        (one.examples.index, other.examples.index),
        (one.examples.x, other.examples.x),
        (one.examples.y, other.examples.y),
        (one.p, other.p),
        (one.seen, other.seen),
        (one.version, other.version),
    ):
        assert a.tobytes() == b.tobytes()


# Killed --------------------------------------------------------------------------------------------------------


def kill_when_stuck(folder: Path) -> None:
    wait_until(lambda: claimed(folder / "stuck") is not None)
    os.kill(claimed(folder / "stuck") or 0, signal.SIGKILL)


@pytest.mark.parametrize("schedule", ALL)
@pytest.mark.parametrize(("doing", "calls"), [("score", 4), ("update", 9)])
def test_a_node_that_is_killed_while_it_sifts_or_learns_changes_nothing(
    schedule: str, doing: str, calls: int, tmp_path: Path
):
    with Hosted(Stuck(tmp_path, doing, calls), schedule) as run:
        killing = Background(lambda: kill_when_stuck(tmp_path))
        run.go()
        killing.finish()
        (lost,) = run.told(NodeLost)
        assert isinstance(lost, NodeLost)
        assert lost.why == "ended by SIGKILL"
        joined = Counter(event.node for event in run.events if isinstance(event, NodeJoined))
        assert joined == {0: 1, 1: 1} | {lost.node: 2}
        run.check()


class Killing:
    """A transport that kills nodes: each time when so many letters were carried as chance will have it.

    A node that was killed twice without having answered in between is spared: three times, and it is given up.
    """

    def __init__(self, processes: Processes, seed: int, kills: int, letters: int) -> None:
        self._processes, self._chance, self._letters = processes, random.Random(seed), letters
        self._alive: set[int] = set()
        self._in_vain: Counter[int] = Counter()
        self.left = kills
        self._countdown = self._chance.randint(1, letters)

    def start(self, number: int) -> None:
        self._processes.start(number)
        self._alive.add(number)

    def send(self, number: int, letter: Letter[ToNode]) -> None:
        self._processes.send(number, letter)
        self._carried()

    def receive(self, timeout: float | None) -> tuple[int, Letter[FromNode] | Gone] | None:
        received = self._processes.receive(timeout)
        if received:
            number, letter = received
            if isinstance(letter, Gone):
                self._in_vain[number] += 1
            elif isinstance(letter.message, Done | Digest):
                self._in_vain[number] = 0
            self._carried()
        return received

    def _carried(self) -> None:
        self._countdown -= 1
        victims = sorted(number for number in self._alive if self._in_vain[number] < 2)
        if self.left and victims and self._countdown <= 0:
            number = self._chance.choice(victims)
            os.kill(self._processes.process_id(number), signal.SIGKILL)
            self._alive.discard(number)
            self.left -= 1
            self._countdown = self._chance.randint(1, self._letters)

    def end(self, number: int) -> None:
        self._processes.end(number)
        self._alive.discard(number)

    def close(self) -> None:
        self._processes.close()


@pytest.mark.parametrize(
    ("schedule", "seed", "letters"),
    [("asynchronous", 1, 60), ("asynchronous", 2, 60), ("synchronous", 3, 20), ("synchronous", 4, 20)],
)
def test_nodes_that_are_killed_at_any_moment_and_again_change_nothing(schedule: str, seed: int, letters: int):
    killers: list[Killing] = []

    def wrap(processes: Processes) -> Killing:
        killers.append(Killing(processes, seed, kills=7, letters=letters))  # 28 in all.
        return killers[0]

    updates = "auto" if seed % 2 else "replicated"
    with Hosted(network(), schedule, nodes=3, updates=updates, wrap=wrap) as run:
        run.go()
        assert killers[0].left == 0
        assert [event.why for event in run.events if isinstance(event, NodeLost)] == ["ended by SIGKILL"] * 7
        run.check()


# Stopped -------------------------------------------------------------------------------------------------------


def test_a_node_that_sleeps_holds_back_nobody_in_the_asynchronous_schedule():
    with Hosted(network(), "asynchronous") as run:
        sleeper = 0
        for ended in run.rounds():
            if ended.number == 2:
                sleeper = run.processes.process_id(0)
                os.kill(sleeper, signal.SIGSTOP)
            if ended.number == 12:  # The log grew by ten rounds meanwhile.
                os.kill(sleeper, signal.SIGCONT)
            if ended.number == 20:
                sleeper = run.processes.process_id(1)
                os.kill(sleeper, signal.SIGSTOP)
        assert run.log.seen == EXAMPLES, "the rest of the run was for the other alone"
        os.kill(sleeper, signal.SIGCONT)
        run.finish()
        assert not run.told(NodeLost)
        run.check()


class Sleeping:
    """A transport that stops node 0 with a certain letter to it, and wakes it when nothing comes any more."""

    def __init__(self, processes: Processes) -> None:
        self._processes, self._letters, self._asleep, self.slept = processes, 0, 0, 0
        self.start, self.end, self.close = processes.start, processes.end, processes.close

    def send(self, number: int, letter: Letter[ToNode]) -> None:
        self._processes.send(number, letter)
        self._letters += number == 0
        if number == 0 and self._letters % 20 == 11:
            self._asleep = self._processes.process_id(0)
            os.kill(self._asleep, signal.SIGSTOP)

    def receive(self, timeout: float | None) -> tuple[int, Letter[FromNode] | Gone] | None:
        received = self._processes.receive(0.3 if self._asleep else timeout)
        if received is None and self._asleep:
            os.kill(self._asleep, signal.SIGCONT)
            self._asleep, self.slept = 0, self.slept + 1
        return received


def test_a_node_that_sleeps_is_waited_for_round_by_round():
    sleeping: list[Sleeping] = []

    def wrap(processes: Processes) -> Sleeping:
        sleeping.append(Sleeping(processes))
        return sleeping[0]

    with Hosted(network(), "synchronous", wrap=wrap) as run:
        run.go()
        assert sleeping[0].slept >= 2
        assert not run.told(NodeLost)
        run.check()


class Stopping:
    """A transport that stops a node, by SIGSTOP, before it sends the node a tile from a certain position on."""

    def __init__(self, processes: Processes, node: int, position: int) -> None:
        self._processes, self._node, self._position = processes, node, position
        self.start, self.receive = processes.start, processes.receive
        self.end, self.close = processes.end, processes.close
        self.stopped = 0
        """The stopped process."""
        self.sent: list[ToNode] = []
        """What was sent to the node since."""

    def send(self, number: int, letter: Letter[ToNode]) -> None:
        message = letter.message
        if number == self._node and isinstance(message, Fresh) and message.tile.first >= self._position:
            self._stop()
        if number == self._node and self.stopped:
            self.sent.append(message)
        self._processes.send(number, letter)

    def _stop(self) -> None:
        if not self.stopped:
            self.stopped = self._processes.process_id(self._node)
            os.kill(self.stopped, signal.SIGSTOP)

    def wake(self) -> None:
        os.kill(self.stopped, signal.SIGCONT)
        self._position, self.stopped = EXAMPLES, 0


def stopping(schedule: str, nodes: int, **options: Any) -> tuple[Hosted, Stopping]:
    """A run whose node 0 is stopped on the way; without rounds at its first tile, because it may get no other."""
    found: list[Stopping] = []
    position = WARMSTART if schedule == "asynchronous" else 1000

    def wrap(processes: Processes) -> Stopping:
        found.append(Stopping(processes, 0, position))
        return found[0]

    return Hosted(network(), schedule, nodes, wrap=wrap, patience=0.3, **options), found[0]


def silent(run: Hosted) -> list[int]:
    return [event.node for event in run.events if isinstance(event, NodeSilent)]


@pytest.mark.parametrize("schedule", ALL)
@pytest.mark.parametrize(("nodes", "instead"), [(1, "the driver sifts"), (2, "other nodes sift")])
@pytest.mark.parametrize("updates", ["replicated", "central"])
def test_a_node_that_is_stopped_for_good_hangs_no_run_and_others_sift_its_portion(
    schedule: str, nodes: int, instead: str, updates: str
):
    hosted, stopper = stopping(schedule, nodes, updates=updates)
    with hosted as run:
        with pytest.warns(NodeWarning) as warned:
            run.go_without_waiting()
        assert silent(run) == [0], "it is waited for once, and not in each round"
        assert [event.node for event in run.events if isinstance(event, NodeLost)] == [0]
        assert [str(warning.message) for warning in warned] == [
            f"node 0 has not answered for 0 s; {instead} its portion until it answers",
            "node 0 did not answer at the end of the run; its replica was not compared",
        ]
        assert not stopper.sent or not isinstance(stopper.sent[-1], Stop)
        _assert_few_letters(stopper, schedule)
        if nodes == 1:
            assert run.digests == {}
            run.digests = {0: run.node.learner.digest()}
        run.check({*range(nodes)} - {0} or {0})


def _assert_few_letters(stopper: Stopping, schedule: str) -> None:
    """What waits for the stopped node is one part, or two tiles, and the news of the rounds before it was silent."""
    tiles = [message for message in stopper.sent if isinstance(message, Fresh)]
    assert len(tiles) <= (2 if schedule == "asynchronous" else 1)
    if schedule != "asynchronous":
        assert len(stopper.sent) <= 4


@pytest.mark.parametrize("schedule", ALL)
@pytest.mark.parametrize("nodes", [1, 3])
@pytest.mark.parametrize("updates", ["replicated", "central"])
def test_a_node_that_is_continued_after_its_portion_was_sifted_elsewhere_joins_again(
    schedule: str, nodes: int, updates: str
):
    hosted, stopper = stopping(schedule, nodes, updates=updates)
    with hosted as run:
        with pytest.warns(NodeWarning, match="node 0 has not answered for"):
            go_and_wake(run, stopper)
        run.finish()
        joined = Counter(event.node for event in run.events if isinstance(event, NodeJoined))
        assert joined[0] == 1 + silent(run).count(0)
        assert not run.told(NodeLost)
        run.check()


def go_and_wake(run: Hosted, stopper: Stopping) -> None:
    """Continue the stopped node four rounds after it was found silent, and see that it says what it was asked then."""
    rounds = 0
    for _ in run.rounds():
        rounds += 0 in silent(run)
        if run.schedule == "asynchronous" and stopper.stopped:
            find_silent(run, {0})
        if rounds == 4 and stopper.stopped:
            stopper.wake()
            wait_until(lambda: take_in(run))
    assert rounds >= 4


def find_silent(run: Hosted, stopped: Collection[int]) -> None:
    """Count stopped nodes as late now: the others would be done before these are."""
    for number in stopped:
        run.engine._nodes[number].since = -1000.0
    run.engine._find_silent()


def take_in(run: Hosted) -> bool:
    """Let the engine find the next letter, and leave what it says to the schedule."""
    run.engine._mailbox.collect(0.1)
    return run.engine._mailbox.has_message_of(0)


class Freezing:
    """A transport that stops and continues nodes as chance will have it; at times all of them are stopped."""

    def __init__(self, processes: Processes, seed: int) -> None:
        self._processes, self._chance = processes, random.Random(seed)
        self.start, self.close = processes.start, processes.close
        self._nodes: set[int] = set()
        self.stopped: set[int] = set()
        self.stops, self.calm = 0, False

    def send(self, number: int, letter: Letter[ToNode]) -> None:
        self._processes.send(number, letter)
        if isinstance(letter.message, Fresh):
            self._nodes.add(number)
        if self._nodes and not self.calm and self._chance.random() < 0.08:
            self._signal(self._chance.choice(sorted(self._nodes)), signal.SIGSTOP)

    def receive(self, timeout: float | None) -> tuple[int, Letter[FromNode] | Gone] | None:
        received = self._processes.receive(timeout)
        if self.stopped and (self.calm or self._chance.random() < 0.03):
            self._signal(self._chance.choice(sorted(self.stopped)), signal.SIGCONT)
        return received

    def _signal(self, number: int, sent: signal.Signals) -> None:
        os.kill(self._processes.process_id(number), sent)
        self.stops += sent == signal.SIGSTOP
        (self.stopped.add if sent == signal.SIGSTOP else self.stopped.discard)(number)

    def end(self, number: int) -> None:
        self._processes.end(number)


def go_with_stops(run: Hosted, freezer: Freezing) -> None:
    for _ in run.rounds():
        if run.schedule == "asynchronous":
            find_silent(run, freezer.stopped)


@pytest.mark.parametrize("schedule", ALL)
@pytest.mark.parametrize("seed", [1, 2])
def test_nodes_that_are_stopped_and_continued_at_any_moment_change_nothing(schedule: str, seed: int):
    freezers: list[Freezing] = []

    def wrap(processes: Processes) -> Freezing:
        freezers.append(Freezing(processes, seed))
        return freezers[0]

    updates = "auto" if seed % 2 else "replicated"
    with Hosted(network(), schedule, nodes=3, updates=updates, wrap=wrap, patience=0.05) as run:
        with pytest.warns(NodeWarning, match="has not answered for"):
            go_with_stops(run, freezers[0])
        freezers[0].calm = True
        while len(run.engine._available()) < 3:
            run.engine._receive(0.1)
        run.finish()
        assert freezers[0].stops >= 3
        assert len(silent(run)) >= 2
        run.check()


# Letters -------------------------------------------------------------------------------------------------------


class Postman:
    """A transport that holds letters back, mixes them up and delivers some twice, both ways."""

    def __init__(self, processes: Processes, seed: int) -> None:
        self._processes, self._chance = processes, random.Random(seed)
        self._going: list[tuple[int, Letter[ToNode]]] = []
        self._coming: list[tuple[int, Letter[FromNode]]] = []
        self._last: Counter[tuple[str, int]] = Counter()
        self.mixed_up = self.repeated = 0

    def start(self, number: int) -> None:
        self._processes.start(number)

    def send(self, number: int, letter: Letter[ToNode]) -> None:
        self._going += [(number, letter)] * self._copies()
        while self._going and self._chance.random() < 0.4:
            self._pass_on()

    def _pass_on(self) -> None:
        number, letter = self._going.pop(self._chance.randrange(len(self._going)))
        self._watch("to", number, letter.number)
        self._processes.send(number, letter)

    def receive(self, timeout: float | None) -> tuple[int, Letter[FromNode] | Gone] | None:
        end = time.monotonic() + (1e9 if timeout is None else timeout)
        while True:
            held = self._going or self._coming
            received = self._processes.receive(0.002 if held else max(0.0, end - time.monotonic()))
            if received:
                number, letter = received
                assert not isinstance(letter, Gone), "nobody is to die here"
                self._coming += [(number, letter)] * self._copies()
            else:
                while self._going:
                    self._pass_on()
            if self._coming and (received is None or self._chance.random() < 0.4):
                number, letter = self._coming.pop(self._chance.randrange(len(self._coming)))
                self._watch("from", number, letter.number)
                return number, letter
            if not held and time.monotonic() >= end:
                return None

    def _copies(self) -> int:
        copies = 1 + (self._chance.random() < 0.2)
        self.repeated += copies - 1
        return copies

    def _watch(self, way: str, number: int, letter: int) -> None:
        self.mixed_up += letter < self._last[way, number]
        self._last[way, number] = letter

    def end(self, number: int) -> None:
        self._processes.end(number)

    def close(self) -> None:
        while self._going:
            self._pass_on()
        self._processes.close()


@pytest.mark.parametrize(
    ("schedule", "updates"), [("synchronous", "central"), ("synchronous", "replicated"), ("asynchronous", "replicated")]
)
def test_letters_that_are_late_or_mixed_up_or_come_twice_change_nothing(schedule: str, updates: str):
    postmen: list[Postman] = []

    def wrap(processes: Processes) -> Postman:
        postmen.append(Postman(processes, seed=5))
        return postmen[0]

    with Hosted(network(), schedule, updates=updates, wrap=wrap) as run:
        run.go()
        assert min(postmen[0].mixed_up, postmen[0].repeated) > 10
        run.check()


# The sequencer -------------------------------------------------------------------------------------------------


class SequencerLostError(Exception):
    """The end of a sequencer."""


def break_once(patch: pytest.MonkeyPatch, of: object, name: str, calls: int, *, after: bool) -> None:
    """The so-manieth call ends the sequencer: before anything is done, or when it is."""
    real, left = getattr(of, name), [calls]

    def broken(*given: Any) -> Any:
        left[0] -= 1
        if left[0] == 0 and not after:
            raise SequencerLostError
        result = real(*given)
        if left[0] == 0:
            raise SequencerLostError
        return result

    patch.setattr(of, name, broken)


def test_a_sequencer_that_is_lost_has_a_successor_who_goes_on_with_the_same_nodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path, learner = tmp_path / "run.db", network()
    with RunFile.create(path, run_spec()) as file, Hosted(learner, "asynchronous", log=file.writer) as run:
        file.writer.use_stream(run.node.stream)
        engine, lost = run.engine, 0
        moments: list[tuple[object, str, int, bool]] = [
            (file.writer, "accept", 5, False),
            (file.writer, "accept", 9, True),  # It is on disk, and no replica has it.
            (engine, "apply", 20, False),
            (run.node, "learn", 30, False),  # The nodes were sent it, and the driver's replica has not learned it.
            (engine, "apply", 40, True),
            (engine, "receive", 60, True),  # What a node published is lost.
            (engine, "grant", 90, True),
        ]
        for of, name, calls, after in moments:
            break_once(monkeypatch, of, name, calls, after=after)
        before = [run.processes.process_id(number) for number in range(2)]
        while file.seen < EXAMPLES:
            try:
                for _ in run.rounds():
                    pass
            except SequencerLostError:
                lost += 1
        assert lost == len(moments)
        assert before == [run.processes.process_id(number) for number in range(2)]
        run.finish()
        run.check()


# Wrong ---------------------------------------------------------------------------------------------------------


def rebuilt(run: Hosted, folder: Path) -> ReplicaRebuilt:
    """What was told of the replica that had drifted, and of no other."""
    (event,) = run.told(ReplicaRebuilt)
    assert isinstance(event, ReplicaRebuilt)
    assert run.processes.process_id(event.node) == claimed(folder / "drifted")
    return event


CHECKED = [*range(CHECK_ROUNDS - 1, 28, CHECK_ROUNDS), 28]
"""The numbers of the rounds after which replicas are compared."""


@pytest.mark.parametrize(
    ("updates", "found"),
    [(3, CHECKED[0]), (28, CHECKED[-1])],
)
def test_a_replica_with_a_flipped_bit_is_found_and_named_and_rebuilt(updates: int, found: int, tmp_path: Path):
    with Hosted(Drifting(tmp_path, updates), "synchronous") as run:
        with pytest.warns(ReplicaWarning) as warned:
            rounds = run.go()
        event = rebuilt(run, tmp_path)
        assert event.version == rounds[found].version
        (warning,) = warned
        assert f"the replica of node {event.node} differed from the others" in str(warning.message)
        assert f"at entry {event.version}, and was rebuilt" in str(warning.message)
        assert set(run.digests.values()) == {run.node.learner.digest()} == {replayed(run.log)}
        assert len(run.digests) == 2


def test_a_replica_with_a_flipped_bit_is_found_in_the_asynchronous_schedule_too(tmp_path: Path):
    with Hosted(Drifting(tmp_path, 10), "asynchronous") as run:
        with pytest.warns(ReplicaWarning):
            rounds = run.go()
        assert rebuilt(run, tmp_path).version in {rounds[number].version for number in CHECKED}
        run.check()


def test_a_drivers_replica_that_differs_from_all_others_ends_the_run(tmp_path: Path):
    with (
        Hosted(Drifting(tmp_path, 4, on_driver=True), "synchronous") as run,
        pytest.raises(ReplicaError, match="the driver's replica differs from all others, which agree"),
    ):
        run.go()
    assert not run.told(ReplicaRebuilt)


def test_a_learner_that_does_not_load_what_was_saved_is_said_to_and_the_run_does_not_go_on_for_ever(tmp_path: Path):
    with (
        Hosted(Forgetful(tmp_path), "synchronous", nodes=1, updates="central") as run,
        pytest.warns(ReplicaWarning),
        pytest.raises(ReplicaError, match=r"given the same model 10 times: .* check that load\(save\(\)\) gives"),
    ):
        run.go()


# Never there ---------------------------------------------------------------------------------------------------


def test_a_node_that_dies_whenever_it_is_started_is_given_up_and_the_others_go_on(tmp_path: Path):
    with Hosted(Doomed(tmp_path, lives=True), "synchronous") as run:
        with pytest.warns(
            NodeWarning, match=r"is lost \(ended with exit code 3\) and was started 3 times without success"
        ):
            run.go()
        (lives,) = run.digests
        assert run.processes.process_id(lives) == claimed(tmp_path / "alive")
        assert run.told(NodeLost) == [NodeLost(1 - lives, "ended with exit code 3")] * 3
        run.check({lives})


def test_a_run_whose_only_node_dies_whenever_it_is_started_ends_with_an_error(tmp_path: Path):
    with (
        Hosted(Doomed(tmp_path, lives=False), "synchronous", nodes=1) as run,
        pytest.raises(NodesLostError, match="no node is left: the last one was started 3 times without success"),
    ):
        run.go()
