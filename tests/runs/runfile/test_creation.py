"""A run file is created whole or not at all, and replaces only what it may replace."""

from __future__ import annotations

import os
import signal
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from disk import forked, sql
from making import run_spec, two_moons
from paraactive import Arrays, LaSVM, Model, replay, train
from paraactive.errors import RunFileError
from paraactive.runs.runfile import RunFile, configuration, creation
from runs.runfile.refusals import foreign, refused, written_file

WAYS = [RunFile.read, RunFile.resume]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.db"


@pytest.fixture
def written(path: Path) -> Path:
    return written_file(path)


def test_a_run_file_is_not_overwritten_unasked(written: Path):
    refused(
        lambda: RunFile.create(written, run_spec()), "already exists", f"paraactive resume {written}", "--overwrite"
    )
    with RunFile.read(written) as file:
        assert file.version == 3000


def test_a_run_file_is_overwritten_on_request_whatever_its_format(written: Path):
    sql(written, "PRAGMA user_version = 9")
    with RunFile.create(written, run_spec(seed=8), overwrite=True) as file:
        assert (file.version, file.spec) == (0, run_spec(seed=8))


@pytest.mark.parametrize("overwrite", [False, True])
def test_what_is_not_a_run_file_is_never_overwritten(overwrite: bool, tmp_path: Path):
    thesis = tmp_path / "thesis.txt"
    thesis.write_text("my only copy\n" * 1000)
    mark = tmp_path / "mark"
    mark.write_text("x")  # SQLite takes a file of one byte for an empty one.
    photos = foreign(tmp_path / "photos.db")
    for path in (thesis, mark, photos):
        before = path.read_bytes()
        refused(lambda path=path: RunFile.create(path, run_spec(), overwrite=overwrite), str(path))
        assert path.read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"thesis.txt", "mark", "photos.db"}


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_folder_is_never_overwritten(overwrite: bool, tmp_path: Path):
    folder = tmp_path / "folder"
    folder.mkdir()
    refused(lambda: RunFile.create(folder, run_spec(), overwrite=overwrite), "is not a file", "another --out")
    assert folder.is_dir()


def test_a_folder_that_is_not_there_is_not_made(tmp_path: Path):
    refused(
        lambda: RunFile.create(tmp_path / "no" / "run.db", run_spec()),
        "no such file or directory",
        "folder that exists",
    )
    assert list(tmp_path.iterdir()) == []


def test_an_empty_file_is_taken(path: Path):
    path.touch()
    refused(lambda: RunFile.resume(path), "holds no run", "stopped before it began")
    with RunFile.create(path, run_spec(seed=1)) as file:
        assert file.spec == run_spec(seed=1)


def test_the_file_of_a_run_that_was_killed_before_it_began_is_taken(path: Path):
    def begin_and_die() -> None:
        creation.create(path)  # The tables are there, but not committed.
        os.kill(os.getpid(), signal.SIGKILL)

    child = forked(begin_and_die)
    child.join()
    assert path.stat().st_size > 0
    refused(lambda: RunFile.read(path), "holds no run")
    with RunFile.create(path, run_spec(seed=1)) as file:
        assert file.spec == run_spec(seed=1)


def test_a_run_that_was_killed_right_after_it_began_is_not_taken_for_an_empty_one(path: Path):
    def begin_and_die() -> None:
        RunFile.create(path, run_spec(seed=1))
        os.kill(os.getpid(), signal.SIGKILL)

    forked(begin_and_die).join()
    refused(lambda: RunFile.create(path, run_spec()), "already exists")
    with RunFile.resume(path) as file:
        assert (file.spec, file.rounds) == (run_spec(seed=1), 0)


X, Y = two_moons(600, noise=0.15, seed=0)
NAMES = np.where(Y > 0, "up", "down")


def a_run(path: Path, **options: Any) -> None:
    train(LaSVM(gamma=2.0), Arrays(X, NAMES), warmstart=100, batch=50, nodes=1, out=path, **options)


def test_a_run_file_that_cannot_be_replaced_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.db"
    a_run(path)
    digest = Model.load(path).learner.digest()

    def full(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(configuration, "seal", full)
        with pytest.raises(RunFileError, match=r"cannot write .*run\.db: database or disk is full"):
            a_run(path, overwrite=True)
    assert Model.load(path).learner.digest() == digest
    assert [each.name for each in tmp_path.iterdir()] == ["run.db"]
    a_run(path, overwrite=True, examples=300)
    assert replay(path).seen == 300
    assert [each.name for each in tmp_path.iterdir()] == ["run.db"]


def test_a_run_file_that_is_being_replaced_when_the_program_dies_is_there_whole(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    a_run(path)
    digest = Model.load(path).learner.digest()
    for moment in ("_empty_journal", "_remove"):

        def die(*_: object, **__: object) -> None:
            os.kill(os.getpid(), signal.SIGKILL)

        def replace(moment: str = moment) -> None:
            setattr(creation, moment, die)
            a_run(path, overwrite=True)

        child = forked(replace)
        child.join()
        assert child.exitcode == -signal.SIGKILL
        assert Model.load(path).learner.digest() == digest
    a_run(path, overwrite=True, examples=300)
    assert [each.name for each in tmp_path.iterdir()] == ["run.db"]


def test_a_link_to_a_run_file_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link, path = tmp_path / "run.db", tmp_path / "there" / "run.db"
    a_run(path)
    link.symlink_to(path)
    a_run(link, overwrite=True, examples=300)
    assert link.is_symlink()
    assert replay(path).seen == 300
