"""The table `configuration` of a run file: the names and values of a `RunSpec`, as JSON."""

from __future__ import annotations

import json
import sqlite3

from paraactive.runs.runfile.chain import seal
from paraactive.runs.spec import RunSpec


def read_spec(connection: sqlite3.Connection) -> RunSpec:
    """Read the description of the run.

    Parameters
    ----------
    connection : sqlite3.Connection
        Connection to the run file.

    Returns
    -------
    RunSpec
        The description.
    """
    rows = connection.execute("SELECT name, value FROM configuration").fetchall()
    return RunSpec.from_dict({name: json.loads(value) for name, value in rows})


def write_spec(connection: sqlite3.Connection, spec: RunSpec) -> None:
    """Replace the description of the run and its hash, in the open transaction.

    Parameters
    ----------
    connection : sqlite3.Connection
        Connection to the run file.
    spec : RunSpec
        The description.
    """
    connection.execute("DELETE FROM configuration")
    rows = [(name, json.dumps(value)) for name, value in spec.to_dict().items()]
    connection.executemany("INSERT INTO configuration VALUES (?, ?)", rows)
    seal(connection, "configuration")
