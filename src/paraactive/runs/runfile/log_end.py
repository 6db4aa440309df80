"""Where the log of a run file ends. The reader and the writer of the log share it."""

from __future__ import annotations

from paraactive.data.examples import Place
from paraactive.runs.runfile import seals
from paraactive.runs.runfile.chain import read_links
from paraactive.runs.runfile.database import Database
from paraactive.runs.runfile.errors import corruption
from paraactive.runs.runfile.seals import Link


class LogEnd:
    """The end of the log as it was when the file was opened, and as the writer moves it on.

    Parameters
    ----------
    database : Database
        The open run file.

    Attributes
    ----------
    version : int
        Number of entries.
    seen : int
        Number of examples that the cluster has seen.
    rounds : int
        Number of rounds that have ended, with the warmstart.
    round_version : int
        Number of entries up to the end of the last round.
    hash : bytes
        Hash of the last link of the chain. Only a writer has it.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.refresh()

    def refresh(self) -> None:
        """Read the end of the log from the file.

        Raises
        ------
        RunFileError
            If entries or rounds are missing, or the log does not end where its last round or tile ends.
        """
        with self._database.reading():
            count, self.version, tiled, tiles_seen, self.round_version, self.rounds, last, seen = (
                self._database.fetch_one(
                    "SELECT (SELECT count(*) FROM entries), (SELECT coalesce(max(sequence) + 1, 0) FROM entries), "
                    "(SELECT coalesce(max(version), 0) FROM tiles), (SELECT coalesce(max(seen), 0) FROM tiles), "
                    "coalesce(max(version), 0), count(*), coalesce(max(number) + 1, 0), coalesce(max(seen), 0) "
                    "FROM rounds"
                )
            )
            snapshot = Place(
                *self._database.fetch_one("SELECT coalesce(max(version), 0), coalesce(max(rounds), 0) FROM snapshots")
            )
        self.seen, ended = max(seen, tiles_seen), max(self.round_version, tiled)
        path = self._database.path
        if count != self.version:
            raise corruption(path, f"it misses {self.version - count} of its {self.version} entries")
        if self.version != ended:
            raise corruption(path, f"it has {count} entries where its rounds say {ended}")
        if last != self.rounds:
            raise corruption(path, f"it has {self.rounds} rounds where the last is number {last - 1}")
        if snapshot.version > self.version or snapshot.rounds > self.rounds:
            raise corruption(path, f"it has a snapshot after {snapshot.version} entries, beyond the end of its log")
        links = self.links() if self._database.is_writer else []
        self.hash = (links[-1].hash or b"") if links else seals.GENESIS

    def links(self) -> list[Link]:
        """Read the chain of hashes up to the end of the log.

        Returns
        -------
        list of Link
            The rounds and tiles, in the order of the log.
        """
        database = self._database
        with database.reading():
            return read_links(database.connection, database.has_hashes, self.rounds, self.seen)
