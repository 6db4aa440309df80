"""A trained model: what it predicts, and the files that it comes from and goes to."""

from __future__ import annotations

import io
import json
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from disk import sql
from making import two_moons
from paraactive import Arrays, Digits, LaSVM, Model, Network, replay, train
from paraactive.errors import InputError, ParaActiveError
from paraactive.learners import Learner
from paraactive.rules import Uniform
from paraactive.runs.model import _hash_of
from strange import Elsewhere

X, Y = two_moons(1500, noise=0.15, seed=0)
NAMES = np.where(Y > 0, "up", "down")
LEARNERS: dict[str, Callable[[], Learner]] = {
    "svm": lambda: LaSVM(gamma=2.0, gap=0.2),
    "linear svm": lambda: LaSVM(kernel="linear"),
    "network": lambda: Network(hidden=12, step=0.5),
}


def _run(out: Path, learner: str = "svm", **options: Any) -> Learner:
    return train(LEARNERS[learner](), Arrays(X, NAMES), warmstart=200, batch=200, out=out, **options).learner


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_run_file_and_a_saved_model_are_the_model_that_was_trained(learner: str, tmp_path: Path) -> None:
    trained = _run(tmp_path / "run.db", learner)
    loaded = Model.load(tmp_path / "run.db")
    loaded.save(tmp_path / "a.model")
    again = Model.load(tmp_path / "a.model")
    for model in (loaded, again):
        assert model.learner.digest() == trained.digest()
        assert model.classes == ("down", "up")
        assert model.width == 2
        assert np.array_equal(model.decision_function(X), trained.score(X))
        assert model.predict(X).tolist() == np.where(trained.score(X) > 0, "up", "down").tolist()
        assert model.mistakes(X, NAMES) == int(np.sum((trained.score(X) > 0) != (Y > 0)))


@pytest.mark.parametrize("schedule", ["synchronous", "asynchronous", "sequential"])
def test_the_log_after_the_last_snapshot_is_learnt(schedule: str, tmp_path: Path) -> None:
    out = tmp_path / "run.db"
    trained = _run(out, schedule=schedule, nodes=1, engine="simulated")
    sql(out, "DELETE FROM snapshots")
    assert Model.load(out).learner.digest() == trained.digest()


def test_a_stream_that_makes_its_features_again_does_so_for_the_model(tmp_path: Path) -> None:
    out = tmp_path / "run.db"
    run = train(LaSVM(gamma=0.012), Digits(), examples=900, warmstart=300, batch=300, out=out)
    sql(out, "DELETE FROM snapshots")
    assert Model.load(out).learner.digest() == run.learner.digest()


def test_loading_the_model_of_an_open_run_file_keeps_the_locks_on_it(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    _run(path)
    count = "select count(*) from entries"
    other = f"import sqlite3, sys; file = sqlite3.connect(sys.argv[1]); list(file.execute('{count}')); file.close()"
    with closing(sqlite3.connect(path)) as mine:
        mine.execute(count).fetchone()
        Model.load(path)
        subprocess.run([sys.executable, "-c", other, str(path)], check=True)
        # Without our lock, the other process would have been the last one, which deletes the journal.
        assert path.with_name("run.db-wal").exists()


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_run_without_warmstart_begins_with_an_empty_round(learner: str, tmp_path: Path) -> None:
    out = tmp_path / "run.db"
    trained = train(LEARNERS[learner](), Arrays(X, NAMES), warmstart=0, batch=200, out=out).learner
    assert replay(out).learner.digest() == trained.digest()
    sql(out, "DELETE FROM snapshots")
    assert Model.load(out).learner.digest() == trained.digest()


def test_the_model_of_a_learner_in_hand() -> None:
    stream = Arrays(X, NAMES)
    run = train(LEARNERS["svm"](), stream, warmstart=200, batch=200)
    model = Model.of(run.learner, stream)
    assert set(model.predict(X[:50])) == {"down", "up"}
    assert "svm" in repr(model).lower()


def test_a_learner_of_the_users_own_is_handed_over(tmp_path: Path) -> None:
    out = tmp_path / "run.db"
    run = train(
        Elsewhere(tmp_path), Arrays(X, NAMES), rule=Uniform(0.5), warmstart=200, batch=200, engine="threads", out=out
    )
    with pytest.raises(InputError, match=r"Elsewhere cannot be built from the file"):
        Model.load(out)
    model = Model.load(out, learner=Elsewhere(tmp_path))
    assert model.learner.digest() == run.learner.digest()
    model.save(tmp_path / "own.model")
    with pytest.raises(InputError, match=r"Elsewhere cannot be built"):
        Model.load(tmp_path / "own.model")
    assert Model.load(tmp_path / "own.model", learner=Elsewhere(tmp_path)).learner.digest() == run.learner.digest()
    with pytest.raises(InputError, match="the learner given has kind 'svm'"):
        Model.load(tmp_path / "own.model", learner=LaSVM())


def test_a_file_that_is_there_is_kept_unless_told(tmp_path: Path) -> None:
    _run(tmp_path / "run.db")
    model = Model.load(tmp_path / "run.db")
    (tmp_path / "a.model").write_text("mine")
    with pytest.raises(InputError, match="already exists"):
        model.save(tmp_path / "a.model")
    assert (tmp_path / "a.model").read_text() == "mine"
    model.save(tmp_path / "a.model", overwrite=True)
    assert Model.load(tmp_path / "a.model").learner.digest() == model.learner.digest()
    with pytest.raises(InputError, match="cannot write"):
        model.save(tmp_path / "nowhere" / "a.model")


@pytest.mark.parametrize(
    ("x", "words"),
    [
        ([[1.0, 2.0, 3.0]], "3 features"),
        ([[np.nan, 0.0]], "NaN"),
        ([1.0, 2.0], "1 dimension"),
        ([["a", "b"]], "type"),
    ],
)
def test_rows_that_the_model_cannot_score(x: Any, words: str, tmp_path: Path) -> None:
    _run(tmp_path / "run.db")
    with pytest.raises(InputError, match=words):
        Model.load(tmp_path / "run.db").predict(x)


def test_labels_that_the_model_does_not_know(tmp_path: Path) -> None:
    _run(tmp_path / "run.db")
    with pytest.raises(InputError, match="unknown label 'left'"):
        Model.load(tmp_path / "run.db").mistakes([[0.0, 0.0]], ["left"])


# Files that are no models ----------------------------------------------------------------------------------------


def _rewritten(data: bytes, change: Callable[[dict[str, bytes]], None]) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def _about(**changes: Any) -> Callable[[dict[str, bytes]], None]:
    def change(members: dict[str, bytes]) -> None:
        about = json.loads(bytes(np.load(io.BytesIO(members["paraactive.npy"]))))
        out = io.BytesIO()
        np.save(out, np.frombuffer(json.dumps(about | changes).encode(), np.uint8))
        members["paraactive.npy"] = out.getvalue()

    return change


def _without(name: str) -> Callable[[dict[str, bytes]], None]:
    def change(members: dict[str, bytes]) -> None:
        del members[name]

    return change


def _pickled(members: dict[str, bytes]) -> None:
    out = io.BytesIO()
    np.save(out, np.array([{"code": print}], object), allow_pickle=True)
    members["state.alpha.npy"] = out.getvalue()


def _resealed(members: dict[str, bytes]) -> None:
    """As if the file had been written so: its hash is that of what is in it."""
    if "paraactive.npy" not in members:
        return
    arrays = {name.removesuffix(".npy"): np.load(io.BytesIO(data), allow_pickle=True) for name, data in members.items()}
    about = json.loads(bytes(arrays.pop("paraactive")))
    _about(hash=_hash_of(about, arrays))(members)


def _swapped(members: dict[str, bytes]) -> None:
    alpha = np.load(io.BytesIO(members["state.alpha.npy"]))
    alpha[0] += 1
    out = io.BytesIO()
    np.save(out, alpha)
    members["state.alpha.npy"] = out.getvalue()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_about(format=99), "format 99"),
        (_about(learner={"kind": "os.system"}), "os.system cannot be built"),
        (_about(learner={"kind": "svm", "C": -1}), "C is -1"),
        (_about(learner={"kind": "svm", "colour": "red"}), "cannot be used"),
        (_about(learner=None), "cannot be used"),
        (_about(classes=["one"]), "does not agree with itself"),
        (_about(width="wide"), "cannot be used"),
        (_pickled, "not a model|damaged"),
        (_swapped, "does not agree with itself"),
        (_without("state.alpha.npy"), "cannot be used"),
        (_without("paraactive.npy"), "numpy file of something else"),
    ],
)
def test_a_model_file_that_was_changed_is_refused(change: Any, words: str, tmp_path: Path) -> None:
    _run(tmp_path / "run.db")
    path = tmp_path / "a.model"
    Model.load(tmp_path / "run.db").save(path)
    path.write_bytes(_rewritten(path.read_bytes(), change))
    with pytest.raises(InputError, match=f"hash does not match|plain array|objects|something else|{words}"):
        Model.load(path)
    path.write_bytes(_rewritten(path.read_bytes(), _resealed))
    with pytest.raises(InputError, match=words):
        Model.load(path)


def test_what_is_no_model_at_all(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing is there"):
        Model.load(tmp_path / "nope")
    with pytest.raises(InputError, match="it is not a file"):
        Model.load(tmp_path)
    (tmp_path / "text").write_text("hello")
    with pytest.raises(ParaActiveError, match="not a run file"):
        Model.load(tmp_path / "text")
    (tmp_path / "zip").write_bytes(b"PK and nothing else")
    with pytest.raises(InputError, match="not a model"):
        Model.load(tmp_path / "zip")
    np.savez(tmp_path / "data.npz", x=X, y=Y)
    with pytest.raises(InputError, match="numpy file of something else"):
        Model.load(tmp_path / "data.npz")
    _run(tmp_path / "run.db")
    Model.load(tmp_path / "run.db").save(tmp_path / "a.model")
    whole = (tmp_path / "a.model").read_bytes()
    for cut in (10, len(whole) // 2, len(whole) - 5):
        (tmp_path / "cut").write_bytes(whole[:cut])
        with pytest.raises(InputError, match="not a model"):
            Model.load(tmp_path / "cut")


def test_a_run_that_has_learnt_nothing(tmp_path: Path) -> None:
    out = tmp_path / "run.db"
    train(Network(hidden=4), Arrays(X, NAMES), warmstart=0, batch=200, out=out, stop=lambda run: True)
    sql(out, "DELETE FROM snapshots")
    with pytest.raises(InputError, match="learned nothing yet"):
        Model.load(out)
