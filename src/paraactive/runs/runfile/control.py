"""Change the number of nodes of a live run, through its run file."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from paraactive.errors import InputError, RunFileLockedError
from paraactive.runs.runfile.configuration import read_spec, write_spec
from paraactive.runs.runfile.connection import check_exists, open_checked
from paraactive.runs.runfile.errors import reraise_sqlite_errors
from paraactive.runs.runfile.lock import RunLock


def request_nodes(path: Path | str, nodes: int) -> None:
    """Ask the live run that writes this file for another number of nodes, from its next round on.

    Parameters
    ----------
    path : path
        The run file.
    nodes : int
        Number of nodes.

    Raises
    ------
    InputError
        If no run is writing the file, its schedule is not asynchronous, or it cannot have that number of nodes.
    """
    path = Path(path)
    check_exists(path)
    if not _is_locked(path):
        raise InputError(
            f"no run is writing {path}",
            why="only a live run has nodes",
            remedy=f"continue it, as 'paraactive resume {path} --nodes {nodes}'",
        )
    with closing(open_checked(path)) as connection, reraise_sqlite_errors(path, "write"), connection:
        spec = read_spec(connection)
        if spec.schedule != "asynchronous":
            raise InputError(
                f"the run in {path} is {spec.schedule}",
                why="nodes can join and leave only in the asynchronous schedule",
                remedy=f"stop it, and 'paraactive resume {path} --nodes {nodes}'",
            )
        write_spec(connection, spec.with_nodes(nodes))


def _is_locked(path: Path) -> bool:
    try:
        RunLock(path).release()
    except RunFileLockedError:
        return True
    return False
