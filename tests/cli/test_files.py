"""Files of all kinds, and more than two classes, on the command line."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cli.command_line import Printed, complaint, figures
from making import three_blobs
from paraactive import Model
from paraactive.cli import app

X, Y = three_blobs(1500, seed=0)
NAMES = np.array(["ham", "spam", "eggs"])[Y]
FRAME = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "kind": NAMES, "counts": 1.0 + (Y == 2)})
SIZES = ("--batch", "250", "--warmstart", "250", "--nodes", "1")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test has a current folder of its own, with data."""
    monkeypatch.chdir(tmp_path)
    FRAME.to_parquet("data.parquet", row_group_size=200)
    FRAME.to_csv("data.csv", index=False)
    np.savez("data.npz", x=X, y=NAMES)
    (tmp_path / "data.svm").write_text(
        "".join(f"{label} 1:{a} 2:{b}\n" for label, a, b in zip(Y.tolist(), *X.T.tolist(), strict=True))
    )
    return tmp_path


COLUMNS = ("--label", "kind", "--features", "a,b")


@pytest.mark.parametrize("data", ["data.parquet", "data.csv"])
def test_a_table_by_its_columns(data: str, capsys: Printed) -> None:
    run = figures(capsys, "train", data, *COLUMNS, *SIZES, "--out", "run.db", "--test", data, "--json")
    assert run["seen"] == 1500
    assert run["mistakes"] < 0.2 * 1500
    assert Model.load("run.db").features == ("a", "b")
    tried = figures(capsys, "evaluate", "run.db", "data.csv", "--label", "kind", "--json")
    assert tried["mistakes"] == run["mistakes"]
    assert set(tried["confusion"]) == {"ham", "spam", "eggs"}
    assert figures(capsys, "evaluate", "run.db", "--json") == tried
    assert figures(capsys, "replay", "run.db", "--json")["digest"] == run["digest"]
    resumed = figures(capsys, "resume", "run.db", "--passes", "2", "--json")
    assert resumed["seen"] == 3000


def test_all_kinds_of_files_hold_the_same_rows(capsys: Printed) -> None:
    figures(capsys, "train", "data.parquet", *COLUMNS, *SIZES, "--out", "run.db", "--json")
    expected = figures(capsys, "predict", "run.db", "data.npz", "--json")
    assert len(expected["labels"]) == 1500
    assert len(expected["scores"][0]) == 3
    for data in ("data.parquet", "data.csv", "data.svm"):
        said = figures(capsys, "predict", "run.db", data, "--json")
        assert np.mean(np.array(said["labels"]) == np.array(expected["labels"])) > 0.999


def test_predictions_of_three_classes_as_csv(capsys: Printed) -> None:
    figures(capsys, "train", "data.npz", *SIZES, "--out", "run.db", "--json")
    assert app.run(["predict", "run.db", "data.npz", "--out", "labels.csv"]) == 0
    with Path("labels.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["label", "score eggs", "score ham", "score spam"]
    best = [max(("eggs", "ham", "spam"), key=lambda name: float(row[f"score {name}"])) for row in rows]
    assert best == [row["label"] for row in rows]


def test_a_model_of_three_classes_is_saved_and_used(capsys: Printed) -> None:
    for learner in ("svm", "network"):
        figures(capsys, "train", "data.npz", *SIZES, "--learner", learner, "--out", f"{learner}.db", "--json")
        figures(capsys, "save", f"{learner}.db", "--out", f"{learner}.model", "--json")
        one = figures(capsys, "evaluate", f"{learner}.db", "data.npz", "--json")
        assert figures(capsys, "evaluate", f"{learner}.model", "data.npz", "--json") == one
        assert one["error"] < 0.25


def test_weights_of_rows(capsys: Printed) -> None:
    plain = figures(capsys, "train", "data.parquet", *COLUMNS, *SIZES, "--rule", "passive", "--json")
    options = ("--weight", "counts", "--out", "run.db")
    heavy = figures(capsys, "train", "data.parquet", *COLUMNS, *SIZES, "--rule", "passive", *options, "--json")
    assert heavy["digest"] != plain["digest"]
    rows: Any = figures(capsys, "heaviest", "run.db", "--json")
    assert {(row["label"], row["weight"]) for row in rows} == {("eggs", 2.0)}


def test_the_heaviest_for_people(capsys: Printed) -> None:
    figures(capsys, "train", "data.parquet", *COLUMNS, *SIZES, "--out", "run.db", "--json")
    assert app.run(["heaviest", "run.db", "--count", "4"]) == 0
    said = capsys.readouterr().out
    assert all(name in said for name in ("weight", "label", "row"))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["data.parquet"], "has the columns 'a', 'b', 'kind', 'counts': no column is called label, target, class or y"),
        (["data.parquet", "--label", "kin"], "kind"),
        (["data.parquet", "--label", "kind", "--features", "a,c"], "'c'"),
        (["data.parquet", "--label", "kind", "--weight", "kind"], "kind"),
        (["data.npz", "--label", "kind"], "--label is given for data.npz: the columns of this file have no names"),
        (["digits-10", "--label", "kind"], "--label is given for digits-10: only files have columns"),
        (["data.parquet", "--label", "a", "--features", "b"], "have more than 127 classes"),
        (["data.parquet", "--label", "a"], "columns that are not numbers, 'kind'"),
    ],
)
def test_columns_that_are_not_there(options: list[str], says: str, capsys: Printed) -> None:
    assert says in complaint(capsys, "train", *options, "--out", "run.db")
    assert not Path("run.db").exists()


def test_ten_digits_by_name(capsys: Printed) -> None:
    run = figures(capsys, "train", "digits-10", "--examples", "3000", "--warmstart", "2000", "--batch", "500", "--json")
    assert run["test_examples"] == 10_000
    assert run["mistakes"] < 1500
    network = ("--learner", "network", "--examples", "4000", "--warmstart", "2000", "--batch", "500")
    assert figures(capsys, "train", "digits-10", *network, "--json")["mistakes"] < 3000


def test_what_it_says_is_json(capsys: Printed) -> None:
    assert app.run(["train", "data.csv", *COLUMNS, *SIZES, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["selected"] > 0


def test_class_weights_and_the_guard(capsys: Printed) -> None:
    plain = figures(capsys, "train", "data.npz", *SIZES, "--json")
    for options in (
        ["--class-weight", "balanced"],
        ["--class-weight", "ham=1,spam=5"],
        ["--guard"],
        ["--floor", "0.9"],
        ["--select", "0.1"],
        ["--cap", "1.5"],
        ["--guard", "--set-aside", "0.5", "--floor", "0.95"],
    ):
        run = figures(capsys, "train", "data.npz", *SIZES, *options, "--json", "--out", "run.db", "--overwrite")
        assert run["digest"] != plain["digest"]
        assert run["vectors"] > 0
        assert figures(capsys, "replay", "run.db", "--json")["digest"] == run["digest"]
    assert "no class 'ha'" in complaint(capsys, "train", "data.npz", "--class-weight", "ha=2")
    assert "--class-weight has 'ham=x'" in complaint(capsys, "train", "data.npz", "--class-weight", "ham=x")
    assert "--class-weight is 'fair'" in complaint(capsys, "train", "data.npz", "--class-weight", "fair")
    assert "--floor is 2.0" in complaint(capsys, "train", "data.npz", "--floor", "2")
