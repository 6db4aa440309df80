"""What tests of run files need: SQL on them, from outside, and processes that can be killed."""

from __future__ import annotations

import multiprocessing
import sqlite3
import time
import warnings
from collections.abc import Callable
from contextlib import closing
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from paraactive.errors import RunFileWarning
from paraactive.runs.runfile import RunFile

_PATIENCE = 120.0


def sql(path: Path, statement: str, *values: Any) -> list[tuple[Any, ...]]:
    """Run one statement on a run file, as a user with an SQLite shell would."""
    with closing(sqlite3.connect(path, timeout=10)) as database, database:
        return database.execute(statement, values).fetchall()


def log_of(path: Path) -> list[tuple[Any, ...]]:
    """The whole table of entries."""
    return sql(path, "SELECT * FROM entries ORDER BY sequence")


def seen_in(path: Path) -> int:
    """Examples seen by the committed rounds; 0 as long as the file is not there or has none."""
    if not path.exists():
        return 0
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            return database.execute("SELECT coalesce(max(seen), 0) FROM rounds").fetchone()[0]
    except sqlite3.OperationalError:  # No tables yet, or being made this moment.
        return 0


def forked(action: Callable[[], object]) -> BaseProcess:
    """The action in a process of its own, which shares the compiled loops; end it with `join` or `kill`."""
    child = multiprocessing.get_context("fork").Process(target=action, daemon=True)
    with warnings.catch_warnings():
        # Newer Pythons warn of a fork beside BLAS's idle threads.
        warnings.simplefilter("ignore", DeprecationWarning)
        child.start()
    return child


def wait_until(condition: Callable[[], bool]) -> None:
    """Poll until it holds."""
    end = time.monotonic() + _PATIENCE
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)


def downgrade(path: Path) -> None:
    """Make it a file of the format 4, which has no hashes and no scores."""
    for table in ("rounds", "tiles", "snapshots"):
        sql(path, f"ALTER TABLE {table} DROP COLUMN hash")
    for table in ("questions", "seals"):
        sql(path, f"DROP TABLE {table}")
    sql(path, "ALTER TABLE entries DROP COLUMN score")
    sql(path, "PRAGMA user_version = 4")


def reseal(path: Path) -> None:
    """Give a file that was changed the hashes of what is in it now, as if the run had written it so."""
    downgrade(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RunFileWarning)
        RunFile.resume(path).close()
