"""Open the SQLite file of a run, to read or to write, and check that it is a run file."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from paraactive.errors import RunFileError
from paraactive.runs.runfile.errors import corruption, reraise_sqlite_errors
from paraactive.runs.runfile.tables import APPLICATION_ID, FORMAT, FORMAT_WITHOUT_HASHES, format_of

DURABILITIES = {"process": "NORMAL", "power": "FULL"}
"""Durability -> SQLite's `synchronous`. A commit survives the end of the process, or also a loss of power. The file
stays whole with both."""
SQLITE_HEADER = b"SQLite format 3\0"
"""First bytes of every SQLite file."""


def open_checked(
    path: Path, any_version: bool = False, *, to_write: bool = True, thorough: bool = True
) -> sqlite3.Connection:
    """Open a run file and check that it is one.

    Parameters
    ----------
    path : Path
        The run file.
    any_version : bool, optional
        Whether to accept formats that this version cannot read. Default: False.
    to_write : bool, optional
        Whether the connection can write. Default: True.
    thorough : bool, optional
        Whether to check all pages of the file, which takes longer for larger files. Default: True.

    Returns
    -------
    sqlite3.Connection
        The open connection.

    Raises
    ------
    RunFileError
        If there is no file, or the file is not a run file, has another format, or is damaged.
    """
    check_exists(path)
    connection = connect(path, "rw") if to_write else _connect_to_read(path)
    with reraise_sqlite_errors(path, "read"), close_on_failure(connection):
        _check_is_run_file(path, connection)
        _check_format(path, connection, any_version)
        fault = connection.execute("PRAGMA quick_check(1)").fetchone()[0] if thorough else "ok"
        if fault != "ok":
            raise corruption(path, fault)
    return connection


def _check_is_run_file(path: Path, connection: sqlite3.Connection) -> None:
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    if application == 0 and not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        raise RunFileError(
            f"{path} holds no run", why="the run was stopped before it began", remedy="start it again with train"
        )
    if application != APPLICATION_ID:
        raise RunFileError(
            f"{path} is not a run file",
            why="it is a SQLite file of another program",
            remedy="give a file that train wrote",
        )


def _check_format(path: Path, connection: sqlite3.Connection, any_version: bool) -> None:
    version = format_of(connection)
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    if version == FORMAT_WITHOUT_HASHES and "seals" in tables:
        raise corruption(path, "its format number is that of files without hashes, and it has hashes")
    if not FORMAT_WITHOUT_HASHES <= version <= FORMAT and not any_version:
        raise RunFileError(
            f"{path} has format {version}",
            why=f"this version of paraactive reads the formats {FORMAT_WITHOUT_HASHES} to {FORMAT}",
            remedy="use the version of paraactive that wrote it, or train anew",
        )


def check_exists(path: Path) -> None:
    """Check that there is a file at this path.

    Parameters
    ----------
    path : Path
        The run file.

    Raises
    ------
    RunFileError
        If there is none.
    """
    if not path.is_file():
        why = "it is not a file" if path.exists() else "the file does not exist"
        raise RunFileError(f"no run file {path}", why=why, remedy="check the path, or train first")


def connect(path: Path, mode: str) -> sqlite3.Connection:
    """Open a SQLite file with the durability "process".

    Parameters
    ----------
    path : Path
        The file.
    mode : str
        The `mode` of SQLite's URI: "ro" to read, "rw" to write, perhaps with further options after "&".

    Returns
    -------
    sqlite3.Connection
        The open connection.
    """
    with reraise_sqlite_errors(path, "open"):
        connection = open_sqlite(path, mode)
        with close_on_failure(connection):
            set_durability(connection, "process")
    return connection


def open_sqlite(path: Path, mode: str) -> sqlite3.Connection:
    """Open a SQLite file, without any settings.

    Parameters
    ----------
    path : Path
        The file.
    mode : str
        The `mode` of SQLite's URI, as for `connect`.
    """
    return sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode={mode}", uri=True, timeout=10)


def set_durability(connection: sqlite3.Connection, durability: str) -> None:
    """Set which crash the following commits survive.

    Parameters
    ----------
    connection : sqlite3.Connection
        Connection without an open transaction.
    durability : {"process", "power"}
        See `DURABILITIES`.
    """
    connection.execute(f"PRAGMA synchronous = {DURABILITIES[durability]}")


@contextmanager
def close_on_failure(connection: sqlite3.Connection) -> Generator[None]:
    """Close the connection if the block raises.

    Parameters
    ----------
    connection : sqlite3.Connection
        The connection, which stays open otherwise.
    """
    try:
        yield
    except BaseException:
        connection.close()
        raise


def _connect_to_read(path: Path) -> sqlite3.Connection:
    """Open a connection that cannot write, also in a folder that cannot be written to."""
    with reraise_sqlite_errors(path, "open"):
        connection = open_sqlite(path, "ro")
    try:
        connection.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.OperationalError:
        connection.close()
        return _connect_without_journal(path)
    except (sqlite3.DatabaseError, UnicodeDecodeError):
        pass  # It is not a SQLite file, or a damaged one. The caller's checks raise the error.
    return connection


def _connect_without_journal(path: Path) -> sqlite3.Connection:
    """Open a finished run without the journal files that SQLite would create beside it."""
    journal = path.with_name(path.name + "-wal")
    if not journal.exists() or not journal.stat().st_size:
        return connect(path, "ro&immutable=1")
    if os.access(path.parent, os.W_OK):
        return connect(path, "rw")  # A run may be writing: its commits are in the journal.
    raise RunFileError(
        f"cannot read {path}",
        why=f"the run did not end, part of it is in {journal.name}, and its folder is read-only",
        remedy=f"copy {path.name} and {journal.name} into a folder that you may write to, and read them there",
    )


def remove_journal(path: Path) -> None:
    """Remove the journal that a reader left beside a file that no run writes.

    SQLite removes the journal when the last connection that could write is closed, so one is opened and closed.

    Parameters
    ----------
    path : Path
        The run file.
    """
    journal, lock = (path.with_name(path.name + suffix) for suffix in ("-wal", ".lock"))
    if journal.exists() and not lock.exists() and path.exists():
        with suppress(sqlite3.Error, RunFileError):
            last = connect(path, "rw")
            try:
                last.execute("SELECT count(*) FROM sqlite_master")
            finally:
                last.close()
