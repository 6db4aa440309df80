"""A run on disk: one SQLite file. This module opens, creates and closes it; the parts of `RunFile` read and write it.

Crash recovery is SQLite's: whole rounds are committed together, so after a crash the file ends with a whole round, and
the run continues from there. In the asynchronous schedule these are whole tiles. The file has no pickle: states are npz
bytes, everything else is numbers and JSON. Hashes (`seals`) show damage.
"""

from __future__ import annotations

import sqlite3
import warnings
from collections.abc import Generator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from functools import cached_property
from pathlib import Path

from paraactive.errors import RunFileWarning
from paraactive.runs.runfile.chain import find_broken_seal, seal_all
from paraactive.runs.runfile.configuration import read_spec, write_spec
from paraactive.runs.runfile.connection import check_exists, connect, open_checked, remove_journal
from paraactive.runs.runfile.creation import check_not_folder, check_replaceable, replace_with_new
from paraactive.runs.runfile.database import Database
from paraactive.runs.runfile.entries import EntryTable
from paraactive.runs.runfile.errors import corruption, reraise_as_corruption
from paraactive.runs.runfile.events import EventTable
from paraactive.runs.runfile.finished import FinishedModels
from paraactive.runs.runfile.journal import Journal, read_journal
from paraactive.runs.runfile.lock import RunLock
from paraactive.runs.runfile.log_end import LogEnd
from paraactive.runs.runfile.log_reader import LogReader
from paraactive.runs.runfile.log_writer import LogWriter
from paraactive.runs.runfile.questions import OracleQuestions
from paraactive.runs.runfile.revision import LogRevision
from paraactive.runs.runfile.snapshots import Snapshots
from paraactive.runs.runfile.tables import migrate_tables
from paraactive.runs.spec import RunSpec


class RunFile:
    """An open run file. Get one from `RunFile.create`, `RunFile.resume` or `RunFile.read`.

    Parameters
    ----------
    path : Path
        The run file.
    connection : sqlite3.Connection
        Connection to the file.
    lock : RunLock or None
        The lock of the file. None: the file is only read.

    Attributes
    ----------
    database : Database
        The connection, with commits and durability.
    log : LogReader
        Reads the log.
    writer : LogWriter
        Writes the log, as the `Log` of a schedule.
    snapshots : Snapshots
        Snapshots of the model.
    finished : FinishedModels
        The model after the finishing step.
    questions : OracleQuestions
        Questions to an oracle and its answers.
    events : EventTable
        What the run reported.
    revision : LogRevision
        Removes rounds and corrects labels.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: RunLock | None) -> None:
        self.path, self._lock = path, lock
        self.database = Database(path, connection, is_writer=lock is not None)
        self._end = LogEnd(self.database)
        self.log = LogReader(self.database, self._end)
        self.snapshots = Snapshots(self.database, self._end)
        self.finished = FinishedModels(self.database, self._end)
        self.questions = OracleQuestions(self.database)
        self.events = EventTable(self.database)
        self.revision = LogRevision(self.database, self._end, self.log, self.questions)

    @cached_property
    def writer(self) -> LogWriter:
        """Writes the log, as the `Log` of a schedule. Take it after all revisions of the log."""
        return LogWriter(self.database, self._end, self.log)

    @property
    def version(self) -> int:
        """Number of entries in the log."""
        return self._end.version

    @property
    def seen(self) -> int:
        """Number of examples that the cluster has seen."""
        return self._end.seen

    @property
    def rounds(self) -> int:
        """Number of rounds that have ended, with the warmstart."""
        return self._end.rounds

    # Opening and closing -----------------------------------------------------------------------------------------

    @classmethod
    def create(cls, path: Path | str, spec: RunSpec, *, overwrite: bool = False) -> RunFile:
        """Create a run file.

        Parameters
        ----------
        path : path
            Where the file is to be.
        spec : RunSpec
            The description of the run.
        overwrite : bool, optional
            Whether to replace an existing run file. Default: False.

        Returns
        -------
        RunFile
            The file, to write.

        Raises
        ------
        RunFileError
            If the file exists and must not be overwritten, or cannot be written.
        """
        path = Path(path)
        check_not_folder(path)
        with ExitStack() as undo:
            lock = RunLock(path)
            undo.callback(lock.release)
            check_replaceable(path, overwrite)
            with replace_with_new(path) as connection:
                write_spec(connection, spec)
            file = cls(path, undo.enter_context(closing(connect(path, "rw"))), lock)
            file.database.set_durability(spec.recording.durability)
            undo.pop_all()
            return file

    @staticmethod
    def check_creatable(path: Path | str, overwrite: bool) -> None:
        """Check that `create` would succeed. The parameters are those of `create`.

        Parameters
        ----------
        path : path
            Where the file is to be.
        overwrite : bool
            Whether to replace an existing run file.

        Raises
        ------
        RunFileError
            If the file exists and must not be overwritten, or cannot be written.
        """
        path = Path(path)
        check_not_folder(path)
        RunLock(path).release()
        check_replaceable(path, overwrite)

    @classmethod
    def resume(cls, path: Path | str) -> RunFile:
        """Open a run file to write, and compare its whole log with the hashes. A file of an older format is migrated.

        Parameters
        ----------
        path : path
            The run file.

        Returns
        -------
        RunFile
            The file, to write.

        Raises
        ------
        RunFileError
            If the file is damaged or not a run file.
        RunFileLockedError
            If a live run writes the file.
        """
        file = cls._open(Path(path), to_write=True)
        try:
            if file.database.has_hashes:
                file.log.check()
            if not file.database.has_scores:
                file._migrate()
        except BaseException:
            file._abandon()
            raise
        return file

    @classmethod
    def read(cls, path: Path | str, *, thorough: bool = True) -> RunFile:
        """Open a run file to read. A live run may write the file at the same time.

        Parameters
        ----------
        path : path
            The run file.
        thorough : bool, optional
            Whether to check all of the file for damage. False is for callers that read a file often. Default: True.

        Returns
        -------
        RunFile
            The file, to read.

        Raises
        ------
        RunFileError
            If the file is damaged or not a run file.
        """
        return cls._open(Path(path), to_write=False, thorough=thorough)

    @classmethod
    def _open(cls, path: Path, *, to_write: bool, thorough: bool = True) -> RunFile:
        check_exists(path)
        with ExitStack() as undo:
            lock = RunLock(path) if to_write else None
            if lock:
                undo.callback(lock.release)
            journal = read_journal(path) if thorough else None
            opened = undo.enter_context(closing(open_checked(path, to_write=to_write, thorough=thorough)))
            opened.execute("BEGIN")  # All checks see one state of the file, also while a live run writes.
            file = cls(path, opened, lock)
            if journal:
                file._check_for_damage(journal)
            opened.rollback()
            undo.pop_all()
            return file

    def _check_for_damage(self, journal: Journal) -> None:
        """Compare the hashes of the small parts. Warn if there are none, or if SQLite ignores damaged commits."""
        if self.database.has_hashes:
            with self.database.reading():
                part = find_broken_seal(self.database.connection)
            if part:
                raise corruption(self.path, f"the hash of its {part} does not match")
        else:
            warnings.warn(
                f"{self.path} has no hashes: an older version of paraactive wrote it, so damage to its log may go "
                "unnoticed; 'paraactive resume' adds them",
                RunFileWarning,
                stacklevel=4,
            )
        if journal.unread():
            warnings.warn(
                f"the journal {journal.path.name} is damaged: the last commits in it cannot be read, so {self.path} is "
                "read as it was before them; resume the run to learn them again",
                RunFileWarning,
                stacklevel=4,
            )

    def _migrate(self) -> None:
        """Give a file of an older format the tables of the present one, and hashes of its content if it has none."""
        links, had_hashes = self._end.links(), self.database.has_hashes
        with self.database.writing():
            migrate_tables(self.database.connection)
            self.database.read_format()
            if not had_hashes:
                seal_all(self.database.connection, links, EntryTable(self.database).stored)
        self.database.commit()
        self._end.refresh()

    def close(self) -> None:
        """Commit all rounds that have ended, and close the file.

        Raises
        ------
        RunFileError
            If the file was removed or replaced during the run.
        """
        try:
            self.database.finish()
        finally:
            self._release()

    def _abandon(self) -> None:
        """Close the file after a failure, without the pending part of a round."""
        try:
            self.database.abandon()
        finally:
            self._release()

    def _release(self) -> None:
        self.database.close()
        if self._lock:
            self._lock.release()
        else:
            remove_journal(self.path)

    def __enter__(self) -> RunFile:
        return self

    def __exit__(self, *failure: object) -> None:
        if failure[0] is None:
            self.close()
        else:
            self._abandon()

    # Reading -----------------------------------------------------------------------------------------------------

    @contextmanager
    def consistent_reads(self) -> Generator[RunFile]:
        """Read one state of the file in the block, whatever a live run writes meanwhile.

        The live run cannot move its journal into the file during the block, so the block should be short.

        Yields
        ------
        RunFile
            This file.
        """
        if self._lock or self.database.in_transaction:
            yield self
            return
        with self.database.reading():
            self.database.execute("BEGIN")
        try:
            self._end.refresh()
            yield self
        finally:
            self.database.rollback()

    def reraise_as_corruption(self) -> AbstractContextManager[None]:
        """Reraise errors that the content of the file causes in the block as `RunFileError`."""
        return reraise_as_corruption(self.path)

    # The description of the run ------------------------------------------------------------------------------------

    @property
    def spec(self) -> RunSpec:
        """The description of the run as it now is in the file. Another process may change the number of nodes."""
        with self.database.reading():
            return read_spec(self.database.connection)

    def write_spec(self, spec: RunSpec) -> None:
        """Replace the description of the run and commit.

        Parameters
        ----------
        spec : RunSpec
            The description.
        """
        with self.database.writing():
            write_spec(self.database.connection, spec)
            self.database.commit()
