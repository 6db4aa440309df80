from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from disk import log_of, sql
from making import run_spec
from paraactive.data.examples import Place
from paraactive.runs.runfile import RunFile
from paraactive.schedules.plan import Plan
from runs.runfile.rounds import a_round, some_selected


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A closed run file of four rounds, with two snapshots."""
    path = tmp_path / "run.db"
    with RunFile.create(path, run_spec(seed=7)) as file:
        for number in range(4):
            a_round(file, some_selected(40, number))
            file.snapshots.save(Place(file.version, file.rounds), {"alpha": np.full(50, number)}, f"digest {number}")
    return path


def test_the_delays_of_a_round_that_is_dropped_are_not_counted(written: Path):
    with RunFile.resume(written) as file:
        before = file.log.count_delays()
        file.revision.drop_short_round(Plan(1000, 200, 100, 1))
        assert file.rounds == 3
        assert file.writer.delays == file.log.count_delays() != before
        a_round(file, some_selected(40, 3))
        assert file.writer.delays == file.log.count_delays() == before


def test_a_last_round_that_was_cut_short_is_dropped_with_its_model_and_a_whole_one_is_not(written: Path) -> None:
    before = log_of(written)
    with RunFile.resume(written) as file:
        file.revision.drop_short_round(Plan(1000, 100, 100, 1))
        assert (file.rounds, file.version) == (4, 160)
        file.revision.drop_short_round(Plan(1000, 101, 100, 1))
        assert (file.rounds, file.version, file.seen) == (3, 120, 300)
    assert log_of(written) == before[:120]
    assert sql(written, "SELECT max(rounds) FROM snapshots") == [(3,)]


def test_a_round_that_ended_because_it_had_its_labels_is_whole(written: Path) -> None:
    with RunFile.resume(written) as file:
        file.questions.record_answers(np.arange(350, 360), [1] * 10)
        file.questions.commit()
        file.revision.drop_short_round(Plan(1000, 200, 100, 1), per_round=10)
        assert file.rounds == 4
        file.revision.drop_short_round(Plan(1000, 200, 100, 1), per_round=11)
        assert file.rounds == 3


def test_a_label_that_is_corrected_changes_its_entries_and_removes_the_models_after_it(written: Path) -> None:
    position, y = sql(written, "SELECT position, y FROM entries WHERE sequence = 0")[0]
    with RunFile.resume(written) as file:
        file.revision.correct_label(position, -y)
        assert file.questions.answers() == {position: -y}
        assert file.version == 160
    entries = sql(written, "SELECT y FROM entries WHERE position = ?", position)
    assert {label for (label,) in entries} == {-y}
    assert sql(written, "SELECT count(*) FROM snapshots") == [(0,)]
    with RunFile.read(written) as file:
        file.log.check()


def test_the_log_ends_before_the_round_of_an_example_that_is_to_be_skipped(written: Path) -> None:
    with RunFile.resume(written) as file:
        file.revision.correct_label(250, None)
        assert (file.rounds, file.version, file.seen) == (2, 80, 200)
    with RunFile.read(written) as file:
        file.log.check()
