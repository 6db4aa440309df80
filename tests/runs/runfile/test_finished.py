"""The finished model counts only for the log that it was made from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from disk import sql
from making import run_spec
from paraactive.errors import RunFileWarning
from paraactive.runs.runfile import RunFile
from runs.runfile.rounds import a_round, some_selected


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A closed run file of two rounds, with a finished model."""
    with RunFile.create(tmp_path / "run.db", run_spec(seed=7)) as file:
        for number in range(2):
            a_round(file, some_selected(40, number))
        file.finished.save({"alpha": np.ones(3)}, "finished digest")
    return tmp_path / "run.db"


def test_what_was_saved_is_read(written: Path):
    with RunFile.read(written) as file:
        found = file.finished.read()
    assert found is not None
    assert found.digest == "finished digest"
    assert found.state is not None
    assert found.state["alpha"].tolist() == [1, 1, 1]


def test_a_file_without_a_finished_model_has_no_table_for_it(tmp_path: Path):
    with RunFile.create(tmp_path / "run.db", run_spec(seed=7)) as file:
        a_round(file, some_selected(40, 0))
        file.finished.remove()
        assert file.finished.read() is None
    assert sql(tmp_path / "run.db", "SELECT count(*) FROM sqlite_schema WHERE name = 'finished'") == [(0,)]


def test_it_does_not_count_for_a_longer_log(written: Path):
    with RunFile.resume(written) as file:
        a_round(file, some_selected(40, 2))
        assert file.finished.read() is None


def test_it_does_not_count_for_another_log_of_the_same_length(written: Path):
    sql(written, "UPDATE rounds SET hash = zeroblob(32) WHERE number = 1")
    with RunFile.read(written) as file:
        assert file.finished.read() is None


def test_it_can_be_removed(written: Path):
    with RunFile.resume(written) as file:
        file.finished.remove()
        assert file.finished.read() is None


@pytest.mark.parametrize("damage", ["state = x'00ff'", "hash = zeroblob(32)", "digest = 'another'"])
def test_a_damaged_one_is_reported_and_has_no_state(written: Path, damage: str):
    sql(written, f"UPDATE finished SET {damage}")
    with RunFile.read(written) as file, pytest.warns(RunFileWarning, match="finished model in .* is damaged"):
        found = file.finished.read()
    assert found is not None
    assert found.state is None
