"""A small torch CNN on all ten digits, 100 000 of the stream: gradient rule, passive, and uniform at the same rate.

The first 60 000 are MNIST's own, the rest deformed copies. One core, one node. Updates are minibatches of the examples
learnt, so "updates" counts examples. Three seeds; the seed decides the order, the deformations, the coins and the first
weights. AdaGrad, 0.02, minibatches of 8.

    python -m benchmarks.bench_torch --repeats 3 --json torch.json
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import torch

from benchmarks.measuring import between, finish, parse, spread, table
from paraactive import Digits, train
from paraactive.learners import TorchLearner
from paraactive.learners.wrappers.small_cnn import small_cnn
from paraactive.rules import Gradient, Passive, Rule, Uniform

EXAMPLES, WARMSTART, BATCH = 100_000, 1024, 2048


def learner(seed: int) -> Any:
    """The example of the README."""
    torch.manual_seed(seed)
    return TorchLearner(small_cnn(), functools.partial(torch.optim.Adagrad, lr=0.02), minibatch=8, seed=seed)


def one(rule: Rule, seed: int, examples: int) -> dict[str, Any]:
    """A run."""
    digits = Digits.all(seed=seed, low=0.0)
    run = train(
        learner(seed), digits, rule=rule, examples=examples, warmstart=WARMSTART, batch=BATCH, seed=seed, test=True,
        engine="threads", nodes=1,
    )  # fmt: skip
    tail = [tried.mistakes for tried in run.evaluations[-3:]]
    return {
        "updates": (run.warmstart + run.selected) / run.seen, "mistakes": run.mistakes, "tail": float(np.mean(tail)),
        "seconds": run.warmstart_seconds + run.fetch_seconds + run.sift_seconds + run.update_seconds,
    }  # fmt: skip


def measure(repeats: int, examples: int = EXAMPLES) -> dict[str, Any]:
    """All rules, on the same streams."""
    gradient = [one(Gradient(scale=3.5), seed, examples) for seed in range(repeats)]
    passive = [one(Passive(), seed, examples) for seed in range(repeats)]
    rate = float(np.mean([run["updates"] for run in gradient]))
    uniform = [one(Uniform(rate), seed, examples) for seed in range(repeats)]
    return {"examples": examples, "gradient, scale 3.5": gradient, "passive": passive, f"uniform, {rate:.3f}": uniform}


def render(results: dict[str, Any]) -> str:
    """The table."""
    rows: list[list[str]] = []
    for name, runs in results.items():
        if name == "examples":
            continue
        errors = spread([run["mistakes"] / 100 for run in runs])
        tails = spread([run["tail"] / 100 for run in runs])
        updates = spread([100 * run["updates"] for run in runs])
        seconds = spread([run["seconds"] for run in runs])
        rows.append([name, between(updates, 1), between(errors), between(tails), between(seconds, 0)])
    head = ["rule", "updates, % of seen", "test error, %", "mean of the last three trials, %", "seconds"]
    return table(head, rows) + f"\n\nEach run sees {results['examples']:,} examples."


if __name__ == "__main__":
    options = parse(__doc__ or "")
    figures = measure(options.repeats)
    finish(options, render(figures), {"torch": figures})
