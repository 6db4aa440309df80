from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from paraactive.report import page_of, read_run_record
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


def sections_of(recorded: Recorded) -> dict[str, Any]:
    """Return the sections of the report of a run, by identifier."""
    page = page_of([read_run_record(recorded.path)])
    return {section.id: section for section in page.sections}
