"""Whether the file that a run writes is still where it was: somebody may remove or replace it while the run goes on."""

from __future__ import annotations

import os
from pathlib import Path

from paraactive.errors import RunFileError


class FilePlace:
    """The run file and its journal as they were first found."""

    def __init__(self, path: Path) -> None:
        self._path, self._journal = path, path.with_name(path.name + "-wal")
        self._known: dict[Path, tuple[int, int]] = {}
        self._sizes: dict[Path, int] = {}

    def check(self) -> None:
        """An error if the file was removed, replaced or cut short since the last call."""
        for path in (self._path, self._journal):
            try:
                now = os.stat(path)
            except OSError:
                if path in self._known or path == self._path:
                    raise self._lost(f"{path.name} was removed") from None
                continue
            if self._known.setdefault(path, (now.st_dev, now.st_ino)) != (now.st_dev, now.st_ino):
                raise self._lost(f"another {path.name} was put in its place")
            if now.st_size < self._sizes.get(path, 0):  # SQLite uses both again from their beginning, at full size.
                raise self._lost(f"{path.name} was cut short")
            self._sizes[path] = now.st_size

    def _lost(self, why: str) -> RunFileError:
        return RunFileError(
            f"{self._path} is not the file that the run has been writing",
            why=f"{why} while the run went on, so what was learned since cannot be kept there",
            remedy="restore a copy of the file and resume it, or train again, and leave the file alone meanwhile",
        )
