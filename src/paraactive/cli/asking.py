"""The command query: asks for labels in a CSV file, reads them back, and goes on.

Nothing is kept between two calls but the run file, which has the labels told so far: the round that was being asked
for is sifted again, to the same selection, because the coins and the model are the same.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np

import paraactive
from paraactive import parts
from paraactive.cli.models import write_csv
from paraactive.cli.options import names_in
from paraactive.errors import InputError, cannot_write
from paraactive.examples import Floats, Ints
from paraactive.learners import Guarded, LaSVM
from paraactive.oracle import Oracle
from paraactive.rules import floored
from paraactive.run import Run
from paraactive.runfile import RunFile
from paraactive.streams import Unlabelled
from paraactive.streams.columns import named_labels
from paraactive.validation import one_of

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
    c0: float | None, rate: float | None, warmstart: int | None, batch: int | None, budget: int | None, seed: int,
    out: Path | None,
) -> None:  # fmt: skip
    """Begin a run, or go on with one, until labels are needed that nobody has told."""
    began = _is_run(data)
    given = {"classes": classes, "features": features, "rule": rule, "eta": eta, "c0": c0, "rate": rate,
             "warmstart": warmstart, "batch": batch, "out": out}  # fmt: skip
    if began:
        _refuse(given)
        path = Path(data)
        _read_answers(path)
    else:
        path = _needed("out", out)
    oracle = Oracle(_ask, budget=budget, batch=10**9)
    try:
        if began:
            run = paraactive.resume(path, oracle=oracle)
        else:
            stream = Unlabelled.load(
                data, names_in(_needed("classes", classes)) or (), columns=names_in(features), seed=seed
            )
            run = paraactive.train(
                Guarded(LaSVM(gap=0.2), cap=_CAP), stream, rule=_rule(rule, eta=eta, c0=c0, rate=rate), seed=seed,
                out=path, nodes=1, warmstart=min(warmstart or _WARMSTART, stream.length), batch=batch or _BATCH,
                oracle=oracle,
            )  # fmt: skip
    except _LabelsWanted as wanted:
        _write_questions(path, wanted, as_json)
        return
    _tell_end(path, run, as_json)


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


def _refuse(given: dict[str, Any]) -> None:
    for name, value in given.items():
        if value is not None:
            raise InputError(
                f"--{name} is given for a run file", why="it was settled when the run began", remedy="leave it out"
            )


def _rule(name: str | None, **options: float | None) -> Any:
    kind = one_of("rule that is blind to labels", name or "margin", _BLIND)
    given = {key: value for key, value in options.items() if value is not None}
    for key in given:
        if key != {"margin": "eta", "iwal": "c0", "uniform": "rate"}[kind]:
            raise InputError(f"--{key} is given for rule {kind!r}", why="it has none", remedy="leave it out")
    plain = parts.build_rule({"kind": kind, **({"eta": _ETA} if kind == "margin" else {}), **given})
    return floored(plain, _FLOOR)


# The file of questions -------------------------------------------------------------------------------------------


def questions_of(path: Path) -> Path:
    """Where a run asks: run.ask.csv beside run.db."""
    return path.with_name(f"{path.stem}.ask.csv")


def _write_questions(path: Path, wanted: _LabelsWanted, as_json: bool) -> None:
    with RunFile.read(path) as file, file.understood():
        known = file.configuration
        told = len(file.answers())
        stream = parts.build_stream(known["stream"])
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
    figures = {"run": str(path), "questions": str(questions), "asked": len(rows), "told": told, "seen": _seen(path)}
    if as_json:
        print(json.dumps(figures))
        return
    print(
        f"{len(rows):,} labels are asked for in {questions}: fill in the column label ({', '.join(known['classes'])})."
    )
    print(f"Then go on with: paraactive query {path}")


def _seen(path: Path) -> int:
    with RunFile.read(path) as file:
        return file.seen


def _read_answers(path: Path) -> None:
    """Put what was filled in into the run file; an error if something is missing, after the rest is safe."""
    questions = questions_of(path)
    if not questions.exists():
        return
    with questions.open(newline="") as file:
        table = list(csv.DictReader(file))
    if table and not {"position", "label"} <= set(table[0]):
        raise InputError(
            f"{questions} has no columns position and label",
            why="they say which label is told",
            remedy="fill in the column label, and leave the others as they are",
        )
    told = [row for row in table if (row["label"] or "").strip()]
    with RunFile.resume(path) as run, run.understood():
        if told:
            labels = np.array([row["label"].strip() for row in told])
            index = np.array([_position(questions, row["position"]) for row in told], np.int64)
            run.remember(index, named_labels(labels, tuple(run.configuration["classes"])))
    if len(told) < len(table):
        raise InputError(
            f"{len(table) - len(told):,} of {len(table):,} rows of {questions} have no label yet",
            why="the labels of a round are learnt together; those told are safe in the run file",
            remedy="fill in the rest",
        )


def _position(questions: Path, text: str | None) -> int:
    try:
        return int(text or "")
    except ValueError:
        raise InputError(
            f"{questions} has the position {text!r}",
            why="it says which row is meant",
            remedy="change nothing but the column label",
        ) from None


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
