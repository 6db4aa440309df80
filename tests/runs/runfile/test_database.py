"""Commits: which crash they survive."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from making import run_spec, two_moons
from paraactive import Arrays, LaSVM, resume, train
from paraactive.data.events import Round
from paraactive.errors import InputError
from paraactive.runs.runfile import RunFile
from paraactive.runs.runfile.log_writer import LogWriter

X, Y = two_moons(600, noise=0.15, seed=0)
NAMES = np.where(Y > 0, "up", "down")


def a_run(path: Path, **options: Any) -> None:
    train(LaSVM(gamma=2.0), Arrays(X, NAMES), warmstart=100, batch=50, nodes=1, out=path, **options)


def _traced(file: RunFile) -> list[str]:
    said: list[str] = []
    file.database.connection.set_trace_callback(said.append)
    return said


def _safety_of(said: list[str], statement: str) -> list[str]:
    """SQLite's setting whenever such a statement was committed."""
    setting, pending, found = "NORMAL", False, list[str]()
    for each in said:
        if each.startswith("PRAGMA synchronous = "):
            setting = each.rpartition(" ")[2]
        pending = pending or each.startswith(statement)
        if each.startswith("COMMIT") and pending:
            found.append(setting)
            pending = False
    return found


@pytest.mark.parametrize("durability", ["process", "power"])
def test_questions_and_answers_always_survive_a_loss_of_power(durability: str, tmp_path: Path) -> None:
    with RunFile.create(tmp_path / "run.db", run_spec(durability=durability)) as file:
        said = _traced(file)
        file.questions.record_answers(np.array([3]), [1])
        file.questions.record_answers(np.array([4]), [None])
        file.write_spec(run_spec(nodes=3))
    assert _safety_of(said, "INSERT OR REPLACE INTO answers") == ["FULL", "FULL"]
    after = [each for each in said if each.startswith("PRAGMA synchronous")][-1]
    assert after.endswith({"process": "NORMAL", "power": "FULL"}[durability])


@pytest.mark.parametrize(("durability", "setting"), [("process", 1), ("power", 2)])
def test_the_durability_that_is_asked_for_is_what_sqlite_is_told_also_after_a_resume(
    durability: str, setting: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings: list[int] = []
    end_round = LogWriter.end_round

    def spy(writer: LogWriter, ended: Round) -> Round:
        settings.append(writer._database.fetch_one("PRAGMA synchronous")[0])
        return end_round(writer, ended)

    monkeypatch.setattr(LogWriter, "end_round", spy)
    a_run(tmp_path / "run.db", durability=durability, examples=300)
    resume(tmp_path / "run.db", stream=Arrays(X, NAMES), examples=600)
    assert len(settings) >= 11
    assert set(settings) == {setting}


def test_an_unknown_durability_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no durability 'nuclear'.*process, power"):
        a_run(tmp_path / "run.db", durability="nuclear")
    assert not (tmp_path / "run.db").exists()


def test_a_durability_that_is_given_to_resume_is_remembered(tmp_path: Path) -> None:
    a_run(tmp_path / "run.db", examples=300)
    resume(tmp_path / "run.db", stream=Arrays(X, NAMES), examples=400, durability="power")
    with RunFile.read(tmp_path / "run.db") as run:
        assert run.spec.recording.durability == "power"
