"""A log with gaps is refused when the file is opened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from disk import sql
from making import run_spec
from paraactive.data.examples import Place
from paraactive.errors import RunFileError
from paraactive.runs.runfile import RunFile
from runs.runfile.rounds import a_round, some_selected


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.db"


@pytest.fixture
def written(path: Path) -> Path:
    """A closed run file of four rounds, with two snapshots."""
    with RunFile.create(path, run_spec(seed=7)) as file:
        for number in range(4):
            a_round(file, some_selected(40, number))
            file.snapshots.save(Place(file.version, file.rounds), {"alpha": np.full(50, number)}, f"digest {number}")
    return path


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("DELETE FROM entries WHERE sequence = 17", "misses 1 of its 160 entries"),
        ("DELETE FROM entries WHERE sequence = 159", "159 entries where its rounds say 160"),
        ("DELETE FROM entries WHERE sequence = 0", "misses 1 of its 160 entries"),
        ("DELETE FROM entries", "0 entries where its rounds say 160"),
        ("UPDATE entries SET sequence = 1000 WHERE sequence = 17", "misses 841 of its 1001 entries"),
        ("DELETE FROM rounds WHERE number = 1", "3 rounds where the last is number 3"),
        ("DELETE FROM rounds WHERE number = 3", "160 entries where its rounds say 120"),
        ("DROP TABLE rounds", "no such table: rounds"),
    ],
)
@pytest.mark.parametrize("way", [RunFile.read, RunFile.resume])
def test_a_gap_in_the_log_is_noticed_when_the_file_is_opened(written: Path, way: Any, damage: str, said: str):
    sql(written, damage)
    with pytest.raises(RunFileError, match=said):
        way(written)
