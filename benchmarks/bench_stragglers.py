"""One slow node: time to 35 mistakes of the asynchronous against the synchronous schedule.

Simulated: one node of eight is four times slower, costs as measured. Real: two processes, one of which is stopped and
let go on again (SIGSTOP, SIGCONT) so that it runs a quarter of the time. Time to m mistakes as in bench_svm.

    python -m benchmarks.bench_stragglers --repeats 3 --json stragglers.json
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from benchmarks.measuring import between, finish, first_reached, parse, spread, table
from paraactive import Digits, LaSVM, train
from paraactive.data.events import Event, NodeJoined, Round, RunStarted
from paraactive.engines import Cluster
from paraactive.rules import SignedMargin
from paraactive.runs.run import Run, clock

TARGET, BATCH, MOST = 35, 4096, 40 * 4096
SLOWDOWN, NODES = 4.0, 8
SCHEDULES = ("synchronous", "asynchronous")
PERIOD = 0.02
"""Seconds in which the throttled node runs once and stands still three times as long."""


def until_target(seed: int, schedule: str, **options: Any) -> tuple[Run, int]:
    """One run until it is there, and how many of its rounds that took."""
    digits = Digits(seed=seed)
    run = train(
        LaSVM(gamma=0.012, gap=0.2), digits, rule=SignedMargin(0.05, theta=0.0), examples=MOST, batch=BATCH,
        warmstart=BATCH, seed=seed, test=digits.test(), schedule=schedule,
        stop=lambda run: first_reached(run, TARGET) is not None, **options,
    )  # fmt: skip
    place = first_reached(run, TARGET)
    if place is None:
        raise SystemExit(f"{TARGET} mistakes were not reached")
    return run, sum(ended.seen <= run.evaluations[place].seen for ended in run.rounds)


def simulated(seed: int, schedule: str) -> float:
    """Seconds on the virtual clock."""
    cluster = Cluster(slowness=(SLOWDOWN,))
    run, rounds = until_target(seed, schedule, engine="simulated", nodes=NODES, cluster=cluster)
    return clock(run.rounds[:rounds])[NODES]


def real(seed: int, schedule: str) -> float:
    """Seconds that passed, from the moment both nodes are there, without counting the mistakes."""
    ended: list[float] = []
    state = {"evaluating": 0.0, "joined": 0, "began": 0.0}

    def observe(event: Event) -> None:
        if isinstance(event, RunStarted):
            state["began"] = time.perf_counter()
        if isinstance(event, NodeJoined):
            state["joined"] += 1
            state["began"] = time.perf_counter()
        if isinstance(event, Round):
            ended.append(time.perf_counter() - state["began"] - state["evaluating"])
        if hasattr(event, "mistakes"):
            state["evaluating"] += event.seconds  # pyright: ignore[reportAttributeAccessIssue]

    with throttled(lambda: state["joined"] >= 2):
        _, rounds = until_target(seed, schedule, engine="processes", nodes=2, updates="replicated", observers=[observe])
    return ended[rounds - 1]


@contextmanager
def throttled(begin: Any) -> Generator[None]:
    """The first of this process's nodes runs a quarter of the time, once `begin()` holds."""
    over = threading.Event()

    def throttle() -> None:
        while not begin():
            if over.wait(PERIOD):
                return
        slow = min(nodes_of_this_process())
        with suppress(ProcessLookupError):
            while not over.is_set():
                os.kill(slow, signal.SIGSTOP)
                over.wait(PERIOD * (1 - 1 / SLOWDOWN))
                os.kill(slow, signal.SIGCONT)
                over.wait(PERIOD / SLOWDOWN)

    thread = threading.Thread(target=throttle)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def nodes_of_this_process() -> list[int]:
    """The ids of its node processes."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError, IndexError):
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == os.getpid() and b"serve_node" in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
    return found


def measure(repeats: int) -> dict[str, Any]:
    """Both schedules with the same seeds, in turn."""
    train(LaSVM(gamma=0.012, gap=0.2), Digits(), examples=5000)  # compiles
    results: dict[str, Any] = {}
    for name, seconds in (("simulated, 1 of 8 nodes 4 times slower", simulated), ("2 processes, 1 throttled", real)):
        pairs = [tuple(seconds(seed, schedule) for schedule in SCHEDULES) for seed in range(repeats)]
        results[name] = {
            "synchronous": spread([pair[0] for pair in pairs]),
            "asynchronous": spread([pair[1] for pair in pairs]),
            "times_faster": spread([pair[0] / pair[1] for pair in pairs]),
        }
    return results


def render(results: dict[str, Any]) -> str:
    """The table."""
    rows = [
        [name, between(each["synchronous"]), between(each["asynchronous"]), between(each["times_faster"])]
        for name, each in results.items()
    ]
    return table(["nodes", "synchronous, s", "asynchronous, s", "times faster"], rows)


if __name__ == "__main__":
    options = parse(__doc__ or "")
    figures = measure(options.repeats)
    finish(options, render(figures), {"stragglers": figures})
