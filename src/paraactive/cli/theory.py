"""The commands of the theory: plan, and reproduce delays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from paraactive.errors import InputError, cannot_write
from paraactive.experiments.delays import MEAN_DELAY, DelaysResult, reproduce_delays
from paraactive.theory import Link, Planned, plan
from paraactive.theory.planning import NODES, PAYS
from paraactive.validation import one_of, positive

EXPERIMENTS = ("delays",)


def plan_nodes(
    path: Path, other: Path | None, latency: float, bandwidth: float | None, examples: int | None, as_json: bool
) -> None:
    """Show what the cost model says of a run."""
    link = Link(latency) if bandwidth is None else Link(latency, 1e6 * positive("bandwidth", bandwidth))
    planned = plan(path, other, link=link, examples=examples)
    if as_json:
        print(json.dumps(planned.summary(), indent=2, allow_nan=False))
        return
    console = Console()
    _show_model(console, planned)
    _show_predictions(console, planned)
    _show_kinds(console, planned, planned.summary()["kinds"])
    _show_checks(console, planned)


def _show_model(console: Console, planned: Planned) -> None:
    model = planned.model
    console.print(f"Fitted to {planned.path}, for {planned.examples:,} examples (microseconds, m entries learnt):")
    grows = (
        f" {'+' if model.score.slope >= 0 else '-'} {abs(model.score.slope) * 1e6:.4g} m" if model.score.slope else ""
    )
    console.print(f"  S(m), to score an example   {model.score.fixed * 1e6:.4g}{grows}", highlight=False)
    grows = f" + {model.learn.slope * 1e6:.4g} m" if model.learn.slope else ""
    learn = f"{model.learn.fixed * 1e6:.4g}{grows}, and {model.settle * 1e3:.3g} ms each round"
    console.print(f"  dT/dm, to learn an entry    {learn}", highlight=False)
    console.print(
        f"  phi(n), entries             {model.warmstart} + {model.scale:.4g} (n - {model.warmstart})^"
        f"{model.exponent:.3f} = {float(model.selected(planned.examples)):,.0f}",
        highlight=False,
    )


def _show_predictions(console: Console, planned: Planned) -> None:
    table = Table(padding=(0, 1))
    for name in ("k", "seconds", "speedup", "sifting", "learning", "network", "fetching"):
        table.add_column(name, justify="right")
    for each in planned.predictions:
        table.add_row(
            str(each.nodes), f"{each.seconds:.2f}", f"{planned.speedup(each):.1f}", f"{each.sift:.2f}",
            f"{each.warmstart + each.update:.2f}", f"{each.network:.2f}", f"{each.fetch:.2f}",
            style="bold" if each.nodes == planned.pays_until else None,
        )  # fmt: skip
    console.print("\nPredicted time of k nodes, on the paper's clock (fetching comes on top):")
    console.print(table)
    console.print(_verdict(planned))
    console.print(_bytes_sentence(planned))


def _verdict(planned: Planned) -> str:
    k = planned.pays_until
    if planned.bound == "sift" and k == NODES[-1]:
        return f"Even more than {k} nodes would pay: the run is sift-bound."
    nodes = f"{k} nodes" if k > 1 else "1 node"
    what = {
        "sift": "sift-bound: a round has no more examples to share out; a larger --batch would have",
        "update": "update-bound: what is left is learning, which every node does, and which more nodes do not shorten",
        "network": "network-bound: what is left is sending to the nodes, which grows with them",
    }[planned.bound]
    rule = planned.model.enough_nodes(planned.examples)
    return (
        f"More than {nodes} do not pay (they save less than {PAYS:.0%} for each doubling). Beyond, the run is {what}. "
        f"The paper's rule of thumb, n/phi(n), says {rule:,.0f}."
    )


def _bytes_sentence(planned: Planned) -> str:
    sends = planned.model.sends(planned.examples)
    entries = f"the entries weigh {(sends['replicated'] or 0) / 1e6:,.1f} MB"
    if sends["central"] is None:
        return f"To each node {entries}; what the model weighs is not known, because the run took no snapshot."
    return (
        f"To each node {planned.updates} updates send less: {entries} in all, "
        f"the models of all rounds {sends['central'] / 1e6:,.1f} MB."
    )


def _show_kinds(console: Console, planned: Planned, kinds: dict[str, Any]) -> None:
    table = Table(padding=(0, 2))
    for name in ("run", "operations (s)", "time (s)", "broadcasts"):
        table.add_column(name, justify="left" if name == "run" else "right")
    for name, cost in kinds.items():
        name = f"{name}, k = {planned.pays_until}" if name == "parallel active" else name
        if cost is None:
            table.add_row(name, "not known", "not known", "0")
        else:
            table.add_row(name, f"{cost['operations']:,.2f}", f"{cost['seconds']:,.2f}", f"{cost['broadcasts']:,.0f}")
    console.print("\nThe three kinds of run:")
    console.print(table)
    if kinds["sequential passive"] is None:
        console.print(
            f"T of {planned.examples:,} entries is not known: this run learnt {planned.learnt:,}. "
            "To have it, plan with the file of a run with --rule passive."
        )


def _show_checks(console: Console, planned: Planned) -> None:
    table = Table(padding=(0, 2))
    for name in ("run", "k", "time", "predicted", "measured", "error"):
        table.add_column(name, justify="left" if name in ("run", "time") else "right")
    for check in planned.checks:
        table.add_row(
            check.path, str(check.nodes), check.what, f"{check.predicted:.2f}", f"{check.measured:.2f}",
            f"{check.error:+.1%}",
        )  # fmt: skip
    console.print("\nHow far off the prediction is:")
    if not planned.checks:
        console.print("Not known: the run went on with another number of nodes, so no k was timed throughout.")
        return
    console.print(table)
    console.print("It does not know of waiting for the slowest of k nodes, nor of starting them.")
    if planned.differs:
        console.print(f"The other run has another {' and another '.join(planned.differs)}: do not expect it to fit.")


def reproduce_experiment(experiment: str, seeds: int, steps: int, c0: float, out: Path | None, as_json: bool) -> None:
    """Run one, write its figure and its points, and show it."""
    one_of("experiment", experiment, EXPERIMENTS)
    folder = out or Path(f"reproduce-{experiment}")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file", why="the results are several", remedy="give --out a folder")
    with _progress(Console(stderr=True)) as bar:
        task = bar.add_task("delays", total=1.0)
        result = reproduce_delays(
            steps=steps, seeds=seeds, c0=c0, progress=lambda done: bar.update(task, completed=done)
        )
    figure, points = folder / f"{experiment}.svg", folder / f"{experiment}.json"
    if out is not None or not as_json:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            figure.write_text(result.figure())
            points.write_text(json.dumps(result.summary(), indent=2, allow_nan=False))
        except OSError as error:
            raise cannot_write(folder, error) from error
    if as_json:
        print(json.dumps(result.summary(), indent=2, allow_nan=False))
        return
    _show_delays(Console(), result)
    print(f"The figure is {figure}, all points are in {points}.")


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}", style="bold"), BarColumn(bar_width=24), TimeRemainingColumn(compact=True),
        console=console, disable=not console.is_terminal,
    )  # fmt: skip


def _show_delays(console: Console, result: DelaysResult) -> None:
    console.print(
        f"IWAL (Algorithm 3) on {result.hypotheses} thresholds, {result.steps:,} examples, C0 = {result.c0:g}, mean of "
        f"{result.seeds} seeds (± standard deviation):"
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
        f"Delays cost at most {worst.points[-1].queries / first - 1:.1%} more labels than none ({worst.named}). Random "
        f"ones have a mean of {MEAN_DELAY}. Theorem 1, the first bound, held at every step in at least "
        f"{min(each.within for each in result.delays):.0%} of the runs of each delay. Theorem 2, the second, is shown "
        "with the constants of its proof, and with 1 for the constant that the paper hides, which is no bound. Both "
        f"are promises only from C0 = {result.sufficient_c0:.0f} on (delta {result.delta:g}); below, they are formulas."
    )
