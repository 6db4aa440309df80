"""What every engine promises, on every engine: simulated, threads, processes, and Ray on three machines."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from disk import log_of, sql
from making import two_moons
from paraactive import Arrays, Digits, LaSVM, Network, replay, resume, train
from paraactive.checks import engine_checks
from paraactive.engines import ENGINES
from paraactive.errors import InputError
from paraactive.learners import Learner
from paraactive.rules import Gradient
from paraactive.runs.run import Run
from paraactive.runs.runfile import RunFile
from strange import Refusing

PLAN: dict[str, Any] = {"examples": 2600, "batch": 400, "warmstart": 300}
IN_ROUNDS = ["synchronous"]


@pytest.fixture(params=list(ENGINES))
def engine(request: pytest.FixtureRequest) -> dict[str, Any]:
    """An engine with three nodes."""
    where: dict[str, Any] = {"engine": request.param, "nodes": 3}
    return where | ({"address": request.getfixturevalue("cluster").address} if request.param == "ray" else {})


def svm() -> Learner:
    return LaSVM(gamma=0.012, gap=0.2)


def run_on(where: dict[str, Any], schedule: str, out: Path, **more: Any) -> Run:
    return train(svm(), Digits(), schedule=schedule, out=out, seed=4, **PLAN, **where, **more)


@pytest.fixture(scope="module")
def references(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[list[Any], str]]:
    """The log and the digest of one simulated node, by schedule."""
    folder = tmp_path_factory.mktemp("references")
    found: dict[str, tuple[list[Any], str]] = {}
    for schedule in IN_ROUNDS:
        run = run_on({"engine": "simulated", "nodes": 1}, schedule, folder / f"{schedule}.db")
        found[schedule] = log_of(folder / f"{schedule}.db"), run.learner.digest()
    return found


def check_times(run: Run, engine: dict[str, Any], out: Path) -> None:
    """Every node accounts for its time, in the run and in its file; sifting adds up to the round's."""
    for ended in run.rounds[1:]:
        assert 0 < len(ended.nodes) <= engine["nodes"]
        assert all(0 <= times.node < engine["nodes"] for times in ended.nodes)
        seconds = [each for times in ended.nodes for each in dataclasses.astuple(times)[1:]]
        assert min(seconds) >= 0
        assert sum(times.sift for times in ended.nodes) == pytest.approx(ended.sift_seconds)
        assert sum(times.fetch for times in ended.nodes) == pytest.approx(ended.fetch_seconds)
    if run.schedule != "asynchronous":  # There, a node may come too late for any tile.
        assert {times.node for ended in run.rounds for times in ended.nodes} == set(range(engine["nodes"]))
        assert any(times.update > 0 for ended in run.rounds for times in ended.nodes)
    with RunFile.read(out) as file:
        assert list(file.log.ended_rounds()) == run.rounds


def check_all_equal(run: Run, out: Path) -> None:
    """All replicas, the driver's, and the one that is rebuilt from the log."""
    digest = run.learner.digest()
    assert run.replicas
    assert set(run.replicas.values()) == {digest}
    again = replay(out)
    assert again.learner.digest() == digest
    assert again.checked >= 1


@pytest.mark.parametrize("schedule", IN_ROUNDS)
def test_the_log_and_the_model_are_the_same_on_every_engine(
    engine: dict[str, Any], schedule: str, references: dict[str, Any], tmp_path: Path
) -> None:
    run = run_on(engine, schedule, tmp_path / "run.db")
    log, digest = references[schedule]
    assert 700 < len(log) < 2600
    assert log_of(tmp_path / "run.db") == log
    assert run.learner.digest() == digest
    check_all_equal(run, tmp_path / "run.db")
    check_times(run, engine, tmp_path / "run.db")


def test_without_rounds_every_position_is_seen_once_and_all_replicas_agree(
    engine: dict[str, Any], tmp_path: Path
) -> None:
    out = tmp_path / "run.db"
    run = run_on(engine, "asynchronous", out)
    tiles = sorted(sql(out, "SELECT first, last FROM tiles"))
    assert [position for first, last in tiles for position in range(first, last)] == list(range(300, 2600))
    positions = [row[0] for row in sql(out, "SELECT position FROM entries ORDER BY position")]
    assert positions[:300] == list(range(300))
    assert len(set(positions)) == len(positions) == 300 + run.selected
    assert sum(run.delays.values()) == run.selected
    assert min(run.delays) >= 0
    check_all_equal(run, out)
    check_times(run, engine, out)
    if engine["engine"] in ("processes", "ray"):
        assert set(run.replicas) == {0, 1, 2}


def test_ray_passes_the_public_checks_that_are_not_in_this_file(cluster: Any) -> None:
    own = "without rounds every example is sifted once", "entries say which model sifted them"
    checks = dict(engine_checks(address=cluster.address))
    for name in own:  # All of them take a minute, and the other engines pass them in tests/checks.
        checks[name]("ray")


def half_way(run: Run) -> bool:
    return run.seen >= 1200


@pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])
def test_a_run_that_began_elsewhere_goes_on(
    engine: dict[str, Any], schedule: str, references: dict[str, Any], tmp_path: Path
) -> None:
    out = tmp_path / "run.db"
    first = run_on({"engine": "threads", "nodes": 2}, schedule, out, stop=half_way)
    assert 1200 <= first.seen < 2600
    run = resume(out, **engine)
    assert (run.seen, run.engine, run.plan.nodes) == (2600, engine["engine"], 3)
    if schedule in references:
        log, digest = references[schedule]
        assert log_of(out) == log
        assert run.learner.digest() == digest
    check_all_equal(run, out)


def test_arrays_in_memory_are_a_stream_on_every_engine(engine: dict[str, Any]) -> None:
    x, y = two_moons(6000, noise=0.3, seed=0)

    def run(**where: Any) -> Run:
        return train(Network(hidden=10), Arrays(x, y, seed=3), rule=Gradient(), batch=500, warmstart=500, **where)

    assert x.nbytes < 1 << 16 < np.tile(x, 20).nbytes  # one that is sent as it is, and one that is shared
    assert run(**engine).learner.digest() == run(engine="simulated", nodes=1).learner.digest()
    wide = Arrays(np.tile(x, 20), y, seed=3)
    one: dict[str, Any] = {"nodes": 1}
    runs = [train(svm(), wide, batch=500, warmstart=500, examples=3000, **where) for where in (engine, one)]
    assert runs[0].learner.digest() == runs[1].learner.digest()


def test_an_error_on_a_node_is_the_callers(engine: dict[str, Any]) -> None:
    x, y = two_moons(900, noise=0.3, seed=0)
    for schedule in ("synchronous", "asynchronous"):
        with pytest.raises(InputError, match="no score today"):
            train(Refusing(gamma=1.0), Arrays(x, y), schedule=schedule, **engine)
