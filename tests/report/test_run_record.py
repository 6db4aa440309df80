"""Reading a run file for a report."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from making import two_moons
from paraactive import Arrays, LaSVM, Oracle, train
from paraactive.errors import RunFileError
from paraactive.report import read_run_record, write_report
from paraactive.rules import Uniform
from paraactive.runs.run import Run
from paraactive.runs.runfile import RunFile
from paraactive.streams import Unlabelled
from paraactive.theory import plan
from report.conftest import Recorded


def test_reading_changes_nothing(digits: Recorded, tmp_path: Path) -> None:
    before = digits.path.read_bytes()
    write_report([digits.path], tmp_path / "page.html")
    assert digits.path.read_bytes() == before
    with RunFile.read(digits.path) as file, pytest.raises(sqlite3.OperationalError, match="readonly"):
        file.database.connection.execute("DELETE FROM entries")


def test_a_file_that_is_no_run_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "no.db").write_text("no")
    with pytest.raises(RunFileError, match="not a run file"):
        write_report([tmp_path / "no.db"], tmp_path / "page.html")
    with pytest.raises(RunFileError, match="the file does not exist"):
        write_report([tmp_path / "nothing.db"], tmp_path / "page.html")


def moons_run(path: Path, **options: Any) -> Run:
    x, y = two_moons(1200, noise=0.3, seed=0)
    return train(LaSVM(gamma=1.0), Arrays(x, y), warmstart=200, batch=200, out=path, nodes=1, **options)


def test_reading_a_run_that_ended_leaves_no_file_beside_it(tmp_path: Path) -> None:
    moons_run(tmp_path / "run.db")
    before = sorted(path.name for path in tmp_path.iterdir())
    read_run_record(tmp_path / "run.db")
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.parametrize("budget", [200, 400, 600])
def test_a_budget_that_ends_with_a_round_can_be_reported(tmp_path: Path, budget: int) -> None:
    x, y = two_moons(1200, noise=0.3, seed=0)
    names = np.where(y > 0, "1", "0")
    train(
        LaSVM(gamma=1.0), Unlabelled(x, classes=["0", "1"]), rule=Uniform(1.0), warmstart=200, batch=200,
        oracle=Oracle(lambda index, _rows: names[index], budget=budget), out=tmp_path / "run.db", nodes=1,
    )  # fmt: skip
    assert write_report([tmp_path / "run.db"], tmp_path / "page.html").stat().st_size > 10_000
    if budget > 200:
        assert plan(tmp_path / "run.db").predictions


def test_while_a_run_is_extended_its_earlier_end_is_not_shown(tmp_path: Path) -> None:
    moons_run(tmp_path / "run.db", examples=600)
    with sqlite3.connect(tmp_path / "run.db") as database:
        database.execute("DELETE FROM rounds WHERE number = 2")
        database.execute("DELETE FROM snapshots WHERE rounds = 3")
        database.execute("DELETE FROM entries WHERE sequence >= (SELECT max(version) FROM rounds)")
    assert read_run_record(tmp_path / "run.db").ended is None
