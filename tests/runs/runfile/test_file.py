"""A file is read while a run writes it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from making import run_spec, two_moons
from paraactive import Arrays, LaSVM, train
from paraactive.data.examples import Place
from paraactive.runs.run import Run
from paraactive.runs.runfile import RunFile
from paraactive.schedules.plan import Plan
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


def test_readers_see_whole_committed_rounds_while_a_writer_writes(path: Path):
    with RunFile.create(path, run_spec()) as writer:
        for number in range(6):
            a_round(writer, some_selected(20, number))
            writer.snapshots.save(Place(writer.version, writer.rounds), {}, "")  # commits
            writer.writer.append(some_selected(7))  # half a round, not committed
            with RunFile.read(path) as reader:
                assert (reader.version, reader.rounds) == (20 * (number + 1), number + 1)
                assert len(reader.log.entries(0, reader.version, None)) == reader.version
            writer.database.rollback()
            writer._end.refresh()
            writer.writer._pending.clear()


def test_an_open_reader_does_not_stop_the_writer(written: Path):
    with RunFile.read(written) as reader, RunFile.resume(written) as writer:
        a_round(writer, some_selected(5))
        writer.snapshots.save(Place(writer.version, writer.rounds), {}, "")
        assert (reader.version, writer.version) == (160, 165)
        assert len(reader.log.entries(0, 165, None)) == 165


def test_a_reader_beside_a_run_that_goes_back_sees_one_state(written: Path):
    with RunFile.resume(written) as writer, RunFile.read(written) as reader:
        with reader.consistent_reads():
            writer.revision.drop_short_round(Plan(1000, 200, 100, 1))
            assert writer.rounds == 3
            assert [len(each.entries) for each in reader.log.stretches(Place(0, 0), None)] == [40] * 4
        with reader.consistent_reads():
            assert [len(each.entries) for each in reader.log.stretches(Place(0, 0), None)] == [40] * 3


def test_a_run_is_whole_in_its_file_though_it_was_open_for_reading_when_it_ended(tmp_path: Path) -> None:
    looking: list[RunFile] = []

    def look(run: Run) -> bool:
        looking.append(RunFile.read(tmp_path / "run.db"))
        return False

    x, y = two_moons(1200, noise=0.3, seed=0)
    train(LaSVM(gamma=1.0), Arrays(x, y), warmstart=200, batch=200, out=tmp_path / "run.db", nodes=1, stop=look)
    copy = tmp_path / "copy.db"
    copy.write_bytes((tmp_path / "run.db").read_bytes())
    for file in looking:
        file.close()
    with RunFile.read(copy) as file:
        assert file.seen == 1200
