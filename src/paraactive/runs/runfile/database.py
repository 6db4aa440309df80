"""The open SQLite file of a run, as the parts of `RunFile` share it: transactions, commits, durability and errors."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Generator, Iterable
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

from paraactive.basics.validation import one_of
from paraactive.runs.runfile import connection
from paraactive.runs.runfile.errors import reraise_as_corruption, reraise_sqlite_errors
from paraactive.runs.runfile.identity import FileIdentity
from paraactive.runs.runfile.stored import SQLValue
from paraactive.runs.runfile.tables import FORMAT, FORMAT_WITHOUT_HASHES, format_of


class Database:
    """The connection to a run file.

    Parameters
    ----------
    path : Path
        The run file.
    opened : sqlite3.Connection
        Connection to the file.
    is_writer : bool
        Whether this process holds the lock of the file.

    Attributes
    ----------
    has_hashes : bool
        Whether the format of the file has hashes.
    has_scores : bool
        Whether the format of the file has scores of entries.
    committed_at : float
        Time of the last commit, by `time.monotonic`, in seconds.
    """

    def __init__(self, path: Path, opened: sqlite3.Connection, *, is_writer: bool) -> None:
        self.path, self.is_writer = path, is_writer
        self.connection = opened
        self.committed_at = time.monotonic()
        self._durability = "process"
        self._identity = FileIdentity(path)
        if is_writer:
            self._identity.check()
        with self.reading():
            self.read_format()

    def read_format(self) -> None:
        """Read which format the file has."""
        version = format_of(self.connection)
        self.has_hashes, self.has_scores = version > FORMAT_WITHOUT_HASHES, version >= FORMAT

    @contextmanager
    def reading(self) -> Generator[None]:
        """Reraise what goes wrong while the block reads the file as `RunFileError`."""
        with reraise_sqlite_errors(self.path, "read"), reraise_as_corruption(self.path):
            yield

    def writing(self) -> AbstractContextManager[None]:
        """Reraise what goes wrong while the block writes the file as `RunFileError`."""
        return reraise_sqlite_errors(self.path, "write")

    def execute(self, statement: str, values: Iterable[SQLValue] = ()) -> sqlite3.Cursor:
        """Run one statement.

        Parameters
        ----------
        statement : str
            The SQL.
        values : iterable of SQLValue, optional
            The values of its parameters. Default: none.

        Returns
        -------
        sqlite3.Cursor
            The rows of the result.
        """
        return self.connection.execute(statement, tuple(values))

    def fetch_one(self, statement: str, *values: SQLValue) -> tuple[Any, ...]:
        """Run one statement and return the first row of its result.

        Parameters
        ----------
        statement : str
            The SQL.
        *values : SQLValue
            The values of its parameters.

        Returns
        -------
        tuple
            The row.
        """
        return self.connection.execute(statement, values).fetchone()

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self.connection.in_transaction

    def commit(self) -> None:
        """Commit the open transaction, if there is one.

        Raises
        ------
        RunFileError
            If the file was removed or replaced, or cannot be written.
        """
        if self.in_transaction:
            with self.writing():
                self._identity.check()
                self.connection.commit()
        self.committed_at = time.monotonic()

    def rollback(self) -> None:
        """Undo what was written since the last commit."""
        if self.in_transaction:
            self.connection.rollback()

    def set_durability(self, durability: str) -> None:
        """Commit, and set which crash the following commits survive.

        Parameters
        ----------
        durability : {"process", "power"}
            "process": the program is killed. "power": also a loss of power.
        """
        self._durability = one_of("durability", durability, connection.DURABILITIES)
        self.commit()
        with self.writing():
            connection.set_durability(self.connection, self._durability)

    @contextmanager
    def surviving_power_loss(self) -> Generator[None]:
        """Commit what the block writes together, so that it survives a loss of power whatever the durability."""
        self.commit()
        connection.set_durability(self.connection, "power")
        try:
            yield
            self.commit()
        finally:
            self.rollback()
            connection.set_durability(self.connection, self._durability)

    def finish(self) -> None:
        """Commit, and move the journal into the file.

        Raises
        ------
        RunFileError
            If the file was removed or replaced, or cannot be written.
        """
        self.commit()
        if self.is_writer:
            self._identity.check()
        self._empty_journal()

    def abandon(self) -> None:
        """Undo what was written since the last commit, and move the journal into the file."""
        self.rollback()
        self._empty_journal()

    def _empty_journal(self) -> None:
        if self.is_writer:
            with suppress(sqlite3.OperationalError):  # Another process may have the file open to read.
                self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()
