"""Parts of a run file: compared with what is given, before anything is changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from disk import sql
from paraactive import Arrays, Digits, LaSVM, Network, resume, train
from paraactive.errors import InputError
from paraactive.rules import Gradient, PaperMargin
from paraactive.streams import Stream
from runs.jobs import BATCH, X, Y, moons, svm


@pytest.mark.parametrize(
    ("other", "differs"),
    [
        (Arrays(X * 2, Y), "fingerprint"),
        (Arrays(X, -Y), "fingerprint"),
        (Arrays(X[::-1], Y[::-1]), "fingerprint"),
        (Arrays(X, Y > 0), "fingerprint"),
        (Arrays(X, Y, seed=1), "seed 1: the run was made with seed 0"),
        (Arrays(X, Y, shuffle=False), "shuffle False: the run was made with shuffle True"),
        (Digits(), "fingerprint"),
    ],
)
def test_other_data_or_another_order_is_refused_to_resume_with(other: Stream, differs: str, out: Path):
    train(svm(), moons(), **BATCH, out=out, stop=lambda run: run.seen >= 800)
    with pytest.raises(InputError, match=f"(is not what the run was trained on: its |the stream given has ){differs}"):
        resume(out, stream=other)
    assert sql(out, "SELECT max(seen) FROM rounds") == [(800,)]


def test_a_learner_that_was_trained_before_gets_no_run_file(out: Path):
    learner = svm()
    train(learner, moons(), **BATCH, examples=400)
    with pytest.raises(InputError, match=r"the learner has been trained before.*give a new learner"):
        train(learner, moons(), **BATCH, out=out)
    assert not out.exists()


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"rule": PaperMargin(0.7)}, "the rule given has eta 0.7: the run was made with eta"),
        ({"rule": Gradient()}, "the rule given has kind 'gradient'"),
        ({"learner": LaSVM(gamma=9.0)}, "the learner given has gamma 9.0"),
        ({"learner": Network()}, "the learner given has kind 'network'"),
    ],
)
def test_parts_that_are_not_those_of_the_run_are_refused(other: dict[str, Any], said: str, out: Path):
    train(svm(), moons(), rule=PaperMargin(0.3), **BATCH, out=out, stop=lambda run: run.seen >= 800)
    with pytest.raises(InputError, match=said):
        resume(out, stream=moons(), **other)


def test_a_trained_learner_is_refused_to_resume_with(out: Path):
    run = train(svm(), moons(), **BATCH, out=out, stop=lambda run: run.seen >= 800)
    with pytest.raises(InputError, match="has been trained before"):
        resume(out, stream=moons(), learner=run.learner)
