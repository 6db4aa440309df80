"""A run whose file is removed, replaced or truncated ends with an error."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from making import two_moons
from paraactive import Arrays, LaSVM, train
from paraactive.data.events import Round
from paraactive.errors import RunFileError

X, Y = two_moons(600, noise=0.15, seed=0)
NAMES = np.where(Y > 0, "up", "down")


def a_run(path: Path, **options: Any) -> None:
    train(LaSVM(gamma=2.0), Arrays(X, NAMES), warmstart=100, batch=50, nodes=1, out=path, **options)


def _removed(path: Path) -> None:
    path.unlink()


def _replaced(path: Path) -> None:
    other = path.with_name("other")
    shutil.copy(path, other)
    os.replace(other, path)


def _truncated(path: Path) -> None:
    os.truncate(path, 0)


def _without_journal(path: Path) -> None:
    path.with_name(path.name + "-wal").unlink()


def _short_journal(path: Path) -> None:
    os.truncate(path.with_name(path.name + "-wal"), 5000)


@pytest.mark.parametrize(
    ("loss", "said"),
    [
        (_removed, "run.db was removed"),
        (_replaced, "another run.db was put in its place"),
        (_truncated, "run.db was cut short"),
        (_without_journal, "run.db-wal was removed"),
        (_short_journal, "run.db-wal was cut short"),
    ],
)
def test_a_run_whose_file_is_lost_ends_with_an_error_that_says_so(
    loss: Callable[[Path], None], said: str, tmp_path: Path
) -> None:
    path = tmp_path / "run.db"

    def lose(event: object) -> None:
        if isinstance(event, Round) and event.number == 3:
            loss(path)

    with pytest.raises(RunFileError, match=said):
        a_run(path, observers=[lose], snapshot_seconds=0)  # Each round is committed.
