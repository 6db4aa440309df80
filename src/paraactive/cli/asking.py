"""The command query: asks for labels in a CSV file, reads them back, and goes on.

Nothing is kept between two calls but the run file, which has the labels told so far: the round that was being asked
for is sifted again, to the same selection, because the coins and the model are the same.
"""

from __future__ import annotations

import csv
import json
import shlex
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import paraactive
from paraactive import parts
from paraactive.cli.models import write_csv
from paraactive.cli.options import describe_rule, names_in
from paraactive.errors import InputError, cannot_write
from paraactive.examples import Floats, Ints
from paraactive.learners import Guarded, LaSVM
from paraactive.oracle import Oracle
from paraactive.rules import Rule, floored
from paraactive.run import Run
from paraactive.runfile import RunFile
from paraactive.streams import Stream, Unlabelled
from paraactive.streams.columns import named_labels
from paraactive.validation import one_of, whole

_WARMSTART, _BATCH = 50, 500
_ETA, _FLOOR, _CAP = 0.3, 0.02, 5.0
"""After 50 labels margin is to be choosy. With a few hundred labels in all, none may weigh much more than others: an
uncapped weight of 50 cost more errors than the bias of a cap."""
_BLIND = ("margin", "iwal", "uniform")


class _LabelsWanted(Exception):  # noqa: N818 (the user is asked, that is all)
    """These labels are not known yet."""

    def __init__(self, index: Ints, x: Floats) -> None:
        self.index, self.x = index, x


def query_labels(
    data: str, as_json: bool, *, classes: str | None, features: str | None, rule: str | None, eta: float | None,
    c0: float | None, rate: float | None, warmstart: int | None, batch: int | None, budget: int | None,
    seed: int | None, out: Path | None,
) -> None:  # fmt: skip
    """Begin a run, or go on with one, until labels are needed that nobody has told."""
    began = _is_run(data)
    path: Path = Path(data) if began else _needed("out", out)
    if began:
        _refuse(
            classes=classes, features=features, rule=rule, eta=eta, c0=c0, rate=rate, warmstart=warmstart,
            batch=batch, seed=seed, out=out,
        )  # fmt: skip
        _read_answers(path)
        with RunFile.read(path) as file, file.understood():
            known = file.configuration
            stream = parts.build_stream(known["stream"])
        budget = known["budget"] if budget is None else budget
        go_on = partial(paraactive.resume, path, stream=stream)
    else:
        names = _class_names(_needed("classes", classes))
        chosen = _rule(rule, eta=eta, c0=c0, rate=rate)
        stream = Unlabelled.load(data, names, columns=names_in(features), seed=seed or 0)
        first = _WARMSTART if warmstart is None else whole("warmstart", warmstart, 1)
        go_on = partial(
            paraactive.train, Guarded(LaSVM(gap=0.2), cap=_CAP), stream, rule=chosen, seed=seed or 0, out=path, nodes=1,
            warmstart=min(first, stream.length), batch=_BATCH if batch is None else batch,
        )  # fmt: skip
    try:
        run = go_on(oracle=Oracle(_ask, budget, batch=10**9))
    except _LabelsWanted as wanted:
        _write_questions(path, stream, wanted, as_json)
    else:
        _tell_end(path, run, as_json)


def _class_names(text: str) -> list[str]:
    names = names_in(text) or []
    if len(names) < 2 or not all(names) or len(set(names)) != len(names):
        raise InputError(
            f"--classes is {text!r}", why="they are two different names or more", remedy="give them as ham,spam"
        )
    return names


def _ask(index: Ints, x: Floats) -> Any:
    raise _LabelsWanted(index, x)


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
                f"--{name} is given for a run file", why="it was settled when the run began", remedy="leave it out"
            )


def _rule(name: str | None, *, eta: float | None, **options: float | None) -> Rule:
    kind = one_of("label-blind rule", name or "margin", _BLIND)
    eta = _ETA if eta is None and kind == "margin" else eta
    return floored(parts.build_rule(describe_rule("svm", kind, eta=eta, **options)), _FLOOR)


# The file of questions -------------------------------------------------------------------------------------------


def questions_of(path: Path) -> Path:
    """Where a run asks: run.db.ask.csv beside run.db."""
    return path.with_name(f"{path.name}.ask.csv")


def _write_questions(path: Path, stream: Stream, wanted: _LabelsWanted, as_json: bool) -> None:
    with RunFile.read(path) as file, file.understood():
        known, told, seen = file.configuration, len(file.answers()), file.seen
    rows = stream.at(wanted.index).key.tolist()
    names = known["stream"]["columns"] or [f"x{column}" for column in range(known["width"])]
    questions = questions_of(path)
    try:
        with questions.open("w", newline="") as file:
            write_csv(file, [["position", "row", "label", *names]])
            write_csv(
                file,
                ([i, row, "", *x] for i, row, x in zip(wanted.index.tolist(), rows, wanted.x.tolist(), strict=True)),
            )
    except OSError as error:
        raise cannot_write(questions, error) from error
    figures = {"run": str(path), "questions": str(questions), "asked": len(rows), "told": told, "seen": seen}
    if as_json:
        print(json.dumps(figures))
        return
    print(
        f"{len(rows):,} labels are asked for in {questions}: fill in the column label ({', '.join(known['classes'])})."
    )
    left = "" if known["budget"] is None else f" ({told + len(rows):,} of the budget of {known['budget']:,})"
    print(f"Then go on with: paraactive query {shlex.quote(str(path))}{left}")


def _read_answers(path: Path) -> None:
    """Put what was filled in into the run file; an error if something is missing, after the rest is safe."""
    questions = questions_of(path)
    if not questions.exists():
        return
    table = _table(questions)
    told = [row for row in table if (row["label"] or "").strip()]
    index = np.array([_position(questions, row["position"]) for row in told], np.int64)
    with RunFile.resume(path) as run:
        with run.understood():
            known, entries = run.configuration, set(run.positions())
        _check_positions(questions, index, known["examples"], entries)
        labels = np.array([(row["label"] or "").strip() for row in told])
        if told:
            run.remember(index, named_labels(labels, tuple(known["classes"])))
    if len(told) < len(table):
        raise InputError(
            f"{len(table) - len(told):,} of {len(table):,} rows of {questions} have no label yet",
            why="the labels of a round are learnt together; those told are safe in the run file",
            remedy="fill in the rest",
        )


def _table(questions: Path) -> list[dict[str, str | None]]:
    """Its rows, as spreadsheets write them too: with a mark of the encoding, semicolons or tabs."""
    try:
        text = questions.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"cannot read {questions}", why=str(error).rstrip("."), remedy="save it as CSV, in UTF-8"
        ) from None
    head = text.partition("\n")[0]
    table: list[dict[str, str | None]] = list(csv.DictReader(text.splitlines(), delimiter=max(",;\t", key=head.count)))
    if table and not {"position", "label"} <= set(table[0]):
        raise InputError(
            f"{questions} has no columns position and label",
            why="they say which label is told",
            remedy="fill in the column label, and leave the others as they are",
        )
    return table


def _position(questions: Path, text: str | None) -> int:
    if not (text or "").strip().isdecimal() or len(text or "") > 18:
        raise _changed(questions, f"the position {text!r}")
    return int(text or "")


def _check_positions(questions: Path, index: Ints, examples: int, entries: set[int]) -> None:
    for position, times in Counter(index.tolist()).items():
        if position >= examples or position in entries:
            raise _changed(questions, f"the position {position}, which was not asked for")
        if times > 1:
            raise _changed(questions, f"the position {position} twice")


def _changed(questions: Path, fact: str) -> InputError:
    return InputError(
        f"{questions} has {fact}", why="it says which row is meant", remedy="change nothing but the column label"
    )


def _tell_end(path: Path, run: Run, as_json: bool) -> None:
    with RunFile.read(path) as file:
        told = len(file.answers())
    questions_of(path).unlink(missing_ok=True)  # All its labels are in the run file.
    whole = run.seen >= run.plan.examples
    if as_json:
        print(json.dumps({"run": str(path), "questions": None, "asked": 0, "told": told, "seen": run.seen}))
        return
    why = "all is learnt" if whole else "the budget is spent"
    print(f"{run.seen:,} of {run.plan.examples:,} rows seen, {told:,} labels told: {why}.")
    print(f"Use it with: paraactive predict {path} FILE")
