"""Crashes: real processes, killed at any moment, out of disk, interrupted. What is resumed ends as if nothing was."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import re
import resource
import shlex
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from disk import forked, log_of, seen_in, wait_until
from making import run_spec, two_moons
from paraactive import Arrays, Digits, LaSVM, Network, replay, resume, train
from paraactive.cli import app
from paraactive.data.events import Evaluated, Event, Round, RunEnded, RunStarted, SnapshotTaken
from paraactive.errors import RunFileError
from paraactive.rules import Gradient
from paraactive.runs.run import Run
from paraactive.runs.runfile import RunFile, connection

OFTEN = 0.05
"""Seconds between snapshots, so that a short run has many."""


class Job:
    """A run that can be started in any process, and what it comes to undisturbed."""

    def __init__(self, folder: Path, new: Callable[..., Run], examples: int) -> None:
        self.examples, self._new = examples, new
        path = folder / "undisturbed.db"
        self.begin(path)  # Here, not in a child: so that children inherit the compiled loops.
        self.digest, self.log, self.size = replay(path).learner.digest(), log_of(path), path.stat().st_size

    def begin(self, path: Path, **options: Any) -> Run:
        return self._new(examples=self.examples, out=path, snapshot_seconds=OFTEN, **options)

    def check(self, run: Run, path: Path) -> None:
        """Nothing tells this run from the undisturbed one."""
        assert run.seen == self.examples
        assert run.learner.digest() == self.digest
        assert log_of(path) == self.log


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """An SVM on digits, of which the log keeps positions alone; with its gap the rounds matter, too."""

    def new(**options: Any) -> Run:
        return train(LaSVM(gamma=0.012, gap=0.2), Digits(), batch=256, warmstart=512, **options)

    return Job(tmp_path_factory.mktemp("digits"), new, examples=8192)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """A network on a file, of which the log keeps the features."""
    folder = tmp_path_factory.mktemp("file")
    x, y = two_moons(4000, noise=0.4, seed=0)
    np.savez(folder / "moons.npz", x=x, y=y)

    def new(**options: Any) -> Run:
        stream = Arrays.load(folder / "moons.npz", passes=2)
        # Not on threads, which are too fast to be killed in the middle.
        return train(
            Network(hidden=40),
            stream,
            rule=Gradient(),
            batch=128,
            warmstart=256,
            nodes=3,
            engine="simulated",
            **options,
        )

    return Job(folder, new, examples=6000)


def killed(path: Path, seen: float, seconds: float, action: Callable[[], object]) -> None:
    """The action in a process that is killed so many seconds after its file has so many examples seen."""
    child = forked(action)
    wait_until(lambda: seen_in(path) >= seen or not child.is_alive())
    child.join(seconds)
    child.kill()
    child.join()


# SIGKILL -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["digits", "file"])
def test_runs_killed_at_random_moments_end_as_one_that_was_not(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
):
    job: Job = request.getfixturevalue(name)
    moments = random.Random(name)
    in_the_middle = number = 0
    while number < 10 or (in_the_middle < 6 and number < 100):  # A fast run may end before it is killed.
        path = tmp_path / f"{number}.db"
        # Below 0: before there is anything in the file.
        seen, seconds = moments.uniform(-0.1, 0.8) * job.examples, moments.uniform(0, OFTEN)
        killed(path, seen, seconds, lambda path=path: job.begin(path))
        in_the_middle += 0 < seen_in(path) < job.examples
        if number % 3 == 2 and is_run(path):
            seen = moments.uniform(seen, job.examples)
            killed(path, seen, seconds, lambda path=path: resume(path, snapshot_seconds=OFTEN))
        # A run that was killed before its file began is started again.
        run = resume(path) if is_run(path) else job.begin(path)
        job.check(run, path)
        number += 1
    assert in_the_middle >= 6


def is_run(path: Path) -> bool:
    try:
        RunFile.read(path).close()
    except RunFileError:
        return False
    return True


def dying(moment: type[Event], count: int) -> Callable[[Event], None]:
    """An observer that kills its own process when it is told of the event for the so-manieth time."""
    left = [count]

    def observer(event: Event) -> None:
        left[0] -= isinstance(event, moment)
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    return observer


@pytest.mark.parametrize(
    ("moment", "count"),
    [(RunStarted, 1), (Round, 1), (Round, 2), (Round, 46), (SnapshotTaken, 1), (SnapshotTaken, 2), (RunEnded, 1)],
)
def test_a_run_killed_between_two_steps_ends_as_one_that_was_not(
    file: Job, moment: type[Event], count: int, tmp_path: Path
):
    path = tmp_path / "run.db"
    child = forked(lambda: file.begin(path, observers=[dying(moment, count)]))
    child.join()
    assert child.exitcode == -signal.SIGKILL
    file.check(resume(path), path)


def test_a_run_that_is_killed_again_and_again_still_gets_there(file: Job, tmp_path: Path):
    path = tmp_path / "run.db"
    forked(lambda: file.begin(path, observers=[dying(SnapshotTaken, 1)])).join()
    seen = [seen_in(path)]
    for _ in range(4):
        forked(lambda: resume(path, snapshot_seconds=0.0, observers=[dying(SnapshotTaken, 4)])).join()
        seen.append(seen_in(path))
    assert seen == sorted(set(seen)), "each time it gets further"
    file.check(resume(path), path)


def test_a_killed_run_tries_its_model_as_often_as_if_it_had_not_been(tmp_path: Path):
    def begin(path: Path, *observers: Callable[[Event], None]) -> Run:
        return train(
            LaSVM(gamma=0.012), Digits(), examples=1024, batch=128, warmstart=128, test=True, out=path,
            snapshot_seconds=0.0, observers=observers,
        )  # fmt: skip

    whole = begin(tmp_path / "whole.db")
    forked(lambda: begin(tmp_path / "run.db", dying(Evaluated, 3))).join()
    run = resume(tmp_path / "run.db")
    tried = [(one.seen, one.mistakes) for one in run.evaluations]
    assert tried == [(one.seen, one.mistakes) for one in whole.evaluations]
    assert len(tried) > 4


# The command line ----------------------------------------------------------------------------------------------

TRAIN = ["train", "digits-31v57", "--examples", "7168", "--batch", "256", "--warmstart", "512", "--json"]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the command line prints of a run that nothing happens to."""
    path = tmp_path_factory.mktemp("undisturbed") / "run.db"
    printed = subprocess.run(
        [sys.executable, "-m", "paraactive", *TRAIN, "--out", str(path)], check=True, capture_output=True, text=True
    )
    return json.loads(printed.stdout) | {"log": log_of(path)}


@contextmanager
def begun(path: Path) -> Generator[subprocess.Popen[str]]:
    """The same command line in a process of its own, once its file has a committed round."""
    child = subprocess.Popen(
        [sys.executable, "-m", "paraactive", *TRAIN, "--out", str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Where the tests run in the background, SIGINT is ignored, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    with child:
        try:
            wait_until(lambda: seen_in(path) > 0 or child.poll() is not None)
            assert child.poll() is None, "it ended before its first commit"
            yield child
        finally:
            child.kill()


def resumed(path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    assert app.run(["resume", str(path), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_command_line_that_was_killed_is_resumed_to_the_same_digest(
    undisturbed: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "run.db"
    with begun(path) as child:
        child.kill()
        assert child.wait() == -signal.SIGKILL
    assert 0 < seen_in(path) < 7168
    figures = resumed(path, capsys)
    assert log_of(path) == undisturbed["log"]
    for name in ("digest", "seen", "selected", "sampling_rate", "vectors", "mistakes", "test_examples"):
        assert figures[name] == undisturbed[name], name


def test_ctrl_c_says_how_to_go_on_and_that_works(
    undisturbed: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "my run.db"
    with begun(path) as child:
        child.send_signal(signal.SIGINT)
        out, error = child.communicate()
    assert (child.returncode, out) == (130, "")
    assert "Traceback" not in error
    told = re.search("Continue with: paraactive (resume .*)", error)
    assert told
    assert shlex.split(told[1]) == ["resume", str(path)]
    assert [one.name for one in tmp_path.iterdir()] == ["my run.db"]
    assert resumed(path, capsys)["digest"] == undisturbed["digest"]


# A full disk ---------------------------------------------------------------------------------------------------


def test_a_disk_that_fills_up_leaves_a_run_file_that_resumes(file: Job, tmp_path: Path):
    path = tmp_path / "run.db"
    said, to_say = multiprocessing.get_context("fork").Pipe(duplex=False)

    def fill_up() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (file.size * 4 // 5, resource.RLIM_INFINITY))
        try:
            file.begin(path)
        except RunFileError as error:
            to_say.send(str(error))

    child = forked(fill_up)
    child.join()
    assert said.poll(), "the write did not fail"
    line: str = said.recv()
    assert "\n" not in line
    assert line.startswith(f"cannot write {path}: ")
    assert "disk is full" in line
    assert line.endswith(f"make room, then 'paraactive resume {path}'.")
    assert 0 < seen_in(path) < file.examples
    file.check(resume(path), path)


def test_a_file_that_sqlite_calls_full_resumes_when_there_is_room(
    file: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path, connect = tmp_path / "run.db", connection.connect

    def connect_with_limit(path: Path, mode: str) -> sqlite3.Connection:
        database = connect(path, mode)
        database.execute(f"PRAGMA max_page_count = {file.size // 4096 * 2 // 5}")
        return database

    for module in ("connection", "file"):
        monkeypatch.setattr(f"paraactive.runs.runfile.{module}.connect", connect_with_limit)
    for go in (file.begin, resume):
        with pytest.raises(RunFileError, match=r"cannot write .*run.db: database or disk is full; all rounds up to"):
            go(path)
    monkeypatch.undo()
    assert 0 < seen_in(path) < file.examples
    file.check(resume(path), path)


def test_a_disk_that_is_full_from_the_start_is_said_before_any_work(tmp_path: Path):
    path = tmp_path / "run.db"
    said, to_say = multiprocessing.get_context("fork").Pipe(duplex=False)

    def begin() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, resource.RLIM_INFINITY))
        try:
            RunFile.create(path, run_spec(seed=1))
        except RunFileError as error:
            to_say.send(str(error))

    forked(begin).join()
    assert said.poll(), "the write did not fail"
    assert str(path) in said.recv()
    with RunFile.create(path, run_spec(seed=2)) as run_file:
        assert run_file.spec == run_spec(seed=2)
