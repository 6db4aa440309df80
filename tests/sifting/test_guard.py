"""A guard in runs: the same model on every engine, resumed and replayed; and the report of the heaviest examples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pytest

from disk import log_of
from making import three_blobs, two_moons
from paraactive import Arrays, Digits, LaSVM, Model, Network, replay, resume, train
from paraactive.data.examples import Doubles, Ints, Selected
from paraactive.errors import InputError
from paraactive.experiments.noise import FlippedLabels
from paraactive.learners import Learner
from paraactive.learners.guarded import Guarded
from paraactive.rules import PaperMargin, SignedMargin
from paraactive.sifting.guard import Guard

X, CLEAN = two_moons(2000, noise=0.15, seed=0)
WRONG = np.random.default_rng(5).random(2000) < 0.1
Y = np.where(WRONG, -CLEAN, CLEAN)
STEPS: dict[str, Any] = {"batch": 200, "warmstart": 200}
STRICT = Guard(floor=0.05, cap=8, set_aside=0.2)


def svm() -> LaSVM:
    return LaSVM(gamma=2.0, gap=0.2)


def moons(**options: Any) -> Arrays:
    return Arrays(X, Y, **options)


def around(learner: Learner, **options: Any) -> Any:
    return Guarded(learner, **options)


class OwnLearner(LaSVM):
    """One of the user's own."""


@dataclass(frozen=True)
class OwnRule:
    """One of the user's own."""

    needs_labels: ClassVar[Literal[False]] = False
    needs_scores: ClassVar[bool] = True

    def probability(self, score: Doubles, seen: Ints) -> Doubles:
        return np.where(np.abs(score) < 0.5, 1.0, 0.01)


def test_each_part_can_be_turned_off() -> None:
    off: Any = Guard(floor=None, cap=None, set_aside=None)
    assert off.learner(learner := svm()) is learner
    assert repr(Guard(cap=7).learner(svm())) == repr(around(svm(), cap=7, set_aside=0.3))
    assert repr(Guard(set_aside=2).learner(Network())) == repr(around(Network(), set_aside=2))


def test_by_default_scores_that_are_margins_are_believed_and_log_odds_are_not() -> None:
    assert repr(Guard().learner(svm())) == repr(around(svm(), set_aside=0.3))
    assert repr(Guard().learner(Network(loss="squared"))) == repr(around(Network(loss="squared"), set_aside=0.3))
    assert Guard().learner(network := Network()) is network


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"floor": 0}, "floor is 0.*give 0 < floor <= 1"),
        ({"floor": 1.5}, "floor is 1.5"),
        ({"cap": 0}, "cap is 0.*give cap > 0"),
        ({"cap": "much"}, "cap is 'much'"),
        ({"set_aside": -1}, "set_aside is -1.*give set_aside > 0"),
        ({"set_aside": "often"}, "set_aside is 'often'.*\"auto\""),
    ],
)
def test_parameters_that_make_no_sense_are_refused(options: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Guard(**options)


def test_a_guard_is_on_or_off_or_a_guard() -> None:
    with pytest.raises(InputError, match=r"guard is of type str.*give True"):
        train(svm(), moons(), guard="yes", **STEPS)  # pyright: ignore[reportArgumentType]
    for off in (None, False):
        assert isinstance(train(svm(), moons(), guard=off, examples=600, **STEPS).learner, LaSVM)


def test_the_floor_of_a_guard_is_that_of_the_run() -> None:
    def floor(**options: Any) -> Any:
        return train(svm(), moons(), examples=600, **STEPS, **options).spec.sampling.floor

    assert floor(guard=Guard(floor=0.2)) == 0.2
    assert floor(guard=Guard(floor=0.2), floor=0.3) == 0.3
    assert floor(guard=True) == floor() == "auto"
    assert floor(guard=True, rule=SignedMargin()) is None


def test_a_guarded_learner_is_not_guarded_again() -> None:
    with pytest.raises(InputError, match="guarded already"):
        train(around(svm(), cap=3), moons(), guard=True, **STEPS)


def test_a_guard_bounds_weights_and_sets_wrong_labels_aside() -> None:
    steep = SignedMargin(0.05, theta=0.0)
    free = train(svm(), moons(), rule=steep, nodes=1, **STEPS)
    run = train(svm(), moons(), rule=steep, guard=Guard(floor=0.2), nodes=1, **STEPS)
    assert free.heaviest(1)[0].weight > 5 >= run.heaviest(1)[0].weight
    learner: Any = run.learner
    assert isinstance(learner, Guarded)
    keys = learner.set_aside_keys
    assert len(keys) > 50
    assert WRONG[keys].mean() > 0.85


JOBS: dict[str, tuple[Callable[[], Any], Callable[[], Any], dict[str, Any]]] = {
    "svm": (svm, moons, {"guard": STRICT}),
    "svm, guard by default": (svm, moons, {"guard": True}),
    "network": (lambda: Network(hidden=20), moons, {"guard": STRICT}),
    "three classes": (svm, lambda: Arrays(*three_blobs(1500, seed=1)), {"guard": STRICT}),
    "blind rule": (svm, moons, {"guard": STRICT, "rule": PaperMargin(0.1)}),
    "sequential": (svm, moons, {"guard": STRICT, "schedule": "sequential", "examples": 800}),
}


@pytest.mark.parametrize("job", JOBS)
def test_a_guarded_run_is_resumed_replayed_and_loaded(job: str, tmp_path: Path) -> None:
    learner, stream, options = JOBS[job]
    whole, cut = tmp_path / "whole.db", tmp_path / "cut.db"
    run = train(learner(), stream(), out=whole, **STEPS, **options)
    train(learner(), stream(), out=cut, stop=lambda run: len(run.rounds) == 4, **STEPS, **options)
    again = resume(cut, stream=stream())
    assert again.learner.digest() == run.learner.digest()
    assert log_of(cut) == log_of(whole)
    rebuilt = replay(whole)
    assert rebuilt.checked > 0
    assert rebuilt.learner.digest() == run.learner.digest()
    assert rebuilt.heaviest(5) == run.heaviest(5)
    model = Model.load(whole)
    assert repr(model.learner) == repr(run.learner)
    model.save(tmp_path / "model")
    loaded: Any = Model.load(tmp_path / "model").learner
    assert loaded.digest() == run.learner.digest()
    assert loaded.report() == run.learner.report()  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize("engine", ["threads", "processes"])
@pytest.mark.parametrize("job", ["svm", "network"])
def test_a_guarded_run_is_the_same_on_every_engine(job: str, engine: str, tmp_path: Path) -> None:
    learner, stream, options = JOBS[job]
    paths = {name: tmp_path / f"{name}.db" for name in ("simulated", engine)}
    runs = [
        train(learner(), stream(), engine=name, nodes=nodes, out=paths[name], **STEPS, **options)
        for name, nodes in (("simulated", 1), (engine, 2))
    ]
    assert log_of(paths["simulated"]) == log_of(paths[engine])
    assert len({run.learner.digest() for run in runs} | set(runs[1].replicas.values())) == 1


def test_an_asynchronous_guarded_run_ends_in_equal_replicas_and_can_be_replayed(tmp_path: Path) -> None:
    run = train(
        svm(), moons(), guard=STRICT, schedule="asynchronous", engine="threads", nodes=2, out=tmp_path / "run.db",
        **STEPS,
    )  # fmt: skip
    assert set(run.replicas.values()) == {run.learner.digest()} == {replay(tmp_path / "run.db").learner.digest()}


def test_another_guard_than_the_runs_own_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    train(svm(), moons(), guard=STRICT, out=path, examples=600, **STEPS)
    with pytest.raises(InputError, match="cap 9"):
        resume(path, stream=moons(), examples=800, learner=around(svm(), cap=9, set_aside=0.2))
    same = resume(path, stream=moons(), examples=800, learner=around(svm(), cap=8, set_aside=0.2))
    assert same.seen == 800


def test_a_learner_and_a_rule_of_the_users_own_are_guarded_and_handed_over_again(tmp_path: Path) -> None:
    path, own = tmp_path / "run.db", lambda: OwnLearner(gamma=2.0, gap=0.2)
    run = train(own(), moons(), rule=OwnRule(), guard=STRICT, out=path, **STEPS)  # pyright: ignore[reportArgumentType]
    with pytest.raises(InputError, match=r"OwnLearner cannot be built from the file.*learner=\.\.\."):
        replay(path)
    rebuilt = replay(path, learner=STRICT.learner(own()))  # pyright: ignore[reportArgumentType]
    assert rebuilt.learner.digest() == run.learner.digest()


def test_a_trained_learner_is_refused_for_a_run_file_guarded_or_not(tmp_path: Path) -> None:
    learner = svm()
    learner.update(Selected.weighted(X[:50], Y[:50]))
    with pytest.raises(InputError, match="trained before"):
        train(learner, moons(), guard=True, out=tmp_path / "run.db", **STEPS)


@pytest.mark.parametrize("classes", [2, 3])
def test_flipped_labels_are_wrong_at_the_rate_and_depend_on_the_key_alone(classes: int) -> None:
    x, y = two_moons(3000, 0.1, seed=0) if classes == 2 else three_blobs(3000, seed=0)
    clean = Arrays(x, y, passes=2)
    noisy = FlippedLabels(clean, 0.2, seed=3)
    was, now = clean.read(0, 6000), noisy.read(0, 6000)
    differ = was.y != now.y
    assert np.array_equal(differ, noisy.flipped(was.key))
    assert abs(differ.sum() / 2 - 600) < 5 * np.sqrt(3000 * 0.2 * 0.8)
    assert set(now.y.tolist()) == set(was.y.tolist())
    some = np.array([5999, 3, 4000])
    assert np.array_equal(noisy.at(some).y, now.y[some])
    assert not np.array_equal(FlippedLabels(clean, 0.2, seed=4).read(0, 6000).y, now.y)
    if classes == 3:
        others = (now.y - was.y)[differ & (was.index < 3000)] % 3
        assert abs(np.mean(others == 1) - 0.5) < 0.1


def _imbalanced() -> tuple[Any, Any]:
    x, y = two_moons(4000, noise=0.35, seed=0)
    kept = (y > 0) | (np.arange(4000) % 20 == 0)
    return x[kept], np.where(y[kept] > 0, "common", "rare")


def test_class_weights_by_name_and_balanced(tmp_path: Path) -> None:
    x, y = _imbalanced()
    sizes: dict[str, Any] = {"warmstart": 400, "batch": 200, "nodes": 1}
    found: dict[str, float] = {}
    for name, weights in (("none", None), ("named", {"rare": 20}), ("balanced", "balanced")):
        out = tmp_path / f"{name}.db"
        run = train(LaSVM(gamma=1.0, gap=0.2), Arrays(x, y), class_weight=weights, out=out, **sizes)
        found[name] = float(np.mean(run.learner.score(x[y == "rare"]) > 0))
        assert replay(out).learner.digest() == run.learner.digest()
        assert Model.load(out).learner.digest() == run.learner.digest()
    assert found["named"] > found["none"] + 0.1
    assert found["balanced"] > found["none"] + 0.1


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ({"rar": 2}, "no class 'rar'"),
        ({"rare": 0}, "class_weight"),
        ("fair", "class_weight is 'fair'"),
    ],
)
def test_class_weights_that_make_no_sense_are_refused(weights: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        train(LaSVM(), Arrays(*_imbalanced()), class_weight=weights)


def test_a_stream_that_does_not_count_its_classes_cannot_be_balanced() -> None:
    with pytest.raises(InputError, match="does not know how often"):
        train(LaSVM(), Digits(), class_weight="balanced", examples=100)
