"""The newest two snapshots are kept; a damaged one is not used."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from disk import sql
from making import run_spec
from paraactive.basics.state import pack
from paraactive.data.examples import Place
from paraactive.errors import RunFileWarning
from paraactive.runs.runfile import RunFile
from paraactive.runs.runfile.seals import hash_of_snapshot
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


def test_the_newest_two_snapshots_are_kept_and_the_newest_is_read(written: Path):
    assert sql(written, "SELECT version, rounds, digest FROM snapshots ORDER BY version") == [
        (120, 3, "digest 2"),
        (160, 4, "digest 3"),
    ]
    with RunFile.read(written) as file:
        place, digest, state = next(file.snapshots.read())
    assert (place, digest) == ((160, 4), "digest 3")
    assert (state["alpha"] == 3).all()


def test_a_round_without_entries_moves_the_snapshot_of_its_version_on(written: Path):
    with RunFile.resume(written) as file:
        a_round(file, some_selected(0))
        file.snapshots.save(Place(file.version, file.rounds), {"alpha": np.ones(1)}, "after the gap")
    assert sql(written, "SELECT version, rounds, digest FROM snapshots ORDER BY version") == [
        (120, 3, "digest 2"),
        (160, 5, "after the gap"),
    ]


def test_a_run_without_snapshots_has_none(path: Path):
    with RunFile.create(path, run_spec()) as file:
        assert list(file.snapshots.read()) == []


def test_every_byte_of_a_snapshot_loads_without_pickle(written: Path):
    for (state,) in sql(written, "SELECT state FROM snapshots"):
        with np.load(io.BytesIO(state), allow_pickle=False) as arrays:
            assert arrays["alpha"].shape == (50,)


class Armed:
    """Unpickling this leaves a mark."""

    fired = False

    def __reduce__(self) -> tuple[Any, ...]:
        return Armed.fire, ()

    @staticmethod
    def fire() -> None:
        Armed.fired = True


def test_a_pickled_object_in_a_snapshot_is_never_loaded(written: Path):
    buffer = io.BytesIO()
    np.savez(buffer, alpha=np.array([Armed()], dtype=object))
    for version, rounds, digest in sql(written, "SELECT version, rounds, digest FROM snapshots"):
        sealed = hash_of_snapshot(Place(version, rounds), digest, buffer.getvalue())
        values = buffer.getvalue(), sealed, version
        sql(written, "UPDATE snapshots SET state = ?, hash = ? WHERE version = ?", *values)
    with RunFile.read(written) as file, pytest.warns(RunFileWarning, match="Python objects"):
        assert list(file.snapshots.read()) == []
    assert not Armed.fired


def test_a_state_with_objects_cannot_be_written(written: Path):
    with RunFile.resume(written) as file, pytest.raises(ValueError, match="Object arrays"):
        file.snapshots.save(Place(160, 4), {"alpha": np.array([Armed()], dtype=object)}, "")


def test_a_damaged_snapshot_is_passed_over_for_the_one_before(written: Path):
    whole = pack({"alpha": np.arange(50)})
    for damaged in (whole[:100], whole[:200] + b"\xff" * 40 + whole[240:], b"", b"no zip at all"):
        sql(written, "UPDATE snapshots SET state = ? WHERE version = 160", damaged)
        with RunFile.read(written) as file, pytest.warns(RunFileWarning, match=r"after 160 entries is damaged .*hash"):
            assert next(file.snapshots.read())[0] == (120, 3)
