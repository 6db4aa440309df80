"""Damage to the journal of a run file."""

from __future__ import annotations

import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from making import two_moons
from paraactive import Arrays, LaSVM, train
from paraactive.errors import RunFileError, RunFileWarning
from paraactive.runs.runfile import RunFile

X, Y = two_moons(600, noise=0.15, seed=0)
NAMES = np.where(Y > 0, "up", "down")


def a_run(path: Path, **options: Any) -> None:
    train(LaSVM(gamma=2.0), Arrays(X, NAMES), warmstart=100, batch=50, nodes=1, out=path, **options)


def test_damage_to_the_journal_of_a_killed_run_is_said(tmp_path: Path) -> None:
    live, path = tmp_path / "live.db", tmp_path / "run.db"

    def copy(_: object) -> None:
        if live.exists():
            for suffix in ("", "-wal"):
                shutil.copy(f"{live}{suffix}", f"{path}{suffix}")

    a_run(live, snapshot_seconds=0, observers=[copy])
    data = Path(f"{path}-wal").read_bytes()
    whole = _seen(path, data)
    shorter = 0
    for where in [*range(8, 32), *range(40, len(data), len(data) // 60)]:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", RunFileWarning)
            seen = _seen(path, data[:where] + bytes([data[where] ^ 1]) + data[where + 1 :])
        if seen is not None and seen != whole:
            shorter += 1
            assert any("the journal run.db-wal is damaged" in str(each.message) for each in said), where
    assert shorter > 20


def test_an_open_run_file_keeps_the_locks_by_which_other_processes_know_that_it_is_open(tmp_path: Path) -> None:
    live, path = tmp_path / "live.db", tmp_path / "run.db"

    def copy(_: object) -> None:
        if live.exists():
            for suffix in ("", "-wal"):
                shutil.copy(f"{live}{suffix}", f"{path}{suffix}")

    a_run(live, snapshot_seconds=0, observers=[copy])
    assert Path(f"{path}-wal").stat().st_size > 10_000
    with RunFile.resume(path):
        assert _is_locked(f"{path}-shm")
    with RunFile.read(live):
        assert _is_locked(f"{live}-shm")


def _is_locked(index: str) -> bool:
    """Whether SQLite in this process has its lock on byte 128 of the index, which says that a connection is open."""
    code = f"""
import fcntl
with open({index!r}, "rb+") as file:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 128)
    except BlockingIOError:
        print("locked")
"""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "locked\n"


def _seen(path: Path, journal: bytes) -> int | None:
    """Examples seen, by a copy of the file with this journal; None if it is refused."""
    folder = path.parent / "copy"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    copy = Path(shutil.copy(path, folder))
    Path(f"{copy}-wal").write_bytes(journal)
    try:
        with RunFile.read(copy) as run:
            return run.seen
    except RunFileError:
        return None
