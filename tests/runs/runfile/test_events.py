"""Events come back, and can be read with SQL."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from disk import sql
from making import run_spec
from paraactive.data.events import Evaluated, RunStarted, SnapshotTaken
from paraactive.data.examples import Place
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


def test_events_come_back_by_kind_and_in_order_and_rounds_are_not_written_twice(path: Path):
    with RunFile.create(path, run_spec()) as file:
        for event in (RunStarted(10, 0), Evaluated(5, 1, 3, 9, 0.5), Evaluated(7, 2, 1, 9, 0.25)):
            file.events.observe(event)
        file.events.observe(a_round(file, some_selected(2)))
    with RunFile.read(path) as file:
        assert [Evaluated(**payload) for payload in file.events.read("Evaluated")] == [
            Evaluated(5, 1, 3, 9, 0.5),
            Evaluated(7, 2, 1, 9, 0.25),
        ]
        assert file.events.read("RunStarted") == [{"examples": 10, "seen": 0, "sifted": 0, "selected": 0}]
        assert file.events.read("Round") == []


def test_a_user_can_read_events_and_times_with_sql(written: Path):
    with RunFile.resume(written) as file:
        file.events.observe(SnapshotTaken(400, 160, 4, "abc"))
    ((kind, payload, time),) = sql(written, "SELECT kind, payload, time FROM events")
    assert (kind, json.loads(payload)) == ("SnapshotTaken", {"seen": 400, "version": 160, "rounds": 4, "digest": "abc"})
    assert time > 1.7e9
