"""predict, evaluate, save: what a person sees, what a machine gets, and mistakes in one line."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import paraactive
from cli.command_line import Printed, complaint, figures
from making import two_moons
from paraactive.cli import app

X, Y = two_moons(900, noise=0.15, seed=0)
NAMES = np.where(Y > 0, "spam", "ham")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez("data.npz", x=X, y=NAMES)
    np.savez("new.npz", x=X[:5])
    np.save("new.npy", X[:5])
    np.save("labelled.npy", np.column_stack([X[:5], Y[:5]]))
    learner = paraactive.LaSVM(gamma=2.0)
    paraactive.train(
        learner, paraactive.Arrays.load("data.npz"), test="data.npz", warmstart=200, batch=200, out="run.db"
    )


def test_predict_writes_a_label_and_a_score_for_each_row(capsys: Printed) -> None:
    assert app.run(["predict", "run.db", "new.npz"]) == 0
    rows = list(csv.reader(capsys.readouterr().out.splitlines()))
    assert rows[0] == ["label", "score"]
    model = paraactive.Model.load("run.db")
    assert [label for label, _ in rows[1:]] == model.predict(X[:5]).tolist()
    assert [float(score) for _, score in rows[1:]] == model.decision_function(X[:5]).tolist()


@pytest.mark.parametrize("data", ["new.npz", "new.npy", "labelled.npy"])
def test_predict_takes_rows_with_and_without_labels(data: str, capsys: Printed) -> None:
    found = figures(capsys, "predict", "run.db", data)
    assert found["labels"] == paraactive.Model.load("run.db").predict(X[:5]).tolist()
    assert len(found["scores"]) == 5


def test_predict_into_a_file(capsys: Printed) -> None:
    assert app.run(["predict", "run.db", "new.npz", "--out", "labels.csv"]) == 0
    assert capsys.readouterr().out == "5 predictions are in labels.csv.\n"
    assert len(Path("labels.csv").read_text().splitlines()) == 6


def test_evaluate_counts_the_mistakes_by_label(capsys: Printed) -> None:
    found = figures(capsys, "evaluate", "run.db", "data.npz")
    model = paraactive.Model.load("run.db")
    assert found["examples"] == 900
    assert found["mistakes"] == model.mistakes(X, NAMES)
    assert found["error"] == found["mistakes"] / 900
    assert found["confusion"]["spam"]["ham"] + found["confusion"]["ham"]["spam"] == found["mistakes"]
    assert sum(found["confusion"]["spam"].values()) == int(np.sum(Y > 0))


def test_evaluate_finds_the_test_examples_of_the_run(capsys: Printed) -> None:
    assert figures(capsys, "evaluate", "run.db") == figures(capsys, "evaluate", "run.db", "data.npz")
    assert app.run(["evaluate", "run.db"]) == 0
    out = capsys.readouterr().out
    assert "mistakes of 900 examples" in out
    assert "predicted spam" in out


def test_save_makes_one_file_that_predicts_the_same(capsys: Printed) -> None:
    saved = figures(capsys, "save", "run.db", "--out", "my.model")
    assert saved["bytes"] == Path("my.model").stat().st_size
    assert figures(capsys, "predict", "my.model", "new.npz") == figures(capsys, "predict", "run.db", "new.npz")
    assert "already exists" in complaint(capsys, "save", "run.db", "--out", "my.model")
    assert app.run(["save", "run.db", "--out", "my.model", "--overwrite"]) == 0


def test_mistakes_are_one_line(capsys: Printed) -> None:
    assert "nothing is there" in complaint(capsys, "predict", "nope.db", "new.npz")
    assert "no file nope.npz" in complaint(capsys, "predict", "run.db", "nope.npz")
    assert "numpy file of something else" in complaint(capsys, "predict", "data.npz", "new.npz")
    np.save("wide.npy", np.zeros((3, 7)))
    assert "7 features" in complaint(capsys, "predict", "run.db", "wide.npy")
    np.savez("strange.npz", x=X[:2], y=["spam", "eggs"])
    assert "unknown label 'eggs'" in complaint(capsys, "evaluate", "run.db", "strange.npz")
    assert "arrays 'x'" in complaint(capsys, "evaluate", "run.db", "new.npz")
    assert app.run(["save", "run.db", "--out", "my.model"]) == 0
    capsys.readouterr()
    assert "give a file with labeled examples" in complaint(capsys, "evaluate", "my.model")
    assert "cannot write" in complaint(capsys, "predict", "run.db", "new.npz", "--out", "no/where.csv")
