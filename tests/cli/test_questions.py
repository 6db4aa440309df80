"""The CSV file of paraactive query: what is written, and what is understood or refused when it is read."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

import paraactive
from cli.asking_rows import (
    BEGIN,
    X,
    fill,
    fill_in,
    opposite_label,
    questions,
    true_label,
    write_rows,
    write_table,
)
from cli.command_line import Printed, complaint, figures
from paraactive.cli import app
from paraactive.runs.runfile import RunFile


@pytest.fixture(autouse=True)
def rows_file(folder: Path) -> Path:
    """Unlabeled rows in the current folder."""
    write_rows()
    return folder


def test_half_filled_in_is_safe_and_asked_for_again(capsys: Printed) -> None:
    figures(capsys, *BEGIN, "--json")
    fill(count=30)
    assert "10 of 40 rows of run.db.ask.csv have no label yet" in complaint(capsys, "query", "run.db")
    Path("run.db.ask.csv").unlink()
    assert figures(capsys, "query", "run.db", "--json")["asked"] == 10


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"label": "left"}, "line 2 of run.db.ask.csv (row 303) has the label 'left': the labels are down, up; write"),
        ({"label": "dwn"}, "did you mean 'down'?"),
        (
            {"position": "first"},
            "line 2 of run.db.ask.csv has position 'first' and row '303': the label of this row was not asked for",
        ),
        ({"position": "700", "row": "700"}, "line 2 of run.db.ask.csv has position '700' and row '700'"),
        ({"position": "303", "row": "0"}, "line 2 of run.db.ask.csv has position '303' and row '0'"),
    ],
)
def test_answers_that_make_no_sense(wrong: dict[str, str], says: str, capsys: Printed) -> None:
    figures(capsys, *BEGIN, "--json")
    fill(wrong=wrong)
    assert says in complaint(capsys, "query", "run.db")


def test_a_file_of_answers_without_its_columns(capsys: Printed) -> None:
    figures(capsys, *BEGIN, "--json")
    Path("run.db.ask.csv").write_text("a,b\n1,2\n")
    assert "no columns position, row and label" in complaint(capsys, "query", "run.db")


def test_positions_that_were_never_asked_for_are_refused_and_cost_nothing(capsys: Printed) -> None:
    figures(capsys, *BEGIN, "--budget", "80", "--json")
    table = questions()
    more = [table[0] | {"position": str(position), "row": "5", "label": "up"} for position in range(200, 310)]
    write_table(more)
    assert "the label of this row was not asked for" in complaint(capsys, "query", "run.db")
    Path("run.db.ask.csv").unlink()
    again = figures(capsys, "query", "run.db", "--json")
    assert (again["asked"], again["told"]) == (40, 0)


def test_swapped_columns_are_noticed(capsys: Printed) -> None:
    figures(capsys, *BEGIN, "--json")
    fill_in(true_label)
    text = Path("run.db.ask.csv").read_text()
    Path("run.db.ask.csv").write_text(text.replace("position,row,label", "row,position,label"))
    assert "the label of this row was not asked for" in complaint(capsys, "query", "run.db")
    with RunFile.read("run.db") as file:
        assert file.questions.answers() == {}


def test_a_line_that_is_there_twice_is_noticed(capsys: Printed) -> None:
    figures(capsys, *BEGIN, "--json")
    fill(wrong=questions()[1] | {"label": "up"})
    assert "in 2 lines: each row has one line" in complaint(capsys, "query", "run.db")


@pytest.mark.parametrize(
    ("correction", "says"),
    [
        ("899999=up", "no label of row 899999 was asked for"),
        ("first=up", "no label of row first was asked for"),
        ("303=left", "no label 'left': the labels are down, up"),
    ],
)
def test_corrections_that_make_no_sense(correction: str, says: str, capsys: Printed) -> None:
    figures(capsys, *BEGIN, "--json")
    fill_in(true_label)
    assert says in complaint(capsys, "query", "run.db", "--correct", correction)


@pytest.mark.parametrize("correction", ["303", "303=", "=up"])
def test_a_correction_of_another_form_is_named(correction: str, capsys: Printed) -> None:
    figures(capsys, *BEGIN, "--json")
    fill_in(true_label)
    assert "form ROW=LABEL" in complaint(capsys, "query", "run.db", "--correct", correction)


def test_columns_that_are_not_features_are_shown_beside_the_question_and_numbers_are_short(capsys: Printed) -> None:
    texts = [f"note {number},\nwith a second line" for number in range(900)]
    with Path("rows.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["user", "across", "text", "high", "label"])
        rows.writerows([5000 + row, X[row, 0], texts[row], X[row, 1], ""] for row in range(900))
    figures(capsys, *BEGIN, "--id", "user", "--json")
    shown = questions()
    assert list(shown[0]) == ["position", "row", "label", "user", "text", "label (data)", "across", "high"]
    for row in shown:
        assert row["user"] == str(int(row["row"]) + 5000)
        assert row["text"] == texts[int(row["row"])]
        assert len(row["across"]) <= 12
    fill_in(true_label)
    assert figures(capsys, "query", "run.db", "--json")["told"] == 40
    assert paraactive.Model.load("run.db").width == 2


def test_a_text_of_any_length_can_be_asked_about(capsys: Printed) -> None:
    with Path("rows.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["across", "high", "text"])
        rows.writerows([*x, "long " * 40_000 if number % 300 == 3 else "short"] for number, x in enumerate(X.tolist()))
    figures(capsys, *BEGIN, "--json")
    limit = csv.field_size_limit(10**9)
    try:
        fill_in(true_label)
    finally:
        csv.field_size_limit(limit)
    assert figures(capsys, "query", "run.db", "--json")["told"] == 40


def test_a_file_of_an_earlier_round_that_is_still_there_says_nothing_new(capsys: Printed) -> None:
    figures(capsys, *BEGIN, "--json")
    fill_in(true_label)
    earlier = Path("run.db.ask.csv").read_text()
    figures(capsys, "query", "run.db", "--json")
    Path("run.db.ask.csv").write_text(earlier)  # A spreadsheet saved it again, or the program died before the next.
    again = figures(capsys, "query", "run.db", "--json")
    assert again["told"] == 40
    assert again["asked"] == len(questions())
    Path("run.db.ask.csv").write_text(earlier)
    fill(wrong={"label": opposite_label(questions()[0])})
    row = questions()[0]["row"]
    said = complaint(capsys, "query", "run.db")
    assert f"changes the label of row {row}: the label of this row was learned in an earlier round" in said
    assert f"--correct {row}=LABEL" in said


_SPREADSHEETS: list[Callable[[str], str]] = [
    lambda text: "\ufeff" + text,
    lambda text: text.replace(",", ";"),
    lambda text: text.replace("\n", "\r\n"),
    lambda text: text + ",,,,\n,,,,\n",
    lambda text: "\n".join([text.splitlines()[0], *sorted(text.splitlines()[1:], reverse=True)]) + "\n",
]


@pytest.mark.parametrize("write", _SPREADSHEETS)
def test_what_spreadsheets_do_to_a_file_is_understood(write: Callable[[str], str], capsys: Printed) -> None:
    figures(capsys, *BEGIN, "--json")
    fill_in(true_label)
    path = Path("run.db.ask.csv")
    path.write_text(write(path.read_text()), newline="")
    assert figures(capsys, "query", "run.db", "--json")["told"] == 40


def test_skip_is_a_label_where_a_class_is_called_so(capsys: Printed) -> None:
    begin = ("query", "rows.csv", "--classes", "skip,take", "--out", "run.db", "--warmstart", "40")
    assert app.run([*begin]) == 0
    assert "Fill in the column label with skip, take.\n" in capsys.readouterr().out
    names = {"down": "skip", "up": "take"}
    fill_in(lambda row: names[true_label(row)])
    assert figures(capsys, "query", "run.db", "--json")["told"] == 40
    fill_in(lambda row: names[true_label(row)])
    with RunFile.read("run.db") as file:
        row = int(file.log.learned().key[0])
    figures(capsys, "query", "run.db", "--json", "--correct", f"{row}=skip")
    with RunFile.read("run.db") as file:
        learned = file.log.entries(0, 40, None).selected.examples
    assert learned.y[learned.key == row].tolist() == [-1]
