"""Importance-aware steps of the network against plain ones, on 3 v 5: mistakes for several step sizes and weights.

python -m benchmarks.bench_importance --repeats 3 --json importance.json
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.measuring import between, finish, parse, spread, table
from paraactive import Digits, Network, train
from paraactive.rules import Gradient, Passive, Rule, Uniform
from paraactive.runs.run import Run

EXAMPLES, BATCH = 81_920, 4096
STEPS = (0.03, 0.07, 0.2, 0.5)
RULES: dict[str, Rule] = {
    "passive (weights 1)": Passive(),
    "gradient (weights to 100)": Gradient(),
    "uniform 1% (weights 100)": Uniform(0.01),
}


def one(rule: Rule, step: float, aware: bool, seed: int) -> Run:
    """A run of the network task."""
    return train(
        Network(step=step, seed=seed, importance_aware=aware), Digits((5,), (3,), seed=seed, low=0.0), rule=rule,
        examples=EXAMPLES, batch=BATCH, warmstart=BATCH, test=True, seed=seed, engine="threads", nodes=1,
    )  # fmt: skip


def measure(repeats: int) -> list[Any]:
    """Mistakes (mean of the last three checkpoints) and microseconds of an update, over seeds."""
    results: list[Any] = []
    for name, rule in RULES.items():
        for step in STEPS:
            row: dict[str, Any] = {"rule": name, "step": step}
            for aware in (False, True):
                runs = [one(rule, step, aware, seed) for seed in range(repeats)]
                row["aware" if aware else "plain"] = {
                    "mistakes": spread([float(np.mean([e.mistakes for e in run.evaluations[-3:]])) for run in runs]),
                    "microseconds": spread([1e6 * run.update_seconds / run.selected for run in runs]),
                }
            results.append(row)
    return results


def render(results: list[Any]) -> str:
    """The table."""
    rows = [
        [
            r["rule"],
            f"{r['step']:g}",
            *(between(r[kind]["mistakes"], 1) for kind in ("plain", "aware")),
            *(between(r[kind]["microseconds"], 0) for kind in ("plain", "aware")),
        ]
        for r in results
    ]
    header = ["rule", "step", "plain: mistakes", "aware: mistakes", "plain: µs an update", "aware: µs an update"]
    return f"Mistakes of 1 902 after {EXAMPLES:,} examples:\n\n" + table(header, rows)


if __name__ == "__main__":
    options = parse(__doc__ or "")
    figures = measure(options.repeats)
    finish(options, render(figures), {"importance": figures})
