"""Whole rounds are written, or nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from disk import log_of
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


def test_half_a_round_is_gone_after_a_failure_and_the_rounds_before_it_are_not(written: Path):
    before = log_of(written)

    def fail_in_the_middle() -> None:
        with RunFile.resume(written) as file:
            file.writer.append(some_selected(11))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_in_the_middle()
    assert log_of(written) == before
    with RunFile.resume(written) as file:
        assert (file.version, file.rounds, file.seen) == (160, 4, 400)
        a_round(file, some_selected(1))


def test_a_file_that_ends_in_half_a_round_is_refused(written: Path):
    with RunFile.resume(written) as file:
        file.writer.append(some_selected(3))
    with pytest.raises(RunFileError, match=r"damaged.*163 entries where its rounds say 160"):
        RunFile.resume(written)
