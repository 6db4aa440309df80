"""Sound on any data: our defaults on 22 data sets, against learning everything, SVC, and the commonest class.

Each data set is learned with five seeds, or with three from 100 000 rows on, each in a process of its own, on all cores
at once; seconds are of the processor, and both sides of a ratio are measured so. Records are written as they come, so a
run that was stopped goes on with what is missing. Records of ours are kept only while the sources of the library are
the same.

    python -m benchmarks.bench_sound --seeds 2 --only letters --only flights --json sound.json
    python -m benchmarks.bench_sound --quick      # at most 3000 rows of each, to see that it works; no result
    python -m benchmarks.bench_sound --print      # measure nothing
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import paraactive
from benchmarks.datasets import DATA_SETS, DataSet, named
from benchmarks.measuring import apart
from benchmarks.sound_table import collected, render
from benchmarks.sound_ways import OURS, WAYS, failure, run_ways
from benchmarks.stored_sets import CACHE, MissingDataError
from paraactive.basics.atomic_files import atomic_write

SEEDS = 5
MANY_ROWS, FEWER_SEEDS = 100_000, 3
"""Data sets with at least MANY_ROWS rows are learned with FEWER_SEEDS seeds, because they take most of the time."""
QUICK = 3000
SECONDS = 25.0
"""That the passive learner and SVC may take for all rows; otherwise they get a part of them."""
LIMIT = 900.0
"""Seconds after which a way has no result."""
SLOW = 20.0
"""Where SVC takes longer, one seed is enough."""


class Records:
    """What was measured so far, in a file: by data set, seed and way."""

    def __init__(self, path: Path, keep: bool = False) -> None:
        self.path, self._lock = path, threading.RLock()
        self.known: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
        code = sources()
        if self.known.get("code") != code and not keep:
            for seeds in self._sets().values():
                for ways in seeds.values():
                    for way in OURS:
                        ways.pop(way, None)
        self.known["code"] = code

    def _sets(self) -> dict[str, dict[str, dict[str, Any]]]:
        return self.known.setdefault("sets", {})

    def of(self, name: str, seed: int) -> dict[str, Any]:
        """Records by way."""
        with self._lock:  # Another thread may be writing all of them.
            return self._sets().setdefault(name, {}).setdefault(str(seed), {})

    def put(self, name: str, seed: int, came: tuple[str, dict[str, Any]]) -> None:
        """Write one more record to the file."""
        way, record = came
        with self._lock:
            self.of(name, seed)[way] = record
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(self.path) as file:
                file.write((json.dumps(self.known, indent=1) + "\n").encode())
        print(f"{name}, seed {seed}, {way}: {_short(record)}", file=sys.stderr, flush=True)

    def missing(self, name: str, seed: int, ways: Sequence[str] = WAYS) -> tuple[str, ...]:
        """The ways that are still to be measured. SVC is measured once where it is slow."""
        first, have = self.of(name, 0), self.of(name, seed)
        slow = first.get("svc", {}).get("seconds", 0.0) > SLOW or "failed" in first.get("svc", {})
        return tuple(way for way in ways if way not in have and not (seed and slow and way == "svc"))

    def parts(self, name: str) -> dict[str, int]:
        """How many rows the slow ways could learn with the first seed."""
        first = self.of(name, 0)
        return {way: first[way]["rows"] for way in ("passive", "svc") if "rows" in first.get(way, {})}

    def by_set(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Everything; data sets in their usual order."""
        return {data.name: self._sets()[data.name] for data in DATA_SETS if self._sets().get(data.name)}


def sources() -> str:
    """A digest of the library, without the modules that cannot change a model."""
    root = Path(paraactive.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        if path.relative_to(root).parts[0] not in {"report", "trackers", "theory", "planning", "experiments"}:
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _short(record: dict[str, Any]) -> str:
    if "failed" in record:
        return record["failed"]
    return ", ".join(f"{key} {value:.4g}" for key, value in record.items() if isinstance(value, int | float))


def measure_one(
    records: Records, data: DataSet, seed: int, ways: Sequence[str], most: int | None, seconds: float, limit: float
) -> None:
    """What is missing of one data set and seed. A process that is stuck or dead is replaced for the remaining ways."""
    while missing := records.missing(data.name, seed, ways):
        arguments = (data.name, seed, missing, most, seconds, limit, records.parts(data.name))
        why = f"no result within {limit:.0f} s"
        try:
            apart(run_ways, *arguments, limit=limit, observe=partial(records.put, data.name, seed))
        except RuntimeError as error:
            why = str(error)
        left = records.missing(data.name, seed, ways)
        if left:
            gone = {"ours", "warmstart"} & set(left) if left[0] == "ours" else {left[0]}
            for way in sorted(gone):
                records.put(data.name, seed, (way, failure(TimeoutError(why))))


def measure(
    seeds: int = SEEDS,
    only: Sequence[str] = (),
    ways: Sequence[str] = WAYS,
    quick: bool = False,
    seconds: float = SECONDS,
    limit: float = LIMIT,
    records: Records | None = None,
) -> dict[str, Any]:
    """All data sets, or only these; the first seed of all of them comes first."""
    records = records or Records(_default_path(quick))
    chosen = [named(name) for name in only] or DATA_SETS
    left_out = dict[str, str]()
    for data in chosen:
        try:
            data.split(0, QUICK)  # Here, because a process apart should not have to download.
        except MissingDataError as error:
            left_out[data.name] = str(error)
            print(f"{data.name} is left out: {error}", file=sys.stderr)

    def one(seed: int, data: DataSet) -> None:
        few = data.rows >= MANY_ROWS and seed >= FEWER_SEEDS
        if data.name not in left_out and not few:
            measure_one(records, data, seed, ways, QUICK if quick else None, seconds, limit)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for seed in range(seeds):
            list(pool.map(partial(one, seed), sorted(chosen, key=lambda data: -data.rows)))
    return collected(records.by_set(), left_out, seconds)


def _default_path(quick: bool) -> Path:
    return CACHE / ("sound-quick.json" if quick else "sound.json")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=SEEDS, help="number of seeds")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="only this data set; repeatable")
    parser.add_argument("--ways", default=",".join(WAYS), help="only these ways, separated by commas")
    parser.add_argument("--quick", action="store_true", help=f"at most {QUICK} rows of each; no result")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for passive and SVC; then a part of the rows")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds after which a way has no result")
    parser.add_argument("--records", type=Path, help="file with the records so far, which is continued")
    parser.add_argument("--keep", action="store_true", help="keep records of other sources of the library")
    parser.add_argument("--print", action="store_true", help="measure nothing, print the table of the records")
    parser.add_argument("--json", type=Path, help="write the collected figures here")
    return parser.parse_args()


if __name__ == "__main__":
    options = _options()
    records = Records(options.records or _default_path(options.quick), options.keep or options.print)
    figures = measure(
        0 if options.print else options.seeds, options.only, tuple(options.ways.split(",")), options.quick,
        options.seconds, options.limit, records,
    )  # fmt: skip
    print(render(figures))
    if options.json:
        with atomic_write(options.json) as file:
            file.write((json.dumps(figures, indent=2) + "\n").encode())
