"""Run files of the schedule 'pipelined', which was removed: they can be read in every way, and not be resumed."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from making import two_moons
from paraactive import Arrays, Model, replay, resume
from paraactive.errors import InputError
from paraactive.planning import plan
from paraactive.report import write_report
from paraactive.theory import recorded_delays

DIGEST = "edf7e3057964516f41a6f9c66e6881d972bb9a5e2e1571e4a9b15fea57907fd7"
X, Y = two_moons(400, noise=0.3, seed=0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A run of 2 nodes over 400 examples in batches of 50, with lag 2."""
    return Path(shutil.copy(Path(__file__).parent / "runfile" / "files" / "pipelined-lag2.sqlite", tmp_path / "run.db"))


def test_the_model_is_read_and_replayed(path: Path) -> None:
    run = replay(path)
    assert (run.schedule, run.seen, run.learner.digest()) == ("pipelined", 400, DIGEST)
    assert run.checked > 0
    model = Model.load(path)
    assert model.learner.digest() == DIGEST
    assert np.mean(model.predict(X) == Y) > 0.7


def test_its_delays_are_those_of_two_rounds_more(path: Path) -> None:
    delays = recorded_delays(path)
    assert delays[200] == 201 - 100


def test_it_is_reported_and_planned_from(path: Path, tmp_path: Path) -> None:
    write_report([path], tmp_path / "report.html")
    assert "pipelined" in (tmp_path / "report.html").read_text()
    assert plan(path).model.schedule == "pipelined"


def test_it_is_not_resumed(path: Path) -> None:
    with pytest.raises(InputError, match=r"the run's schedule 'pipelined' was removed: .* train anew with") as raised:
        resume(path, stream=Arrays(X, Y), examples=400)
    assert raised.value.remedy.endswith(f"replay, predict and report work on {path}")
    assert replay(path).learner.digest() == DIGEST
