from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from disk import downgrade
from making import run_spec
from paraactive.runs.runfile import FORMAT, RunFile
from paraactive.runs.runfile.tables import APPLICATION_ID, create_tables, format_of, migrate_tables


@pytest.fixture
def empty() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as connection:
        create_tables(connection)
        yield connection


def _columns(connection: sqlite3.Connection) -> dict[str, list[str]]:
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return {name: sorted(row[1] for row in connection.execute(f"PRAGMA table_info({name})")) for name in tables}


def test_a_new_file_has_the_present_format(empty: sqlite3.Connection) -> None:
    assert format_of(empty) == FORMAT == 6
    assert empty.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)


@pytest.mark.parametrize("wrong", ["y = 127", "p = 0.0", "p = 1.5", "importance = 0.0", "position = 'here'"])
def test_the_tables_refuse_entries_that_make_no_sense(wrong: str, empty: sqlite3.Connection) -> None:
    empty.execute("INSERT INTO entries VALUES (0, 1, 1, 1, 0.5, 3, 0, 1.0, NULL, NULL, NULL)")
    with pytest.raises(sqlite3.IntegrityError):
        empty.execute(f"UPDATE entries SET {wrong}")


def test_a_file_of_format_4_gets_the_tables_of_a_new_one(tmp_path: Path, empty: sqlite3.Connection) -> None:
    path = tmp_path / "run.db"
    RunFile.create(path, run_spec()).close()
    downgrade(path)
    with closing(sqlite3.connect(path)) as connection:
        assert format_of(connection) == 4
        migrate_tables(connection)
        connection.commit()
        assert format_of(connection) == 6
        assert _columns(connection) == _columns(empty)
