from __future__ import annotations

from paraactive import LaSVM
from paraactive.data.examples import Entries
from paraactive.engines import Simulated
from paraactive.rules import PaperMargin
from paraactive.schedules import Plan, sequential, synchronous
from paraactive.sifting.log import MemoryLog
from paraactive.sifting.node import Node
from schedules.logs import MOONS, assert_same_log, run


def test_sequential_learning_is_the_synchronous_algorithm_with_batches_of_one() -> None:
    one, digest = run(LaSVM(gamma=1.0), PaperMargin(0.3), MOONS, Plan(900, 100, 100, 1), sequential)
    other, other_digest = run(LaSVM(gamma=1.0), PaperMargin(0.3), MOONS, Plan(900, 1, 100, 1), synchronous)
    assert 150 < len(one) < 800
    assert_same_log(one, other)
    assert digest == other_digest


def test_sequential_learning_has_no_delay() -> None:
    log, _ = run(LaSVM(gamma=1.0), PaperMargin(0.3), MOONS, Plan(900, 100, 100, 1), sequential)
    assert not Entries(0, log).entry_lag[100:].any()


def test_a_round_is_a_batch_of_examples_and_serves_only_to_report() -> None:
    log = MemoryLog(keep=True)
    engine = Simulated(Node(LaSVM(gamma=1.0), PaperMargin(0.3), MOONS, seed=4), 1)
    ended = list(sequential(engine, log, Plan(350, 100, 100, 1)))
    assert [each.seen for each in ended] == [100, 200, 300, 350]
    assert sum(each.selected for each in ended) == ended[-1].version == log.version
