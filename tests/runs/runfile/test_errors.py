from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from paraactive.errors import InputError, RunFileError
from paraactive.runs.runfile.errors import corruption, reraise_as_corruption, reraise_sqlite_errors

PATH = Path("run.db")


@pytest.mark.parametrize(
    ("error", "doing", "said"),
    [
        (sqlite3.DatabaseError("file is not a database"), "open", "run.db is not a run file, or is damaged"),
        (sqlite3.DatabaseError("database disk image is\nmalformed"), "write", "disk image is malformed; give a file"),
        (sqlite3.OperationalError("disk I/O error"), "write", "disk I/O error, perhaps the disk is full; all rounds"),
        (
            sqlite3.OperationalError("database or disk is full"),
            "write",
            "write run.db: database or disk is full;",
        ),
        (sqlite3.OperationalError("unable to open database file"), "open", "cannot open run.db: unable to open"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid"), "read", "run.db is damaged: it holds text that is not"),
    ],
)
def test_an_error_of_sqlite_says_what_it_means_for_the_run_file(error: Exception, doing: str, said: str) -> None:
    with pytest.raises(RunFileError, match=said), reraise_sqlite_errors(PATH, doing):
        raise error


def test_what_the_content_causes_is_damage_and_our_own_errors_pass() -> None:
    said = r"damaged: its content cannot be used \(KeyError: 'rule'\)"
    with pytest.raises(RunFileError, match=said), reraise_as_corruption(PATH):
        raise KeyError("rule")
    ours = InputError("a", why="b", remedy="c")
    with pytest.raises(InputError) as caught, reraise_as_corruption(PATH):
        raise ours
    assert caught.value is ours


def test_the_reason_of_a_damage_is_one_line() -> None:
    assert corruption(PATH, "two\n lines").why == "two lines"
