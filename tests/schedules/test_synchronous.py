from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paraactive import Digits, LaSVM, Network
from paraactive.engines import Simulated
from paraactive.learners import Learner
from paraactive.rules import Gradient, PaperMargin, Passive, Rule, SignedMargin
from paraactive.schedules import Plan, sequential, synchronous
from paraactive.sifting.log import MemoryLog
from paraactive.sifting.node import Node
from paraactive.streams import Stream
from schedules.logs import MOONS, assert_same_log, run


@pytest.mark.parametrize(
    ("learner", "rule", "stream"),
    [
        (lambda: LaSVM(gamma=0.012, gap=0.2), SignedMargin(0.05), Digits()),
        (lambda: LaSVM(gamma=0.012), PaperMargin(0.1), Digits(seed=2)),
        (lambda: Network(hidden=50), Gradient(), Digits(negative=(5,), positive=(3,), low=0)),
        (lambda: LaSVM(kernel="linear"), PaperMargin(0.1), MOONS),
    ],
    ids=["svm, signed margin", "svm, margin", "network, gradient", "linear svm, arrays"],
)
def test_the_log_is_the_same_for_every_number_of_nodes(
    learner: Callable[[], Learner], rule: Rule, stream: Stream
) -> None:
    examples, batch = (900, 200) if stream.length else (3000, 500)
    logs = {k: run(learner(), rule, stream, Plan(examples, batch, 300, k)) for k in (1, 2, 4, 7, 64)}
    assert 350 < len(logs[1][0]) < examples
    for k in (2, 4, 7, 64):
        assert_same_log(logs[1][0], logs[k][0])
        assert logs[1][1] == logs[k][1]


@given(nodes=st.integers(1, 150), batch=st.integers(150, 400), warmstart=st.integers(0, 300))
@settings(max_examples=12, deadline=None)
def test_the_log_is_the_same_whatever_the_sizes(nodes: int, batch: int, warmstart: int) -> None:
    one, digest = run(LaSVM(gamma=1.0), PaperMargin(0.2), MOONS, Plan(900, batch, warmstart, 1))
    other, other_digest = run(LaSVM(gamma=1.0), PaperMargin(0.2), MOONS, Plan(900, batch, warmstart, nodes))
    assert_same_log(one, other)
    assert digest == other_digest


def test_passive_learning_does_not_depend_on_the_batch_or_the_schedule() -> None:
    plans = [
        (Plan(900, 37, 100, 1), synchronous),
        (Plan(900, 900, 0, 1), synchronous),
        (Plan(900, 64, 10, 1), sequential),
    ]
    logs = [run(LaSVM(gamma=1.0), Passive(), MOONS, plan, schedule) for plan, schedule in plans]
    assert len({digest for _, digest in logs}) == 1
    assert all(len(log) == 900 for log, _ in logs)


def test_a_round_is_sifted_with_the_model_and_the_count_of_its_beginning() -> None:
    log = MemoryLog(keep=True)
    node = Node(LaSVM(gamma=1.0), PaperMargin(0.2), MOONS, seed=4)
    ended = list(synchronous(Simulated(node, 3), log, Plan(900, 200, 100, 3)))
    assert [round.seen for round in ended] == [100, 300, 500, 700, 900]
    assert [round.number for round in ended] == [0, 1, 2, 3, 4]
    for before, round, entries in zip(ended, ended[1:], log.entries[1:], strict=False):
        assert set(entries.selected.seen) == {before.seen}
        assert set(entries.selected.version) == {before.version}
        assert round.version - before.version == round.selected == len(entries)
        assert entries.entry_lag.tolist() == list(range(len(entries)))
