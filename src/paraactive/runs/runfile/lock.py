"""One writer at a time: a lock file beside the run file. The system releases the lock when its holder dies.

The lock is a file of its own because closing any handle of a SQLite file drops SQLite's own locks on it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path

from paraactive.errors import RunFileError, RunFileLockedError


class RunLock:
    """The lock of a run file, held from construction to `release`.

    Parameters
    ----------
    run : Path
        The run file, which need not exist.

    Raises
    ------
    RunFileLockedError
        If another process holds the lock.
    RunFileError
        If the lock file cannot be written.
    """

    def __init__(self, run: Path) -> None:
        self._path = run.with_name(run.name + ".lock")
        self._handle = self._acquire(run)

    def _acquire(self, run: Path) -> int:
        while True:
            try:
                handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
            except OSError as error:
                raise RunFileError(
                    f"cannot write beside {run}",
                    why=(error.strerror or str(error)).lower(),
                    remedy="give a folder that exists and that you may write to",
                ) from error
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(handle)
                raise RunFileLockedError(
                    f"{run} is being written", why="a live run holds it", remedy="wait for that run, or stop it"
                ) from None
            if self._is_current(handle):
                return handle
            os.close(handle)  # Its holder removed the file between our open and our lock: try again with the new file.

    def _is_current(self, handle: int) -> bool:
        with contextlib.suppress(FileNotFoundError):
            return os.path.samestat(os.fstat(handle), os.stat(self._path))
        return False

    def release(self) -> None:
        """Release the lock and remove its file."""
        self._path.unlink(missing_ok=True)
        os.close(self._handle)
