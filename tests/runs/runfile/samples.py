"""Small run files of every kind, one set for each format, that later versions must still open.

The files lie in `files/`, as `format<number>-<kind>.sqlite`, and `files/expected.json` has the digests and figures that
they must give. A file is written once, by a version that has its format, and never again. When the format changes, run
`PYTHONPATH=src:tests python tests/runs/runfile/samples.py`, which writes the missing files. CI does not run it.

Version 0.1.0 wrote the files of the formats 4 and 5. `LaSVM(max_vectors=...)` was `budget` then, and there was a
schedule "pipelined": `format5-pipelined.sqlite` has the learner, the stream and the sizes of "killed".

The files name no path of a machine: streams are arrays, which `stream_of` makes again, or digits.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from disk import forked
from golden import processor
from making import two_moons
from paraactive import Arrays, Digits, LaSVM, Model, Network, Oracle, replay, resume, train
from paraactive.data.events import Event, Round
from paraactive.data.examples import Floats, Ints, SparseRows
from paraactive.rules import PaperMargin
from paraactive.runs.runfile import FORMAT
from paraactive.streams import Stream, Unlabelled

FILES = Path(__file__).with_name("files")
EXPECTED = FILES / "expected.json"
X, Y = two_moons(600, noise=0.15, seed=0)
NAMES = np.where(Y > 0, "up", "down")
SIZES: dict[str, Any] = {"warmstart": 100, "batch": 100, "nodes": 1}
_ROUNDS_BEFORE_KILL = 3
_ANSWERS_BEFORE_KILL = 5


def _moons() -> Arrays:
    return Arrays(X, NAMES)


def _sparse() -> Arrays:
    return Arrays(SparseRows.of(np.where(X < 0, 0, X).astype(np.float32)), NAMES)


def _unlabelled() -> Unlabelled:
    return Unlabelled(X, ("down", "up"))


def oracle() -> Oracle:
    """The oracle of the sample "query", which knows all labels."""
    return Oracle(lambda rows, _: NAMES[rows].tolist(), budget=250, batch=40)


def _svm(**options: Any) -> LaSVM:
    return LaSVM(gamma=2.0, gap=0.2, **options)


def _make_synchronous(path: Path) -> None:
    train(_svm(max_vectors=20), _moons(), test=(X[:200], NAMES[:200]), snapshot_seconds=0.0, out=path, **SIZES)


def _make_digits(path: Path) -> None:
    train(Network(hidden=2), Digits(), examples=400, out=path, **SIZES)


def _make_network(path: Path) -> None:
    train(Network(hidden=5), _moons(), out=path, **SIZES)


def _make_sparse(path: Path) -> None:
    train(_svm(), _sparse(), out=path, **SIZES)


def _make_asynchronous(path: Path) -> None:
    sizes: dict[str, Any] = SIZES | {"nodes": 3}
    train(_svm(), _moons(), schedule="asynchronous", engine="simulated", out=path, **sizes)


def _make_guarded(path: Path) -> None:
    train(_svm(), _moons(), guard=True, class_weight={"up": 3.0}, out=path, **SIZES)


def _make_query(path: Path) -> None:
    """Write a run that was killed between a question and its answers."""
    calls = list[int]()

    def ask(rows: Ints, x: Floats) -> Iterable[str]:
        calls.append(len(rows))
        if len(calls) > _ANSWERS_BEFORE_KILL:
            os._exit(9)
        return NAMES[rows].tolist()

    asking = Oracle(ask, budget=250, batch=40)
    _killed(lambda: train(_svm(), _unlabelled(), rule=PaperMargin(0.2), oracle=asking, out=path, **SIZES), path)


def _make_killed(path: Path) -> None:
    """Write a run that was killed after some of its rounds."""

    def kill(event: Event) -> None:
        time.sleep(0.6)  # Rounds are committed at most every half second.
        if isinstance(event, Round) and event.number == _ROUNDS_BEFORE_KILL:
            os._exit(9)

    _killed(lambda: train(_svm(), _moons(), snapshot_seconds=1.0, observers=[kill], out=path, **SIZES), path)


def _killed(run: Callable[[], object], path: Path) -> None:
    """Run it in a process that kills itself, and put what it had committed into the one file."""
    child = forked(run)
    child.join()
    assert child.exitcode == 9
    path.with_name(path.name + ".lock").unlink()
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")


SAMPLES: dict[str, Callable[[Path], None]] = {
    "synchronous": _make_synchronous,
    "digits": _make_digits,
    "network": _make_network,
    "sparse": _make_sparse,
    "asynchronous": _make_asynchronous,
    "guarded": _make_guarded,
    "query": _make_query,
    "killed": _make_killed,
}
_STREAMS: dict[str, Callable[[], Stream | None]] = {"digits": lambda: None, "sparse": _sparse, "query": _unlabelled}


def kind_of(name: str) -> str:
    """The kind of run in a file of this name."""
    return name.removesuffix(".sqlite").split("-", 1)[1]


def stream_of(name: str) -> Stream | None:
    """The stream that this run must be given to be resumed; None if the file can make it."""
    return _STREAMS.get(kind_of(name), _moons)()


def resumed(name: str, path: Path) -> Any:
    """Resume a copy of this sample to its end."""
    return resume(path, stream=stream_of(name), oracle=oracle() if kind_of(name) == "query" else None)


def rows_of(model: Model) -> Floats:
    """Some rows to predict."""
    return np.zeros((10, model.width), np.float32) if model.width > 2 else X[::20]


def facts_of(name: str, path: Path) -> dict[str, Any]:
    """What must be found in this file. The file is resumed."""
    run, model = replay(path), Model.load(path)
    facts = {
        "digest": run.learner.digest(),
        "checked": run.checked,
        "entries": len(run.learned.key),
        "rounds": len(run.rounds),
        "seen": run.seen,
        "mistakes": [each.mistakes for each in run.evaluations],
        "labels": model.predict(rows_of(model)).tolist(),
    }
    whole = resumed(name, path)
    return facts | {"resumed": whole.learner.digest(), "resumed_seen": whole.seen}


def _write_samples() -> None:
    expected: dict[str, Any] = json.loads(EXPECTED.read_text()) if EXPECTED.exists() else {"processor": processor()}
    files = expected.setdefault("files", {})
    for kind, make in SAMPLES.items():
        name = f"format{FORMAT}-{kind}.sqlite"
        if name in files:
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "run.db")
            make(path)
            shutil.copy(path, FILES / name)
            files[name] = facts_of(name, path)
    EXPECTED.write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    _write_samples()
