"""One writer at a time, in real processes; the lock dies with its holder."""

from __future__ import annotations

from collections.abc import Generator
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Event

import pytest

from disk import forked, wait_until
from making import run_spec
from paraactive.errors import RunFileLockedError
from paraactive.runs.runfile import RunFile


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with RunFile.create(tmp_path / "run.db", run_spec(seed=1)):
        pass
    return tmp_path / "run.db"


@pytest.fixture
def holder(path: Path) -> Generator[BaseProcess]:
    """Another process that holds the run file until it is killed."""
    there = path.with_name("there")

    def hold() -> None:
        with RunFile.resume(path):
            there.touch()
            Event().wait()

    child = forked(hold)
    wait_until(there.exists)
    yield child
    child.kill()
    child.join()


@pytest.mark.usefixtures("holder")
def test_a_second_writer_is_refused_while_the_first_lives(path: Path):
    with pytest.raises(RunFileLockedError, match="is being written: a live run holds it; wait for that run"):
        RunFile.resume(path)


@pytest.mark.usefixtures("holder")
@pytest.mark.parametrize("overwrite", [False, True])
def test_the_file_of_a_live_run_is_not_made_anew(path: Path, overwrite: bool):
    with pytest.raises(RunFileLockedError):
        RunFile.create(path, run_spec(), overwrite=overwrite)
    with RunFile.read(path) as file:
        assert file.spec == run_spec(seed=1)


@pytest.mark.usefixtures("holder")
def test_a_reader_may_look_while_a_writer_lives(path: Path):
    with RunFile.read(path) as file:
        assert file.spec == run_spec(seed=1)


def test_the_lock_is_free_when_its_holder_was_killed(path: Path, holder: BaseProcess):
    holder.kill()
    holder.join()
    assert path.with_name("run.db.lock").exists()
    with RunFile.resume(path) as file:
        file.write_spec(run_spec(seed=2))


def test_a_refused_writer_leaves_the_lock_to_its_holder(path: Path, holder: BaseProcess):
    for _ in range(3):
        with pytest.raises(RunFileLockedError):
            RunFile.resume(path)
    assert holder.is_alive()


def test_two_writers_of_one_process_are_kept_apart_too(path: Path):
    with RunFile.resume(path), pytest.raises(RunFileLockedError):
        RunFile.resume(path)


def test_nothing_is_left_beside_a_closed_run_file(path: Path):
    with RunFile.resume(path) as file:
        file.write_spec(run_spec(seed=3))
    assert [one.name for one in path.parent.iterdir()] == ["run.db"]
