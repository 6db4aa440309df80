"""replay: the log alone gives the model, and damage is noticed."""

from __future__ import annotations

from pathlib import Path

import pytest

from disk import reseal, sql
from paraactive import Network, replay, resume, train
from paraactive.data.events import Event, Round, RunEnded, RunStarted
from paraactive.errors import ReplayError, RunFileError
from paraactive.rules import Gradient
from runs.jobs import BATCH, JOBS, X, Y, do, moons, svm


@pytest.mark.parametrize("job", JOBS)
def test_replaying_the_log_gives_the_model_and_the_figures_of_the_run(job: str, out: Path):
    run = do(job, out)
    again = replay(out)
    assert again.learner is not run.learner
    assert again.learner.digest() == run.learner.digest()
    assert again.summary() == run.summary()
    assert again.rounds == run.rounds


def test_replay_leaves_the_run_file_as_it_is(out: Path):
    train(svm(), moons(), **BATCH, out=out)
    before = out.read_bytes()
    replay(out)
    assert out.read_bytes() == before
    assert [path.name for path in out.parent.iterdir()] == ["run.db"]


@pytest.mark.parametrize("tampering", ["p = p * 0.999", "y = -y", "x = zeroblob(8)"])
@pytest.mark.parametrize("place", ["ASC", "DESC"])
def test_replay_of_a_log_that_was_tampered_with_says_so(tampering: str, place: str, out: Path):
    train(Network(hidden=20), moons(), rule=Gradient(), **BATCH, out=out)
    one = f"(SELECT sequence FROM entries WHERE p < 0.5 ORDER BY sequence {place} LIMIT 1)"
    sql(out, f"UPDATE entries SET {tampering} WHERE sequence = {one}")
    with pytest.raises(RunFileError, match="the hash of its log does not match"):
        replay(out)
    reseal(out)
    with pytest.raises(ReplayError, match="another model than the run had: the log was changed"):
        replay(out)


def test_replay_of_a_run_that_never_ended_is_checked_at_its_snapshots(out: Path):
    def die(event: Event) -> None:
        if isinstance(event, Round) and event.number == 8:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        train(Network(hidden=20), moons(), **BATCH, out=out, snapshot_seconds=0.0, observers=[die])
    assert replay(out).seen == 1600
    sql(out, "UPDATE entries SET p = p / 2 WHERE sequence = 300")
    reseal(out)
    with pytest.raises(ReplayError):
        replay(out)


def test_replay_tells_its_observers_of_every_round(out: Path):
    run = train(svm(), moons(), **BATCH, out=out)
    events: list[Event] = []
    replay(out, observers=[events.append])
    assert events[0] == RunStarted(2400, 0)
    assert events[1:-1] == run.rounds
    digest, entries = run.learner.digest(), run.warmstart + run.selected
    assert events[-1] == RunEnded(2400, entries, digest, {0: digest}, run.updates, run.wall_seconds)


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM configuration WHERE name = 'learner'",
        "UPDATE configuration SET value = json_set(value, '$.bogus', 1) WHERE name = 'learner'",
        "UPDATE configuration SET value = 'not JSON' WHERE name = 'seed'",
        "UPDATE configuration SET value = '\"many\"' WHERE name = 'batch'",
        "UPDATE rounds SET elapsed = 'x' WHERE number = 2",
        "UPDATE events SET payload = '{}' WHERE kind = 'Evaluated'",
    ],
)
def test_a_run_file_that_makes_no_sense_is_damaged(damage: str, out: Path):
    train(svm(), moons(), **BATCH, test=(X, Y), out=out)
    sql(out, damage)
    for again in (lambda: resume(out, stream=moons()), lambda: replay(out)):
        with pytest.raises(RunFileError, match=r"is damaged: (the hash of its configuration|its content cannot)"):
            again()
    reseal(out)
    for again in (lambda: resume(out, stream=moons()), lambda: replay(out)):
        with pytest.raises(RunFileError, match="is damaged: its content cannot be used"):
            again()


def test_features_of_the_wrong_length_in_a_run_file_are_damage(out: Path):
    train(svm(), moons(), **BATCH, out=out)
    sql(out, "UPDATE entries SET x = x'00' WHERE sequence = 5")
    with pytest.raises(RunFileError, match="is damaged"):
        replay(out)


def test_replay_says_how_many_digests_it_compared(out: Path):
    train(svm(), moons(), **BATCH, out=out, snapshot_seconds=0.0)
    assert replay(out).checked == 12
    sql(out, "DELETE FROM events")
    assert replay(out).checked == 0
