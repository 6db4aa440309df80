"""The command query: asks for labels in a CSV file, reads them back, and goes on.

Nothing is kept between two calls but the run file, which has the labels told so far: the round that was being asked
for is sifted again, to the same selection, because the coins and the model are the same.
"""

from __future__ import annotations

import csv
import difflib
import io
import json
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np

import paraactive
from paraactive.basics.atomic_files import atomic_write
from paraactive.basics.registry import RULES, JSONValue
from paraactive.basics.validation import one_of, whole
from paraactive.cli.models import for_spreadsheet, write_csv
from paraactive.cli.options import check_all_used, names_in, rule_parameters
from paraactive.data.examples import Floats, Ints, dense
from paraactive.errors import InputError, counted
from paraactive.learners import Guarded, LaSVM
from paraactive.rules import Rule, floored
from paraactive.runs.run import Run
from paraactive.runs.runfile import RunFile
from paraactive.runs.spec import DataSpec
from paraactive.sifting import parts
from paraactive.sifting.oracle import Oracle
from paraactive.streams import Stream, Unlabelled
from paraactive.streams.files import column_names, looks_like_index, number_columns, open_column
from paraactive.streams.label_checks import named_labels
from paraactive.streams.tables.table_columns import check_column

_WARMSTART, _BATCH, _PER_ROUND = 50, 500, 25
_SKIP = "skip"
"""What a person writes in place of a label that cannot be told."""
_ETA, _FLOOR, _CAP = 0.3, 0.02, 2.0
"""After 50 labels margin is to be choosy. With a few hundred labels in all, none may weigh much more than others: an
uncapped weight of 50 cost more errors than the bias of a cap."""
_BLIND = ("margin", "iwal", "uniform")


class _LabelsWanted(Exception):  # noqa: N818 (the user is asked, that is all)
    """The labels of these rows are not known yet."""

    def __init__(self, rows: Ints) -> None:
        self.rows = rows


def query_labels(
    data: str, as_json: bool, *, classes: str | None, features: str | None, id_column: str | None, rule: str | None,
    eta: float | None, c0: float | None, rate: float | None, warmstart: int | None, batch: int | None,
    per_round: int | None, budget: int | None, seed: int | None, correct: list[str] | None, out: Path | None,
) -> None:  # fmt: skip
    """Begin a run, or go on with one, until labels are needed that nobody has told."""
    if _is_run(data):
        _refuse(
            classes=classes, features=features, id=id_column, rule=rule, eta=eta, c0=c0, rate=rate,
            warmstart=warmstart, batch=batch, per_round=per_round, seed=seed, out=out,
        )  # fmt: skip
        _go_on(Path(data), budget, correct or [], as_json)
        return
    path: Path = _needed("out", out)
    if questions_of(path).exists():
        raise InputError(
            f"{questions_of(path)} already exists",
            why="it has the questions, and perhaps the labels, of an earlier run",
            remedy="remove it, or give another --out",
        )
    if correct:
        raise InputError("--correct is given for a new run", why="it has no labels yet", remedy="leave it out")
    names = _class_names(_needed("classes", classes))
    chosen = new_rule(rule, eta=eta, c0=c0, rate=rate)
    stream = Unlabelled.load(data, names, columns=_features(data, names_in(features), id_column), seed=seed or 0)
    first = _WARMSTART if warmstart is None else whole("warmstart", warmstart, 1)
    begin = partial(
        paraactive.train, new_learner(), stream, rule=chosen, seed=seed or 0, out=path, nodes=1,
        warmstart=min(first, stream.length), batch=_BATCH if batch is None else batch,
    )  # fmt: skip
    _until_asked(path, stream, begin, _oracle(budget, _PER_ROUND if per_round is None else per_round), as_json)


def _go_on(path: Path, budget: int | None, corrections: list[str], as_json: bool) -> None:
    with RunFile.read(path) as file, file.reraise_as_corruption():
        spec = file.spec
        stream = parts.build_stream(spec.data.stream)
    oracle = _oracle(spec.labels.budget if budget is None else budget, spec.labels.per_round)
    resume = partial(paraactive.resume, path, stream=stream)
    if not file.database.has_hashes:  # An older version wrote it, and did not write down what it asked.
        with suppress(_LabelsWanted):
            resume(oracle=oracle)
    _read_answers(path, may_miss=bool(corrections))
    for correction in corrections:
        _correct(path, correction)
    questions_of(path).unlink(missing_ok=True)  # Its labels are in the run file.
    _until_asked(path, stream, resume, oracle, as_json)


def _oracle(budget: int | None, per_round: int | None) -> Oracle:
    return Oracle(_ask, budget, batch=10**9, per_round=per_round)


def _until_asked(path: Path, stream: Stream, go_on: Callable[..., Run], oracle: Oracle, as_json: bool) -> None:
    try:
        run = go_on(oracle=oracle)
    except _LabelsWanted as wanted:
        _write_questions(path, stream, wanted, as_json)
    else:
        _tell_end(path, run, as_json)


def _ask(rows: Ints, x: Floats) -> Any:  # noqa: ARG001 (an oracle is handed both)
    raise _LabelsWanted(rows)


def _features(data: str, named: list[str] | None, id_column: str | None) -> list[str] | None:
    """The columns to learn from: those named, or all columns of numbers but identifiers. The others are shown."""
    if named is not None or column_names(data) is None:
        if id_column is not None:
            raise InputError(
                "--id is given with --features or for a file without named columns",
                why="it says which column of numbers is not a feature",
                remedy="leave it out: columns that are not features are shown beside the label",
            )
        return named
    numbers = number_columns(data)
    if id_column is not None:
        check_column(data, id_column, list(column_names(data) or ()))
    return [name for name in numbers if name != id_column and not looks_like_index(name)]


def _class_names(text: str) -> list[str] | list[int]:
    names = names_in(text) or []
    if len(names) < 2 or not all(names) or len(set(names)) != len(names):
        raise InputError(
            f"--classes is {text!r}", why="they are two different names or more", remedy="give them as ham,spam"
        )
    if all(re.fullmatch(r"0|-?[1-9]\d{0,17}", name) for name in names):
        return [int(name) for name in names]  # Predictions are numbers then, too.
    return names


def _is_run(data: str) -> bool:
    path = Path(data)
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(6) == b"SQLite"


def _needed(name: str, value: Any) -> Any:
    if value is None:
        raise InputError(
            f"--{name} is not given",
            why="a new run needs it",
            remedy="say for example --classes ham,spam --out run.db, or name a run file to go on",
        )
    return value


def _refuse(**given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            raise InputError(
                f"--{name.replace('_', '-')} is given for a run file",
                why="it was settled when the run began",
                remedy="leave it out",
            )


def new_learner() -> Guarded:
    """The learner of a run with few labels, none of which may weigh much more than others."""
    return Guarded(LaSVM(gap=0.2), cap=_CAP)


def new_rule(name: str | None = None, *, eta: float | None = None, **options: float | None) -> Rule:
    """The rule that decides which labels are asked for."""
    kind = one_of("label-blind rule", name or "margin", _BLIND)
    eta = _ETA if eta is None and kind == "margin" else eta
    given: dict[str, JSONValue] = {name: value for name, value in {"eta": eta, **options}.items() if value is not None}
    parameters = rule_parameters("svm", kind, given)
    check_all_used(given, set(parameters), "svm", kind)
    return floored(cast(Rule, RULES.find(kind)(**parameters)), _FLOOR)


# The file of questions -------------------------------------------------------------------------------------------


def questions_of(path: Path) -> Path:
    """Where a run asks: run.db.ask.csv beside run.db."""
    return path.with_name(f"{path.name}.ask.csv")


def _write_questions(path: Path, stream: Stream, wanted: _LabelsWanted, as_json: bool) -> None:
    with RunFile.read(path) as file, file.reraise_as_corruption():
        spec, told, seen = file.spec, file.questions.answers(), file.seen
        asked = {row: position for position, row in file.questions.asked().items()}
    questions, rows = questions_of(path), wanted.rows.tolist()
    positions = [asked[row] for row in rows]
    table = _table_of_questions(spec.data, stream, positions, rows)
    with atomic_write(questions) as file:
        text = io.TextIOWrapper(file, "utf-8", newline="", write_through=True)
        write_csv(text, table)
        text.detach()
    figures = {"run": str(path), "questions": str(questions), "asked": len(rows), "told": _labels(told), "seen": seen}
    if as_json:
        print(json.dumps(figures))
        return
    print(f"{counted(len(rows), 'label')} {'is' if len(rows) == 1 else 'are'} asked for in {questions}.")
    classes, budget = spec.data.classes, spec.labels.budget
    print(f"Fill in the column label with {', '.join(classes)}{_or_skip(classes)}.")
    of_budget = "" if budget is None else f" ({len(told) + len(rows):,} of the budget of {budget:,})"
    print(f"Then continue with: paraactive query {shlex.quote(str(path))}{of_budget}")


def _table_of_questions(data: DataSpec, stream: Stream, positions: list[int], rows: list[int]) -> Iterator[list[Any]]:
    """What a person sees: first what tells rows apart, then the features, in short."""
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


def _read_answers(path: Path, *, may_miss: bool) -> None:
    """Put what was filled in into the run file; an error if something is missing, after the rest is safe."""
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
            why="the labels of a round are learned together; the labels that are there are safe in the run file",
            remedy=f"fill in the others{_or_skip(classes)}",
        )


def _check_learned(
    questions: Path, given: dict[int, int | None], known: dict[int, int | None], asked: dict[int, int]
) -> None:
    """Lines of an earlier round may be there still, if they say what was learned."""
    for position, y in given.items():
        if known.get(position) != y:
            raise InputError(
                f"{questions} has another label for row {asked[position]}, which was answered before",
                why="its round has ended",
                remedy=f"change it with --correct {asked[position]}=LABEL, and remove the line",
            )


_Row: TypeAlias = "dict[str, str | None]"


def _table(questions: Path) -> list[tuple[int, _Row]]:
    """Its rows with their lines, as spreadsheets write them too: with a mark of the encoding, semicolons or tabs."""
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
            why="they say which label is told",
            remedy="fill in the column label, and leave the others as they are",
        )
    return table


def _position(questions: Path, line: int, row: _Row, asked: dict[int, int]) -> int:
    """Which question a line answers: the run file knows what was asked."""
    position, number = (_number(row[name]) for name in ("position", "row"))
    if position is None or number is None or asked.get(position) != number:
        raise InputError(
            f"line {line} of {questions} has position {row['position']!r} and row {row['row']!r}",
            why="that was not asked for",
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
                f"{questions} has the position {position} {times} times",
                why="each row is asked for once",
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
    """Nothing where it is the name of a class."""
    return "" if _SKIP in classes else f", or write {_SKIP} to leave a row out"


def _label(said: str, classes: tuple[str, ...]) -> int | None:
    """The label as it travels; None to skip the row."""
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


def _correct(path: Path, correction: str) -> None:
    """Change a label that was told; the run goes back to before it was learned."""
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
        questions_of(path).unlink(missing_ok=True)  # Its labels are in the run file, and must not undo this one.
        run.revision.correct_label(positions[0], y)


def _labels(answers: dict[int, int | None]) -> int:
    return sum(y is not None for y in answers.values())


def _tell_end(path: Path, run: Run, as_json: bool) -> None:
    with RunFile.read(path) as file:
        told = _labels(file.questions.answers())
    questions_of(path).unlink(missing_ok=True)  # All its labels are in the run file.
    whole = run.seen >= run.plan.examples
    if as_json:
        print(json.dumps({"run": str(path), "questions": None, "asked": 0, "told": told, "seen": run.seen}))
        return
    why = "every row was seen" if whole else "the budget is spent"
    labels = f"{counted(told, 'label')} {'was' if told == 1 else 'were'}"
    print(f"Done, because {why}: {labels} told, and {run.seen:,} of {run.plan.examples:,} rows were seen.")
    print(f"Use the model with: paraactive predict {shlex.quote(str(path))} FILE")
