"""What the command reproduce does: run an experiment, write its files, and print the result."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path

from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from paraactive.basics.optional import require
from paraactive.basics.validation import one_of, whole
from paraactive.cli.consoles import new_console
from paraactive.errors import InputError, counted
from paraactive.experiments.delays import MEAN_DELAY, DelaysResult, reproduce_delays
from paraactive.experiments.paper import EXPERIMENTS, ExperimentResult, reproduce
from paraactive.experiments.paper.experiment import write_result

_DELAYS, _SCALES = "delays", ("small", "paper")
_MARKS = {"yes": Text("✓", "green"), "no": Text("≠", "yellow"), "open": Text("?")}
_WORDS = {"yes": "holds here", "no": "differs here", "open": "not decided here"}


def reproduce_experiment(
    experiment: str, scale: str, seeds: int | None, steps: int, c0: float, out: Path | None, as_json: bool
) -> None:
    """Run an experiment, or continue it, and print the result.

    Parameters
    ----------
    experiment : str
        Name of the experiment.
    scale : str
        "small" or "paper".
    seeds : int or None
        Number of runs of each kind; None for the default.
    steps : int
        Number of examples in each run of the experiment "delays".
    c0 : float
        Constant C0 of IWAL in the experiment "delays".
    out : Path or None
        Folder for the files; None for reproduce-EXPERIMENT.
    as_json : bool
        Print JSON.
    """
    one_of("experiment", experiment, (*EXPERIMENTS, _DELAYS))
    one_of("scale", scale, _SCALES)
    folder = out or Path(f"reproduce-{experiment}")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file", why="the results are several files", remedy="give --out a folder")
    count = None if seeds is None else whole("seeds", seeds, 1)
    require("matplotlib", "report", "drawing figures")  # Check before the experiment runs, not after it.
    console = new_console()
    with _Bars(new_console(stderr=True)) as bars:
        if experiment == _DELAYS:
            result = reproduce_delays(steps=steps, seeds=count or 20, c0=c0, progress=lambda done: bars("delays", done))
            found = write_result(result.to_experiment_result(), experiment, folder)
        else:
            result = None
            found = reproduce(EXPERIMENTS[experiment], scale, folder, seeds=count, progress=bars)
    if as_json:
        print(json.dumps(found.summary(), indent=2, allow_nan=False))
        return
    if result:
        _show_delays(console, result)
    _show(console, found)


class _Bars:
    """A progress bar for each run."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            TextColumn("{task.description}", style="bold", markup=False), BarColumn(bar_width=24),
            TimeRemainingColumn(compact=True), console=console, disable=not console.is_terminal,
        )  # fmt: skip
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> _Bars:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def __call__(self, name: str, done: float) -> None:
        if name not in self._tasks:
            self._tasks[name] = self._progress.add_task(name, total=1.0)
        self._progress.update(self._tasks[name], completed=done)


def _show(console: Console, found: ExperimentResult) -> None:
    for table in found.tables:
        for title, rows in groupby(table.rows, key=lambda row: str(row[0])):
            shown = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
            for place, name in enumerate(table.head[1:]):
                shown.add_column(name, justify="right" if place else "left", no_wrap=True)
            for row in rows:
                shown.add_row(*("" if cell is None else str(cell) for cell in row[1:]))
            console.print(shown)
    for claim in found.claims:
        console.print(_MARKS[claim.verdict], claim.claim, highlight=False)
        console.print(f"    {_WORDS[claim.verdict]}: {claim.measured}", highlight=False)
    pictures = sum(path.suffix in (".png", ".svg") for path in found.files.values())
    page, points = found.files["page"], found.files["points"]
    beside = f"{counted(pictures, 'figure')} {'is' if pictures == 1 else 'are'} in the same folder"
    console.print(f"\nThe page is {page}. The data of the figures are in {points}; {beside}.")


def _show_delays(console: Console, result: DelaysResult) -> None:
    console.print(
        f"IWAL (Algorithm 3) on {result.hypotheses} thresholds, {result.steps:,} examples, C0 = {result.c0:g}, mean of "
        f"{counted(result.seeds, 'seed')} (± standard deviation):"
    )
    table = Table(padding=(0, 1), box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("delay", "error above best", "at most", "labels", "at most", "with O(1) = 1"):
        table.add_column(name, justify="right", no_wrap=True)
    for each in result.delays:
        last = each.points[-1]
        table.add_row(
            each.delay, f"{last.error:.4f} ± {last.error_spread:.4f}",
            "-" if last.error_bound is None else f"{last.error_bound:.4f}",
            f"{last.queries:,.0f} ± {last.queries_spread:,.0f}",
            f"{last.queries_bound:,.0f}", f"{last.queries_bound_one:,.0f}",
        )  # fmt: skip
    console.print(table)
    first = result.delays[0].points[-1].queries
    worst = max(result.delays, key=lambda each: each.points[-1].queries)
    console.print(
        f"With delays, at most {worst.points[-1].queries / first - 1:.1%} more labels are needed than without "
        f"({worst.named}). Random delays have a mean of {MEAN_DELAY}. The first bound is Theorem 1: it held at every "
        f"step in at least {min(each.within for each in result.delays):.0%} of the runs of each delay. The second "
        "bound is Theorem 2 with the constants of its proof. The last column replaces the paper's hidden constant "
        f"O(1) by 1 and is not a bound. Both theorems hold for C0 >= {result.sufficient_c0:.0f} "
        f"(delta {result.delta:g}); for a smaller C0 the bounds are not guaranteed."
    )
