"""The commands that use a trained model: predict, evaluate, save."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from rich.console import Console
from rich.table import Table

from paraactive.errors import InputError, cannot_write
from paraactive.examples import Examples
from paraactive.model import Model, own_test
from paraactive.streams.numpy_files import open_columns, open_features


def predict_file(path: Path, data: Path, out: Path | None, as_json: bool) -> None:
    """The class and the score of each row of a file."""
    model = Model.load(path)
    x = open_features(data, model.width)
    score = model.decision_function(x)
    labels, scores = model.named(score).tolist(), score.tolist()
    if as_json:
        print(json.dumps({"labels": labels, "scores": scores}, allow_nan=False))
    elif out is None:
        _write(sys.stdout, labels, scores)
    else:
        try:
            with out.open("w", newline="") as file:
                _write(file, labels, scores)
        except OSError as error:
            raise cannot_write(out, error) from error
        print(f"{len(labels):,} predictions are in {out}.")


def _write(file: TextIO, labels: list[str], scores: list[float]) -> None:
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(["label", "score"])
    rows.writerows(zip(labels, scores, strict=True))


def evaluate_file(path: Path, data: Path | None, as_json: bool) -> None:
    """How often the model is wrong, and how."""
    model = Model.load(path)
    figures = _figures(model, _test(model, path, data))
    if as_json:
        print(json.dumps(figures, indent=2, allow_nan=False))
        return
    console = Console()
    console.print(
        f"{figures['mistakes']:,} mistakes of {figures['examples']:,} examples: an error of {figures['error']:.2%}."
    )
    table = Table(padding=(0, 2))
    table.add_column("label")
    for name in model.classes:
        table.add_column(f"said {name}", justify="right")
    for name, counts in figures["confusion"].items():
        table.add_row(name, *(f"{count:,}" for count in counts.values()))
    console.print(table)


def _test(model: Model, path: Path, data: Path | None) -> Examples:
    if data is not None:
        return model.examples(*open_columns(data))
    test = own_test(path)
    if test is None:
        raise InputError(
            f"no data to evaluate {path} on",
            why="the file does not say where its test examples are",
            remedy="give a file of examples with labels, .npz or .npy",
        )
    return test


def _figures(model: Model, test: Examples) -> dict[str, Any]:
    said, true = (model.learner.score(test.x) > 0).astype(int), (test.y > 0).astype(int)
    counts = np.bincount(2 * true + said, minlength=4).reshape(2, 2)
    mistakes = int(counts[0, 1] + counts[1, 0])
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
