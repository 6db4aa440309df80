"""Run files as a benchmark needs them."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path


def without_snapshots(path: Path, to: Path) -> None:
    """A copy as a run leaves it that is killed before its first snapshot."""
    shutil.copy(path, to)
    with closing(sqlite3.connect(to)) as database, database:
        database.execute("DELETE FROM snapshots")
