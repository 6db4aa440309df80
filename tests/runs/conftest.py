"""Places on disk for the tests of runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from runs.jobs import X, Y


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "run.db"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "moons.npz"
    np.savez(path, x=X, y=np.where(Y > 0, "upper", "lower"))
    return path
