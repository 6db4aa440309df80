from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from making import two_moons
from paraactive import Arrays, Digits, LaSVM, Model, Table, replay, resume, train
from paraactive.data.examples import SparseRows
from paraactive.errors import InputError
from paraactive.learners import Guarded, Standardized
from paraactive.sifting.scaling import standardized, suits_standardizing

X, Y = two_moons(1500, noise=0.2, seed=0)
UNEVEN = X * np.array([1.0, 1e5])
SIZES: dict[str, Any] = {"warmstart": 300, "batch": 200, "nodes": 1}
TWO_NODES: dict[str, Any] = SIZES | {"nodes": 2}
NO_WARMSTART: dict[str, Any] = SIZES | {"warmstart": 0}


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    lines = [f"{age},{income},{side}" for (age, income), side in zip(UNEVEN.tolist(), Y.tolist(), strict=True)]
    path.write_text("\n".join(["age,income,label", *lines]))
    return path


def test_tables_are_standardized_and_images_and_arrays_are_not(csv: Path) -> None:
    assert isinstance(standardized(LaSVM(), "auto", Table(csv, "label")), Standardized)
    for stream in (Arrays(X, Y), Digits()):
        assert isinstance(standardized(LaSVM(), "auto", stream), LaSVM)
        assert isinstance(standardized(LaSVM(), True, stream), Standardized)
    assert isinstance(standardized(LaSVM(), False, Table(csv, "label")), LaSVM)


def test_a_learner_that_is_trained_or_standardized_already_stays_as_it_is(csv: Path) -> None:
    table, learner = Table(csv, "label"), LaSVM()
    train(learner, Arrays(X, Y), **SIZES)
    assert standardized(learner, "auto", table) is learner
    inside = Guarded(Standardized(LaSVM()))
    assert standardized(inside, True, table) is inside


def test_sparse_rows_are_refused_if_asked_for() -> None:
    stream = Arrays(SparseRows.of(np.maximum(X, 0)), Y)
    assert isinstance(standardized(LaSVM(), "auto", stream), LaSVM)
    with pytest.raises(InputError, match=r"sparse.*dense"):
        standardized(LaSVM(), True, stream)
    assert not suits_standardizing(SparseRows.of(np.maximum(X, 0)))
    with pytest.raises(InputError, match="scale is 'yes'"):
        standardized(LaSVM(), "yes", stream)


def test_a_table_with_columns_of_different_scale_is_learned(csv: Path) -> None:
    errors = {
        scale: train(LaSVM(gap=0.2), Table(csv, "label"), test=csv, scale=scale, **SIZES).mistakes
        for scale in ("auto", False)
    }
    assert (errors["auto"] or 0) < 75
    assert (errors[False] or 0) > 150


@pytest.mark.parametrize("engine", ["threads", "processes", "simulated"])
def test_resume_replay_and_models_have_the_means(csv: Path, tmp_path: Path, engine: str) -> None:
    path, table = tmp_path / "run.db", Table(csv, "label")
    run = train(LaSVM(gap=0.2), table, guard=True, engine=engine, out=path, examples=700, **SIZES)
    assert isinstance(run.learner, Guarded)
    whole = train(LaSVM(gap=0.2), table, guard=True, **SIZES).learner
    assert resume(path, examples=1500).learner.digest() == whole.digest()
    assert replay(path).learner.digest() == whole.digest()
    Model.load(path).save(tmp_path / "moons.model")
    model = Model.load(tmp_path / "moons.model")
    assert np.array_equal(model.decision_function(UNEVEN), whole.score(UNEVEN.astype(np.float32)))


def test_asynchronous_runs_have_the_means(csv: Path) -> None:
    run = train(LaSVM(gap=0.2), Table(csv, "label"), schedule="asynchronous", **TWO_NODES)
    assert np.mean((run.learner.score(UNEVEN) > 0) != (Y > 0)) < 0.06


def test_a_run_without_warmstart_waits_for_its_first_examples(csv: Path) -> None:
    run = train(LaSVM(gap=0.2), Table(csv, "label"), **NO_WARMSTART)
    assert np.mean((run.learner.score(UNEVEN) > 0) != (Y > 0)) < 0.06


class OwnSVM(LaSVM):
    """One that a run file cannot build."""


def test_a_learner_of_ones_own_is_given_to_resume_without_the_wrappers(csv: Path, tmp_path: Path) -> None:
    path, table = tmp_path / "run.db", Table(csv, "label")
    train(OwnSVM(gap=0.2), table, guard=True, out=path, examples=700, **SIZES)
    with pytest.raises(InputError, match="cannot be built"):
        resume(path, examples=1500)
    whole = train(OwnSVM(gap=0.2), table, guard=True, **SIZES).learner
    assert resume(path, examples=1500, learner=OwnSVM(gap=0.2)).learner.digest() == whole.digest()
    assert replay(path, learner=OwnSVM(gap=0.2)).learner.digest() == whole.digest()
    with pytest.raises(InputError, match="the learner given has"):
        replay(path, learner=LaSVM(gap=0.2))


def test_gamma_of_a_table_of_pixels_is_that_of_its_first_rows(tmp_path: Path) -> None:
    rows, path = Digits().test().x[:500], tmp_path / "rows.csv"
    names = [*(f"p{column}" for column in range(rows.shape[1])), "label"]
    np.savetxt(path, np.column_stack([rows, np.resize([0, 1], 500)]), "%.9g", ",", header=",".join(names), comments="")
    learner = standardized(LaSVM(), "auto", Table(path, "label"))
    assert isinstance(learner, LaSVM)
    assert learner.gamma == pytest.approx(1 / (rows.shape[1] * rows.astype(np.float64).var()))
