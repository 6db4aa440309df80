"""Two nodes against one, for real: the wall time of a sift-bound SVM run on threads, processes and Ray.

Starting the nodes is shown apart: the time of a run is taken from the end of its first sifted round, when all are
there, to its end. Ray is on a cluster of its own on this machine. On processes and Ray the driver has a replica too:
with two nodes on two cores, three replicas learn, so the share of learning must be small: it is below 5% where every
example is scored exactly. With the cascade there is so little left to share out that only threads gain.

    python -m benchmarks.bench_nodes --repeats 3 --json nodes.json
"""

from __future__ import annotations

import time
from typing import Any

from benchmarks.measuring import between, finish, parse, spread, table
from paraactive import Digits, LaSVM, train
from paraactive.data.events import Event, Round
from paraactive.rules import PaperMargin

EXAMPLES = 32 * 4096
RUNS = [
    ("threads", "synchronous", True),
    ("processes", "synchronous", True),
    ("threads", "synchronous", False),
    ("threads", "asynchronous", False),
    ("processes", "synchronous", False),
    ("processes", "asynchronous", False),
    ("ray", "synchronous", False),
    ("ray", "asynchronous", False),
]
"""Engine, schedule, and whether there is a cascade."""


def run(engine: str, schedule: str, cascade: bool, nodes: int) -> dict[str, float]:
    """One run with the paper's rule."""
    times: list[float] = []

    def observe(event: Event) -> None:
        if isinstance(event, Round):
            times.append(time.perf_counter())

    began = time.perf_counter()
    train(
        LaSVM(gamma=0.012, gap=0.2, cascade=cascade), Digits(), rule=PaperMargin(0.1), examples=EXAMPLES, nodes=nodes,
        engine=engine, schedule=schedule, observers=[observe],
    )  # fmt: skip
    return {"start": times[1] - began, "seconds": times[-1] - times[1]}


def name_of(engine: str, schedule: str, cascade: bool) -> str:
    """What its row is called."""
    return f"{engine}, {schedule}, {'cascade' if cascade else 'exact'}"


def measure(repeats: int) -> dict[str, Any]:
    """One and two nodes, in turn, and their ratios."""
    train(LaSVM(gamma=0.012, gap=0.2), Digits(), examples=2000)  # compiles
    measured: dict[str, list[tuple[dict[str, float], dict[str, float]]]] = {}
    for _ in range(repeats):
        for engine, schedule, cascade in RUNS:
            pair = run(engine, schedule, cascade, 1), run(engine, schedule, cascade, 2)
            measured.setdefault(name_of(engine, schedule, cascade), []).append(pair)
    results: dict[str, Any] = {
        name: {
            "start": spread([two["start"] for _, two in pairs]),
            "one": spread([one["seconds"] for one, _ in pairs]),
            "two": spread([two["seconds"] for _, two in pairs]),
            "times_faster": spread([one["seconds"] / two["seconds"] for one, two in pairs]),
        }
        for name, pairs in measured.items()
    }
    for schedule in ("synchronous", "asynchronous"):
        here, there = (measured[name_of(engine, schedule, False)] for engine in ("processes", "ray"))
        ratios = [ray["seconds"] / own["seconds"] - 1 for (_, own), (_, ray) in zip(here, there, strict=True)]
        results[name_of("ray", schedule, False)]["overhead"] = spread(ratios)
    return results


def render(results: dict[str, Any]) -> str:
    """The table."""
    rows = [
        [name, between(each["start"], 1), between(each["one"]), between(each["two"]), between(each["times_faster"])]
        for name, each in results.items()
    ]
    overheads = ", ".join(
        f"{name.split(', ')[1]} {100 * each['overhead']['median']:+.0f}% "
        f"({100 * each['overhead']['min']:+.0f}% to {100 * each['overhead']['max']:+.0f}%)"
        for name, each in results.items()
        if "overhead" in each
    )
    return (
        table(["engine, schedule, scores", "first round after, s", "1 node, s", "2 nodes, s", "times faster"], rows)
        + f"\n\nRay against processes, two nodes: {overheads}."
    )


if __name__ == "__main__":
    options = parse(__doc__ or "")
    figures = measure(options.repeats)
    finish(options, render(figures), {"nodes": figures})
