"""The finishing step of a run: a function of the log, stored beside it, and not part of a longer run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from disk import log_of, sql
from paraactive import Digits, Guard, LaSVM, Model, Network, replay, resume, train
from paraactive.data.events import Evaluated, Event
from paraactive.errors import InputError, ReplayError, RunFileWarning
from paraactive.runs.finishing import is_due
from paraactive.runs.run import Run
from runs.jobs import BATCH, X, Y, moons, svm

DIGITS: dict[str, Any] = {"batch": 200, "warmstart": 400, "finish": True}


def _finished(**options: Any) -> Run:
    return train(svm(), moons(), **BATCH, finish=True, **options)


def test_the_model_is_the_same_on_every_engine_and_with_and_without_a_file(out: Path):
    digest = _finished().learner.digest()
    assert digest != train(svm(), moons(), **BATCH).learner.digest()
    assert _finished(out=out).learner.digest() == digest
    for engine in ("processes", "simulated"):
        assert _finished(engine=engine, nodes=2).learner.digest() == digest


def test_the_log_is_that_of_a_run_without_the_step(out: Path, tmp_path: Path):
    _finished(out=out)
    train(svm(), moons(), **BATCH, out=tmp_path / "plain.db")
    assert log_of(out) == log_of(tmp_path / "plain.db")


def test_no_learned_example_violates_afterwards():
    run = _finished()
    plain = train(svm(), moons(), **BATCH)
    assert run.learner.dual_objective() > plain.learner.dual_objective()  # pyright: ignore


def test_load_resume_and_replay_give_the_finished_model(out: Path):
    run = _finished(out=out)
    digest = run.learner.digest()
    assert Model.load(out).learner.digest() == digest
    assert resume(out, stream=moons()).learner.digest() == digest
    replayed = replay(out)
    assert replayed.learner.digest() == digest
    assert replayed.checked == 2


def test_a_finished_run_that_is_extended_equals_one_long_run(tmp_path: Path):
    long, short = tmp_path / "long.db", tmp_path / "short.db"
    whole = train(LaSVM(gamma=0.012), Digits(), **DIGITS, examples=1200, out=long)
    train(LaSVM(gamma=0.012), Digits(), **DIGITS, examples=700, out=short)
    extended = resume(short, examples=1200)
    assert extended.learner.digest() == whole.learner.digest() == Model.load(short).learner.digest()
    assert log_of(short) == log_of(long)


def test_a_run_that_was_stopped_before_the_step_takes_it_when_it_is_resumed(out: Path):
    digest = _finished(out=out).learner.digest()
    sql(out, "DELETE FROM finished")
    assert Model.load(out).learner.digest() != digest
    assert resume(out, stream=moons()).learner.digest() == digest
    assert Model.load(out).learner.digest() == digest


def test_resume_can_add_the_step_and_take_it_back(out: Path):
    plain = train(svm(), moons(), **BATCH, out=out).learner.digest()
    assert resume(out, stream=moons(), finish=True).learner.digest() == _finished().learner.digest()
    assert resume(out, stream=moons(), finish=False).learner.digest() == plain
    assert Model.load(out).learner.digest() == plain


def test_a_damaged_finished_model_is_made_again_from_the_log(out: Path):
    digest = _finished(out=out).learner.digest()
    sql(out, "UPDATE finished SET state = x'00ff'")
    with pytest.warns(RunFileWarning, match="finished model"):
        assert Model.load(out).learner.digest() == digest


def test_replay_reports_a_finished_model_that_the_log_does_not_give(out: Path):
    _finished(out=out)
    sql(out, "UPDATE finished SET digest = 'another'")
    with pytest.warns(RunFileWarning), pytest.raises(ReplayError, match=r"finishing .* gives another model"):
        replay(out)


def test_the_finished_model_is_evaluated(out: Path):
    events: list[Event] = []
    run = _finished(out=out, test=(X[:500], Y[:500]), observers=[events.append])
    before, after = [each for each in events if isinstance(each, Evaluated)][-2:]
    assert before.seen == after.seen == run.seen
    assert run.mistakes == after.mistakes == int(np.sum((run.learner.score(X[:500]) > 0) != (Y[:500] > 0)))
    assert len(resume(out, stream=moons()).evaluations) == len(run.evaluations)


def test_a_guarded_learner_finishes_with_its_capped_weights():
    guard = Guard(0.05, 3.0, 0.5)
    run = train(svm(), moons(), **BATCH, guard=guard, finish=True)
    plain = train(svm(), moons(), **BATCH, guard=guard)
    assert run.learner.digest() != plain.learner.digest()
    assert np.abs(run.learner.dual_coefficients).max() <= 3.0  # pyright: ignore


def test_a_learner_without_the_step_refuses_true_and_ignores_auto():
    with pytest.raises(InputError, match="finish is True: Network has no finishing step"):
        train(Network(hidden=5), moons(), **BATCH, finish=True)
    plain = train(Network(hidden=5), moons(), **BATCH)
    assert train(Network(hidden=5), moons(), **BATCH, finish="auto").learner.digest() == plain.learner.digest()


def test_finish_is_a_truth_value_or_auto():
    with pytest.raises(InputError, match="finish is 'always'"):
        train(svm(), moons(), **BATCH, finish="always")


def test_auto_takes_the_step_where_it_is_cheap():
    run = train(svm(), moons(), **BATCH, finish="auto")
    assert run.learner.digest() == _finished().learner.digest()
    spec = run.spec
    assert is_due(spec, run.learner, entries=4000, seen=4000)
    assert is_due(spec, run.learner, entries=50_000, seen=100_000)
    assert not is_due(spec, run.learner, entries=60_000, seen=100_000)
    assert is_due(replace(spec, finish=True), run.learner, entries=60_000, seen=100_000)
    assert not is_due(replace(spec, finish=False), run.learner, entries=4000, seen=4000)


def test_asynchronous_runs_are_finished_on_their_own_log(out: Path):
    run = train(svm(), moons(), **BATCH, schedule="asynchronous", nodes=2, finish=True, out=out)
    assert replay(out).learner.digest() == run.learner.digest()
