"""The finished model of a run file: the model after the finishing step, which is not part of the log."""

from __future__ import annotations

import warnings
from typing import NamedTuple

from paraactive.basics.state import State, pack, unpack
from paraactive.data.examples import Place
from paraactive.errors import InputError, RunFileWarning
from paraactive.runs.runfile import seals
from paraactive.runs.runfile.database import Database
from paraactive.runs.runfile.log_end import LogEnd

_TABLE = """CREATE TABLE IF NOT EXISTS finished (version INTEGER PRIMARY KEY, rounds INTEGER NOT NULL,
    log BLOB NOT NULL, digest TEXT NOT NULL, state BLOB NOT NULL, hash BLOB NOT NULL) STRICT"""
"""Created when the first finished model is written, so that files without one have the same tables as before."""


class FinishedModel(NamedTuple):
    """A finished model as it is in a run file.

    Parameters
    ----------
    digest : str
        Its digest.
    state : State or None
        State of the learner. None if it is damaged.
    """

    digest: str
    state: State | None


class FinishedModels:
    """Reads and writes the finished model. It counts only while the log ends where it ended then.

    Parameters
    ----------
    database : Database
        The open run file.
    end : LogEnd
        Where the log ends.
    """

    def __init__(self, database: Database, end: LogEnd) -> None:
        self._database, self._end = database, end

    def save(self, state: State, digest: str) -> None:
        """Replace the finished model and commit.

        Parameters
        ----------
        state : State
            The state of the learner.
        digest : str
            Its digest.
        """
        place, packed = Place(self._end.version, self._end.rounds), pack(state)
        with self._database.writing():
            self._database.execute(_TABLE)
            self._database.execute("DELETE FROM finished")
            self._database.execute(
                "INSERT INTO finished VALUES (?, ?, ?, ?, ?, ?)",
                (*place, self._log_hash(), digest, packed, seals.hash_of_snapshot(place, digest, packed)),
            )
        self._database.commit()

    def read(self) -> FinishedModel | None:
        """Read the finished model.

        Returns
        -------
        FinishedModel or None
            None if there is none for the log as it is now: the log was extended or changed since then, or the run was
            not finished.
        """
        with self._database.reading():
            if not self._has_table():
                return None
            row = self._database.execute(
                "SELECT digest, state, hash FROM finished WHERE version = ? AND rounds = ? AND log = ?",
                (self._end.version, self._end.rounds, self._log_hash()),
            ).fetchone()
        if row is None:
            return None
        digest, packed, known = row
        try:
            place = Place(self._end.version, self._end.rounds)
            if known != seals.hash_of_snapshot(place, digest, packed):
                raise InputError("the finished model is damaged", why="its hash does not match", remedy="rebuild it")
            return FinishedModel(digest, unpack(packed))
        except InputError as error:
            warnings.warn(
                f"the finished model in {self._database.path} is damaged ({error.why}); it is not used, and the model "
                "is rebuilt from the log",
                RunFileWarning,
                stacklevel=4,
            )
            return FinishedModel(digest, None)

    def remove(self) -> None:
        """Remove the finished model, if there is one."""
        with self._database.writing():
            if self._has_table():
                self._database.execute("DELETE FROM finished")
        self._database.commit()

    def _has_table(self) -> bool:
        return bool(self._database.fetch_one("SELECT count(*) FROM sqlite_schema WHERE name = 'finished'")[0])

    def _log_hash(self) -> bytes:
        """The hash of the last link of the log's chain, which covers the whole log."""
        links = self._end.links()
        return (links[-1].hash or b"") if links else seals.GENESIS
