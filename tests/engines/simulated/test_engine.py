from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import ClassVar

import pytest

from making import two_moons
from paraactive import Arrays, Digits, LaSVM, Network, train
from paraactive.data.events import Round
from paraactive.data.examples import Examples
from paraactive.engines import Cluster, Simulated
from paraactive.engines.simulated.clock import CLOCKED
from paraactive.rules import PaperMargin
from paraactive.runs.run import clock
from paraactive.sifting.node import Node, Sifted


class Ticking(Node):
    """A node on which sifting takes a known time: one second for each example, and two at the positions from 40 on."""

    def sift(self, first: int, last: int, seen: int) -> Sifted:
        seconds = float(sum(2 if position >= 40 else 1 for position in range(first, last)))
        return replace(super().sift(first, last, seen), sift_seconds=seconds)


def _sifted(nodes: int, last: int) -> tuple[list[Sifted], dict[int, float]]:
    x, y = two_moons(500, noise=0.3, seed=0)
    engine = Simulated(Ticking(LaSVM(gamma=1.0), PaperMargin(0.2), Arrays(x, y), seed=0), nodes)
    return engine.sift(0, last, seen=0)


def test_the_time_of_k_nodes_is_the_largest_of_their_portions() -> None:
    _, largest = _sifted(1, 80)
    assert largest == {1: 120, 2: 80, 4: 40, 8: 20, 16: 10, 32: 6, 64: 4, 128: 2}


def test_a_number_of_nodes_that_is_no_power_of_two_is_timed_too() -> None:
    sifted, largest = _sifted(7, 80)
    assert [part.sift_seconds for part in sifted] == [11, 11, 12, 16, 24, 22, 24]
    assert largest[7] == 24
    assert largest[8] == 20


def test_nodes_without_examples_in_a_short_last_round_send_nothing() -> None:
    sifted, largest = _sifted(64, 10)
    assert len(sifted) == 64
    assert sum(part.sift_seconds for part in sifted) == 10
    assert largest[128] == 1


def test_the_clock_adds_the_warmstart_and_the_rounds() -> None:
    numbers = count(1)
    rounds = [Round(0, 100, 100, 100, 9.0, 0.0, 5.0)] + [
        Round(next(numbers), 200, 110, 10, 9.0, 8.0, 0.25, {k: 8.0 / k + 0.25 for k in CLOCKED}) for _ in range(4)
    ]
    assert clock(rounds) == {k: pytest.approx(5.0 + 4 * (8.0 / k + 0.25)) for k in CLOCKED}


def test_simulated_nodes_read_a_round_once() -> None:
    class Counting(Digits):
        reads: ClassVar[list[int]] = []

        def read(self, first: int, last: int) -> Examples:
            Counting.reads.append(last - first)
            return super().read(first, last)

    train(LaSVM(C=1, gamma=0.012), Counting(), examples=4000, batch=1000, warmstart=1000, engine="simulated", nodes=2)
    assert sum(Counting.reads) < 2 * 4000


def test_a_slow_simulated_node_shows_in_the_times_of_nodes() -> None:
    run = train(
        Network(hidden=8), Arrays(*two_moons(2000, noise=0.3, seed=0)), batch=400, warmstart=400, engine="simulated",
        nodes=4, cluster=Cluster(slowness=(4.0,), latency=0.01, sift_seconds=1e-4, update_seconds=1e-5),
    )  # fmt: skip
    slow, *others = run.rounds[1].nodes
    assert slow.sift == pytest.approx(4 * others[0].sift)
    assert slow.transfer == pytest.approx(0.02)
    assert others[0].wait == pytest.approx(slow.sift - others[0].sift, rel=0.1)
    assert run.rounds[1].elapsed[4] == pytest.approx(slow.sift + 0.02 + run.rounds[1].update_seconds)
