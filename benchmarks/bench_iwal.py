"""Algorithm 3 on a million steps and a thousand hypotheses, on one core; and IWAL as a rule, beside the others.

python -m benchmarks.bench_iwal --repeats 3 --json iwal.json
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.measuring import between, finish, parse, seconds, spread, table
from paraactive import Digits, LaSVM, train
from paraactive.rules import IwalMargin, PaperMargin, Rule, SignedMargin, Uniform
from paraactive.theory import Iwal, Thresholds, random_delays, round_delays

STEPS, HYPOTHESES = 1_000_000, 1000
EXAMPLES, BATCH = 102_400, 4096


def algorithm(repeats: int) -> list[Any]:
    """Seconds and labels of Algorithm 3, for several kinds of delays."""
    rng = np.random.default_rng(0)
    x = rng.random(STEPS)
    y = (x > 0.4) ^ (rng.random(STEPS) < 0.05)
    cuts, iwal = Thresholds(np.linspace(0, 1, HYPOTHESES)), Iwal(2)
    iwal.run(cuts.on(x[:10]), y[:10])  # compiles
    kinds: dict[str, Any] = {
        "none": 1,
        "rounds of 4096": round_delays(4096, STEPS),
        "random, mean 1000": random_delays(1000, STEPS, seed=0),
    }
    results: list[Any] = []
    for name, delays in kinds.items():
        work = partial(iwal.run, cuts.on(x), y, delays=delays)
        results.append(
            {"delays": name, "seconds": spread([seconds(work) for _ in range(repeats)]), "labels": work().queries}
        )
    return results


def rules(repeats: int) -> list[Any]:
    """Rate, mistakes (mean of the last three checkpoints) and seconds on the SVM task, over seeds."""
    kinds: dict[str, Rule] = {
        "iwal, C0 2": IwalMargin(2),
        "iwal, C0 8": IwalMargin(8),
        "uniform, at the rate of iwal, C0 2": Uniform(0.06),
        "margin, eta 0.1 (the paper's)": PaperMargin(0.1),
        "signed margin, eta 0.05 (sees labels)": SignedMargin(0.05, theta=0.0),
    }
    results: list[Any] = []
    for name, rule in kinds.items():
        runs = [
            train(
                LaSVM(gamma=0.012, gap=0.2), Digits(seed=seed), rule=rule, examples=EXAMPLES, batch=BATCH,
                warmstart=BATCH, test=True, seed=seed, engine="threads", nodes=1,
            )
            for seed in range(repeats)
        ]  # fmt: skip
        results.append(
            {
                "rule": name,
                "rate": spread([run.sampling_rate for run in runs]),
                "mistakes": spread([float(np.mean([e.mistakes for e in run.evaluations[-3:]])) for run in runs]),
                "seconds": spread([run.wall_seconds for run in runs]),
            }
        )
    return results


def measure(repeats: int) -> dict[str, Any]:
    """Both."""
    return {"algorithm": algorithm(repeats), "rules": rules(repeats)}


def render(results: dict[str, Any]) -> str:
    """The tables."""
    steps = table(
        ["delays", "seconds", "labels asked for"],
        [[r["delays"], between(r["seconds"]), f"{r['labels']:,}"] for r in results["algorithm"]],
    )
    chosen = table(
        ["rule", "sampling rate", "mistakes", "seconds"],
        [
            [r["rule"], between(r["rate"], 3), between(r["mistakes"], 1), between(r["seconds"], 1)]
            for r in results["rules"]
        ],
    )
    return (
        f"{STEPS:,} steps, {HYPOTHESES:,} thresholds:\n\n{steps}\n\n"
        f"As a rule for LASVM, {{3,1}} v {{5,7}}, {EXAMPLES:,} examples:\n\n{chosen}"
    )


if __name__ == "__main__":
    options = parse(__doc__ or "")
    figures = measure(options.repeats)
    finish(options, render(figures), {"iwal": figures})
