"""The description of the run comes back and can be changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from disk import sql
from making import run_spec
from paraactive.runs.runfile import RunFile


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.db"


def test_the_description_of_the_run_comes_back_and_can_be_changed(path: Path):
    spec = run_spec(learner={"kind": "svm", "gamma": None}, examples=10**12, classes=["ä", "5"])
    with RunFile.create(path, spec) as file:
        file.write_spec(spec.with_nodes(5))
    with RunFile.read(path) as file:
        assert file.spec == spec.with_nodes(5)
    names = sql(path, "SELECT name FROM configuration")
    assert {name for (name,) in names} == spec.to_dict().keys()
