"""Notice when the run file is removed, replaced or truncated while a run writes it."""

from __future__ import annotations

import os
from pathlib import Path

from paraactive.errors import RunFileError


class FileIdentity:
    """The device, inode and size of the run file and of its journal, as they were last seen.

    Parameters
    ----------
    path : Path
        The run file.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._journal = path, path.with_name(path.name + "-wal")
        self._known: dict[Path, tuple[int, int]] = {}
        self._sizes: dict[Path, int] = {}

    def check(self) -> None:
        """Compare both files with what they were at the last call.

        Raises
        ------
        RunFileError
            If a file was removed, replaced or truncated.
        """
        for path in (self._path, self._journal):
            try:
                now = os.stat(path)
            except OSError:
                if path in self._known or path == self._path:
                    raise self._lost(f"{path.name} was removed") from None
                continue
            if self._known.setdefault(path, (now.st_dev, now.st_ino)) != (now.st_dev, now.st_ino):
                raise self._lost(f"another {path.name} was put in its place")
            if now.st_size < self._sizes.get(
                path, 0
            ):  # SQLite reuses both files from the start and never shrinks them.
                raise self._lost(f"{path.name} was cut short")
            self._sizes[path] = now.st_size

    def _lost(self, why: str) -> RunFileError:
        return RunFileError(
            f"{self._path} is not the file that the run has been writing",
            why=f"{why} during the run, so the rounds learned since then cannot be saved",
            remedy="restore a copy of the file and resume it, or train again, without changing the file during the run",
        )
