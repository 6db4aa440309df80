from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from making import columns_of, two_moons
from paraactive import Arrays, Digits, LaSVM, Network, resume, train
from paraactive.data.examples import Doubles, Selected
from paraactive.engines import Simulated, Threads
from paraactive.errors import InputError
from paraactive.learners import Learner
from paraactive.rules import Gradient, Rule, SignedMargin
from paraactive.schedules import Engine, Plan, synchronous
from paraactive.sifting.log import MemoryLog
from paraactive.sifting.node import Node
from paraactive.streams import Stream


def _log(engine: type[Simulated] | type[Threads], learner: Learner, rule: Rule, stream: Stream, nodes: int) -> Selected:
    log = MemoryLog(keep=True)
    host: Engine = engine(Node(learner, rule, stream, seed=4), nodes)
    try:
        for _ in synchronous(host, log, Plan(2500, 700, 300, nodes)):
            pass
    finally:
        host.close()
    return Selected.concatenate([entries.selected for entries in log.entries])


@pytest.mark.parametrize("nodes", [1, 2, 7])
@pytest.mark.parametrize("kind", ["svm", "network"])
def test_the_log_and_the_model_are_those_of_the_simulated_engine(kind: str, nodes: int) -> None:
    def new() -> tuple[Learner, Rule, Stream]:
        if kind == "svm":
            return LaSVM(gamma=0.012, gap=0.2), SignedMargin(), Digits()
        return Network(hidden=30), Gradient(), Digits(negative=(5,), positive=(3,), low=0)

    (one, rule, stream), (other, _, _) = new(), new()
    simulated, threads = _log(Simulated, one, rule, stream, nodes), _log(Threads, other, rule, stream, nodes)
    assert columns_of(simulated) == columns_of(threads)
    assert one.digest() == other.digest()
    assert 400 < len(threads) < 2500


def test_nodes_sift_at_the_same_time() -> None:
    together = threading.Barrier(3, timeout=30)

    class Meeting(LaSVM):
        """Scoring waits until three threads are scoring: it would time out if they came one after the other."""

        def score(self, x: object) -> Doubles:  # pyright: ignore[reportIncompatibleMethodOverride]
            together.wait()
            return np.zeros(len(x))  # pyright: ignore[reportArgumentType]

    x, y = two_moons(300, noise=0.3, seed=0)
    engine = Threads(Node(Meeting(), SignedMargin(), Arrays(x, y), seed=0), 3)
    sifted, _ = engine.sift(0, 300, seen=0)
    engine.close()
    assert [len(part.selected) for part in sifted] == [100, 100, 100]


def test_an_error_on_a_node_ends_the_run_and_its_threads() -> None:
    class Broken(LaSVM):
        def score(self, x: object) -> Doubles:  # pyright: ignore[reportIncompatibleMethodOverride]
            raise InputError("broken", why="on purpose", remedy="none")

    x, y = two_moons(600, noise=0.3, seed=0)
    with pytest.raises(InputError, match="broken"):
        train(Broken(gamma=1.0), Arrays(x, y), nodes=4, engine="threads")
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("node")]


def test_no_thread_is_left_after_a_run() -> None:
    x, y = two_moons(600, noise=0.3, seed=0)
    train(LaSVM(gamma=1.0), Arrays(x, y), nodes=4, engine="threads")
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("node")]


def test_a_run_goes_on_in_another_engine_as_if_in_its_own(tmp_path: Path) -> None:
    whole = train(LaSVM(gamma=0.012), Digits(), examples=2000, batch=400, warmstart=400)
    out = tmp_path / "run.db"
    train(LaSVM(gamma=0.012), Digits(), examples=1000, batch=400, warmstart=400, nodes=3, engine="threads", out=out)
    run = resume(out, examples=2000, nodes=2, engine="simulated")
    assert run.learner.digest() == whole.learner.digest()
    assert resume(out, nodes=2, engine="threads").learner.digest() == whole.learner.digest()


def test_the_time_is_that_of_the_slowest_thread() -> None:
    run = train(LaSVM(gamma=0.012), Digits(), examples=1200, batch=400, warmstart=400, nodes=2, engine="threads")
    for ended in run.rounds[1:]:
        sifting = {k: seconds - ended.update_seconds for k, seconds in ended.elapsed.items()}
        assert sifting[1] == pytest.approx(ended.sift_seconds)
        assert ended.sift_seconds / 2 <= sifting[2] * 1.000001
        assert sifting[2] <= ended.sift_seconds
