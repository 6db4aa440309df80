"""Reading the timings of a run file."""

from __future__ import annotations

from pathlib import Path

import pytest

from disk import sql
from making import two_moons
from paraactive import Arrays, LaSVM, train
from paraactive.errors import InputError
from paraactive.planning.recorded import Recorded


def test_a_run_file_without_timings(tmp_path: Path) -> None:
    x, y = two_moons(600, noise=0.3, seed=0)
    out = tmp_path / "run.db"
    train(LaSVM(gamma=1.0), Arrays(x, y), examples=200, warmstart=200, out=out)
    with pytest.raises(InputError, match=r"run\.db has no timings to fit.*ended with its warmstart.*one round"):
        Recorded.read(out)
    train(LaSVM(gamma=1.0), Arrays(x, y), warmstart=120, engine="simulated", out=out, overwrite=True)
    sql(out, "UPDATE rounds SET sift_seconds = 0, update_seconds = 0")
    with pytest.raises(InputError, match=r"no timings to fit.*took no time"):
        Recorded.read(out)
