"""What the programs share: repeated timings, time to a number of mistakes, processes apart, the machine, tables, JSON.

All times are for one thread: `benchmarks/__init__.py` says so to BLAS, OpenMP and numba before they are loaded, and
processes that are started from here inherit it.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import queue
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

from paraactive.basics.atomic_files import atomic_write
from paraactive.basics.platforms import processor
from paraactive.data.events import Round
from paraactive.experiments.timing import first_reached
from paraactive.runs.run import Run

_Each = TypeVar("_Each")

STARTING = 300.0
"""Seconds that a process apart may take to start, to read its data and to compile, which are nobody's time."""

# Times -----------------------------------------------------------------------------------------------------------


def seconds(work: Callable[[], object]) -> float:
    """The time that one call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def spread(values: list[float]) -> dict[str, float]:
    """Median, smallest, largest and mean."""
    return {
        "median": statistics.median(values), "min": min(values), "max": max(values), "mean": statistics.mean(values),
    }  # fmt: skip


# Time to m mistakes ----------------------------------------------------------------------------------------------


def time_to(run: Run, target: float, nodes: int | None = None) -> dict[str, Any]:
    """Seconds and examples until so many mistakes; the seconds are None if it did not come that far.

    All is counted (warmstart, fetching, sifting, updating) except trying the model. With `nodes`, the seconds that so
    many simulated nodes take: each fetches and sifts its portion, and the largest portion is waited for.
    """
    place = first_reached(run, target)
    if place is None:
        return {"seconds": None, "seen": run.seen}
    there = run.evaluations[place]
    rounds = [ended for ended in run.rounds if ended.seen <= there.seen]
    learnt, warmstart = rounds[-1].version, rounds[0].seen
    return {
        "seconds": spent(rounds, nodes), "fetching": sum(ended.fetch_seconds for ended in rounds),
        "seen": there.seen, "learnt": learnt, "mistakes": there.mistakes,
        "rate": (learnt - warmstart) / max(there.seen - warmstart, 1),
    }  # fmt: skip


def spent(rounds: Sequence[Round], nodes: int | None = None) -> float:
    """The seconds of these rounds, the first of which is the warmstart; see `time_to`."""
    if nodes is None:
        return sum(ended.fetch_seconds + ended.sift_seconds + ended.update_seconds for ended in rounds)
    first, *rest = rounds
    return spent([first]) + sum(ended.fetch_seconds / nodes + ended.elapsed[nodes] for ended in rest)


def times_faster(ours: Sequence[float | None], theirs: Sequence[float | None]) -> dict[str, float] | None:
    """Ratio of the mean times, and the spread of the ratios seed by seed; None if somebody did not come that far.

    One time of theirs stands for all seeds.
    """
    theirs = [theirs[0]] * len(ours) if len(theirs) == 1 else theirs
    pairs = [(a, b) for a, b in zip(ours, theirs, strict=True) if a is not None and b is not None]
    if len(pairs) < len(ours):
        return None
    figures = spread([b / a for a, b in pairs])
    return figures | {"mean": sum(b for _, b in pairs) / sum(a for a, _ in pairs)}


# Processes apart -------------------------------------------------------------------------------------------------


def apart(
    work: Callable[..., Iterator[Any]],
    *arguments: object,
    limit: float | None = None,
    observe: Callable[[Any], object] | None = None,
    fork: bool = False,
) -> list[Any]:
    """What `work` yields in a process of its own, as far as it comes; RuntimeError if it fails.

    Its first item says that it is ready, and is not among them; each further one must come within the limit, and is
    handed to `observe` at once. With `fork`, the process is forked from one that has imported all methods already.
    """
    context: Any = multiprocessing.get_context("forkserver" if fork else "spawn")
    if fork:
        context.set_forkserver_preload(["benchmarks.preloaded"])
    answers: Any = context.Queue()
    process = context.Process(target=_report, args=(answers, work, arguments), daemon=True)
    process.start()
    came: list[Any] = []
    try:
        while (answer := _next(answers, process, limit if came else STARTING)) is not None:
            if came and observe:
                observe(answer)
            came.append(answer)
    except queue.Empty:
        pass
    finally:
        process.terminate()  # by its id; it may have ended by itself
        process.join()
    return came[1:]


def _report(answers: Any, work: Callable[..., Iterator[Any]], arguments: tuple[object, ...]) -> None:
    try:
        with threadpool_limits(limits=1):
            for answer in work(*arguments):
                answers.put(answer)
        answers.put(None)
    except Exception as error:
        answers.put(RuntimeError(f"{type(error).__name__}: {error}"))


def _next(answers: Any, process: BaseProcess, limit: float | None) -> Any:
    """The next answer; None is the end. A process that was killed, for its memory perhaps, says nothing more."""
    until = None if limit is None else time.monotonic() + limit
    while True:
        try:
            answer = answers.get(timeout=1.0)
        except queue.Empty:
            if not process.is_alive() and answers.empty():
                raise RuntimeError(f"the process ended with code {process.exitcode}") from None
            if until is not None and time.monotonic() > until:
                raise
        else:
            if isinstance(answer, RuntimeError):
                raise answer
            return answer


def peak_memory() -> float:
    """Megabytes that this process held at most.

    Not `ru_maxrss`: a process that is started inherits that of its parent, which may be larger than itself.
    """
    return _memory("VmHWM")


def memory_now() -> float:
    """Megabytes that this process holds; from here on `grown_memory` counts."""
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak
    return _memory("VmRSS")


def grown_memory(before: float) -> float:
    """Megabytes that this process held at most, beyond what it held before."""
    return max(_memory("VmHWM") - before, 0.0)


def _memory(field: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in lines)
    return int(fields[field].split()[0]) / 1024


def on_all_cores(work: Callable[..., _Each], *arguments: Iterable[Any]) -> list[_Each]:
    """As list(map(...)), each call in one of as many processes as there are cores: for figures that are no times."""
    with ProcessPoolExecutor(os.cpu_count(), multiprocessing.get_context("spawn")) as pool:
        return list(pool.map(work, *arguments))


# What is shown ---------------------------------------------------------------------------------------------------


def machine() -> str:
    """Its cores and model."""
    return f"{os.cpu_count()} cores, {processor()}"


def table(header: list[str], rows: list[list[str]]) -> str:
    """Markdown, aligned for the terminal too."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    lines = [header, ["-" * width for width in widths], *rows]
    return "\n".join("| " + " | ".join(cell.ljust(widths[i]) for i, cell in enumerate(line)) + " |" for line in lines)


def between(figures: dict[str, float], digits: int = 2) -> str:
    """Median and spread, to be read."""
    return f"{figures['median']:.{digits}f} ({figures['min']:.{digits}f}-{figures['max']:.{digits}f})"


def about(figures: dict[str, float] | None, digits: int = 2) -> str:
    """Mean and spread, to be read; nothing, if there are no figures."""
    if figures is None:
        return ""
    return f"{figures['mean']:.{digits}f} ({figures['min']:.{digits}f}-{figures['max']:.{digits}f})"


def reached(times: Sequence[float | None]) -> str:
    """Times to m mistakes of several seeds, to be read, or how many of them came that far."""
    there = [each for each in times if each is not None]
    return about(spread(there)) if len(there) == len(times) else f"reached by {len(there)} of {len(times)}"


def parse(description: str, small: bool = False) -> argparse.Namespace:
    """The options that every program has, and for some the one that only tries whether it works."""
    parser = argparse.ArgumentParser(description=description)
    if small:
        parser.add_argument("--small", action="store_true", help="tiny sizes, to see that it works; no result")
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--repeats", type=int, default=3, help="repeated measurements, for the spread")
    return parser.parse_args()


def finish(options: argparse.Namespace, text: str, figures: dict[str, Any]) -> None:
    """Print the table and write the JSON."""
    print(text)
    if options.json:
        with atomic_write(options.json) as file:
            file.write((json.dumps(figures, indent=2) + "\n").encode())
