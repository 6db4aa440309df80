"""Writes, reads and checks the CSV file in which the command query asks for labels."""

from __future__ import annotations

import csv
import difflib
import io
import json
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from paraactive.basics.atomic_files import atomic_write
from paraactive.cli.models import for_spreadsheet, write_csv
from paraactive.data.examples import Ints, dense
from paraactive.errors import InputError, counted
from paraactive.runs.runfile import RunFile
from paraactive.runs.spec import DataSpec
from paraactive.streams import Stream
from paraactive.streams.files import column_names, open_column
from paraactive.streams.label_checks import named_labels

_SKIP = "skip"
"""Text in the column label that leaves the row out."""


class LabelsWanted(Exception):  # noqa: N818 (not an error: the user is asked)
    """The labels of some rows are not known yet.

    Parameters
    ----------
    rows : array of int
        Row numbers in the data.
    """

    def __init__(self, rows: Ints) -> None:
        self.rows = rows


def questions_of(path: Path) -> Path:
    """Return the CSV file in which a run asks for labels.

    Parameters
    ----------
    path : Path
        Run file, such as run.db.

    Returns
    -------
    Path
        The CSV file in the same folder, such as run.db.ask.csv.
    """
    return path.with_name(f"{path.name}.ask.csv")


def write_questions(path: Path, stream: Stream, wanted: LabelsWanted, as_json: bool) -> None:
    """Write the CSV file, and print how to continue.

    Parameters
    ----------
    path : Path
        Run file.
    stream : Stream
        The unlabeled rows.
    wanted : LabelsWanted
        The rows to label.
    as_json : bool
        Print JSON.
    """
    with RunFile.read(path) as file, file.reraise_as_corruption():
        spec, answers, seen = file.spec, file.questions.answers(), file.seen
        asked = {row: position for position, row in file.questions.asked().items()}
    questions, rows = questions_of(path), wanted.rows.tolist()
    positions = [asked[row] for row in rows]
    table = _table_of_questions(spec.data, stream, positions, rows)
    with atomic_write(questions) as file:
        text = io.TextIOWrapper(file, "utf-8", newline="", write_through=True)
        write_csv(text, table)
        text.detach()
    figures = {
        "run": str(path),
        "questions": str(questions),
        "asked": len(rows),
        "told": count_labels(answers),
        "seen": seen,
    }
    if as_json:
        print(json.dumps(figures))
        return
    print(f"{questions} has {counted(len(rows), 'row')} to label.")
    classes, budget = spec.data.classes, spec.labels.budget
    print(f"Fill in the column label with {', '.join(classes)}{_or_skip(classes)}.")
    of_budget = "" if budget is None else f" ({len(answers) + len(rows):,} of {budget:,} labels of the budget)"
    print(f"Then continue with: paraactive query {shlex.quote(str(path))}{of_budget}")


def _table_of_questions(data: DataSpec, stream: Stream, positions: list[int], rows: list[int]) -> Iterator[list[Any]]:
    """Yield the header and the rows: first the columns that are not features, then the features, rounded."""
    names = data.feature_names or [f"x{column}" for column in range(data.width)]
    source = str(data.source)
    shown = [name for name in column_names(source) or () if name not in names]
    texts = [open_column(source, name) for name in shown]
    taken = {"position", "row", "label"}
    yield ["position", "row", "label", *(f"{name} (data)" if name in taken else name for name in (*shown, *names))]
    features = dense(stream.at(np.array(positions, np.int64)).x)
    for position, row, x in zip(positions, rows, features.tolist(), strict=True):
        beside = [for_spreadsheet(str("" if text[row] is None else text[row])) for text in texts]
        yield [position, row, "", *beside, *(f"{value:.6g}" for value in x)]


def read_answers(path: Path, *, may_miss: bool) -> None:
    """Copy the labels from the CSV file to the run file, and check that none is missing.

    Parameters
    ----------
    path : Path
        Run file.
    may_miss : bool
        Whether labels may be missing.

    Raises
    ------
    InputError
        If a line is wrong; or, after the other labels are in the run file, if labels are missing.
    """
    questions = questions_of(path)
    if not questions.exists():
        return
    table = _table(questions)
    with RunFile.resume(path) as run:
        with run.reraise_as_corruption():
            classes, asked = run.spec.data.classes, run.questions.asked()
        positions = [_position(questions, line, row, asked) for line, row in table]
        _check_once(questions, positions)
        given = {
            position: _answer(questions, line, row, classes)
            for position, (line, row) in zip(positions, table, strict=True)
            if (row["label"] or "").strip()
        }
        _check_learned(questions, {at: y for at, y in given.items() if at < run.seen}, run.questions.answers(), asked)
        answers = {position: y for position, y in given.items() if position >= run.seen}
        if answers:
            run.questions.record_answers(np.array([*answers], np.int64), [*answers.values()])
        missing = sum(position >= run.seen for position in positions) - len(answers)
    if missing and not may_miss:
        raise InputError(
            f"{missing:,} of {len(table):,} rows of {questions} {'has' if missing == 1 else 'have'} no label yet",
            why="all labels of a round are learned together; the other labels are saved in the run file",
            remedy=f"fill in the missing labels{_or_skip(classes)}",
        )


def _check_learned(
    questions: Path, given: dict[int, int | None], known: dict[int, int | None], asked: dict[int, int]
) -> None:
    """Check that lines of an earlier round have the labels that were learned."""
    for position, y in given.items():
        if known.get(position) != y:
            raise InputError(
                f"{questions} changes the label of row {asked[position]}",
                why="the label of this row was learned in an earlier round",
                remedy=f"change the label with --correct {asked[position]}=LABEL, and remove the line from the file",
            )


_Row: TypeAlias = "dict[str, str | None]"


def _table(questions: Path) -> list[tuple[int, _Row]]:
    """Rows with their line numbers. Spreadsheets may write a byte order mark, semicolons or tabs."""
    try:
        text = questions.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"cannot read {questions}", why=str(error).rstrip("."), remedy="save it as CSV, in UTF-8"
        ) from None
    head = text.partition("\n")[0]
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=head.count))
    table: list[tuple[int, _Row]] = []
    line = 1
    limit = csv.field_size_limit(2**31 - 1)  # A text to be labeled may be long.
    try:
        for row in reader:
            if any(value for value in row.values()):  # Spreadsheets add empty lines.
                table.append((line + 1, row))
            line = reader.line_num
    except csv.Error as error:
        raise InputError(f"cannot read {questions}", why=str(error), remedy="save it as CSV, in UTF-8") from None
    finally:
        csv.field_size_limit(limit)
    if table and not {"position", "row", "label"} <= set(table[0][1]):
        raise InputError(
            f"{questions} has no columns position, row and label",
            why="these columns identify the row of each label",
            remedy="fill in the column label, and change no other column",
        )
    return table


def _position(questions: Path, line: int, row: _Row, asked: dict[int, int]) -> int:
    """The stream position of the row that a line labels. It must be one that the run asked for."""
    position, number = (_number(row[name]) for name in ("position", "row"))
    if position is None or number is None or asked.get(position) != number:
        raise InputError(
            f"line {line} of {questions} has position {row['position']!r} and row {row['row']!r}",
            why="the label of this row was not asked for",
            remedy="change nothing but the column label; if you delete the file, query writes it again",
        )
    return position


def _number(text: str | None) -> int | None:
    plain = (text or "").strip()
    return int(plain) if plain.isascii() and plain.isdecimal() and len(plain) < 19 else None


def _check_once(questions: Path, positions: list[int]) -> None:
    for position, times in Counter(positions).items():
        if times > 1:
            raise InputError(
                f"{questions} has position {position} in {times} lines",
                why="each row has one line",
                remedy="change nothing but the column label; if you delete the file, query writes it again",
            )


def _answer(questions: Path, line: int, row: _Row, classes: tuple[str, ...]) -> int | None:
    said = (row["label"] or "").strip()
    try:
        return _label(said, classes)
    except InputError as error:
        raise InputError(
            f"line {line} of {questions} (row {row['row']}) has the label {said!r}", why=error.why, remedy=error.remedy
        ) from None


def _or_skip(classes: Sequence[str]) -> str:
    """The hint at skip; empty if skip is the name of a class."""
    return "" if _SKIP in classes else f", or write {_SKIP} to leave a row out"


def _label(said: str, classes: tuple[str, ...]) -> int | None:
    """The number of the label; None to skip the row."""
    if said == _SKIP and _SKIP not in classes:
        return None
    if said not in classes:
        near = difflib.get_close_matches(said, classes, n=1)
        raise InputError(
            f"no label {said!r}",
            why=f"the labels are {', '.join(classes)}",
            remedy=f"did you mean {near[0]!r}?" if near else f"write one of these{_or_skip(classes)}",
        )
    return int(named_labels(np.array([said]), classes)[0])


def correct_label(path: Path, correction: str) -> None:
    """Change the label of a row. The run goes back to the place before that row.

    Parameters
    ----------
    path : Path
        Run file.
    correction : str
        Row number and label, as "17=spam".
    """
    number, equals, said = (part.strip() for part in correction.partition("="))
    if not equals or not said or not number:
        raise InputError(
            f"--correct {correction}",
            why="it does not have the form ROW=LABEL",
            remedy="give the row number and the label, as --correct 17=spam",
        )
    with RunFile.resume(path) as run:
        with run.reraise_as_corruption():
            classes, asked = run.spec.data.classes, run.questions.asked()
        positions = [position for position, key in asked.items() if key == _number(number)]
        if not positions:
            raise InputError(
                f"--correct {correction}",
                why=f"no label of row {number} was asked for",
                remedy="give the row number of an earlier question and its label, as --correct 17=spam",
            )
        y = _label(said, classes)
        questions_of(path).unlink(missing_ok=True)  # Its labels are in the run file, and must not undo the correction.
        run.revision.correct_label(positions[0], y)


def count_labels(answers: dict[int, int | None]) -> int:
    """Count the labels among answers.

    Parameters
    ----------
    answers : dict of int to int or None
        Label of each position; None for a row that was skipped.

    Returns
    -------
    int
        Number of labels.
    """
    return sum(y is not None for y in answers.values())
