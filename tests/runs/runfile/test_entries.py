from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from disk import sql
from making import run_spec
from paraactive.data.examples import Entries, Place, SparseRows
from paraactive.errors import RunFileError
from paraactive.runs.runfile import RunFile
from paraactive.runs.runfile.entries import EntryTable
from paraactive.runs.runfile.features import to_blobs
from runs.runfile.rounds import a_round, bits, some_selected


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A closed run file of four rounds, with two snapshots."""
    path = tmp_path / "run.db"
    with RunFile.create(path, run_spec(seed=7)) as file:
        for number in range(4):
            a_round(file, some_selected(40, number))
            file.snapshots.save(Place(file.version, file.rounds), {"alpha": np.full(50, number)}, f"digest {number}")
    return path


@pytest.mark.parametrize("sparse", [False, True])
def test_entries_come_back_as_they_were_inserted(sparse: bool, tmp_path: Path) -> None:
    given = some_selected(9)
    values, columns = to_blobs(SparseRows.of(given.examples.x) if sparse else given.examples.x)
    with RunFile.create(tmp_path / "run.db", run_spec()) as file:
        table = EntryTable(file.database)
        table.insert(Entries(0, given), values, columns)
        read = table.selected(table.stored(0, 9), None)
        assert not table.needs_stream
        assert len(table.selected(table.stored(4, 4), None)) == 0
    if sparse:
        assert isinstance(read.examples.x, SparseRows)
        assert np.array_equal(read.examples.x.dense(), given.examples.x)
    else:
        assert bits(Entries(0, read)) == bits(Entries(0, given))


def test_entries_without_features_need_the_stream(tmp_path: Path) -> None:
    with RunFile.create(tmp_path / "run.db", run_spec()) as file:
        table = EntryTable(file.database)
        assert not table.needs_stream
        table.insert(Entries(0, some_selected(5)), [None] * 5, [None] * 5)
        assert table.needs_stream


def test_a_missing_entry_is_damage(written: Path) -> None:
    with RunFile.read(written) as file:
        table = EntryTable(file.database)
        assert table.stored(3, 9).position.tolist() == some_selected(40).examples.index[3:9].tolist()
        sql(written, "DELETE FROM entries WHERE sequence IN (4, 7)")
        with pytest.raises(RunFileError, match="2 of the entries 3 to 8 are not there"):
            table.stored(3, 9)
