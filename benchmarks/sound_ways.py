"""The ways to learn a data set that `bench_sound` compares, each as one function from rows to a record.

Ours are reached only as users reach them, `ParaActiveClassifier()` and `paraactive train`, so that the defaults are
measured, whatever they are. Seconds are of the processor, in one thread, for fitting alone.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.metrics import confusion_matrix
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.datasets import DataSet, Split, named
from paraactive import ParaActiveClassifier

WARM_UP = 1500
"""Rows that are learned first, so that no compiling is measured."""
FIRST_PART = 8000
"""Rows of the first part, where all rows might take too long."""


@dataclass(frozen=True)
class Task:
    """One data set and one seed."""

    data: DataSet
    split: Split
    seed: int
    seconds: float
    """That the passive learner and SVC may take. Beyond it they learn a part of the rows."""
    limit: float
    """After which a way is given up."""
    parts: dict[str, int]
    """How many rows to learn, by way, as found with another seed."""

    @property
    def class_weight(self) -> str | None:
        return "balanced" if self.data.balanced else None

    def judged(self, said: Any) -> dict[str, float]:
        """Its error."""
        return {"error": confusion_error(self.split.test_y, said, self.data.balanced)}


def confusion_error(true: Any, said: Any, balanced: bool) -> float:
    """The error of predictions."""
    return error_of(confusion_matrix(true, said), balanced)


def error_of(confusion: Any, balanced: bool) -> float:
    """From a row of counts for each true class: the error, or the mean of the errors of the classes that occur."""
    counts = np.asarray(confusion, np.float64)
    right, of = np.diag(counts), counts.sum(1)
    if balanced:
        return float(1 - np.mean(right[of > 0] / of[of > 0]))
    return float(1 - right.sum() / of.sum())


def _ours(task: Task, **settings: Any) -> ParaActiveClassifier:
    if task.class_weight:
        settings["class_weight"] = task.class_weight
    return ParaActiveClassifier(random_state=task.seed, **settings)


def _fitted(task: Task, model: Any, rows: Any) -> dict[str, Any]:
    x, y = task.split.x[rows], task.split.y[rows]
    start = time.process_time()
    model.fit(x, y)
    spent = time.process_time() - start
    return {"rows": len(y), "seconds": spent, **task.judged(model.predict(task.split.test_x))}


def _with_vectors(record: dict[str, Any], model: Any) -> dict[str, Any]:
    vectors = getattr(model.learner_, "vectors", None)
    return record | {"selected": int(model.n_selected_), "vectors": None if vectors is None else int(vectors)}


# The ways --------------------------------------------------------------------------------------------------------


def commonest(task: Task) -> dict[str, Any]:
    """Always the class that is the commonest among the rows to learn."""
    values, counts = np.unique(task.split.y, return_counts=True)
    return task.judged(np.full(len(task.split.test_y), values[counts.argmax()]))


def ours(task: Task) -> Iterator[tuple[str, dict[str, Any]]]:
    """By default; and then what the rows of the warmstart alone are worth, all of which are learned."""
    model = _ours(task)
    yield "ours", _with_vectors(_fitted(task, model, slice(None)), model)
    first = np.asarray(model.selected_["index"])[: model.run_.warmstart]
    if len(np.unique(task.split.y[first])) < 2:
        yield "warmstart", {"rows": len(first), **commonest(task)}
        return
    model = _ours(task, rule="passive")
    yield "warmstart", _with_vectors(_fitted(task, model, first), model)


def passive(task: Task) -> dict[str, Any]:
    """The same learner on every row, or on as many as it can learn in the time."""

    def fit(rows: int) -> dict[str, Any]:
        model = _ours(task, rule="passive")
        return _with_vectors(_fitted(task, model, slice(rows)), model)

    return largest_part(fit, len(task.split.y), task.seconds, task.parts.get("passive"))


def svc(task: Task) -> dict[str, Any]:
    """Scikit-learn's, with C 1 and gamma "scale" as ours, on standardized columns unless they are pixels."""

    def fit(rows: int) -> dict[str, Any]:
        last: Any = SVC(C=1, gamma="scale", cache_size=1000, class_weight=task.class_weight)  # pyright: ignore[reportArgumentType]
        model = last if task.data.pixels else make_pipeline(StandardScaler(), last)
        return _fitted(task, model, slice(rows)) | {"vectors": len(last.support_)}

    return largest_part(fit, len(task.split.y), task.seconds, task.parts.get("svc"))


def largest_part(fit: Callable[[int], dict[str, Any]], rows: int, seconds: float, known: int | None) -> dict[str, Any]:
    """Fit all rows, or as many as take about `seconds`, by what smaller parts took; `known` rows are known to fit."""
    part = min(rows, known or FIRST_PART)
    record = fit(part)
    while known is None and part < rows:
        # An SVM takes a time that grows with the square of its rows, or faster when the cache is full.
        bearable = part * (seconds / max(record["seconds"], 1e-3)) ** (1 / 2.2)
        if bearable < 1.3 * part:
            break
        part = int(min(rows, bearable, 3 * part))
        record = fit(part)
    return record


def command_line(task: Task) -> dict[str, Any]:
    """`paraactive train` on a Parquet file, and `paraactive evaluate` on another."""
    weights = ["--class-weight", "balanced"] if task.data.balanced else []
    with tempfile.TemporaryDirectory() as folder:
        rows, test, run = (str(Path(folder) / name) for name in ("rows.parquet", "test.parquet", "run.db"))
        _write(rows, task.split.x, task.split.y)
        _write(test, task.split.test_x, task.split.test_y)
        # One node, as everything here is for one core. The model does not depend on the number of nodes.
        options = ["--nodes", "1", "--seed", str(task.seed), "--out", run, "--label", "label", *weights]
        trained = _said(["train", rows, *options], task.limit - 30)
        tried = _said(["evaluate", run, test], task.limit)
    confusion = tried["confusion"]
    names = sorted({*confusion, *(said for row in confusion.values() for said in row)})
    counts = [[confusion.get(true, {}).get(said, 0) for said in names] for true in names]
    return {
        "rows": len(task.split.y), "seconds": trained["wall_seconds"], "error": error_of(counts, task.data.balanced),
        "selected": trained["warmstart"] + trained["selected"], "vectors": trained.get("vectors"),
    }  # fmt: skip


def _write(path: str, x: Any, y: Any) -> None:
    columns = {f"f{column}": x[:, column] for column in range(x.shape[1])}
    pq.write_table(pa.table(columns | {"label": y}), path)


def _said(arguments: list[str], limit: float) -> Any:
    command = [sys.executable, "-m", "paraactive", *arguments, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=max(limit, 30), check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[-500:])
    return json.loads(done.stdout)


# In a process of its own -----------------------------------------------------------------------------------------

WAYS = ("ours", "warmstart", "commonest", "cli", "passive", "svc")
"""In this order. The warmstart is known only after ours."""
OURS = ("ours", "warmstart", "cli", "passive")
"""Those that change with the library."""


def run_ways(
    name: str, seed: int, ways: tuple[str, ...], most: int | None, seconds: float, limit: float, parts: dict[str, int]
) -> Iterator[Any]:
    """Yield that all is ready, and then each way with its record. A way that fails says so, and the others go on."""
    warnings.simplefilter("ignore")
    data = named(name)
    task = Task(data, data.split(seed, most), seed, seconds, limit, parts)
    if set(ways) & set(OURS):
        for rule in ("auto", "passive"):
            _ours(task, rule=rule).fit(task.split.x[:WARM_UP], task.split.y[:WARM_UP])
    yield "ready"
    if {"ours", "warmstart"} & set(ways):
        yield from _kept(ours(task), ways)
    plain = {"commonest": commonest, "cli": command_line, "passive": passive, "svc": svc}
    for way in ways:
        if way in plain:
            yield way, _or_failed(plain[way], task)


def _kept(records: Iterator[tuple[str, dict[str, Any]]], ways: tuple[str, ...]) -> Iterator[Any]:
    coming = "ours"
    try:
        for way, record in records:
            coming = "warmstart"
            if way in ways:
                yield way, record
    except Exception as error:
        yield coming, failure(error)


def _or_failed(way: Callable[[Task], dict[str, Any]], task: Task) -> dict[str, Any]:
    try:
        return way(task)
    except Exception as error:
        return failure(error)


def failure(error: Exception) -> dict[str, Any]:
    """A record of a way that has no result."""
    return {"failed": f"{type(error).__name__}: {error}"[:500]}
