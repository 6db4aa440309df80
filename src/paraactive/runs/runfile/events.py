"""The table `events` of a run file: everything that a run reported, except its rounds."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from typing import Any

from paraactive.data.events import Event, Round
from paraactive.runs.runfile.database import Database


class EventTable:
    """Reads and writes events.

    Parameters
    ----------
    database : Database
        The open run file.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def observe(self, event: Event) -> None:
        """Write an event. Rounds have a table of their own and are ignored.

        Parameters
        ----------
        event : Event
            The event.
        """
        if isinstance(event, Round):
            return
        with self._database.writing():
            self._database.execute(
                "INSERT INTO events (time, kind, payload) VALUES (?, ?, ?)",
                (time.time(), type(event).__name__, json.dumps(asdict(event))),
            )

    def read(self, kind: str) -> list[dict[str, Any]]:
        """Read the events of one kind.

        Parameters
        ----------
        kind : str
            Name of the class of the events, such as "Evaluated".

        Returns
        -------
        list of dict
            The fields of each event, the oldest first.
        """
        with self._database.reading():
            statement = "SELECT payload FROM events WHERE kind = ? ORDER BY id"
            return [json.loads(payload) for (payload,) in self._database.execute(statement, (kind,)).fetchall()]
