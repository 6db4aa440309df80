"""The loop of a run: events, evaluations, stopping, and times."""

from __future__ import annotations

from pathlib import Path

from disk import sql
from paraactive import Arrays, replay, resume, train
from paraactive.data.events import Evaluated, Event, Round, RunEnded, RunStarted, SnapshotTaken
from runs.jobs import BATCH, moons, svm


def test_stop_ends_the_run_after_the_round_that_made_it_true(out: Path):
    run = train(svm(), moons(), **BATCH, out=out, stop=lambda run: run.selected > 450)
    assert run.seen < 2400
    assert run.selected > 450 >= sum(one.selected for one in run.rounds[1:-1])
    assert replay(out).learner.digest() == run.learner.digest()


def test_a_run_killed_between_its_last_round_and_the_last_trial_is_tried_when_resumed(data: Path, out: Path):
    run = train(svm(), Arrays.load(data), **BATCH, test=data, out=out)
    sql(out, "DELETE FROM events WHERE kind = 'Evaluated' AND json_extract(payload, '$.seen') = 2400")
    again = resume(out)
    assert (again.evaluations[-1].seen, again.mistakes) == (2400, run.mistakes)


def test_every_event_is_told_and_written_down(out: Path):
    events: list[Event] = []
    run = train(
        svm(), moons(), **BATCH, test=moons().read(0, 99), out=out, snapshot_seconds=0.0, observers=[events.append]
    )
    assert events[0] == RunStarted(2400, 0)
    digest, entries = run.learner.digest(), run.warmstart + run.selected
    assert events[-1] == RunEnded(2400, entries, digest, {0: digest}, run.updates, run.wall_seconds)
    assert [event for event in events if isinstance(event, Round)] == run.rounds
    assert [event for event in events if isinstance(event, Evaluated)] == run.evaluations
    assert sum(isinstance(event, SnapshotTaken) for event in events) == len(run.rounds) + 1
    kinds = [kind for (kind,) in sql(out, "SELECT kind FROM events ORDER BY id")]
    assert kinds == [type(event).__name__ for event in events if not isinstance(event, Round)]


def test_the_times_of_a_run_that_went_on_with_other_nodes_are_those_that_were_measured(out: Path):
    train(svm(), moons(), **BATCH, out=out, stop=lambda run: run.seen >= 800)
    run = resume(out, stream=moons(), nodes=5)
    assert list(run.simulated) == [1, 2, 4, 8, 16, 32, 64, 128]
