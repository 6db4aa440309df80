"""Error against the time to fit, of ours and of the best peers, on two tasks, one thread: the picture of the README.

Each method gets more and more effort: kernel methods get more rows, or more centers; boosting gets more trees; networks
get more passes. Settings are the defaults otherwise. Each point is a fit of its own, so that a learning rate decays to
its end at each of them. Digits: the first 60 000 of the stream {3,1} against {5,7}, which begins with the originals.
Flights: 100 000, more than 15 minutes late or not.

    python -m benchmarks.bench_curves --json curves.json
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.bench_peers import FIRST_ROWS, LIMIT, QUICK_LIMIT, QUICK_ROWS, holding, place_for, set_named
from benchmarks.datasets import Split
from benchmarks.measuring import apart, finish, parse, seconds, table
from benchmarks.peers import INTELEX, LIGHTGBM, OURS, TORCH, method
from benchmarks.peers_table import described
from paraactive import Digits
from paraactive.report.charts import Axis, Chart, Curve

SHOWN = (OURS, INTELEX, "RPCholesky-Nystroem", LIGHTGBM, "XGBoost", TORCH)
DIGITS, FLIGHTS = "{3,1} v {5,7}, deformed digits", "late flights"


def split_of(task: str, most: int | None) -> Split:
    """The rows of a task."""
    if task == FLIGHTS:
        return set_named(FLIGHTS).split(0, most)
    digits = Digits()
    learned, test = digits.read(0, most or 60_000), digits.test()
    return Split(np.asarray(learned.x), learned.y, np.asarray(test.x), test.y)


def contend(task: str, name: str, most: int | None) -> Iterator[Any]:
    """In a process of its own: yield that all is ready, and then each point."""
    warnings.simplefilter("ignore")
    split, way = split_of(task, most), method(name)
    place = place_for(split, task == DIGITS, 1)
    with holding(1):
        way.make({}, place).fit(split.x[:FIRST_ROWS], split.y[:FIRST_ROWS]).predict(split.test_x[:100])
        yield "ready"
        sizes = list[int]()
        for effort in way.curve:
            settings = {name: value for name, value in effort.items() if name != "rows"}
            rows = min(effort.get("rows", len(split.y)), len(split.y))
            if "rows" in effort and rows in sizes:
                return  # There are no more rows.
            sizes.append(rows)
            model = way.make(settings, place)
            spent = seconds(partial(model.fit, split.x[:rows], split.y[:rows]))
            error = float(np.mean(np.asarray(model.predict(split.test_x)) != split.test_y))
            yield {"effort": dict(effort), "rows": rows, "seconds": spent, "error": error}


def measure(quick: bool = False) -> dict[str, Any]:
    """All points of both tasks."""
    found: dict[str, Any] = {}
    for task in (DIGITS, FLIGHTS):
        found[task] = {}
        for name in SHOWN:
            if method(name).installed:
                limit = QUICK_LIMIT if quick else LIMIT
                found[task][name] = apart(
                    contend, task, name, QUICK_ROWS if quick else None, limit=limit, fork=True,
                    observe=lambda point, name=name: print(name, point, file=sys.stderr, flush=True),
                )  # fmt: skip
    return found


def charts(figures: dict[str, Any]) -> list[Chart]:
    """A chart for each task."""
    drawn: list[Chart] = []
    for task, found in figures.items():
        curves = [
            Curve(name, [(point["seconds"], 100 * point["error"]) for point in points], look=SHOWN.index(name))
            for name, points in found.items()
            if points
        ]
        number = len(drawn) + 1
        drawn.append(Chart(
            f"peers-{number}", task, Axis("seconds to fit, one thread", log=True), Axis("test error, %", log=True),
            curves,
        ))  # fmt: skip
    return drawn


def render(figures: dict[str, Any]) -> str:
    """A table for each task."""
    parts: list[str] = []
    for task, found in figures.items():
        rows = [
            [
                name, f"{point['rows']:,}", "" if "rows" in point["effort"] else described(point["effort"]),
                f"{point['seconds']:.2f}", f"{100 * point['error']:.2f}",
            ]
            for name, points in found.items()
            for point in points
        ]  # fmt: skip
        parts.append(f"{task}:\n\n{table(['method', 'rows', 'effort', 'fit, s', 'error, %'], rows)}")
    return "\n\n".join(parts)


if __name__ == "__main__":
    options = parse(__doc__ or "", small=True)
    results = measure(options.small)
    finish(options, render(results), {"curves": results})
