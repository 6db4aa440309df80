"""The command query: asks for labels in a CSV file, reads the answers, and continues the run.

Between two calls only the run file is kept, with all labels so far. The next call sifts the open round again. It
selects the same rows, because the random numbers and the model are the same.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, cast

import paraactive
from paraactive.basics.part_spec import JSONValue
from paraactive.basics.registry import RULES
from paraactive.basics.validation import one_of, whole
from paraactive.cli.data_options import scale_in
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
from paraactive.rules import Rule
from paraactive.runs.run import Run
from paraactive.runs.runfile import RunFile
from paraactive.sifting import parts
from paraactive.sifting.oracle import Oracle
from paraactive.streams import Stream, Unlabelled
from paraactive.streams.files import column_names, looks_like_index, number_columns
from paraactive.streams.tables.table_columns import check_column
from paraactive.streams.tables.table_files import feature_names_for

_WARMSTART, _BATCH, _PER_ROUND = 50, 500, 25
FLOOR = "auto"
"""Lower bound on the probability with which a row is asked for: the same as in `train`."""
_ETA, _CAP = 1.0, 2.0
"""Defaults for a few hundred labels: eta that selects few rows after 50 labels, and a cap on the weights. Without a
cap, a weight of 50 caused more errors than the bias of the cap."""
_BLIND = ("margin", "iwal", "uniform")


def query_labels(
    data: str, as_json: bool, *, classes: str | None, features: str | None, id_column: str | None, rule: str | None,
    eta: float | None, c0: float | None, rate: float | None, warmstart: int | None, batch: int | None,
    per_round: int | None, budget: int | None, seed: int | None, correct: list[str] | None, out: Path | None,
    standardize: bool | None = None, missing: str | None = None, encode: str | None = None,
) -> None:  # fmt: skip
    """Start or continue a run, until it needs labels that are not known or ends.

    Parameters
    ----------
    data : str
        File with unlabeled rows for a new run, or the run file of an existing run.
    as_json : bool
        Print JSON.
    classes, features : str or None
        New run: names of classes and of feature columns, separated by commas.
    id_column : str or None
        New run: column that is not a feature.
    rule : str or None
        New run: name of the rule.
    eta, c0, rate : float or None
        New run: parameters of the rule.
    warmstart, batch, per_round : int or None
        New run: number of labels in the first round, of rows in each round, and of labels in each later round.
    budget : int or None
        Maximum number of labels to ask for in the whole run.
    seed : int or None
        New run: seed of all random numbers.
    correct : list of str or None
        Existing run: corrections, as ROW=LABEL.
    out : Path or None
        New run: run file to write.
    standardize : bool or None
        New run: whether to standardize the features; None for the default.
    missing, encode : str or None
        New run: what missing values and text columns are replaced by.
    """
    if _is_run(data):
        _refuse(
            classes=classes, features=features, id=id_column, rule=rule, eta=eta, c0=c0, rate=rate,
            warmstart=warmstart, batch=batch, per_round=per_round, seed=seed, out=out, standardize=standardize,
            missing=missing, encode=encode,
        )  # fmt: skip
        _continue(Path(data), budget, correct or [], as_json)
        return
    path: Path = _needed("out", out)
    if questions_of(path).exists():
        raise InputError(
            f"{questions_of(path)} already exists",
            why="it may contain labels for an earlier run",
            remedy="remove the file, or give another --out",
        )
    if correct:
        raise InputError("--correct is given for a new run", why="a new run has no labels yet", remedy="leave it out")
    names = _class_names(_needed("classes", classes))
    chosen = new_rule(rule, eta=eta, c0=c0, rate=rate)
    columns = _features(data, names_in(features), id_column, missing, encode)
    stream = Unlabelled.load(data, names, columns=columns, seed=seed or 0, missing=missing)
    first = _WARMSTART if warmstart is None else whole("warmstart", warmstart, 1)
    begin = partial(
        paraactive.train, new_learner(), stream, rule=chosen, seed=seed or 0, out=path, nodes=1,
        warmstart=min(first, stream.length), batch=_BATCH if batch is None else batch,
        scale=scale_in(standardize, stream), floor=FLOOR,
    )  # fmt: skip
    _until_asked(path, stream, begin, _oracle(budget, _PER_ROUND if per_round is None else per_round), as_json)


def _continue(path: Path, budget: int | None, corrections: list[str], as_json: bool) -> None:
    with RunFile.read(path) as file, file.reraise_as_corruption():
        spec = file.spec
        stream = parts.build_stream(spec.data.stream)
    oracle = _oracle(spec.labels.budget if budget is None else budget, spec.labels.per_round)
    resume = partial(paraactive.resume, path, stream=stream)
    if not file.database.has_hashes:  # An older version wrote the file, without the questions.
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
        _print_end(path, run, as_json)


def _ask(rows: Ints, x: Floats) -> Any:  # noqa: ARG001 (an oracle gets both)
    raise LabelsWanted(rows)


def _features(
    data: str, named: list[str] | None, id_column: str | None, missing: str | None, encode: str | None
) -> Sequence[str] | None:
    """The features: columns that are named, or all numeric columns except identifiers. With `encode`, also text."""
    every = column_names(data)
    if id_column is not None and (named is not None or every is None):
        raise InputError(
            "--id is given with --features or for a file without named columns",
            why="it excludes one numeric column from the features",
            remedy="leave it out: the CSV file shows all columns of the data",
        )
    if every is None:
        for name, given in (("missing", missing), ("encode", encode)):
            if given is not None:
                raise InputError(
                    f"--{name} is given for {data}",
                    why="the columns of this file have no names",
                    remedy="leave it out, or write Parquet or CSV",
                )
        return named
    if id_column is not None:
        check_column(data, id_column, list(every))
    columns = number_columns(data) if encode is None else every
    usual = [name for name in columns if name != id_column and not looks_like_index(name)]
    return feature_names_for(data, usual if named is None else named, missing, encode)


def _class_names(text: str) -> list[str] | list[int]:
    names = names_in(text) or []
    if len(names) < 2 or not all(names) or len(set(names)) != len(names):
        raise InputError(
            f"--classes is {text!r}", why="there must be two or more different names", remedy="give them as ham,spam"
        )
    if all(re.fullmatch(r"0|-?[1-9]\d{0,17}", name) for name in names):
        return [int(name) for name in names]  # Then predictions are numbers, too.
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
            remedy="give --classes ham,spam --out run.db, or continue a run by giving its run file",
        )
    return value


def _refuse(**given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            raise InputError(
                f"--{name.replace('_', '-')} is given for a run file",
                why="it cannot change after the start of the run",
                remedy="leave it out",
            )


def new_learner() -> Guarded:
    """Return the learner for a run with few labels: an SVM with a cap on the weights.

    Returns
    -------
    Guarded
        The learner, untrained.
    """
    return Guarded(LaSVM(gap=0.2), cap=_CAP)


def new_rule(name: str | None = None, *, eta: float | None = None, **options: float | None) -> Rule:
    """Return the rule that selects the rows to label.

    Parameters
    ----------
    name : str or None
        "margin", "iwal" or "uniform"; None for "margin".
    eta : float or None
        Parameter of the rule margin.
    **options : float or None
        Other parameters of the rule.

    Returns
    -------
    Rule
        The rule.
    """
    kind = one_of("label-blind rule", name or "margin", _BLIND)
    eta = _ETA if eta is None and kind == "margin" else eta
    given: dict[str, JSONValue] = {name: value for name, value in {"eta": eta, **options}.items() if value is not None}
    parameters = rule_parameters("svm", kind, given)
    check_all_used(given, set(parameters), "svm", kind)
    return cast(Rule, RULES.find(kind)(**parameters))


def _print_end(path: Path, run: Run, as_json: bool) -> None:
    with RunFile.read(path) as file:
        labels = count_labels(file.questions.answers())
    questions_of(path).unlink(missing_ok=True)  # All labels are in the run file.
    whole = run.seen >= run.plan.examples
    if as_json:
        print(json.dumps({"run": str(path), "questions": None, "asked": 0, "told": labels, "seen": run.seen}))
        return
    why = "all rows were sifted" if whole else "the budget is spent"
    print(f"Done: {why}. The run has {counted(labels, 'label')} and sifted {run.seen:,} of {run.plan.examples:,} rows.")
    print(f"Use the model with: paraactive predict {shlex.quote(str(path))} FILE")
