"""Reading a run file for a report."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from paraactive.errors import RunFileError
from paraactive.report import write_report
from paraactive.runs.runfile import RunFile
from report.conftest import Recorded


def test_reading_changes_nothing(digits: Recorded, tmp_path: Path) -> None:
    before = digits.path.read_bytes()
    write_report([digits.path], tmp_path / "page.html")
    assert digits.path.read_bytes() == before
    with RunFile.read(digits.path) as file, pytest.raises(sqlite3.OperationalError, match="readonly"):
        file._database.execute("DELETE FROM entries")


def test_a_file_that_is_no_run_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "no.db").write_text("no")
    with pytest.raises(RunFileError, match="not a run file"):
        write_report([tmp_path / "no.db"], tmp_path / "page.html")
    with pytest.raises(RunFileError, match="nothing is there"):
        write_report([tmp_path / "nothing.db"], tmp_path / "page.html")
