"""How far off `paraactive plan` is: fitted to a run on one simulated node, against the paper's simulation of k nodes.

The simulation of the same run has the machine of the same minutes; another run shows what the machine's moods add: how
far the two runs, which do the same work, are apart by themselves stands beside it.

python -m benchmarks.bench_plan --repeats 3 --json plan.json
"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.measuring import between, finish, parse, spread, table
from paraactive import Digits, LaSVM, Network, train
from paraactive.rules import Gradient, PaperMargin, SignedMargin
from paraactive.theory import plan

NODES = (8, 64)
TASKS: dict[str, tuple[Any, Any, Any, int]] = {
    "svm, signed margin": (lambda: LaSVM(gamma=0.012, gap=0.2), SignedMargin(0.05, theta=0.0), Digits, 102_400),
    "svm, margin (the paper's)": (lambda: LaSVM(gamma=0.012), PaperMargin(0.1), Digits, 102_400),
    "network, gradient": (Network, Gradient(), partial(Digits, (5,), (3,), low=0.0), 204_800),
}


def measure(repeats: int) -> list[Any]:
    """The errors of the prediction for each task, over seeds."""
    results: list[Any] = []
    with tempfile.TemporaryDirectory() as folder:
        one, other = Path(folder) / "1.db", Path(folder) / "64.db"
        for name, (learner, rule, stream, examples) in TASKS.items():
            same: dict[int, list[float]] = {k: [] for k in NODES}
            another: dict[int, list[float]] = {k: [] for k in NODES}
            apart: list[float] = []
            pays: list[float] = []
            for seed in range(repeats):
                for k, out in ((1, one), (64, other)):
                    train(
                        learner(), stream(seed=seed), rule=rule, examples=examples, batch=4096, warmstart=4096,
                        seed=seed, engine="simulated", nodes=k, out=out, overwrite=True,
                    )  # fmt: skip
                found = plan(one, other)
                measured = {(check.path, check.nodes): check for check in found.checks}
                for k in NODES:
                    same[k].append(measured[str(one), k].error)
                    another[k].append(measured[str(other), k].error)
                apart.append(measured[str(one), 64].measured / measured[str(other), 64].measured - 1)
                pays.append(found.pays_until)
            results.append(
                {
                    "task": name,
                    "same_run": {k: spread(each) for k, each in same.items()},
                    "another_run": {k: spread(each) for k, each in another.items()},
                    "apart": spread(apart),
                    "pays_until": spread(pays),
                }
            )
    return results


def render(results: list[Any]) -> str:
    """The table."""

    def percent(figures: dict[str, float]) -> str:
        return f"{figures['median']:+.1%} ({figures['min']:+.1%} to {figures['max']:+.1%})"

    rows = [
        [
            r["task"],
            *(percent(each) for each in r["same_run"].values()),
            percent(list(r["another_run"].values())[-1]),
            percent(r["apart"]),
            between(r["pays_until"], 0),
        ]
        for r in results
    ]
    header = [
        "fitted to a run on one node", *(f"error, k = {k}, same run" for k in NODES), "k = 64, another run",
        "the runs apart, k = 64", "nodes that pay",
    ]  # fmt: skip
    return table(header, rows)


if __name__ == "__main__":
    options = parse(__doc__ or "")
    figures = measure(options.repeats)
    finish(options, render(figures), {"plan": figures})
