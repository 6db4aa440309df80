"""A folder with data for every test of the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cli.command_line import NAMES, X, Y


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test has a current folder of its own, with data."""
    monkeypatch.chdir(tmp_path)
    np.savez("data.npz", x=X, y=NAMES)
    np.savez("test.npz", x=X[:300] + 0.01, y=NAMES[:300])
    np.save("data.npy", np.column_stack([X, Y]))
    return tmp_path
