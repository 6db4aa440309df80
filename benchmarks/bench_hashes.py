"""What the hashes of a run file of 100 000 entries cost: loading, replaying and training, with and without them.

python -m benchmarks.bench_hashes --repeats 7 --json hashes.json
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.disk import without_snapshots
from benchmarks.measuring import between, finish, parse, seconds, spread, table
from paraactive import Arrays, LaSVM, Model, Network, replay, train
from paraactive.learners import Learner
from paraactive.runs.runfile import chain, file, seals
from paraactive.runs.runfile.log_reader import LogReader

ENTRIES = 100_000
LEARNERS: dict[str, tuple[Callable[[], Learner], int]] = {
    "network, 20 features": (lambda: Network(hidden=20), 20),
    "network, 200 features": (lambda: Network(hidden=20), 200),
    "linear SVM, 20 features": (lambda: LaSVM(kernel="linear"), 20),
}


@contextmanager
def _unchecked() -> Generator[None]:
    """Nothing is compared when a file is read; all else is as it is."""
    with (
        mock.patch.object(LogReader, "_chain_check", return_value=seals.check_nothing),
        mock.patch.object(file, "find_broken_seal", return_value=None),
        mock.patch.object(seals, "hash_of_snapshot", return_value=mock.ANY),
    ):
        yield


@contextmanager
def _unhashed() -> Generator[None]:
    """Nothing is hashed when a file is written; all else is as it is."""
    with (
        mock.patch.object(seals, "hash_of_link", return_value=b""),
        mock.patch.object(seals, "hash_of_snapshot", return_value=b""),
        mock.patch.object(chain, "_hash_of", return_value=b""),
    ):
        yield


def _compare(
    action: Callable[[], Any], without: Callable[[], AbstractContextManager[None]], repeats: int
) -> dict[str, Any]:
    """Both in turns, so that what else happens on the machine happens to both."""
    hashed: list[float] = []
    plain: list[float] = []
    action()
    for _ in range(repeats):
        hashed.append(seconds(action))
        with without():
            plain.append(seconds(action))
    ratios = [one / other for one, other in zip(hashed, plain, strict=True)]
    return {"with": spread(hashed), "without": spread(plain), "ratio": spread(ratios)}


def measure(repeats: int, entries: int = ENTRIES) -> list[Any]:
    """Seconds with and without hashes, and their ratio."""
    x = np.random.default_rng(0).normal(size=(entries, 200)).astype(np.float32)
    y = x[:, 0] + x[:, 1] > 0
    results: list[Any] = []
    for name, (new, width) in LEARNERS.items():
        stream = Arrays(np.ascontiguousarray(x[:, :width]), y)
        with tempfile.TemporaryDirectory() as folder:
            ended, killed = Path(folder, "ended.db"), Path(folder, "killed.db")

            def run(new: Callable[[], Learner] = new, stream: Arrays = stream, out: Path = ended) -> None:
                train(new(), stream, rule="passive", nodes=1, out=out, overwrite=True)

            results.append({"run": name, "what": "training", **_compare(run, _unhashed, repeats)})
            run()
            without_snapshots(ended, killed)
            for what, action in (
                ("loading the model", lambda path=ended: Model.load(path)),
                ("loading, killed before a snapshot", lambda path=killed: Model.load(path)),
                ("replay", lambda path=ended: replay(path)),
            ):
                results.append({"run": name, "what": what, **_compare(action, _unchecked, repeats)})
    return results


def render(results: list[Any]) -> str:
    """The table."""
    rows = [
        [each["run"], each["what"], between(each["with"], 3), between(each["without"], 3), between(each["ratio"])]
        for each in results
    ]
    head = [f"run file of {ENTRIES:,} entries".replace(",", " "), "", "with hashes, s", "without, s", "ratio"]
    return table(head, rows)


if __name__ == "__main__":
    options = parse(__doc__ or "", small=True)
    figures = measure(1, 5_000) if options.small else measure(options.repeats)
    finish(options, render(figures), {"hashes": figures})
