"""What is written to the log comes back, bit for bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from disk import sql
from making import run_spec
from paraactive import Arrays, Digits
from paraactive.data.events import Round
from paraactive.data.examples import Entries, Place, Selected
from paraactive.errors import RunFileError
from paraactive.runs.runfile import RunFile
from runs.runfile.rounds import WIDTH, a_round, bits, some_selected


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


@given(st.lists(st.integers(0, 30), min_size=1, max_size=6), st.integers(0, 999))
@settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_entries_come_back_bit_for_bit_however_they_were_appended(path: Path, sizes: list[int], seed: int):
    parts = [some_selected(size, seed + number) for number, size in enumerate(sizes)]
    with RunFile.create(path, run_spec(), overwrite=True) as file:
        entries = [file.writer.append(part) for part in parts]
        file.writer.end_round(Round(0, 5, entries[-1].last, sum(sizes), 0, 0, 0))
    with RunFile.read(path) as file:
        assert file.version == sum(sizes)
        for one in entries:
            if len(one):
                assert bits(file.log.entries(one.first, one.last, None)) == bits(one)


def test_entries_without_features_come_back_bit_for_bit_from_the_stream(path: Path):
    stream = Digits(seed=3)
    fresh = stream.read(20_000, 20_050)
    selected = some_selected(50, width=stream.width)
    selected = Selected(fresh, selected.p, selected.seen, selected.version)
    with RunFile.create(path, run_spec()) as file:
        file.writer.use_stream(Digits())
        a_round(file, selected)
    assert sql(path, "SELECT count(*) FROM entries WHERE x IS NOT NULL") == [(0,)]
    with RunFile.read(path) as file:
        assert file.log.needs_stream
        assert bits(file.log.entries(0, 50, stream)) == bits(Entries(0, selected))


def test_a_file_with_features_needs_no_stream_and_does_not_ask_one(path: Path):
    selected = some_selected(10)
    with RunFile.create(path, run_spec()) as file:
        a_round(file, selected)
        assert not file.log.needs_stream
        other = Arrays(np.zeros((400, WIDTH)), np.arange(400) % 2)
        assert bits(file.log.entries(0, 10, other)) == bits(Entries(0, selected))


def test_rounds_come_back_as_they_ended(path: Path):
    with RunFile.create(path, run_spec()) as file:
        ended = [a_round(file, some_selected(size)) for size in (5, 0, 9)]
    with RunFile.read(path) as file:
        assert list(file.log.ended_rounds()) == ended
        assert list(file.log.ended_rounds(2)) == ended[2:]
        assert (file.version, file.rounds, file.seen) == (14, 3, 300)


def test_a_gap_that_opens_later_is_noticed_when_it_is_read(written: Path):
    with RunFile.resume(written) as file:
        sql(written, "DELETE FROM entries WHERE sequence IN (17, 18)")
        with pytest.raises(RunFileError, match="2 of the entries 10 to 19 are not there"):
            file.log.entries(10, 20, None)
