from __future__ import annotations

import numpy as np

from paraactive import LaSVM
from paraactive.engines import Simulated
from paraactive.rules import PaperMargin
from paraactive.schedules import Plan
from paraactive.schedules.warmstart import warmstart
from paraactive.sifting.log import MemoryLog
from paraactive.sifting.node import Node
from schedules.logs import MOONS, run


def test_a_plan_that_ends_within_the_warmstart_learns_just_that() -> None:
    log, _ = run(LaSVM(gamma=1.0), PaperMargin(0.3), MOONS, Plan(50, 100, 400, 1))
    assert log.examples.index.tolist() == list(range(50))


def test_it_learns_the_first_examples_with_weight_one_as_round_zero() -> None:
    log, node = MemoryLog(keep=True), Node(LaSVM(gamma=1.0), PaperMargin(0.3), MOONS, seed=4)
    (ended,) = warmstart(Simulated(node, 2), log, Plan(900, 100, 60, 2))
    assert (ended.number, ended.seen, ended.version, ended.selected) == (0, 60, 60, 60)
    (entries,) = log.entries
    assert entries.selected.examples.index.tolist() == list(range(60))
    assert np.all(entries.selected.p == 1.0)
    plain = LaSVM(gamma=1.0)
    plain.update(entries.selected)
    plain.end_round()
    assert node.learner.digest() == plain.digest()


def test_a_log_that_contains_it_gets_no_second_one() -> None:
    log, node = MemoryLog(keep=True), Node(LaSVM(gamma=1.0), PaperMargin(0.3), MOONS, seed=4)
    engine, plan = Simulated(node, 1), Plan(900, 100, 60, 1)
    assert len(list(warmstart(engine, log, plan))) == 1
    assert list(warmstart(engine, log, plan)) == []
    assert log.version == 60
