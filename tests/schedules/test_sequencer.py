"""The sequencer alone: nodes are made up here, and tiles come back in any order, late, twice, or not at all."""

from __future__ import annotations

from collections import Counter
from math import ceil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from paraactive import Arrays
from paraactive.data.events import Round
from paraactive.data.examples import Place, Selected, Stretch, Tile
from paraactive.schedules.engine import Published
from paraactive.schedules.plan import Plan
from paraactive.schedules.sequencer import Sequencer
from paraactive.sifting.log import MemoryLog
from paraactive.sifting.node import Sifted

STREAM = Arrays(np.arange(400.0).reshape(-1, 1), np.arange(400) % 2, shuffle=False)
NODES = st.integers(0, 4)


def sifted(tile: Tile, seen: int, version: int) -> Sifted:
    """Positions 0, 3, 6... are selected, so that the log shows what became of each tile."""
    fresh = STREAM.read(*tile)
    chosen = fresh.take(fresh.index % 3 == 0)
    seens, versions = (np.full(len(chosen), value) for value in (seen, version))
    return Sifted(tile.last, Selected(chosen, np.full(len(chosen), 0.5), seens, versions), 0.25, 0.5)


def begun(plan: Plan) -> MemoryLog:
    """A log that has the warmstart."""
    log = MemoryLog(keep=True)
    taken = STREAM.read(0, min(plan.warmstart, plan.examples))
    none = np.zeros(len(taken), np.int64)
    log.append(Selected(taken, np.ones(len(taken)), none, none))
    log.end_round(Round(0, len(taken), log.version, len(taken), 0.0, 0.0, 0.0))
    return log


class MadeUpNode:
    """What a node has in hand, and how far its model is."""

    def __init__(self, number: int, log: MemoryLog) -> None:
        self.number, self._log = number, log
        self.seen, self.version = log.seen, log.version
        self.hands: list[Tile] = []
        self.excuses = 0
        """Tiles that it may have in hand beyond the bound: an older one that comes back makes room for another."""

    def hear(self) -> None:
        """Learn everything that was accepted."""
        self.seen, self.version = self._log.seen, self._log.version

    def sift(self, which: int = 0) -> Published:
        """Publish one of the tiles in hand."""
        tile = self.hands.pop(which % len(self.hands))
        return Published(self.number, tile, sifted(tile, self.seen, self.version), self.seen)


class Judge:
    """A sequencer with its log, and a watch on what it does."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.log = plan, begun(plan)
        self.accepted = Counter[int](range(min(plan.warmstart, plan.examples)))
        self.rounds: list[Round] = []
        self.sequencer = Sequencer(self.log, plan)

    def restart(self) -> None:
        """The sequencer dies; another takes its place with the log alone."""
        self.sequencer = Sequencer(self.log, self.plan)

    def deliver(self, published: Published) -> Stretch | None:
        seen, version, rounds, tile = self.log.seen, self.log.version, self.log.rounds, published.tile
        stretch, ended = self.sequencer.accept(published, 1.0, 2.0)
        if stretch is None:
            assert ended is None
            assert (self.log.seen, self.log.version, self.log.rounds) == (seen, version, rounds)
            return None
        assert seen - published.seen <= self.plan.longest_delay
        assert stretch.begins == Place(version, rounds)
        assert stretch.ends == Place(self.log.version, self.log.rounds)
        assert stretch.seen == self.log.seen == seen + tile.last - tile.first
        assert stretch.entries.selected.examples.index.tolist() == [i for i in range(*tile) if i % 3 == 0]
        assert (stretch.entries.entry_lag >= 0).all()
        self.accepted.update(range(*tile))
        self._check_mark(seen, ended)
        return stretch

    def _check_mark(self, before: int, ended: Round | None) -> None:
        """A round ends with the tile that crosses a mark: a whole number of batches, or the end."""
        plan, seen = self.plan, self.log.seen
        crossed = (seen - plan.warmstart) // plan.batch > (before - plan.warmstart) // plan.batch
        assert (ended is not None) == (crossed or seen == plan.examples)
        if ended:
            assert (ended.number, ended.seen, ended.version) == (self.log.rounds - 1, seen, self.log.version)
            self.rounds.append(ended)

    def check(self) -> None:
        """Holds at any time."""
        assert not self.accepted or max(self.accepted.values()) == 1
        assert self.accepted.total() == self.log.seen
        tiles = [Tile(0, min(self.plan.warmstart, self.plan.examples)), *self.log.accepted()]
        assert self.accepted.keys() == {position for tile in tiles for position in range(*tile)}
        assert self.sequencer.done == (self.log.seen >= self.plan.examples)

    def check_end(self) -> None:
        """Holds at the end: everything is there once, and the rounds add up."""
        plan, log = self.plan, self.log
        assert log.seen == plan.examples
        assert self.accepted == Counter(range(plan.examples))
        positions = np.concatenate([entries.selected.examples.index for entries in log.entries])
        expected = [i for i in range(plan.examples) if i < plan.warmstart or i % 3 == 0]
        assert sorted(positions.tolist()) == expected
        assert sum(ended.selected for ended in self.rounds) == len(expected) - min(plan.warmstart, plan.examples)
        stretches = log.stretches_after(Place(0, 0))
        assert [stretch.rounds for stretch in stretches] == list(range(len(self.rounds) + 1))
        assert all(stretch.ends_round for stretch in stretches)
        assert stretches[-1].seen == plan.examples
        replayed = np.concatenate([stretch.entries.selected.examples.index for stretch in stretches])
        assert replayed.tolist() == positions.tolist()


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    nodes = draw(st.integers(1, 4))
    batch = draw(st.integers(nodes, 40))
    warmstart = draw(st.integers(0, 15))
    delay = draw(st.none() | st.integers(nodes, 2 * nodes + 6) | st.integers(nodes, 3 * batch))
    return Plan(warmstart + draw(st.integers(1, 120)), batch, warmstart, nodes, delay=delay)


def finish(judge: Judge, nodes: dict[int, MadeUpNode], silent: set[int]) -> None:
    """From here on everybody who is not silent does what a node does; the run must come to its end."""
    for _ in range(4 * judge.plan.examples + 20):
        if judge.sequencer.done:
            break
        for number, tile in judge.sequencer.grants():
            nodes[number].hands.append(tile)
        live = [node for number, node in nodes.items() if number not in silent and node.hands]
        assert live, "nobody has anything to do, and the run is not over"
        for node in live:
            node.hear()
            judge.deliver(node.sift())
            judge.check()
    assert judge.sequencer.done
    judge.check_end()


class Nodes(RuleBasedStateMachine):
    """Nodes come, go, fall silent and publish in any order; links delay and repeat; sequencers die."""

    judge: Judge

    @initialize(plan=plans())
    def begin(self, plan: Plan) -> None:
        self.judge = Judge(plan)
        self.nodes: dict[int, MadeUpNode] = {}
        self.on_the_way: list[Published] = []
        self.delivered: list[Published] = []
        for number in range(plan.nodes):
            self.join(number)

    @rule(number=NODES)
    def join(self, number: int) -> None:
        self.judge.sequencer.join(number)
        self.nodes[number] = node = MadeUpNode(number, self.judge.log)
        node.excuses += sum(published.node == number for published in self.on_the_way)

    @rule(number=NODES, publishes=st.integers(0, 2))
    def leave(self, number: int, publishes: int) -> None:
        """What it had published is still on its way; what it held is gone."""
        self.judge.sequencer.leave(number)
        left = self.nodes.pop(number, None)
        while left and left.hands and publishes:
            self.on_the_way.append(left.sift())
            publishes -= 1

    @rule()
    def grant(self) -> None:
        for number, tile in self.judge.sequencer.grants():
            assert 0 < tile.last - tile.first <= self.judge.plan.tile
            self.nodes[number].hands.append(tile)

    @rule(number=NODES)
    def hear(self, number: int) -> None:
        if number in self.nodes:
            self.nodes[number].hear()

    @rule(number=NODES, which=st.integers(0, 1), hears=st.booleans())
    def sift(self, number: int, which: int, hears: bool) -> None:
        node = self.nodes.get(number)
        if node and node.hands:
            if hears:
                node.hear()
            self.on_the_way.append(node.sift(which))

    @precondition(lambda self: self.on_the_way)
    @rule(data=st.data())
    def deliver(self, data: st.DataObject) -> None:
        published = self.on_the_way.pop(data.draw(st.integers(0, len(self.on_the_way) - 1)))
        self.judge.deliver(published)
        self.delivered.append(published)

    @precondition(lambda self: self.delivered)
    @rule(data=st.data())
    def deliver_again(self, data: st.DataObject) -> None:
        published = data.draw(st.sampled_from(self.delivered))
        self.judge.deliver(published)
        if published.node in self.nodes:
            self.nodes[published.node].excuses += 1

    @rule(turns=st.integers(1, 25), number=NODES)
    def go_on(self, turns: int, number: int) -> None:
        """Some turns in which one node does its work as it should: the others grow old meanwhile."""
        for _ in range(turns):
            self.grant()
            node = self.nodes.get(number)
            if node and node.hands:
                node.hear()
                self.judge.deliver(node.sift())

    @rule(slow=NODES, fast=NODES, turns=st.integers(1, 25))
    def fall_behind(self, slow: int, fast: int, turns: int) -> None:
        """A node sifts one tile while another sifts many."""
        self.grant()
        node = self.nodes.get(slow)
        if node and node.hands and slow != fast:
            published = node.sift()
            self.go_on(turns, fast)
            self.judge.deliver(published)

    @rule()
    def restart(self) -> None:
        """Of the sequencer. Nodes that live go on with what they have in hand, and are joined anew."""
        self.judge.restart()
        for node in self.nodes.values():
            self.judge.sequencer.join(node.number)
            node.excuses += len(node.hands) + sum(published.node == node.number for published in self.on_the_way)

    @invariant()
    def every_position_is_accepted_once(self) -> None:
        self.judge.check()

    @invariant()
    def nobody_has_more_than_two_tiles_in_hand(self) -> None:
        known = self.judge.sequencer._nodes
        assert known.keys() == self.nodes.keys()
        assert all(len(each.held) <= 2 for each in known.values())
        assert all(len(node.hands) <= 2 + node.excuses for node in self.nodes.values())

    def teardown(self) -> None:
        """With one node that does its work the run comes to its end, whatever was before and whoever is silent."""
        if not self.nodes:
            self.join(0)
        fair, *silent = self.nodes
        for published in self.on_the_way:
            if published.node == fair:
                self.judge.deliver(published)
        finish(self.judge, self.nodes, set(silent))


def test_every_position_is_accepted_once_whatever_nodes_and_links_do() -> None:
    run_state_machine_as_test(Nodes, settings=settings(max_examples=150, stateful_step_count=40, deadline=None))


@given(plan=plans(), count=st.integers(1, 6), silent=st.integers(0, 5))
@settings(max_examples=60, deadline=None)
def test_what_silent_nodes_hold_is_sifted_by_others(plan: Plan, count: int, silent: int) -> None:
    judge, nodes = together(plan, count)
    finish(judge, nodes, silent=set(range(min(silent, count - 1))))


def together(plan: Plan, count: int) -> tuple[Judge, dict[int, MadeUpNode]]:
    """So many nodes, with their first tiles."""
    judge = Judge(plan)
    nodes = {number: MadeUpNode(number, judge.log) for number in range(count)}
    for number in nodes:
        judge.sequencer.join(number)
    hand_out(judge, nodes)
    return judge, nodes


def hand_out(judge: Judge, nodes: dict[int, MadeUpNode]) -> list[tuple[int, Tile]]:
    granted = list(judge.sequencer.grants())
    for number, tile in granted:
        nodes[number].hands.append(tile)
    return granted


def go_on(judge: Judge, nodes: dict[int, MadeUpNode], number: int, until: int) -> None:
    """One node does all the work until so many examples are seen."""
    while judge.log.seen < until:
        nodes[number].hear()
        assert judge.deliver(nodes[number].sift())
        hand_out(judge, nodes)


def test_each_node_gets_two_tiles_and_another_for_each_that_it_publishes() -> None:
    judge, nodes = together(Plan(200, 40, 20, 2), 2)
    assert [len(node.hands) for node in nodes.values()] == [2, 2]
    assert sorted(nodes[0].hands + nodes[1].hands) == [Tile(first, first + 10) for first in (20, 30, 40, 50)]
    assert hand_out(judge, nodes) == []
    judge.deliver(nodes[1].sift())
    assert hand_out(judge, nodes) == [(1, Tile(60, 70))]


def test_what_is_published_twice_is_placed_once() -> None:
    judge, nodes = together(Plan(200, 40, 20, 2), 2)
    published = nodes[0].sift()
    assert judge.deliver(published) is not None
    assert judge.deliver(published) is None
    assert judge.log.seen == 30


def test_what_comes_just_in_time_is_accepted_and_what_comes_later_is_sifted_again_in_smaller_tiles() -> None:
    judge, nodes = together(Plan(400, 40, 0, 2, delay=60), 2)
    in_time, late = nodes[0].sift(), nodes[0].sift()
    tile = late.tile
    go_on(judge, nodes, 1, until=60)
    assert judge.log.seen == 60
    assert judge.deliver(in_time) is not None
    assert judge.deliver(late) is None
    granted = hand_out(judge, nodes)
    half = (tile.last - tile.first) // 2
    assert granted == [(0, Tile(tile.first, tile.first + half))]  # One at a time, as it is behind.
    go_on(judge, nodes, 1, until=95)
    assert all(judge.accepted[position] for position in range(tile.first + half, tile.last))
    nodes[0].hear()
    assert judge.deliver(nodes[0].sift()) is not None
    granted = [tile for _, tile in hand_out(judge, nodes)]
    assert [tile.last - tile.first for tile in granted] == [10, 10]  # It has caught up.
    finish(judge, nodes, silent=set())


def test_the_longest_delay_is_allowed_and_one_example_more_is_not() -> None:
    judge, nodes = together(Plan(60, 3, 0, 2, delay=10), 2)
    one, other = nodes[0].sift(), nodes[0].sift()
    go_on(judge, nodes, 1, until=10)
    assert judge.deliver(one) is not None
    assert judge.log.seen - other.seen == 11
    assert judge.deliver(other) is None
    assert hand_out(judge, nodes) == [(0, other.tile)]


def test_what_a_node_held_that_left_goes_to_the_next_before_anything_fresh() -> None:
    judge, nodes = together(Plan(200, 40, 20, 2), 2)
    held = nodes.pop(0).hands
    judge.sequencer.leave(0)
    for tile in held:
        judge.deliver(nodes[1].sift())
        assert hand_out(judge, nodes) == [(1, tile)]


def test_what_a_node_published_before_it_left_is_accepted_and_not_sifted_again() -> None:
    judge, nodes = together(Plan(200, 40, 20, 2), 2)
    on_the_way = nodes.pop(0).sift()
    judge.sequencer.leave(0)
    assert judge.deliver(on_the_way) is not None
    granted: list[Tile] = []
    while not judge.sequencer.done:
        nodes[1].hear()
        assert judge.deliver(nodes[1].sift()) is not None
        granted += [tile for _, tile in hand_out(judge, nodes)]
    assert on_the_way.tile not in granted
    judge.check_end()


def test_nodes_that_come_when_all_is_handed_out_sift_what_others_hold() -> None:
    judge, nodes = together(Plan(40, 40, 0, 2), 2)
    assert sum(len(node.hands) for node in nodes.values()) == 4
    nodes[2] = MadeUpNode(2, judge.log)
    judge.sequencer.join(2)
    hand_out(judge, nodes)
    assert len(nodes[2].hands) == 1
    assert nodes[2].hands[0] in nodes[0].hands + nodes[1].hands
    finish(judge, nodes, silent={0, 1})


def test_a_new_sequencer_goes_on_with_the_gaps_that_the_old_one_left() -> None:
    judge, nodes = together(Plan(200, 40, 20, 2), 2)
    tiles = [nodes[0].hands[1], nodes[1].hands[1]]
    for node in nodes.values():
        assert judge.deliver(node.sift(1)) is not None
    judge.restart()
    nodes = {0: MadeUpNode(0, judge.log)}
    judge.sequencer.join(0)
    granted = hand_out(judge, nodes)
    while not judge.sequencer.done:
        nodes[0].hear()
        judge.deliver(nodes[0].sift())
        granted += hand_out(judge, nodes)
    covered = sorted(position for _, tile in granted for position in range(*tile))
    assert covered == [i for i in range(20, 200) if not any(tile.first <= i < tile.last for tile in tiles)]
    judge.check_end()


def test_tiles_of_a_sequencer_that_died_are_taken_where_they_fit_and_ignored_where_they_do_not() -> None:
    judge, nodes = together(Plan(200, 40, 20, 1), 1)
    first, second = nodes[0].sift(), nodes[0].sift()
    assert judge.deliver(second) is not None
    judge.restart()
    judge.sequencer.join(0)
    assert [tile for _, tile in hand_out(judge, nodes)] == [first.tile, Tile(second.tile.last, second.tile.last + 20)]
    assert judge.deliver(first) is not None
    assert judge.deliver(second) is None
    finish(judge, nodes, silent=set())


@pytest.mark.parametrize(
    ("plan", "marks"),
    [
        (Plan(130, 40, 10, 1), [50, 90, 130]),
        (Plan(140, 40, 10, 1), [50, 90, 130, 140]),
        (Plan(100, 30, 0, 2), [35, 63, 91, 100]),
        (Plan(30, 40, 30, 1), []),
    ],
    ids=["whole rounds", "a short last round", "tiles that do not divide a batch", "nothing but the warmstart"],
)
def test_a_round_ends_with_the_tile_that_crosses_a_mark(plan: Plan, marks: list[int]) -> None:
    judge, nodes = together(plan, 1)
    finish(judge, nodes, silent=set())
    assert [ended.seen for ended in judge.rounds] == marks
    assert sum(ended.sift_seconds for ended in judge.rounds) == 0.5 * ceil((plan.examples - plan.warmstart) / plan.tile)
    assert all(ended.elapsed == {plan.nodes: 2.0} for ended in judge.rounds)
