"""What the command plan prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from paraactive.basics.validation import positive
from paraactive.cli.consoles import new_console
from paraactive.errors import counted
from paraactive.planning.plan import NODES, PAYS
from paraactive.theory import Link, Planned, plan


def plan_nodes(
    path: Path, other: Path | None, latency: float, bandwidth: float | None, examples: int | None, as_json: bool
) -> None:
    """Fit the cost model to a run, and print its predictions.

    Parameters
    ----------
    path : Path
        Run file.
    other : Path or None
        A second run file, to test the prediction.
    latency : float
        Latency of a message, in seconds.
    bandwidth : float or None
        Bandwidth in megabytes per second; None for no limit.
    examples : int or None
        Number of examples of the planned run; None for as many as the run saw.
    as_json : bool
        Print JSON.
    """
    link = Link(latency) if bandwidth is None else Link(latency, 1e6 * positive("bandwidth", bandwidth))
    planned = plan(path, other, link=link, examples=examples)
    if as_json:
        print(json.dumps(planned.summary(), indent=2, allow_nan=False))
        return
    console = new_console()
    _show_model(console, planned)
    _show_predictions(console, planned)
    _show_kinds(console, planned, planned.summary()["kinds"])
    _show_checks(console, planned)


def _show_model(console: Console, planned: Planned) -> None:
    model = planned.model
    console.print(
        f"Fitted to {planned.path}, for {planned.examples:,} examples (in microseconds, after m learned entries):"
    )
    grows = (
        f" {'+' if model.score.slope >= 0 else '-'} {abs(model.score.slope) * 1e6:.4g} m" if model.score.slope else ""
    )
    console.print(f"  S(m), to score an example   {model.score.fixed * 1e6:.4g}{grows}", highlight=False)
    grows = f" + {model.learn.slope * 1e6:.4g} m" if model.learn.slope else ""
    learn = f"{model.learn.fixed * 1e6:.4g}{grows}, plus {model.settle * 1e3:.3g} ms in each round"
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
    console.print("\nPredicted time with k nodes, in seconds on the paper's clock (fetching is not included):")
    console.print(table)
    console.print(_verdict(planned))
    console.print(_bytes_sentence(planned))


def _verdict(planned: Planned) -> str:
    k = planned.pays_until
    if planned.bound == "sift" and k == NODES[-1]:
        return f"More than {k} nodes would still be faster: the run is sift-bound."
    what = {
        "sift": "sift-bound: a round has too few examples for more nodes, and a larger --batch would help",
        "update": "update-bound: most of the time is learning, which every node does, so more nodes do not shorten it",
        "network": "network-bound: most of the time is sending to the nodes, which takes longer with more nodes",
    }[planned.bound]
    rule = planned.model.enough_nodes(planned.examples)
    return (
        f"More than {counted(k, 'node')} are not worth using: each doubling saves less than {PAYS:.0%}. Beyond that, "
        f"the run is {what}. The paper's rule of thumb, n/phi(n), gives {rule:,.0f}."
    )


def _bytes_sentence(planned: Planned) -> str:
    sends = planned.model.sends(planned.examples)
    size = f"{(sends['replicated'] or 0) / 1e6:,.1f} MB"
    if sends["central"] is None:
        return f"Each node receives {size} of entries. The size of the model is not known: the run has no snapshot."
    return (
        f"With {planned.updates} updates each node receives fewer bytes: all entries are {size}, "
        f"and the models of all rounds are {sends['central'] / 1e6:,.1f} MB."
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
            f"The time to learn {planned.examples:,} entries is not known: this run learned {planned.learned:,}. "
            "To measure it, train with --rule passive, and plan with that run file."
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
    console.print("\nError of the prediction:")
    if not planned.checks:
        console.print("Not known: the number of nodes changed during the run, so the whole run was timed for no k.")
        return
    console.print(table)
    console.print("The prediction does not include the start of the nodes, nor waiting for the slowest node.")
    if planned.differs:
        console.print(
            f"The other run has another {' and another '.join(planned.differs)}, so the prediction may not fit."
        )
