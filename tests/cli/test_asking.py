"""paraactive query: labels that cost money, asked for in a CSV file."""

from __future__ import annotations

import csv
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paraactive
from cli.asking_rows import (
    BEGIN,
    NAMES,
    X,
    Y,
    fill_in,
    opposite_label,
    questions,
    to_the_end,
    true_label,
    write_rows,
    write_table,
)
from cli.command_line import Printed, complaint, figures
from disk import downgrade
from making import three_blobs, two_moons
from paraactive.cli import app
from paraactive.cli.asking import new_rule
from paraactive.errors import RunFileWarning
from paraactive.runs.runfile import RunFile
from paraactive.sifting import parts
from paraactive.streams import Unlabelled


@pytest.fixture(autouse=True)
def rows_file(folder: Path) -> Path:
    """Unlabeled rows in the current folder."""
    write_rows()
    return folder


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
    stream = Unlabelled.load("rows.csv", ("down", "up"))
    oracle = paraactive.Oracle(lambda rows, x: NAMES[rows], per_round=25)
    learner = parts.build_learner(parts.describe_learner(paraactive.Model.load("run.db").learner))
    run = paraactive.train(
        learner, stream, rule=new_rule(), floor="auto", warmstart=40, batch=150, nodes=1, oracle=oracle
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
    assert said.splitlines() == [
        "run.db.ask.csv has 40 rows to label.",
        "Fill in the column label with down, up, or write skip to leave a row out.",
        "Then continue with: paraactive query run.db",
    ]


def test_the_budget(capsys: Printed) -> None:
    figures(capsys, *BEGIN, "--json")
    end = to_the_end(capsys, "--budget", "70")
    assert end["told"] == 70
    assert end["seen"] < 900
    assert app.run(["query", "run.db", "--budget", "70"]) == 0
    assert "the budget is spent" in capsys.readouterr().out
    assert figures(capsys, "query", "run.db", "--budget", "90", "--json")["asked"] <= 20


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


def test_a_budget_of_300_is_asked_in_small_rounds(capsys: Printed) -> None:
    x, y = two_moons(4000, noise=0.5, seed=0)
    np.save("rows.npy", x)
    begin = ("query", "rows.npy", "--classes", "down,up", "--out", "run.db", "--budget", "300")
    asked = [figures(capsys, *begin)["asked"]]
    while True:
        fill_in(lambda row: "up" if y[int(row["row"])] > 0 else "down")
        said = figures(capsys, "query", "run.db")
        if said["questions"] is None:
            break
        asked.append(said["asked"])
    assert asked == [50] + [25] * 10
    assert said["told"] == 300


def test_rows_that_are_skipped_are_not_learned(capsys: Printed) -> None:
    figures(capsys, *BEGIN, "--json")
    fill_in(lambda row: "skip" if int(row["position"]) < 5 else true_label(row))
    said = figures(capsys, "query", "run.db", "--json")
    assert said["told"] == 35
    with RunFile.read("run.db") as file:
        assert min(file.log.positions()) == 5
        assert file.version == 35


def test_a_label_that_was_learned_can_be_corrected_and_no_other_is_lost(capsys: Printed) -> None:
    figures(capsys, *BEGIN, "--json")
    wrong = questions()[3]["row"]
    fill_in(lambda row: opposite_label(row) if row["row"] == wrong else true_label(row))
    figures(capsys, "query", "run.db", "--json")
    for _ in range(3):
        fill_in(true_label)
        figures(capsys, "query", "run.db", "--json")
    fill_in(true_label)
    with RunFile.read("run.db") as file:
        before, answers = file.log.positions(), file.questions.answers()
        position = next(position for position, row in file.questions.asked().items() if row == int(wrong))
    said = figures(capsys, "query", "run.db", "--json", "--correct", f"{wrong}={NAMES[int(wrong)]}")
    assert said["told"] > len(answers)
    with RunFile.read("run.db") as file:
        assert file.log.positions()[: len(before)] == before
        assert file.questions.answers()[position] == -(answers[position] or 0)
        entries = file.log.entries(0, len(before), None).selected.examples
    # The model is the one that learns these entries, with the labels as they now are.
    assert (np.where(entries.y > 0, "up", "down") == NAMES[entries.key]).all()
    assert paraactive.replay("run.db").learner.digest() == paraactive.Model.load("run.db").learner.digest()
    to_the_end(capsys)
    assert paraactive.replay("run.db").learner.digest() == paraactive.Model.load("run.db").learner.digest()


def test_a_row_that_was_skipped_can_be_given_a_label_later(capsys: Printed) -> None:
    figures(capsys, *BEGIN, "--json")
    skipped = questions()[3]["row"]
    fill_in(lambda row: "skip" if row["row"] == skipped else true_label(row))
    figures(capsys, "query", "run.db", "--json")
    fill_in(true_label)
    figures(capsys, "query", "run.db", "--json", "--correct", f"{skipped}={NAMES[int(skipped)]}")
    to_the_end(capsys)
    corrected = paraactive.replay("run.db").learner.digest()
    Path("run.db").unlink()
    figures(capsys, *BEGIN, "--json")
    to_the_end(capsys)
    assert paraactive.replay("run.db").learner.digest() == corrected


def test_a_label_can_be_replaced_by_skip(capsys: Printed) -> None:
    figures(capsys, *BEGIN, "--json")
    fill_in(true_label)
    figures(capsys, "query", "run.db", "--json")
    fill_in(true_label)
    with RunFile.read("run.db") as file:
        row = int(file.log.entries(5, 6, None).selected.examples.key[0])
    figures(capsys, "query", "run.db", "--json", "--correct", f"{row}=skip")
    to_the_end(capsys)
    with RunFile.read("run.db") as file:
        assert row not in file.log.learned().key
        assert file.rounds > 2


def test_a_column_that_is_called_like_an_identifier_is_no_feature_unless_it_is_named(capsys: Printed) -> None:
    with Path("rows.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["user_id", "across", "high"])
        rows.writerows([5000 + row, *X[row].tolist()] for row in range(900))
    figures(capsys, *BEGIN, "--json")
    assert list(questions()[0]) == ["position", "row", "label", "user_id", "across", "high"]
    with RunFile.read("run.db") as file:
        assert file.spec.data.width == 2
    for each in ("run.db", "run.db.ask.csv"):
        Path(each).unlink()
    figures(capsys, *BEGIN, "--features", "user_id,across", "--json")
    assert list(questions()[0]) == ["position", "row", "label", "high", "user_id", "across"]


def test_classes_that_are_numbers_are_predicted_as_numbers(capsys: Printed) -> None:
    figures(capsys, "query", "rows.csv", "--classes", "-1,1", "--out", "run.db", "--warmstart", "40", "--json")
    for _ in range(2):
        fill_in(lambda row: str(Y[int(row["row"])]))
        figures(capsys, "query", "run.db", "--json")
    model = paraactive.Model.load("run.db")
    assert model.predict(X).dtype.kind == "i"
    assert np.mean(model.predict(X) != Y) == model.mistakes(X, Y) / len(X) < 0.2


def test_an_older_run_that_had_asked_goes_on_with_what_was_filled_in(capsys: Printed) -> None:
    figures(capsys, *BEGIN, "--per-round", "1000", "--json")
    fill_in(true_label)
    downgrade(Path("run.db"))
    with warnings.catch_warnings():
        warnings.simplefilter("always", RunFileWarning)
        assert app.run(["query", "run.db", "--json"]) == 0
    out, error = capsys.readouterr()
    assert json.loads(out)["told"] == 40
    assert error.startswith("paraactive: warning: run.db has no hashes")


def test_three_classes(capsys: Printed) -> None:
    x, y = three_blobs(400, seed=0)
    np.save("rows.npy", x)
    figures(capsys, "query", "rows.npy", "--classes", "a,b,c", "--out", "run.db", "--json", "--warmstart", "30")
    assert list(questions()[0]) == ["position", "row", "label", "x0", "x1"]
    table = questions()
    for row in table:
        row["label"] = "abc"[y[int(row["row"])]]
    write_table(table)
    assert json.dumps(figures(capsys, "query", "run.db", "--json")["told"]) == "30"


def test_a_correction_is_not_undone_by_the_file_of_answers(capsys: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    figures(capsys, *BEGIN, "--json")
    row = questions()[3]["row"]
    fill_in(lambda each: "up" if each["row"] == row else true_label(each))

    def killed(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as patched:
        patched.setattr(paraactive, "resume", killed)
        with pytest.raises(ZeroDivisionError):
            app.run(["query", "run.db", "--correct", f"{row}=down"])
    capsys.readouterr()
    figures(capsys, "query", "run.db", "--json")
    with RunFile.read("run.db") as file:
        learned = file.log.entries(0, 40, None).selected.examples
    assert learned.y[learned.key == int(row)].tolist() == [-1]


def test_an_identifier_that_is_named_leaves_the_others_out_too(capsys: Printed) -> None:
    with Path("rows.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "customer", "across", "high"])
        rows.writerows([row, 5000 + row, *X[row].tolist()] for row in range(900))
    figures(capsys, *BEGIN, "--id", "customer", "--json")
    with RunFile.read("run.db") as file:
        assert file.spec.data.feature_names == ("across", "high")


def test_a_new_run_does_not_overwrite_the_labels_of_another(capsys: Printed) -> None:
    figures(capsys, *BEGIN, "--json")
    fill_in(true_label)
    Path("run.db").unlink()
    assert "run.db.ask.csv already exists" in complaint(capsys, *BEGIN)


def test_labels_of_an_older_run_can_be_corrected(capsys: Printed) -> None:
    figures(capsys, *BEGIN, "--json")
    fill_in(true_label)
    figures(capsys, "query", "run.db", "--json")
    with RunFile.read("run.db") as file:
        row = int(file.log.learned().key[0])
    downgrade(Path("run.db"))
    fill_in(true_label)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RunFileWarning)
        assert app.run(["query", "run.db", "--json", "--correct", f"{row}=down"]) == 0
    capsys.readouterr()
    with RunFile.read("run.db") as file:
        assert int(file.log.entries(0, 1, None).selected.examples.y[0]) == -1


def test_a_young_run_says_how_to_go_on(capsys: Printed) -> None:
    figures(capsys, *BEGIN, "--json")
    assert "paraactive query run.db" in complaint(capsys, "predict", "run.db", "rows.csv")
