"""Opening and making the SQLite file of a run, and SQLite's errors in our words."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from paraactive.errors import ParaActiveError, RunFileError

FORMAT = 5
"""Version of the tables that is written."""
_WITHOUT_HASHES = 4
"""An older version that is still read. Files of any other version are refused."""
DURABILITIES = {"process": "NORMAL", "power": "FULL"}
"""Which crash the last commits survive, and what SQLite calls it. In both cases the file stays whole."""
_SQLITE = b"SQLite format 3\0"
_APPLICATION = 0x70617261  # "para", in the header of the file

_TABLES = (
    """CREATE TABLE configuration (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT""",
    """CREATE TABLE entries (
    sequence INTEGER PRIMARY KEY, position INTEGER NOT NULL, key INTEGER NOT NULL,
    y INTEGER NOT NULL CHECK (y BETWEEN -1 AND 126), p REAL NOT NULL CHECK (p > 0 AND p <= 1),
    seen INTEGER NOT NULL, version INTEGER NOT NULL, importance REAL NOT NULL CHECK (importance > 0), x BLOB,
    columns BLOB
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
_UPGRADE = (
    *(f"ALTER TABLE {table} ADD COLUMN hash BLOB" for table in ("rounds", "tiles", "snapshots")),
    "ALTER TABLE answers RENAME TO older_answers",
    _ANSWERS,
    "INSERT INTO answers SELECT position, y FROM older_answers",
    "DROP TABLE older_answers",
    *_NEW_IN_5,
    # So that labels that were learned can be corrected.
    "INSERT INTO questions SELECT position, key, '' FROM entries WHERE position IN (SELECT position FROM answers)",
    f"PRAGMA user_version = {FORMAT}",
)


def create(path: Path) -> sqlite3.Connection:
    """A new file with empty tables, not yet committed: what is put in with them is there together or not at all."""
    connection = _opened(path, "rwc")
    with _closed_on_failure(connection):
        set_durability(connection, "process")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN")
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute(f"PRAGMA user_version = {FORMAT}")
        for table in (*_TABLES, _ANSWERS, *_NEW_IN_5):
            connection.execute(table)
    return connection


def upgrade(connection: sqlite3.Connection) -> None:
    """Give a file of the older version the tables of this one, not yet committed."""
    connection.execute("BEGIN IMMEDIATE")
    for statement in _UPGRADE:
        connection.execute(statement)


def has_hashes(connection: sqlite3.Connection) -> bool:
    """True if the file is of a version that has them."""
    return connection.execute("PRAGMA user_version").fetchone()[0] > _WITHOUT_HASHES


def check_room(path: Path, overwrite: bool) -> None:
    """An error if what is there may not be replaced: it may on request, or if a run was killed before it began."""
    if not path.exists():
        return
    if not overwrite and not _is_unborn(path):
        raise RunFileError(
            f"{path} is there already",
            why="a run file is never overwritten unasked",
            remedy=f"go on with 'paraactive resume {path}', give another name, or --overwrite (overwrite=True) it",
        )
    if not _is_unborn(path) and not _has_our_header(path):
        open_checked(path, any_version=True).close()  # Never overwrite what is not a run file.


@contextmanager
def replaced_by_new(path: Path) -> Generator[sqlite3.Connection]:
    """A new run file that takes the place of `path`, and of what is there, when the block ends: whole or not at all."""
    target = Path(os.path.realpath(path))
    new = target.with_name(f".{target.name}.new")
    try:
        _remove(new)
        with translated(path, "write"):
            connection = create(new)
        with closing(connection), translated(path, "write"):
            yield connection
            connection.commit()
        if target.exists():
            _settle(target)
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


def _remove(path: Path, suffixes: tuple[str, ...] = ("", "-wal", "-shm")) -> None:
    for suffix in suffixes:
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _settle(path: Path) -> None:
    """Put what is in the journal of an older run into its file, which then is whole by itself."""
    with suppress(sqlite3.Error, RunFileError), closing(connect(path, "rw")) as older:
        older.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _is_unborn(path: Path) -> bool:
    """True for an empty file, or a SQLite file without a single table."""
    with path.open("rb") as file:
        head = file.read(len(_SQLITE))
    if head != _SQLITE:
        return not head
    try:
        with translated(path, "read"):
            connection = connect(path, "ro")
            try:
                return not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            finally:
                connection.close()
    except RunFileError:
        return False


def _has_our_header(path: Path) -> bool:
    """True for a run file, also a damaged one; a young one may still have its header in the write-ahead log."""
    with path.open("rb") as file:
        head = file.read(72)
    return head.startswith(_SQLITE) and int.from_bytes(head[68:72]) == _APPLICATION


def check_not_folder(path: Path) -> None:
    """An error if a run file cannot be there."""
    if path.exists() and not path.is_file():
        raise RunFileError(f"{path} is not a file", why="it is a folder or a device", remedy="give another --out")


def check_there(path: Path) -> None:
    if not path.is_file():
        why = "it is not a file" if path.exists() else "nothing is there"
        raise RunFileError(f"no run file {path}", why=why, remedy="check the path, or train first")


def connect(path: Path, mode: str) -> sqlite3.Connection:
    with translated(path, "open"):
        connection = _opened(path, mode)
        with _closed_on_failure(connection):
            set_durability(connection, "process")
    return connection


def _opened(path: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode={mode}", uri=True, timeout=10)


def set_durability(connection: sqlite3.Connection, durability: str) -> None:
    """Which crash the commits from here on survive. Outside of a transaction only."""
    connection.execute(f"PRAGMA synchronous = {DURABILITIES[durability]}")


def _connect_to_read(path: Path) -> sqlite3.Connection:
    """A connection that cannot write, also where nothing can be written beside the file."""
    with translated(path, "open"):
        connection = _opened(path, "ro")
    try:
        connection.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.OperationalError:
        connection.close()
        return _connect_without_journal(path)
    except (sqlite3.DatabaseError, UnicodeDecodeError):
        pass  # It is no SQLite file, or a damaged one; whoever asked says so.
    return connection


def _connect_without_journal(path: Path) -> sqlite3.Connection:
    """SQLite makes files beside the run file to read it. Where it cannot, a run that ended is read without them."""
    journal = path.with_name(path.name + "-wal")
    if not journal.exists() or not journal.stat().st_size:
        return connect(path, "ro&immutable=1")
    if os.access(path.parent, os.W_OK):
        return connect(path, "rw")  # A run may be writing: what it has committed is in the journal.
    raise RunFileError(
        f"cannot read {path}",
        why=f"the run did not end, part of it is in {journal.name}, and its folder is read-only",
        remedy=f"copy {path.name} and {journal.name} into a folder that you may write to, and read them there",
    )


def tidy(path: Path) -> None:
    """Leave no journal beside a file that nobody writes: SQLite removes it with the last who could have written."""
    journal, lock = (path.with_name(path.name + suffix) for suffix in ("-wal", ".lock"))
    if journal.exists() and not lock.exists() and path.exists():
        with suppress(sqlite3.Error, RunFileError):
            last = connect(path, "rw")
            try:
                last.execute("SELECT count(*) FROM sqlite_master")
            finally:
                last.close()


def open_checked(
    path: Path, any_version: bool = False, *, to_write: bool = True, thorough: bool = True
) -> sqlite3.Connection:
    """A connection to what is a whole run file of this version; otherwise an error that says what it is instead.

    Not thorough: its pages are not read through, which takes longer the larger it is.
    """
    connection = connect(path, "rw") if to_write else _connect_to_read(path)
    with translated(path, "read"), _closed_on_failure(connection):
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if application == 0 and not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise RunFileError(
                f"{path} holds no run", why="it was stopped before it began", remedy="start it again with train"
            )
        if application != _APPLICATION:
            raise RunFileError(
                f"{path} is not a run file",
                why="it is a SQLite file of another program",
                remedy="give a file that train wrote",
            )
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        if version == _WITHOUT_HASHES and "seals" in tables:
            raise damaged(path, "its format number is that of files without hashes, and it has hashes")
        if version not in (_WITHOUT_HASHES, FORMAT) and not any_version:
            raise RunFileError(
                f"{path} has format {version}",
                why=f"this version of paraactive reads the formats {_WITHOUT_HASHES} and {FORMAT}",
                remedy="use the version of paraactive that wrote it, or train anew",
            )
        fault = connection.execute("PRAGMA quick_check(1)").fetchone()[0] if thorough else "ok"
        if fault != "ok":
            raise damaged(path, fault)
    return connection


@contextmanager
def _closed_on_failure(connection: sqlite3.Connection) -> Generator[None]:
    try:
        yield
    except BaseException:
        connection.close()
        raise


@contextmanager
def translated(path: Path, doing: str) -> Generator[None]:
    """SQLite's errors in our words."""
    try:
        yield
    except UnicodeDecodeError as error:  # sqlite3's own, for names in the schema.
        raise damaged(path, "it holds text that is not UTF-8") from error
    except sqlite3.DatabaseError as error:
        said = " ".join(str(error).split())
        if "not a database" in said or "malformed" in said:
            raise RunFileError(
                f"{path} is not a run file, or is damaged",
                why=said,
                remedy="give a file that train wrote, or restore a copy of it",
            ) from error
        if doing == "write":
            raise RunFileError(
                f"cannot write {path}",
                why=said if "full" in said or "I/O" not in said else f"{said}, perhaps the disk is full",
                remedy=f"all rounds up to the last commit are safe: make room, then 'paraactive resume {path}'",
            ) from error
        raise RunFileError(f"cannot {doing} {path}", why=said, remedy="check the path and its permissions") from error


@contextmanager
def understood(path: Path) -> Generator[None]:
    """What the file says must make sense: what does not is damage, and not a bug of whoever reads it."""
    try:
        yield
    except ParaActiveError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, MemoryError, RecursionError) as error:
        raise damaged(path, f"what it says cannot be used ({type(error).__name__}: {error})") from error


def damaged(path: Path, why: str) -> RunFileError:
    """The error about a file that was a run file once; the reason may come in several lines."""
    return RunFileError(f"{path} is damaged", why=" ".join(why.split()), remedy="restore a copy of it, or train anew")
