"""train, resume and replay: the same model whatever way, and every refusal before anything is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pytest

from disk import log_of, reseal, sql
from making import two_moons
from paraactive import Arrays, Digits, LaSVM, Network, replay, resume, train
from paraactive.basics.state import State, digest
from paraactive.data.events import Evaluated, Event, Round, RunEnded, RunStarted, SnapshotTaken
from paraactive.data.examples import Doubles, Examples, Floats, Ints, Selected
from paraactive.errors import InputError, ReplayError, RunFileError, RunFileWarning
from paraactive.learners import Learner
from paraactive.rules import Gradient, Margin, Passive, Rule, Uniform
from paraactive.runs.run import Run
from paraactive.runs.runfile import RunFile
from paraactive.schedules import Plan
from paraactive.streams import Stream

X, Y = two_moons(2400, noise=0.3, seed=0)
BATCH: dict[str, Any] = {"batch": 200, "warmstart": 200}


def moons(**options: Any) -> Arrays:
    return Arrays(X, Y, **options)


def svm() -> LaSVM:
    return LaSVM(gamma=1.0, gap=0.2)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "run.db"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "moons.npz"
    np.savez(path, x=X, y=np.where(Y > 0, "upper", "lower"))
    return path


JOBS: dict[str, tuple[Callable[[], Learner], Callable[[], Stream], dict[str, Any]]] = {
    "svm on arrays": (svm, moons, BATCH),
    "svm on digits": (lambda: LaSVM(gamma=0.012, gap=0.2), Digits, {**BATCH, "examples": 1500}),
    "network": (lambda: Network(hidden=20), lambda: moons(passes=2), {**BATCH, "rule": Gradient(), "nodes": 7}),
    "sequential": (svm, moons, {**BATCH, "rule": Margin(0.2), "schedule": "sequential"}),
    "passive": (svm, moons, {**BATCH, "rule": Passive(), "examples": 800}),
    "no warmstart": (svm, moons, {"batch": 200, "warmstart": 0, "examples": 800}),
    "warmstart only": (svm, moons, {"batch": 10, "warmstart": 300, "examples": 200}),
    "nothing selected": (svm, moons, {**BATCH, "rule": Uniform(1e-9), "examples": 800}),
}


def do(job: str, out: Path | None) -> Run:
    learner, stream, options = JOBS[job]
    return train(learner(), stream(), **options, out=out)


@pytest.mark.parametrize("job", JOBS)
def test_replaying_the_log_gives_the_model_and_the_figures_of_the_run(job: str, out: Path):
    run = do(job, out)
    again = replay(out)
    assert again.learner is not run.learner
    assert again.learner.digest() == run.learner.digest()
    assert again.summary() == run.summary()
    assert again.rounds == run.rounds


@pytest.mark.parametrize("job", JOBS)
def test_a_run_file_changes_nothing_about_the_model(job: str, out: Path):
    assert do(job, out).learner.digest() == do(job, None).learner.digest()


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


def no_times(ended: Round) -> dict[str, Any]:
    """Nor what a node chose to compute, which follows from what it counted since it began."""
    times = {"fetch_seconds": 0, "sift_seconds": 0, "update_seconds": 0, "elapsed": dict.fromkeys(ended.elapsed, 0.0)}
    return times | {"scored": 0, "nodes": ()}


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


class Centroids:
    """A learner of the user's own: the weighted mean of each class."""

    def __init__(self) -> None:
        self.sums = np.zeros((2, 3))

    def score(self, x: Floats) -> Doubles:
        means = self.sums[:, :2] / np.maximum(self.sums[:, 2:], 1e-9)
        away = ((x[:, None, :] - means) ** 2).sum(axis=2)
        return away[:, 0] - away[:, 1]

    def update(self, selected: Selected) -> None:
        for x, y, weight in zip(selected.examples.x, selected.examples.y, selected.weight, strict=True):
            self.sums[int(y > 0)] += weight * np.array([*x, 1.0])

    def end_round(self) -> None:
        self.sums *= 0.99

    def save(self) -> State:
        return {"sums": self.sums.copy()}

    def load(self, state: State) -> None:
        self.sums = state["sums"].copy()

    def digest(self) -> str:
        return digest(self.save())

    def describe(self) -> dict[str, Any]:
        return {}


@dataclass(frozen=True)
class Tent:
    """A rule of the user's own."""

    needs_labels: ClassVar[Literal[False]] = False
    needs_scores: ClassVar[bool] = True

    def probability(self, score: Doubles, seen: Ints) -> Doubles:
        return np.maximum(1 - np.abs(score), 0.05)

    def describe(self) -> dict[str, Any]:
        return {}


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


def test_stop_ends_the_run_after_the_round_that_made_it_true(out: Path):
    run = train(svm(), moons(), **BATCH, out=out, stop=lambda run: run.selected > 450)
    assert run.seen < 2400
    assert run.selected > 450 >= sum(one.selected for one in run.rounds[1:-1])
    assert replay(out).learner.digest() == run.learner.digest()


def test_mistakes_come_back_with_resume_and_replay(data: Path, out: Path):
    run = train(svm(), moons(seed=1), **BATCH, test=moons().read(0, 500), out=out)
    assert run.mistakes is not None
    for again in (replay(out), resume(out, stream=moons(seed=1))):
        assert again.evaluations == run.evaluations
        assert (again.summary()["mistakes"], again.summary()["test_examples"]) == (run.mistakes, 500)


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


class Endless:
    """A stream of the user's own that never ends."""

    width, length, classes, regenerates = 2, None, ("no", "yes"), False

    def read(self, first: int, last: int) -> Examples:
        return self.at(np.arange(first, last))

    def at(self, index: Ints) -> Examples:
        return Examples(X[index % 2400], Y[index % 2400], index)


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


def test_the_times_of_a_run_that_went_on_with_other_nodes_are_those_that_were_measured(out: Path):
    train(svm(), moons(), **BATCH, out=out, stop=lambda run: run.seen >= 800)
    run = resume(out, stream=moons(), nodes=5)
    assert list(run.simulated) == [1, 2, 4, 8, 16, 32, 64, 128]


def test_the_plan_of_a_run_is_in_its_file(out: Path):
    rule: Rule = Margin(0.25)
    learner: Learner = svm()
    train(learner, moons(seed=9, passes=3), rule=rule, **BATCH, examples=1000, nodes=4, seed=11, out=out)
    with RunFile.read(out) as file:
        spec = file.spec
    assert spec.plan == Plan(1000, 200, 200, 4)
    assert spec.rule.to_dict() == {"kind": "margin", "eta": 0.25}
    assert spec.learner.to_dict() == {"kind": "svm", **learner.describe()}
    assert (spec.seed, spec.data.stream.get("seed"), spec.data.stream.get("passes")) == (11, 9, 3)
    assert (spec.placement.engine, spec.schedule, spec.data.classes) == ("threads", "synchronous", ("-1", "1"))
