from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from paraactive.runs.run import Run
from report.runs import digits_run, nasty_run


@dataclass(frozen=True)
class Recorded:
    path: Path
    run: Run


@pytest.fixture(scope="session")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    path = tmp_path_factory.mktemp("report") / "digits.db"
    return Recorded(path, digits_run(path))


@pytest.fixture(scope="session")
def nasty(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    path = tmp_path_factory.mktemp("report") / "<img src=x onerror=alert(3)><b>.db"
    return Recorded(path, nasty_run(path))
