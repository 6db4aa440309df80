"""What the commands predict, evaluate, save and heaviest do."""

from __future__ import annotations

import codecs
import csv
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from rich.table import Table

from paraactive.basics.atomic_files import already_exists, atomic_write
from paraactive.cli.consoles import new_console
from paraactive.cli.options import learner_named
from paraactive.data.examples import Doubles, Examples
from paraactive.data.labels import STR, decide, numbers_of
from paraactive.errors import InputError, ParaActiveError, counted
from paraactive.learners.rows import scores
from paraactive.runs.model import Model, own_test
from paraactive.runs.runfile import RunFile
from paraactive.streams import open_column, open_examples, open_rows
from paraactive.streams.tables.csv_files import is_number_text

_STDIN = "-"
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet runs text that begins with one of these as a formula, unless it is a number."""
_GZIP = b"\x1f\x8b"


def load_model(path: Path, learner: str | None, settings: Sequence[str]) -> Model:
    """Load a model.

    Parameters
    ----------
    path : Path
        Run file or model file.
    learner : str or None
        The user's own learner, as "package.module:Class", if the file cannot build it.
    settings : sequence of str
        Its parameters, as NAME=VALUE.

    Returns
    -------
    Model
        The model.
    """
    return Model.load(path, learner=learner_named(learner, settings))


def predict_file(
    load: Callable[[], Model], data: str, identifier: str | None, out: Path | None, overwrite: bool, raw: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Write the label of each row of a file, and its score or its score for each class.

    Parameters
    ----------
    load : callable
        Returns the model. It is called only if `out` can be written.
    data : str
        File with rows, or "-" for standard input.
    identifier : str or None
        Column to copy to the output.
    out : Path or None
        CSV file; None for standard output.
    overwrite : bool
        Replace `out` if it exists.
    raw : bool
        Write text unchanged, also if a spreadsheet would run it as a formula.
    as_json : bool
        Print JSON.
    """
    if out is not None and out.exists() and not overwrite:
        raise already_exists(out)
    model = load()
    with _opened(data) as source:
        ids = None if identifier is None else [_plain(each) for each in open_column(source, identifier)]
        rows = open_rows(
            source, model.width, features=model.features, exclude=identifier, may_miss=model.fills_missing
        )  # fmt: skip
        score = model.decision_function(rows)
    table = _predictions(model, score, identifier, ids, raw)
    if out is not None:
        with atomic_write(out, overwrite=overwrite) as file:
            write_csv(codecs.getwriter("utf-8")(file), table)
    if as_json:
        found = {} if ids is None else {"ids": ids}
        labels = model.labels_for(score).tolist()
        print(json.dumps(found | {"labels": labels, "scores": score.tolist()}, allow_nan=False))
    elif out is None:
        write_csv(sys.stdout, table)
    else:
        print(f"{counted(len(score), 'prediction')} {'is' if len(score) == 1 else 'are'} in {out}.")


@contextmanager
def _opened(data: str) -> Generator[str]:
    """Yield a file. Standard input is copied to a file first, and error messages call it "standard input"."""
    if data != _STDIN:
        yield data
        return
    with tempfile.TemporaryDirectory() as folder:
        head = sys.stdin.buffer.read(len(_GZIP))
        path = Path(folder, "rows.csv.gz" if head == _GZIP else "rows.csv")
        with path.open("wb") as file:
            file.write(head)
            shutil.copyfileobj(sys.stdin.buffer, file)
        try:
            yield str(path)
        except ParaActiveError as error:
            texts = (error.fact, error.why, error.remedy)
            fact, why, remedy = (text.replace(str(path), "standard input") for text in texts)
            raise type(error)(fact, why=why, remedy=remedy) from None


def _predictions(
    model: Model, score: Doubles, identifier: str | None, ids: list[Any] | None, raw: bool
) -> Iterator[list[Any]]:
    """Yield the header and the rows to write: identifiers if there are any, names of labels, and scores."""
    names = ["score"] if score.ndim == 1 else [f"score {name}" for name in model.classes]
    labels: list[str] = model.named(score).tolist()
    numbers = score.reshape(len(score), -1).tolist()
    text = model.label_type == STR and not raw
    shown = {name: for_spreadsheet(name) if text else name for name in model.classes}
    yield [*([] if ids is None else [identifier]), "label", *names]
    for row, (label, own) in enumerate(zip(labels, numbers, strict=True)):
        yield [*([] if ids is None else [ids[row] if raw else for_spreadsheet(ids[row])]), shown[label], *own]


def for_spreadsheet(value: Any) -> Any:
    """Return a value that a spreadsheet does not run as a formula.

    Parameters
    ----------
    value : object
        Any value.

    Returns
    -------
    object
        The value; text that begins like a formula gets a ' before it.

    Examples
    --------
    >>> for_spreadsheet("=1+1"), for_spreadsheet("-1"), for_spreadsheet("ham")
    ("'=1+1", '-1', 'ham')
    """
    runs = isinstance(value, str) and value.startswith(_FORMULA) and not is_number_text(value)
    return f"'{value}" if runs else value


def _plain(value: Any) -> Any:
    """Return an identifier as JSON and CSV can write it."""
    return value if value is None or isinstance(value, str | bool | int) else str(value)


def write_csv(file: TextIO | codecs.StreamWriter, table: Iterable[Iterable[Any]]) -> None:
    """Write rows as CSV.

    Parameters
    ----------
    file : TextIO or StreamWriter
        Where to write.
    table : iterable of iterables
        The rows.
    """
    plain, quoting = (csv.writer(file, lineterminator="\n", quoting=how) for how in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL))
    for row in table:
        cells = list(row)
        # Python does not quote a carriage return, and most other readers take it for the end of the row.
        returns = any(isinstance(cell, str) and "\r" in cell for cell in cells)
        (quoting if returns else plain).writerow(cells)


def evaluate_file(model: Model, path: Path, data: str | None, label: str | None, as_json: bool) -> None:
    """Print the number of mistakes of a model and the confusion matrix.

    Parameters
    ----------
    model : Model
        The model.
    path : Path
        File of the model, which may name its own test examples.
    data : str or None
        File with labeled examples, or "-" for standard input; None for the test examples of the run.
    label : str or None
        Name of the label column.
    as_json : bool
        Print JSON.
    """
    figures = _figures(model, _test(model, path, data, label))
    if as_json:
        print(json.dumps(figures, indent=2, allow_nan=False))
        return
    console = new_console()
    mistakes, examples = counted(figures["mistakes"], "mistake"), counted(figures["examples"], "example")
    console.print(f"{mistakes} of {examples}: an error of {figures['error']:.2%}.")
    few = len(model.classes) < 5
    table = Table(padding=(0, 2 if few else 0))
    table.add_column("true label")
    for name in model.classes:
        table.add_column(f"predicted {name}" if few else name, justify="right")
    for name, counts in figures["confusion"].items():
        table.add_row(name, *(f"{count:,}" for count in counts.values()))
    console.print(table)


def _test(model: Model, path: Path, data: str | None, label: str | None) -> Examples:
    if data is not None:
        with _opened(data) as source:
            return open_examples(
                source, model.classes, model.width, label=label or model.label, features=model.features,
                may_miss=model.fills_missing,
            )  # fmt: skip
    test = own_test(path)
    if test is None:
        raise InputError(
            f"no data to evaluate {path} on",
            why="the file does not name test examples",
            remedy="give a file with labeled examples",
        )
    return test


def _figures(model: Model, test: Examples) -> dict[str, Any]:
    count = len(model.classes)
    predicted, true = decide(scores(model.learner, test.x)), numbers_of(test.y, count)
    counts = np.bincount(count * true + predicted, minlength=count * count).reshape(count, count)
    mistakes = int(counts.sum() - counts.trace())
    return {
        "examples": len(test),
        "mistakes": mistakes,
        "error": mistakes / len(test),
        "confusion": {
            name: dict(zip(model.classes, counts[i].tolist(), strict=True)) for i, name in enumerate(model.classes)
        },
    }


def save_model(model: Model, out: Path, overwrite: bool, as_json: bool) -> None:
    """Write a model to one file.

    Parameters
    ----------
    model : Model
        The model.
    out : Path
        File to write.
    overwrite : bool
        Replace the file if it exists.
    as_json : bool
        Print JSON.
    """
    model.save(out, overwrite=overwrite)
    size = out.stat().st_size
    if as_json:
        print(json.dumps({"model": str(out), "bytes": size, "digest": model.learner.digest()}))
    else:
        print(f"The model is in {out} ({size / 1e6:.2f} MB).")


def show_heaviest(path: Path, count: int, as_json: bool) -> None:
    """Print the entries with the largest weights.

    Parameters
    ----------
    path : Path
        Run file.
    count : int
        Number of entries.
    as_json : bool
        Print JSON.
    """
    with RunFile.read(path) as file, file.reraise_as_corruption():
        rows, names = file.log.heaviest(count), file.spec.data.classes
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
    new_console().print(table)
