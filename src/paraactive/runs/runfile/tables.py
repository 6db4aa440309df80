"""The tables of a run file, the number of their format, and the migration of older formats."""

from __future__ import annotations

import sqlite3

FORMAT = 6
"""Format that is written, the `user_version` of the SQLite file. Format 5 has no scores of entries."""
FORMAT_WITHOUT_HASHES = 4
"""Oldest format that is read. Files of this format have no hashes."""
APPLICATION_ID = 0x70617261
"""The `application_id` of the SQLite file: "para"."""

_TABLES = (
    """CREATE TABLE configuration (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT""",
    """CREATE TABLE entries (
    sequence INTEGER PRIMARY KEY, position INTEGER NOT NULL, key INTEGER NOT NULL,
    y INTEGER NOT NULL CHECK (y BETWEEN -1 AND 126), p REAL NOT NULL CHECK (p > 0 AND p <= 1),
    seen INTEGER NOT NULL, version INTEGER NOT NULL, importance REAL NOT NULL CHECK (importance > 0), x BLOB,
    columns BLOB, score BLOB
) STRICT""",
    """CREATE TABLE rounds (
    number INTEGER PRIMARY KEY, seen INTEGER NOT NULL, version INTEGER NOT NULL, selected INTEGER NOT NULL,
    fetch_seconds REAL NOT NULL, sift_seconds REAL NOT NULL, update_seconds REAL NOT NULL, elapsed TEXT NOT NULL,
    scored INTEGER NOT NULL, lowered INTEGER NOT NULL, nodes TEXT NOT NULL, hash BLOB
) STRICT""",
    """CREATE TABLE tiles (
    number INTEGER PRIMARY KEY, first INTEGER NOT NULL, last INTEGER NOT NULL CHECK (last > first),
    seen INTEGER NOT NULL, version INTEGER NOT NULL, hash BLOB
) STRICT""",
    """CREATE TABLE snapshots (version INTEGER PRIMARY KEY, rounds INTEGER NOT NULL, digest TEXT NOT NULL,
    state BLOB NOT NULL, hash BLOB) STRICT""",
    """CREATE TABLE events (id INTEGER PRIMARY KEY, time REAL NOT NULL, kind TEXT NOT NULL,
    payload TEXT NOT NULL) STRICT""",
)
_ANSWERS = """CREATE TABLE answers (position INTEGER PRIMARY KEY, y INTEGER CHECK (y BETWEEN -1 AND 126)) STRICT"""
_NEW_IN_5 = (
    """CREATE TABLE questions (position INTEGER PRIMARY KEY, key INTEGER NOT NULL, batch TEXT NOT NULL) STRICT""",
    """CREATE TABLE seals (part TEXT PRIMARY KEY, hash BLOB NOT NULL) STRICT""",
)
_FROM_4_TO_5 = (
    *(f"ALTER TABLE {table} ADD COLUMN hash BLOB" for table in ("rounds", "tiles", "snapshots")),
    "ALTER TABLE answers RENAME TO older_answers",
    _ANSWERS,
    "INSERT INTO answers SELECT position, y FROM older_answers",
    "DROP TABLE older_answers",
    *_NEW_IN_5,
    # A label can be corrected only if its question is known.
    "INSERT INTO questions SELECT position, key, '' FROM entries WHERE position IN (SELECT position FROM answers)",
    "PRAGMA user_version = 5",
)
_FROM_5_TO_6 = ("ALTER TABLE entries ADD COLUMN score BLOB", f"PRAGMA user_version = {FORMAT}")


def create_tables(connection: sqlite3.Connection) -> None:
    """Create empty tables of the present format in the open transaction.

    Parameters
    ----------
    connection : sqlite3.Connection
        Connection to an empty file.
    """
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")
    for table in (*_TABLES, _ANSWERS, *_NEW_IN_5):
        connection.execute(table)


def migrate_tables(connection: sqlite3.Connection) -> None:
    """Give a file of an older format the tables of the present one, in a transaction that the caller commits.

    Parameters
    ----------
    connection : sqlite3.Connection
        Connection to a run file of format 4 or 5, without an open transaction.
    """
    connection.execute("BEGIN IMMEDIATE")
    older = _FROM_4_TO_5 if format_of(connection) == FORMAT_WITHOUT_HASHES else ()
    for statement in (*older, *_FROM_5_TO_6):
        connection.execute(statement)


def format_of(connection: sqlite3.Connection) -> int:
    """Return the format number of a run file.

    Parameters
    ----------
    connection : sqlite3.Connection
        Connection to the run file.

    Returns
    -------
    int
        The `user_version` of the file.
    """
    return connection.execute("PRAGMA user_version").fetchone()[0]
