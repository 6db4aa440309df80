"""How far off `paraactive plan` is: from a run on one simulated node to the paper's simulation of 64, another run.

python -m benchmarks.bench_plan --repeats 3 --json plan.json
"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.measuring import between, finish, parse, spread, table
from paraactive import Digits, LaSVM, Network, train
from paraactive.rules import Gradient, Margin, SignedMargin
from paraactive.theory import plan

NODES = (1, 8, 64)
TASKS: dict[str, tuple[Any, Any, Any, int]] = {
    "svm, signed margin": (lambda: LaSVM(gamma=0.012, gap=0.2), SignedMargin(0.05), Digits, 102_400),
    "svm, margin (the paper's)": (lambda: LaSVM(gamma=0.012), Margin(0.1), Digits, 102_400),
    "network, gradient": (Network, Gradient(), partial(Digits, (5,), (3,), low=0.0), 204_800),
}


def measure(repeats: int) -> list[Any]:
    """The error of the prediction for each task and several k, over seeds."""
    results: list[Any] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (learner, rule, stream, examples) in TASKS.items():
            errors: dict[int, list[float]] = {k: [] for k in NODES}
            pays: list[float] = []
            for seed in range(repeats):
                for k in (1, 64):
                    train(
                        learner(), stream(seed=seed), rule=rule, examples=examples, batch=4096, warmstart=4096,
                        seed=seed, engine="simulated", nodes=k, out=Path(folder) / f"{k}.db", overwrite=True,
                    )  # fmt: skip
                found = plan(Path(folder) / "1.db", Path(folder) / "64.db")
                pays.append(found.pays_until)
                for check in found.checks:
                    if check.path.endswith("64.db") and check.nodes in NODES:
                        errors[check.nodes].append(check.error)
            results.append(
                {"task": name, "errors": {k: spread(each) for k, each in errors.items()}, "pays_until": spread(pays)}
            )
    return results


def render(results: list[Any]) -> str:
    """The table."""

    def percent(figures: dict[str, float]) -> str:
        return f"{figures['median']:+.1%} ({figures['min']:+.1%} to {figures['max']:+.1%})"

    rows = [
        [r["task"], *(percent(each) for each in r["errors"].values()), between(r["pays_until"], 0)] for r in results
    ]
    return table(["fitted to a run on one node", *(f"error at k = {k}" for k in NODES), "nodes that pay"], rows)


if __name__ == "__main__":
    options = parse(__doc__ or "")
    figures = measure(options.repeats)
    finish(options, render(figures), {"plan": figures})
