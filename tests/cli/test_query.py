"""paraactive query: labels that cost money, asked for in a CSV file."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paraactive
from cli.asking import Printed, complaint, figures
from making import three_blobs, two_moons
from paraactive import parts
from paraactive.cli import app
from paraactive.streams import Unlabelled

X, Y = two_moons(900, noise=0.15, seed=0)
NAMES = np.where(Y > 0, "up", "down")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test has a current folder of its own, with rows."""
    monkeypatch.chdir(tmp_path)
    with Path("rows.csv").open("w") as file:
        rows = csv.writer(file)
        rows.writerow(["across", "high"])
        rows.writerows(X.tolist())
    return tmp_path


BEGIN = ("query", "rows.csv", "--classes", "down,up", "--out", "run.db", "--warmstart", "40", "--batch", "150")


def questions() -> list[dict[str, str]]:
    with Path("run.db.ask.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def fill(count: int | None = None, wrong: dict[str, str] | None = None) -> None:
    table = questions()
    for row in table[:count]:
        row["label"] = NAMES[int(row["row"])]
    table[0] |= wrong or {}
    with Path("run.db.ask.csv").open("w", newline="") as file:
        rows = csv.DictWriter(file, list(table[0]))
        rows.writeheader()
        rows.writerows(table)


def to_the_end(capsys: Printed, *options: str) -> dict[str, Any]:
    for _ in range(20):
        fill()
        said = figures(capsys, "query", "run.db", "--json", *options)
        if said["questions"] is None:
            return said
    raise AssertionError("it never ends")


def test_it_asks_learns_and_ends_in_the_model_of_a_run_that_was_told_all_at_once(capsys: Printed) -> None:
    first = figures(capsys, *BEGIN, "--json")
    assert (first["asked"], first["told"], first["seen"]) == (40, 0, 0)
    assert list(questions()[0]) == ["position", "row", "label", "across", "high"]
    row = questions()[7]
    np.testing.assert_allclose([float(row["across"]), float(row["high"])], X[int(row["row"])], rtol=1e-5)
    end = to_the_end(capsys)
    assert end["seen"] == 900
    assert 40 < end["told"] < 600
    assert not Path("run.db.ask.csv").exists()
    known = {"rule": paraactive.Model.load("run.db")}
    assert known["rule"].classes == ("down", "up")
    assert known["rule"].mistakes(X, NAMES) < 0.1 * len(X)
    # The same in one go, with somebody who knows.
    from paraactive.cli.asking import _rule

    stream = Unlabelled.load("rows.csv", ("down", "up"))
    oracle = paraactive.Oracle(lambda index, x: NAMES[stream.at(index).key])
    learner = parts.build_learner(parts.describe_learner(paraactive.Model.load("run.db").learner))
    run = paraactive.train(
        learner, stream, rule=_rule(None, eta=None, c0=None, rate=None), warmstart=40, batch=150, nodes=1, oracle=oracle
    )
    assert run.learner.digest() == paraactive.replay("run.db").learner.digest()


def test_the_model_can_be_used_as_any_other(capsys: Printed) -> None:
    figures(capsys, *BEGIN, "--json")
    to_the_end(capsys)
    assert app.run(["predict", "run.db", "rows.csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "label,score"
    assert np.mean(np.array([line.split(",")[0] for line in lines[1:]]) == NAMES) > 0.9
    heaviest: Any = figures(capsys, "heaviest", "run.db", "--count", "3", "--json")
    weights = [row["weight"] for row in heaviest]
    assert len(weights) == 3
    assert weights == sorted(weights, reverse=True)
    assert all(row["label"] == NAMES[row["key"]] for row in heaviest)


def test_people_are_told_what_to_do(capsys: Printed) -> None:
    assert app.run([*BEGIN]) == 0
    said = capsys.readouterr().out
    assert "40 labels are asked for in run.db.ask.csv: fill in the column label (down, up)." in said
    assert "Then go on with: paraactive query run.db" in said


def test_the_budget(capsys: Printed) -> None:
    figures(capsys, *BEGIN, "--json")
    end = to_the_end(capsys, "--budget", "70")
    assert end["told"] == 70
    assert end["seen"] < 900
    assert app.run(["query", "run.db", "--budget", "70"]) == 0
    assert "the budget is spent" in capsys.readouterr().out
    assert figures(capsys, "query", "run.db", "--budget", "90", "--json")["asked"] <= 20


def test_half_filled_in_is_safe_and_asked_for_again(capsys: Printed) -> None:
    figures(capsys, *BEGIN, "--json")
    fill(count=30)
    assert "10 of 40 rows of run.db.ask.csv have no label yet" in complaint(capsys, "query", "run.db")
    Path("run.db.ask.csv").unlink()
    assert figures(capsys, "query", "run.db", "--json")["asked"] == 10


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"label": "left"}, "unknown label 'left': the stream has 'down', 'up'"),
        ({"position": "first"}, "has the position 'first'"),
    ],
)
def test_answers_that_make_no_sense(wrong: dict[str, str], says: str, capsys: Printed) -> None:
    figures(capsys, *BEGIN, "--json")
    fill(wrong=wrong)
    assert says in complaint(capsys, "query", "run.db")


def test_a_file_of_answers_without_its_columns(capsys: Printed) -> None:
    figures(capsys, *BEGIN, "--json")
    Path("run.db.ask.csv").write_text("a,b\n1,2\n")
    assert "no columns position and label" in complaint(capsys, "query", "run.db")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["rows.csv", "--classes", "a,b"], "--out is not given"),
        (["rows.csv", "--out", "run.db"], "--classes is not given"),
        (["rows.csv", "--out", "run.db", "--classes", "a"], "--classes is 'a'"),
        (
            ["rows.csv", "--out", "run.db", "--classes", "a,b", "--rule", "signed"],
            "no label-blind rule 'signed'",
        ),
        (["rows.csv", "--out", "run.db", "--classes", "a,b", "--rule", "iwal", "--eta", "1"], "--eta is given"),
        (["gone.csv", "--out", "run.db", "--classes", "a,b"], "no file"),
        (["rows.csv", "--out", "run.db", "--classes", "a,b", "--features", "wide"], "wide"),
    ],
)
def test_bad_options_are_one_clear_line(arguments: list[str], says: str, capsys: Printed) -> None:
    assert says in complaint(capsys, "query", *arguments)
    assert not Path("run.db").exists()


def test_what_was_settled_at_the_beginning_cannot_be_changed(capsys: Printed) -> None:
    figures(capsys, *BEGIN, "--json")
    assert "--batch is given for a run file" in complaint(capsys, "query", "run.db", "--batch", "10")


def test_three_classes(capsys: Printed) -> None:
    x, y = three_blobs(400, seed=0)
    np.save("rows.npy", x)
    figures(capsys, "query", "rows.npy", "--classes", "a,b,c", "--out", "run.db", "--json", "--warmstart", "30")
    assert list(questions()[0]) == ["position", "row", "label", "x0", "x1"]
    table = questions()
    for row in table:
        row["label"] = "abc"[y[int(row["row"])]]
    with Path("run.db.ask.csv").open("w", newline="") as file:
        rows = csv.DictWriter(file, list(table[0]))
        rows.writeheader()
        rows.writerows(table)
    assert json.dumps(figures(capsys, "query", "run.db", "--json")["told"]) == "30"
