"""The commands that use a trained model: predict, evaluate, save."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from rich.console import Console
from rich.table import Table

from paraactive.errors import InputError, cannot_write
from paraactive.examples import Examples
from paraactive.labels import decide, numbers_of
from paraactive.learners.rows import scores
from paraactive.model import Model, own_test
from paraactive.runfile import RunFile
from paraactive.streams import open_examples, open_rows


def predict_file(path: Path, data: str, out: Path | None, overwrite: bool, as_json: bool) -> None:
    """The class and the score of each row of a file, or its scores for each class."""
    if out is not None and out.exists() and not overwrite:
        raise InputError(
            f"{out} is there already", why="it is never overwritten unasked", remedy="give another name, or --overwrite"
        )
    model = Model.load(path)
    score = model.decision_function(open_rows(data, model.width, features=model.features))
    labels = model.named(score).tolist()
    names = ["score"] if score.ndim == 1 else [f"score {name}" for name in model.classes]
    rows = score.reshape(len(score), -1).tolist()
    table = [["label", *names], *([label, *row] for label, row in zip(labels, rows, strict=True))]
    if out is not None:
        try:
            with out.open("w", newline="") as file:
                write_csv(file, table)
        except OSError as error:
            raise cannot_write(out, error) from error
    if as_json:
        print(json.dumps({"labels": labels, "scores": score.tolist()}, allow_nan=False))
    elif out is None:
        write_csv(sys.stdout, table)
    else:
        print(f"{len(labels):,} predictions are in {out}.")


def write_csv(file: TextIO, table: Iterable[Iterable[Any]]) -> None:
    """Rows with commas."""
    csv.writer(file, lineterminator="\n").writerows(table)


def evaluate_file(path: Path, data: str | None, label: str | None, as_json: bool) -> None:
    """How often the model is wrong, and how."""
    model = Model.load(path)
    figures = _figures(model, _test(model, path, data, label))
    if as_json:
        print(json.dumps(figures, indent=2, allow_nan=False))
        return
    console = Console()
    console.print(
        f"{figures['mistakes']:,} mistakes of {figures['examples']:,} examples: an error of {figures['error']:.2%}."
    )
    few = len(model.classes) < 5
    table = Table(padding=(0, 2 if few else 0))
    table.add_column("label")
    for name in model.classes:
        table.add_column(f"said {name}" if few else name, justify="right")
    for name, counts in figures["confusion"].items():
        table.add_row(name, *(f"{count:,}" for count in counts.values()))
    console.print(table)


def _test(model: Model, path: Path, data: str | None, label: str | None) -> Examples:
    if data is not None:
        return open_examples(data, model.classes, model.width, label=label, features=model.features)
    test = own_test(path)
    if test is None:
        raise InputError(
            f"no data to evaluate {path} on",
            why="the file does not say where its test examples are",
            remedy="give a file of examples with labels",
        )
    return test


def _figures(model: Model, test: Examples) -> dict[str, Any]:
    count = len(model.classes)
    said, true = decide(scores(model.learner, test.x)), numbers_of(test.y, count)
    counts = np.bincount(count * true + said, minlength=count * count).reshape(count, count)
    mistakes = int(counts.sum() - counts.trace())
    return {
        "examples": len(test),
        "mistakes": mistakes,
        "error": mistakes / len(test),
        "confusion": {
            name: dict(zip(model.classes, counts[i].tolist(), strict=True)) for i, name in enumerate(model.classes)
        },
    }


def save_model(path: Path, out: Path, overwrite: bool, as_json: bool) -> None:
    """The model of a run, as one file."""
    model = Model.load(path)
    model.save(out, overwrite=overwrite)
    size = out.stat().st_size
    if as_json:
        print(json.dumps({"model": str(out), "bytes": size, "digest": model.learner.digest()}))
    else:
        print(f"The model is in {out} ({size / 1e6:.2f} MB).")


def show_heaviest(path: Path, count: int, as_json: bool) -> None:
    """The entries of largest weight."""
    with RunFile.read(path) as file, file.understood():
        rows, names = file.heaviest(count), file.configuration["classes"]
    heaviest = [row | {"label": names[numbers_of(np.array([row.pop("y")], np.int8), len(names))[0]]} for row in rows]
    if as_json:
        print(json.dumps(heaviest, indent=2, allow_nan=False))
        return
    table = Table(padding=(0, 2))
    for name in ("weight", "p", "label", "row", "position"):
        table.add_column(name, justify="left" if name == "label" else "right")
    for row in heaviest:
        figures = f"{row['weight']:.4g}", f"{row['p']:.3g}", row["label"], f"{row['key']:,}", f"{row['position']:,}"
        table.add_row(*figures)
    Console().print(table)
