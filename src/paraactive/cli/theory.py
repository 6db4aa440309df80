"""The command of the theory: plan."""

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
    """Show what the cost model says of a run."""
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
    console.print(f"Fitted to {planned.path}, for {planned.examples:,} examples (microseconds, m entries learned):")
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
    what = {
        "sift": "sift-bound: a round has no more examples to share out; a larger --batch would have",
        "update": "update-bound: what is left is learning, which every node does, and which more nodes do not shorten",
        "network": "network-bound: what is left is sending to the nodes, which grows with them",
    }[planned.bound]
    rule = planned.model.enough_nodes(planned.examples)
    return (
        f"More than {counted(k, 'node')} do not pay (they save less than {PAYS:.0%} for each doubling). Beyond, the "
        f"run is {what}. The paper's rule of thumb, n/phi(n), says {rule:,.0f}."
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
            f"T of {planned.examples:,} entries is not known: this run learned {planned.learned:,}. "
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
