"""The command query: asks for labels in a CSV file, reads them back, and goes on.

Nothing is kept between two calls but the run file, which has the labels told so far: the round that was being asked
for is sifted again, to the same selection, because the coins and the model are the same.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, cast

import paraactive
from paraactive.basics.part_spec import JSONValue
from paraactive.basics.registry import RULES
from paraactive.basics.validation import one_of, whole
from paraactive.cli.options import check_all_used, names_in, rule_parameters
from paraactive.cli.questions import (
    LabelsWanted,
    correct_label,
    count_labels,
    questions_of,
    read_answers,
    write_questions,
)
from paraactive.data.examples import Floats, Ints
from paraactive.errors import InputError, counted
from paraactive.learners import Guarded, LaSVM
from paraactive.rules import Rule, floored
from paraactive.runs.run import Run
from paraactive.runs.runfile import RunFile
from paraactive.sifting import parts
from paraactive.sifting.oracle import Oracle
from paraactive.streams import Stream, Unlabelled
from paraactive.streams.files import column_names, looks_like_index, number_columns
from paraactive.streams.tables.table_columns import check_column

_WARMSTART, _BATCH, _PER_ROUND = 50, 500, 25
_ETA, _FLOOR, _CAP = 0.3, 0.02, 2.0
"""After 50 labels margin is to be choosy. With a few hundred labels in all, none may weigh much more than others: an
uncapped weight of 50 cost more errors than the bias of a cap."""
_BLIND = ("margin", "iwal", "uniform")


def query_labels(
    data: str, as_json: bool, *, classes: str | None, features: str | None, id_column: str | None, rule: str | None,
    eta: float | None, c0: float | None, rate: float | None, warmstart: int | None, batch: int | None,
    per_round: int | None, budget: int | None, seed: int | None, correct: list[str] | None, out: Path | None,
) -> None:  # fmt: skip
    """Begin a run, or go on with one, until the run needs labels that were not given."""
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
        with suppress(LabelsWanted):
            resume(oracle=oracle)
    read_answers(path, may_miss=bool(corrections))
    for correction in corrections:
        correct_label(path, correction)
    questions_of(path).unlink(missing_ok=True)  # Its labels are in the run file.
    _until_asked(path, stream, resume, oracle, as_json)


def _oracle(budget: int | None, per_round: int | None) -> Oracle:
    return Oracle(_ask, budget, batch=10**9, per_round=per_round)


def _until_asked(path: Path, stream: Stream, go_on: Callable[..., Run], oracle: Oracle, as_json: bool) -> None:
    try:
        run = go_on(oracle=oracle)
    except LabelsWanted as wanted:
        write_questions(path, stream, wanted, as_json)
    else:
        _tell_end(path, run, as_json)


def _ask(rows: Ints, x: Floats) -> Any:  # noqa: ARG001 (an oracle is handed both)
    raise LabelsWanted(rows)


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


def _tell_end(path: Path, run: Run, as_json: bool) -> None:
    with RunFile.read(path) as file:
        told = count_labels(file.questions.answers())
    questions_of(path).unlink(missing_ok=True)  # All its labels are in the run file.
    whole = run.seen >= run.plan.examples
    if as_json:
        print(json.dumps({"run": str(path), "questions": None, "asked": 0, "told": told, "seen": run.seen}))
        return
    why = "every row was seen" if whole else "the budget is spent"
    labels = f"{counted(told, 'label')} {'was' if told == 1 else 'were'}"
    print(f"Done, because {why}: {labels} told, and {run.seen:,} of {run.plan.examples:,} rows were seen.")
    print(f"Use the model with: paraactive predict {shlex.quote(str(path))} FILE")
