"""Create a run file. It is written under another name and renamed: a crash leaves the old file or the new one."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from paraactive.errors import RunFileError
from paraactive.runs.runfile.connection import (
    SQLITE_HEADER,
    close_on_failure,
    connect,
    open_checked,
    open_sqlite,
    set_durability,
)
from paraactive.runs.runfile.errors import reraise_sqlite_errors
from paraactive.runs.runfile.tables import APPLICATION_ID, create_tables


def check_not_folder(path: Path) -> None:
    """Check that there is a file or nothing at this path.

    Parameters
    ----------
    path : Path
        Where a run file is to be.

    Raises
    ------
    RunFileError
        If there is a folder or a device.
    """
    if path.exists() and not path.is_file():
        raise RunFileError(f"{path} is not a file", why="it is a folder or a device", remedy="give another --out")


def check_replaceable(path: Path, overwrite: bool) -> None:
    """Check that a run file may be created at this path.

    Parameters
    ----------
    path : Path
        Where the run file is to be.
    overwrite : bool
        Whether an existing run file may be replaced. A file of a run that was killed before it began always may.

    Raises
    ------
    RunFileError
        If there is a file that is not a run file, or a run file that must not be overwritten.
    """
    if not path.exists() or _has_no_tables(path):
        return
    if not overwrite:
        raise RunFileError(
            f"{path} already exists",
            why="a run file is overwritten only on request",
            remedy=f"continue with 'paraactive resume {path}', give another name, or --overwrite (overwrite=True) it",
        )
    if not _has_our_header(path):
        open_checked(path, any_version=True).close()  # Raises if the file is not a run file.


@contextmanager
def replace_with_new(path: Path) -> Generator[sqlite3.Connection]:
    """Create a run file that replaces `path`, and the file there, when the block ends without an error.

    Parameters
    ----------
    path : Path
        Where the run file is to be. A symbolic link stays a link.

    Yields
    ------
    sqlite3.Connection
        Connection to the new file with its empty tables. The tables are committed together with what the block writes.
    """
    target = Path(os.path.realpath(path))
    new = target.with_name(f".{target.name}.new")
    try:
        _remove(new)
        with reraise_sqlite_errors(path, "write"):
            connection = create(new)
        with closing(connection), reraise_sqlite_errors(path, "write"):
            yield connection
            connection.commit()
        if target.exists():
            _empty_journal(target)
        _remove(target, ("-wal", "-shm"))
        os.replace(new, target)
    except OSError as error:
        if isinstance(error, RunFileError):
            raise
        raise RunFileError(
            f"cannot write {path}",
            why=(error.strerror or str(error)).lower(),
            remedy="give a place that exists and that you may write to",
        ) from error
    finally:
        _remove(new)


def create(path: Path) -> sqlite3.Connection:
    """Create a file with empty tables. The tables are not yet committed.

    Parameters
    ----------
    path : Path
        A path without a file, or with an empty one.

    Returns
    -------
    sqlite3.Connection
        Connection with an open transaction.
    """
    connection = open_sqlite(path, "rwc")
    with close_on_failure(connection):
        set_durability(connection, "process")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN")
        create_tables(connection)
    return connection


def _remove(path: Path, suffixes: tuple[str, ...] = ("", "-wal", "-shm")) -> None:
    for suffix in suffixes:
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _empty_journal(path: Path) -> None:
    """Move the journal of an older run into its file, so that the file is whole without its journal."""
    with suppress(sqlite3.Error, RunFileError), closing(connect(path, "rw")) as older:
        older.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _has_no_tables(path: Path) -> bool:
    """Whether this is an empty file, or a SQLite file without a single table."""
    with path.open("rb") as file:
        head = file.read(len(SQLITE_HEADER))
    if head != SQLITE_HEADER:
        return not head
    try:
        with reraise_sqlite_errors(path, "read"), closing(connect(path, "ro")) as connection:
            return not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    except RunFileError:
        return False


def _has_our_header(path: Path) -> bool:
    """Whether this is a run file, perhaps a damaged one. A new file may have its header only in the journal."""
    with path.open("rb") as file:
        head = file.read(72)
    return head.startswith(SQLITE_HEADER) and int.from_bytes(head[68:72]) == APPLICATION_ID
