"""resume: a run that was stopped ends as if it had not, and refusals change nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from disk import log_of, sql
from paraactive import Arrays, Digits, LaSVM, replay, resume, train
from paraactive.errors import InputError, RunFileWarning
from paraactive.runs.runfile import RunFile
from runs.jobs import BATCH, Centroids, Endless, Tent, X, Y, moons, no_times, svm


@pytest.mark.parametrize("schedule", ["synchronous", "sequential"])
def test_a_run_that_is_extended_ends_as_one_long_run(schedule: str, tmp_path: Path):
    stream = Digits(seed=2)
    settings: dict[str, Any] = {"batch": 256, "warmstart": 256, "schedule": schedule, "seed": 5}
    long = train(LaSVM(gamma=0.012), stream, examples=2048, out=tmp_path / "long.db", **settings)
    train(LaSVM(gamma=0.012), stream, examples=1024, out=tmp_path / "short.db", **settings)
    run = resume(tmp_path / "short.db", examples=2048)
    assert run.learner.digest() == long.learner.digest()
    assert log_of(tmp_path / "short.db") == log_of(tmp_path / "long.db")
    assert [replace(one, **no_times(one)) for one in run.rounds] == [
        replace(one, **no_times(one)) for one in long.rounds
    ]


def test_a_run_that_goes_on_with_other_nodes_ends_as_if_it_had_not(tmp_path: Path):
    whole = train(svm(), moons(), **BATCH, out=tmp_path / "whole.db")
    train(svm(), moons(), **BATCH, nodes=3, out=tmp_path / "parts.db", stop=lambda run: run.seen >= 800)
    for nodes, end in ((64, 1400), (1, 2400)):
        run = resume(tmp_path / "parts.db", nodes=nodes, stream=moons(), stop=lambda run, end=end: run.seen >= end)
        assert (run.plan.nodes, run.seen) == (nodes, end)
    assert run.learner.digest() == whole.learner.digest()
    assert log_of(tmp_path / "parts.db") == log_of(tmp_path / "whole.db")


def test_resuming_a_finished_run_changes_nothing_but_gives_it_again(out: Path):
    run = train(svm(), moons(), **BATCH, out=out)
    before = log_of(out)
    again = resume(out, stream=moons())
    assert again.summary() == run.summary()
    assert log_of(out) == before


def test_a_run_without_snapshots_resumes_from_its_log_alone(out: Path):
    run = train(svm(), moons(), **BATCH, out=out)
    sql(out, "DELETE FROM snapshots")
    assert resume(out, stream=moons()).learner.digest() == run.learner.digest()


def test_a_run_with_damaged_snapshots_resumes_from_its_log(out: Path):
    run = train(svm(), moons(), **BATCH, out=out, snapshot_seconds=0.0)
    sql(out, "UPDATE snapshots SET state = x'00ff'")
    with pytest.warns(RunFileWarning, match="is damaged"):
        assert resume(out, stream=moons()).learner.digest() == run.learner.digest()


def test_arrays_in_memory_must_be_handed_over_to_resume(out: Path):
    train(svm(), moons(), **BATCH, out=out, stop=lambda run: run.seen >= 800)
    with pytest.raises(InputError, match=r"arrays of the run are not in its file.*resume\(path, stream=Arrays"):
        resume(out)
    assert resume(out, stream=moons()).learner.digest() == train(svm(), moons(), **BATCH).learner.digest()


def test_a_run_can_be_extended_by_another_pass_over_its_data(out: Path):
    train(svm(), moons(), **BATCH, out=out)
    run = resume(out, stream=moons(passes=2), examples=4800)
    assert run.learner.digest() == train(svm(), moons(passes=2), **BATCH).learner.digest()


def test_data_from_a_file_is_found_again(data: Path, out: Path):
    whole = train(svm(), Arrays.load(data), **BATCH)
    train(svm(), Arrays.load(data), **BATCH, out=out, stop=lambda run: run.seen >= 800)
    assert resume(out).learner.digest() == whole.learner.digest()


def test_replay_does_not_need_the_data_file_and_resume_says_that_it_does(data: Path, out: Path):
    run = train(svm(), Arrays.load(data), **BATCH, out=out, stop=lambda run: run.seen >= 800)
    data.unlink()
    assert replay(out).learner.digest() == run.learner.digest()
    with pytest.raises(InputError, match=r"moons\.npz: it does not exist; check the path"):
        resume(out)


def test_a_data_file_that_was_changed_is_noticed(data: Path, out: Path):
    train(svm(), Arrays.load(data), **BATCH, out=out, stop=lambda run: run.seen >= 800)
    np.savez(data, x=X + 1, y=np.where(Y > 0, "upper", "lower"))
    with pytest.raises(InputError, match=r"moons\.npz is not what the run was trained on: its fingerprint"):
        resume(out)


def test_a_data_file_that_was_moved_can_be_handed_over(data: Path, out: Path):
    train(svm(), Arrays.load(data), **BATCH, out=out, stop=lambda run: run.seen >= 800)
    moved = data.rename(data.with_name("elsewhere.npz"))
    run = resume(out, stream=Arrays.load(moved))
    assert run.learner.digest() == train(svm(), Arrays.load(moved), **BATCH).learner.digest()


def test_a_run_cannot_be_resumed_to_fewer_examples_than_it_has_seen(out: Path):
    train(svm(), moons(), **BATCH, out=out)
    with pytest.raises(InputError, match="examples is 1000, and the run has seen 2400: a run cannot be shortened"):
        resume(out, stream=moons(), examples=1000)
    with RunFile.read(out) as file:
        assert file.spec.plan.examples == 2400


@pytest.mark.parametrize(
    "wrong", [{"nodes": 201}, {"nodes": 0}, {"engine": "cluster"}, {"examples": -5}, {"test": "nowhere.npz"}]
)
def test_a_refused_resume_leaves_the_configuration_as_it_was(wrong: dict[str, Any], out: Path):
    train(svm(), moons(), **BATCH, out=out)
    with RunFile.read(out) as file:
        before = file.spec
    with pytest.raises(InputError):
        resume(out, stream=moons(), **wrong)
    with RunFile.read(out) as file:
        assert file.spec == before


def test_parts_of_the_users_own_train_replay_and_resume_when_handed_over(tmp_path: Path):
    whole = train(Centroids(), moons(), rule=Tent(), **BATCH, out=tmp_path / "whole.db")
    assert 0.05 < whole.sampling_rate < 1
    short = tmp_path / "short.db"
    train(Centroids(), moons(), rule=Tent(), **BATCH, out=short, stop=lambda run: run.seen >= 1000)
    run = resume(short, learner=Centroids(), rule=Tent(), stream=moons())
    assert run.learner.digest() == whole.learner.digest()
    assert log_of(short) == log_of(tmp_path / "whole.db")
    assert replay(short, learner=Centroids()).learner.digest() == whole.learner.digest()


def test_parts_of_the_users_own_are_asked_for_and_nothing_is_changed_without_them(out: Path):
    train(Centroids(), moons(), rule=Tent(), **BATCH, out=out, stop=lambda run: run.seen >= 1000)
    cases: list[tuple[dict[str, Any], str]] = [
        ({"learner": Centroids()}, r"rule .*Tent cannot be built.*rule=\.\.\."),
        ({"rule": Tent()}, r"learner .*Centroids cannot be built.*learner=\.\.\."),
    ]
    for handed, asked in cases:
        with pytest.raises(InputError, match=asked):
            resume(out, stream=moons(), examples=2000, **handed)
        with RunFile.read(out) as file:
            assert (file.spec.plan.examples, file.seen) == (2400, 1000)
    with pytest.raises(InputError, match="Centroids cannot be built"):
        replay(out)


def test_mistakes_come_back_with_resume_and_replay(data: Path, out: Path):
    run = train(svm(), moons(seed=1), **BATCH, test=moons().read(0, 500), out=out)
    assert run.mistakes is not None
    for again in (replay(out), resume(out, stream=moons(seed=1))):
        assert again.evaluations == run.evaluations
        assert (again.summary()["mistakes"], again.summary()["test_examples"]) == (run.mistakes, 500)


def test_a_stream_of_the_users_own_trains_and_resumes(tmp_path: Path):
    whole = train(svm(), Endless(), examples=1200, **BATCH)
    train(svm(), Endless(), examples=600, **BATCH, out=tmp_path / "run.db")
    run = resume(tmp_path / "run.db", stream=Endless(), examples=1200)
    assert run.learner.digest() == whole.learner.digest()


def test_a_run_that_ended_in_the_middle_of_a_round_is_extended_as_if_it_had_not(tmp_path: Path):
    whole = train(svm(), moons(), **BATCH, out=tmp_path / "whole.db")
    for ends in ([150, 2400], [1111, 1250, 2400], [201, 799, 2400]):
        out = tmp_path / f"{ends[0]}.db"
        train(svm(), moons(), **BATCH, examples=ends[0], out=out)
        for end in ends[1:]:
            run = resume(out, stream=moons(), examples=end)
            assert run.seen == end
            assert run.learner.digest() == replay(out).learner.digest()
        assert log_of(out) == log_of(tmp_path / "whole.db")
        assert replay(out).learner.digest() == whole.learner.digest()
