"""Runs of a schedule on the simulated engine, and the comparison of their logs."""

from __future__ import annotations

import numpy as np

from making import two_moons
from paraactive import Arrays
from paraactive.data.examples import Selected
from paraactive.engines import Simulated
from paraactive.learners import Learner
from paraactive.rules import Rule
from paraactive.schedules import Plan, Schedule, synchronous
from paraactive.sifting.log import MemoryLog
from paraactive.sifting.node import Node
from paraactive.streams import Stream

X, Y = two_moons(900, noise=0.3, seed=0)
MOONS = Arrays(X, Y, seed=1)


def run(
    learner: Learner, rule: Rule, stream: Stream, plan: Plan, schedule: Schedule = synchronous
) -> tuple[Selected, str]:
    """The whole log and the digest of the model."""
    log = MemoryLog(keep=True)
    for _ in schedule(Simulated(Node(learner, rule, stream, seed=4), plan.nodes), log, plan):
        pass
    return Selected.concatenate([entries.selected for entries in log.entries]), learner.digest()


def assert_same_log(one: Selected, other: Selected, versions: bool = True) -> None:
    """Bit for bit; which node sifted an example is not part of the log."""
    columns = [(s.examples.x, s.examples.y, s.examples.index, s.examples.key, s.p, s.seen) for s in (one, other)]
    for a, b in zip(*columns, strict=True):
        assert np.array_equal(a, b)
    if versions:
        assert np.array_equal(one.version, other.version)
