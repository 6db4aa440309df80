"""Questions to an oracle and its answers in the run file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from disk import sql
from making import two_moons
from paraactive import Arrays, LaSVM, Oracle, resume, train
from paraactive.errors import RunFileError
from paraactive.streams import Unlabelled

X, Y = two_moons(600, noise=0.15, seed=0)
NAMES = np.where(Y > 0, "up", "down")


def a_run(path: Path, **options: Any) -> None:
    train(LaSVM(gamma=2.0), Arrays(X, NAMES), warmstart=100, batch=50, nodes=1, out=path, **options)


def test_answers_that_were_changed_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    stream = Unlabelled(X, ("down", "up"))
    train(
        LaSVM(gamma=2.0), stream, warmstart=50, batch=50, nodes=1, out=path,
        oracle=Oracle(lambda rows, _: NAMES[rows], budget=80),
    )  # fmt: skip
    sql(path, "UPDATE answers SET y = -y WHERE position = 7")
    with pytest.raises(RunFileError, match="the hash of its answers does not match"):
        resume(path, stream=stream, oracle=Oracle(lambda rows, _: NAMES[rows]))
