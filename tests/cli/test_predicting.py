"""predict and evaluate with files as people have them: keys, labels that are formulas, gzip, standard input."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import paraactive
from cli.command_line import Printed, complaint, figures
from making import two_moons
from paraactive.cli import app

X, SIDE = two_moons(600, noise=0.1, seed=0)
SIZES: dict[str, Any] = {"warmstart": 200, "batch": 200, "nodes": 1}


def _frame(y: Any, **more: Any) -> Any:
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "clicked": y} | more)


def _train(y: Any) -> None:
    _frame(y).to_csv("data.csv", index=False)
    stream = paraactive.Table("data.csv", "clicked")
    paraactive.train(paraactive.LaSVM(gamma=2.0), stream, out="run.db", overwrite=True, **SIZES)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _written(capsys: Printed, *arguments: str) -> list[list[str]]:
    assert app.run(["predict", "run.db", *arguments]) == 0
    return list(csv.reader(io.StringIO(capsys.readouterr().out, newline="")))


# Identifiers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_an_identifier_is_carried_to_the_output(kind: str, capsys: Printed) -> None:
    _train(SIDE > 0)
    keys = [f"{row:04}" for row in range(600)]
    data = _frame(SIDE > 0, user=keys)
    getattr(data, f"to_{kind}")(f"new.{kind}", index=False)
    rows = _written(capsys, f"new.{kind}", "--id", "user")
    assert rows[0] == ["user", "label", "score"]
    assert [row[0] for row in rows[1:]] == keys
    found = figures(capsys, "predict", "run.db", f"new.{kind}", "--id", "user")
    assert found["ids"] == keys
    assert [str(label) for label in found["labels"]] == [row[1] for row in rows[1:]]


def test_an_identifier_is_not_a_feature_where_columns_have_no_names_in_the_model(capsys: Printed) -> None:
    np.savez("data.npz", x=X, y=SIDE)
    paraactive.train(paraactive.LaSVM(gamma=2.0), paraactive.Arrays.load("data.npz"), out="run.db", **SIZES)
    pd.DataFrame({"key": range(5), "a": X[:5, 0], "b": X[:5, 1]}).to_csv("new.csv", index=False)
    assert [row[0] for row in _written(capsys, "new.csv", "--id", "key")[1:]] == ["0", "1", "2", "3", "4"]


def test_an_identifier_that_is_not_there_is_one_clear_line(capsys: Printed) -> None:
    _train(SIDE > 0)
    assert "no column 'usr' in" in complaint(capsys, "predict", "run.db", "data.csv", "--id", "usr")
    np.save("new.npy", X)
    assert "the columns of this file have no names" in complaint(capsys, "predict", "run.db", "new.npy", "--id", "user")


# Spreadsheets ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("formula", ["=1+1", "+cmd", "-x", "@SUM(A1)", "\tx", "\r=1"])
def test_text_that_a_spreadsheet_would_run_is_quoted_unless_told(formula: str, capsys: Printed) -> None:
    np.savez("data.npz", x=X, y=np.where(SIDE > 0, formula, "plain"))
    paraactive.train(paraactive.LaSVM(gamma=2.0), paraactive.Arrays.load("data.npz"), out="run.db", **SIZES)
    pd.DataFrame({"key": [formula] * 600, "a": X[:, 0], "b": X[:, 1]}).to_parquet("new.parquet")
    for options, expected in (([], f"'{formula}"), (["--raw"], formula)):
        rows = _written(capsys, "new.parquet", "--id", "key", *options)[1:]
        assert {row[0] for row in rows} == {expected}
        assert {row[1] for row in rows} == {expected, "plain"}
    assert set(figures(capsys, "predict", "run.db", "data.npz")["labels"]) == {formula, "plain"}


@pytest.mark.parametrize("labels", [SIDE.astype(int), np.where(SIDE > 0, "1", "-1"), np.where(SIDE > 0, 0.5, -0.5)])
def test_numbers_are_not_formulas(labels: Any, capsys: Printed) -> None:
    np.savez("data.npz", x=X, y=labels)
    paraactive.train(paraactive.LaSVM(gamma=2.0), paraactive.Arrays.load("data.npz"), out="run.db", **SIZES)
    assert {row[0] for row in _written(capsys, "data.npz")[1:]} == {str(label) for label in np.unique(labels).tolist()}


@pytest.mark.parametrize("label", ["[/nope]", "[bold]", ":warning:", "[link=x]y[/link]"])
def test_labels_are_shown_as_they_are(label: str, capsys: Printed) -> None:
    _train(np.where(SIDE > 0, label, "[red]plain"))
    for command in (["evaluate", "run.db", "data.csv"], ["heaviest", "run.db", "--count", "100"]):
        assert app.run(command) == 0
        shown = capsys.readouterr().out
        assert label in shown
        assert "[red]plain" in shown


# Files -----------------------------------------------------------------------------------------------------------


def test_compressed_files_are_trained_on_predicted_and_evaluated(capsys: Printed) -> None:
    _frame(SIDE > 0).to_csv("data.csv", index=False)
    Path("data.csv.gz").write_bytes(gzip.compress(Path("data.csv").read_bytes()))
    options = ("--label", "clicked", "--warmstart", "200", "--batch", "200", "--nodes", "1")
    digests = {
        figures(capsys, "train", data, *options, "--test", data, "--out", f"{data}.db")["digest"]
        for data in ("data.csv", "data.csv.gz")
    }
    assert len(digests) == 1
    for command in ("predict", "evaluate"):
        one, other = (figures(capsys, command, "data.csv.gz.db", data) for data in ("data.csv", "data.csv.gz"))
        assert one == other
    assert figures(capsys, "evaluate", "data.csv.gz.db") == one
    assert figures(capsys, "resume", "data.csv.gz.db", "--passes", "2")["seen"] == 1200


def _piped(text: bytes, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "paraactive", *arguments]
    return subprocess.run(command, input=text, capture_output=True, check=False, env=os.environ)


def test_rows_come_from_standard_input(capsys: Printed) -> None:
    _train(SIDE > 0)
    text = Path("data.csv").read_bytes()
    expected = figures(capsys, "predict", "run.db", "data.csv")
    for given in (text, gzip.compress(text)):
        assert json.loads(_piped(given, "predict", "run.db", "-", "--json").stdout) == expected
    tried = figures(capsys, "evaluate", "run.db", "data.csv")
    assert json.loads(_piped(text, "evaluate", "run.db", "-", "--json").stdout) == tried


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", b"paraactive: error: standard input has no header: "),
        (b"a,b\n1,2\n1,x\n", b"paraactive: error: standard input has 'x' at line 3, column 'b': "),
        (b"a,c\n1,2\n", b"paraactive: error: no column 'b' in standard input: "),
    ],
)
def test_what_is_wrong_on_standard_input_is_one_line(text: bytes, said: bytes) -> None:
    _train(SIDE > 0)
    done = _piped(text, "predict", "run.db", "-")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(said)
    assert done.stderr.count(b"\n") == 1


# The column of the labels ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["run.db", "my.model"])
def test_evaluate_knows_the_column_of_the_labels(model: str, capsys: Printed) -> None:
    _train(SIDE > 0)
    assert app.run(["save", "run.db", "--out", "my.model"]) == 0
    capsys.readouterr()
    _frame(SIDE > 0).set_index(pd.Index(range(5, 605), name="key")).to_parquet("test.parquet")
    found = figures(capsys, "evaluate", model, "test.parquet")
    assert (found["examples"], found["error"] < 0.1) == (600, True)
    _frame(SIDE > 0).rename(columns={"clicked": "bought"}).to_parquet("other.parquet")
    assert "no column 'clicked' in" in complaint(capsys, "evaluate", model, "other.parquet")
    assert figures(capsys, "evaluate", model, "other.parquet", "--label", "bought") == found


def test_a_column_like_an_index_is_never_suggested_as_the_label(capsys: Printed) -> None:
    data = _frame(SIDE > 0, user_id=range(600)).set_index(pd.Index(range(5, 605)))
    data.to_parquet("data.parquet")
    assert complaint(capsys, "train", "data.parquet").endswith("name the label column, as --label clicked.")
    data[["user_id"]].to_parquet("keys.parquet")
    assert complaint(capsys, "train", "keys.parquet").endswith("name the label column, as --label COLUMN.")


# Writing ---------------------------------------------------------------------------------------------------------


def test_predictions_are_replaced_whole_or_not_at_all(capsys: Printed) -> None:
    _train(SIDE > 0)
    Path("labels.csv").write_text("precious")
    said = complaint(capsys, "predict", "run.db", "data.csv", "--out", "labels.csv")
    assert said.startswith("labels.csv already exists: ")
    assert Path("labels.csv").read_text() == "precious"
    assert app.run(["predict", "run.db", "data.csv", "--out", "labels.csv", "--overwrite"]) == 0
    assert len(Path("labels.csv").read_text().splitlines()) == 601
    pd.DataFrame({"a": [1.0], "b": [1.0]}).to_csv("one.csv", index=False)
    capsys.readouterr()
    assert app.run(["predict", "run.db", "one.csv", "--out", "one.out.csv"]) == 0
    assert capsys.readouterr().out == "1 prediction is in one.out.csv.\n"


def test_a_full_disk_leaves_the_old_file(capsys: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    _train(SIDE > 0)
    for name in ("labels.csv", "my.model"):
        Path(name).write_text("precious")

    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("paraactive.basics.atomic_files.os.fsync", full)
    predict = ["predict", "run.db", "data.csv", "--out", "labels.csv", "--overwrite"]
    for command in (predict, ["save", "run.db", "--out", "my.model", "--overwrite"]):
        assert "no space left on device" in complaint(capsys, *command)
    assert {Path(name).read_text() for name in ("labels.csv", "my.model")} == {"precious"}
    assert not list(Path().glob("*.part")) + list(Path().glob(".*.part"))


def test_uniform_has_the_rate_of_the_default_rule(capsys: Printed) -> None:
    np.savez("data.npz", x=X, y=SIDE)
    sizes = ("--warmstart", "200", "--batch", "100")
    usual = figures(capsys, "train", "data.npz", *sizes)
    rates = set[float]()
    for nodes in ("1", "3"):
        run = figures(
            capsys, "train", "data.npz", *sizes, "--rule", "uniform", "--nodes", nodes, "--out", "u.db", "--overwrite"
        )
        assert 0.5 < run["selected"] / usual["selected"] < 2
        with paraactive.runs.runfile.RunFile.read("u.db") as file:
            rates.add(file.spec.rule.get("rate"))
    assert len(rates) == 1
    given = figures(capsys, "train", "data.npz", *sizes, "--rule", "uniform", "--rate", "0.02")
    assert given["selected"] < 30
