"""Snapshots of the whole model in a run file. The newest two are kept."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator

from paraactive.basics.state import State, pack, unpack
from paraactive.data.examples import Place
from paraactive.errors import InputError, RunFileWarning
from paraactive.learners.base import Learner
from paraactive.runs.runfile import seals
from paraactive.runs.runfile.database import Database
from paraactive.runs.runfile.errors import corruption
from paraactive.runs.runfile.log_end import LogEnd

_SNAPSHOTS_KEPT = 2


class Snapshots:
    """Reads and writes snapshots.

    Parameters
    ----------
    database : Database
        The open run file.
    end : LogEnd
        Where the log ends.
    """

    def __init__(self, database: Database, end: LogEnd) -> None:
        self._database, self._end = database, end
        self._saved_at = time.monotonic()

    @property
    def age_seconds(self) -> float:
        """Seconds since a snapshot was saved, or since the file was opened."""
        return time.monotonic() - self._saved_at

    def save(self, place: Place, state: State, digest: str) -> None:
        """Write a snapshot, remove the oldest ones and commit.

        Parameters
        ----------
        place : Place
            Place of the model in the log.
        state : State
            The state of the learner.
        digest : str
            Its digest.
        """
        packed = pack(state)
        with self._database.writing():
            self._database.execute(
                "INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?)",
                (*place, digest, packed, seals.hash_of_snapshot(place, digest, packed)),
            )
            self._database.execute(
                "DELETE FROM snapshots WHERE version NOT IN (SELECT version FROM snapshots ORDER BY version DESC "
                f"LIMIT {_SNAPSHOTS_KEPT})"
            )
        self._database.commit()
        self._saved_at = time.monotonic()

    def read(self, rounds: int | None = None) -> Iterator[tuple[Place, str, State]]:
        """Read the snapshots, the newest first. A damaged one is skipped with a warning: the log rebuilds its model.

        Parameters
        ----------
        rounds : int, optional
            Largest number of rounds after which a snapshot may have been taken. Default: all rounds.

        Yields
        ------
        place : Place
            Place of the model in the log.
        digest : str
            Digest of the model.
        state : State
            State of the learner.
        """
        columns = "version, rounds, digest, state" + (", hash" if self._database.has_hashes else "")
        with self._database.reading():
            rows = self._database.execute(
                f"SELECT {columns} FROM snapshots WHERE rounds <= ? ORDER BY version DESC",
                (self._end.rounds if rounds is None else rounds,),
            ).fetchall()
        for version, ended, digest, packed, *known in rows:
            place = Place(version, ended)
            if known and known[0] != seals.hash_of_snapshot(place, digest, packed):
                self._warn(place, "its hash does not match")
                continue
            try:
                state = unpack(packed)
            except InputError as error:
                self._warn(place, error.why)
                continue
            yield place, digest, state

    def _warn(self, place: Place, why: str) -> None:
        warnings.warn(
            f"the snapshot in {self._database.path} after {place.version} entries is damaged ({why}); it is not used, "
            "and the model is rebuilt from the log",
            RunFileWarning,
            stacklevel=4,
        )

    def load(self, learner: Learner, rounds: int | None = None) -> Place:
        """Load the newest snapshot into a learner.

        Parameters
        ----------
        learner : Learner
            A new learner.
        rounds : int, optional
            Largest number of rounds after which the snapshot may have been taken. Default: all rounds.

        Returns
        -------
        Place
            Place of the learner in the log. `Place(0, 0)` if there is no snapshot.

        Raises
        ------
        RunFileError
            If the digest of the learner is not the one that was written.
        """
        for place, digest, state in self.read(rounds):
            learner.load(state)
            if learner.digest() != digest:
                raise corruption(
                    self._database.path,
                    f"its snapshot after {place.version} entries gives another model than the run had",
                )
            return place
        return Place(0, 0)

    def sizes(self) -> list[tuple[int, int]]:
        """Return (entries, bytes) of each snapshot, the oldest first."""
        with self._database.reading():
            statement = "SELECT version, length(state) FROM snapshots ORDER BY version"
            return self._database.execute(statement).fetchall()
