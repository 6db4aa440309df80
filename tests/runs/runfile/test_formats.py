"""Run files of every format from 4 on are read, replayed, reported, predicted with, resumed and migrated."""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from disk import sql
from golden import processor
from paraactive import Model, replay
from paraactive.errors import InputError, RunFileWarning
from paraactive.report import write_report
from paraactive.runs.runfile import FORMAT, RunFile
from runs.runfile.samples import EXPECTED, FILES, SAMPLES, kind_of, resumed, rows_of

_EXPECTED: dict[str, Any] = json.loads(EXPECTED.read_text())
NAMES = sorted(_EXPECTED["files"])
SAME_BITS = processor() == _EXPECTED["processor"]
GOES_ON = [name for name in NAMES if kind_of(name) != "pipelined"]
"""Samples whose schedule still exists."""


@pytest.fixture(autouse=True)
def without_the_note_on_format_4() -> Iterator[None]:
    """Files of format 4 have no hashes, which a warning says. `test_seals` has the tests of the warning."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "(?s).*has no hashes", RunFileWarning)
        yield


def copied(name: str, folder: Path) -> Path:
    return Path(shutil.copy(FILES / name, folder / "run.db"))


def expected(name: str) -> dict[str, Any]:
    """What a file must give; the bits of numpy's exp, so of a network, depend on the processor."""
    if not SAME_BITS and kind_of(name) in ("network", "digits"):
        pytest.skip("the network's digests were made on another kind of processor")
    return _EXPECTED["files"][name]


def test_there_is_a_sample_of_every_kind_in_the_present_format() -> None:
    assert {f"format{FORMAT}-{kind}.sqlite" for kind in SAMPLES} <= set(NAMES)
    assert sorted(path.name for path in FILES.glob("format*.sqlite")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_is_of_the_format_that_its_name_says(name: str, tmp_path: Path) -> None:
    assert sql(copied(name, tmp_path), "PRAGMA user_version") == [(int(name[len("format")]),)]


@pytest.mark.parametrize("name", NAMES)
def test_it_is_read(name: str, tmp_path: Path) -> None:
    with RunFile.read(copied(name, tmp_path)) as file:
        facts = _EXPECTED["files"][name]
        assert (file.version, file.rounds, file.seen) == (facts["entries"], facts["rounds"], facts["seen"])


@pytest.mark.parametrize("name", NAMES)
def test_it_is_replayed_to_the_same_model(name: str, tmp_path: Path) -> None:
    facts, run = expected(name), replay(copied(name, tmp_path))
    assert run.learner.digest() == facts["digest"]
    assert (run.checked, len(run.rounds), run.seen) == (facts["checked"], facts["rounds"], facts["seen"])
    assert [each.mistakes for each in run.evaluations] == facts["mistakes"]


@pytest.mark.parametrize("name", NAMES)
def test_it_is_predicted_with(name: str, tmp_path: Path) -> None:
    facts, model = expected(name), Model.load(copied(name, tmp_path))
    assert model.learner.digest() == facts["digest"]
    assert model.predict(rows_of(model)).tolist() == facts["labels"]


@pytest.mark.parametrize("name", NAMES)
def test_it_is_reported(name: str, tmp_path: Path) -> None:
    page = write_report([copied(name, tmp_path)], tmp_path / "run.html").read_text()
    assert "Sampling rate" in page


@pytest.mark.parametrize("name", GOES_ON)
def test_it_is_resumed_to_the_same_model_in_the_present_format(name: str, tmp_path: Path) -> None:
    facts, path = expected(name), copied(name, tmp_path)
    run = resumed(name, path)
    assert (run.learner.digest(), run.seen) == (facts["resumed"], facts["resumed_seen"])
    assert sql(path, "PRAGMA user_version") == [(FORMAT,)]
    RunFile.resume(path).close()  # Compares all hashes of the log.
    assert replay(path).learner.digest() == Model.load(path).learner.digest() == facts["resumed"]


@pytest.mark.parametrize("name", sorted({*NAMES} - {*GOES_ON}))
def test_a_run_of_a_schedule_that_was_removed_is_not_resumed(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="pipelined"):
        resumed(name, copied(name, tmp_path))


@pytest.mark.parametrize("name", [name for name in NAMES if kind_of(name) == "query"])
def test_questions_and_answers_are_kept(name: str, tmp_path: Path) -> None:
    path = copied(name, tmp_path)
    with RunFile.read(path) as file:
        (question,), answers = file.questions.open_questions(), file.questions.answers()
    assert not answers.keys() & set(question.position.tolist())
    resumed(name, path)
    with RunFile.read(path) as file:
        assert file.questions.open_questions() == []
        assert answers.items() <= file.questions.answers().items()
        assert set(question.position.tolist()) <= file.questions.answers().keys()
