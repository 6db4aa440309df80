"""Run files that are there already, files of other programs, and refusals: for the tests of opening and creating."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from making import run_spec
from paraactive.data.events import Round
from paraactive.data.examples import Examples, Selected
from paraactive.errors import ParaActiveError, RunFileError
from paraactive.runs.runfile import RunFile


def written_file(path: Path) -> Path:
    """A run file of some hundred kB."""
    count = 3000
    index = np.arange(count)
    x = np.random.default_rng(0).normal(size=(count, 30)).astype(np.float32)
    with RunFile.create(path, run_spec(seed=7)) as file:
        file.writer.append(Selected(Examples(x, np.ones(count, np.int8), index), np.ones(count), index, index))
        file.writer.end_round(Round(0, count, count, count, 0, 0, 0))
    return path


def foreign(path: Path) -> Path:
    """A SQLite file of another program."""
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE photos (name TEXT)")
    return path


def refused(action: Callable[[], object], *words: str) -> ParaActiveError:
    """The action ends in one clear line with these words, and the line is one line."""
    with pytest.raises(RunFileError) as caught:
        action()
    said = str(caught.value)
    assert "\n" not in said
    for word in words:
        assert word in said
    return caught.value
