"""Wrong labels: one in ten training labels is flipped, no test label is. Passive, active, and active with a guard.

Mistakes are means over the last three checkpoints of a run, and then over seeds; all runs see as many examples.

    python -m benchmarks.bench_noise --repeats 3 --json noise.json
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.measuring import finish, on_all_cores, parse, table
from paraactive import Digits, LaSVM, Network, train
from paraactive.experiments.noise import FlippedLabels
from paraactive.learners import Learner
from paraactive.rules import Gradient, Passive, Rule, SignedMargin
from paraactive.runs.run import Run
from paraactive.sifting.guard import Guard

NOISE, BATCH = 0.1, 4096


@dataclass(frozen=True)
class Task:
    """A learner, its digits and its rule."""

    name: str
    examples: int
    learner: Callable[[int], Learner]
    digits: Callable[[int], Digits]
    rule: Rule
    parts: dict[str, Guard]
    """Each part of a guard by itself."""


TASKS = (
    # A passive SVM makes a vector of every wrong label: 14 500 after 24 576 examples, a matter of minutes.
    Task(
        "SVM, {3,1} v {5,7}", 24_576, lambda _: LaSVM(C=1, gamma=0.012, gap=0.2), lambda seed: Digits(seed=seed),
        SignedMargin(0.05),
        {
            "floor 0.01": Guard(0.01, None, None), "cap 10": Guard(None, 10, None),
            "set aside 0.3": Guard(None, None, 0.3),
        },
    ),
    Task(
        "network, 3 v 5", 81_920, lambda seed: Network(seed=seed), lambda seed: Digits((5,), (3,), seed=seed, low=0.0),
        Gradient(),
        {"floor 0.1": Guard(0.1, None, None), "cap 10": Guard(None, 10, None), "set aside 1": Guard(None, None, 1.0)},
    ),
)  # fmt: skip


def ways(task: Task, noise: float) -> dict[str, tuple[Rule, Guard | None]]:
    """By name; on right labels only passive, active and the guard by default."""
    main: dict[str, tuple[Rule, Guard | None]] = {
        "passive": (Passive(), None), "active": (task.rule, None), "active, Guard()": (task.rule, Guard()),
    }  # fmt: skip
    parts = {f"active, {name}": (task.rule, guard) for name, guard in task.parts.items()}
    return main | parts if noise else main


def one(number: int, way: str, noise: float, seed: int) -> dict[str, Any]:
    """A run of one kind, of the task with this number."""
    task = TASKS[number]
    rule, guard = ways(task, noise)[way]
    digits = task.digits(seed)
    stream = FlippedLabels(digits, noise, seed) if noise else digits
    run = train(
        task.learner(seed), stream, rule=rule, guard=guard, examples=task.examples, batch=BATCH, warmstart=BATCH,
        test=digits.test(), seed=seed, engine="threads", nodes=1,
    )  # fmt: skip
    return _figures(run, noise, seed)


def measure(repeats: int) -> list[Any]:
    """Every way on every task."""
    kinds = [
        (number, way, noise)
        for number, task in enumerate(TASKS)
        for noise in (NOISE, 0.0)
        for way in ways(task, noise)
    ]  # fmt: skip
    runs = on_all_cores(one, *zip(*((*kind, seed) for kind in kinds for seed in range(repeats)), strict=True))
    return [
        {"task": TASKS[number].name, "noise": noise, "way": way, "runs": runs[place * repeats : (place + 1) * repeats]}
        for place, (number, way, noise) in enumerate(kinds)
    ]


def _figures(run: Run, noise: float, seed: int) -> dict[str, Any]:
    learner: Any = run.learner
    keys = getattr(learner, "set_aside_keys", np.zeros(0, np.int64))
    flipped = FlippedLabels(Digits(), noise, seed).flipped(keys) if noise and len(keys) else None
    return {
        "mistakes": float(np.mean([tried.mistakes for tried in run.evaluations[-3:]])),
        "last": run.mistakes,
        "rate": run.sampling_rate,
        "heaviest": run.heaviest(1)[0].weight,
        "set_aside": getattr(learner, "set_aside_count", 0),
        "flipped_of_set_aside": None if flipped is None else float(flipped.mean()),
    }


def _row(result: Any, results: list[Any]) -> list[str]:
    runs, mistakes = result["runs"], [run["mistakes"] for run in result["runs"]]
    (passive,) = (
        other["runs"] for other in results
        if (other["task"], other["noise"], other["way"]) == (result["task"], result["noise"], "passive")
    )  # fmt: skip
    ratio = _mean(runs, "mistakes") / _mean(passive, "mistakes")
    found = [run["flipped_of_set_aside"] for run in runs if run["flipped_of_set_aside"] is not None]
    return [
        result["task"], f"{result['noise']:.0%}", result["way"],
        f"{statistics.mean(mistakes):.1f} ({min(mistakes):.1f}-{max(mistakes):.1f})", f"{ratio:.2f}",
        f"{_mean(runs, 'rate'):.3f}", f"{max(run['heaviest'] for run in runs):,.0f}",
        f"{_mean(runs, 'set_aside'):.0f}", f"{statistics.mean(found):.0%}" if found else "",
    ]  # fmt: skip


def _mean(runs: list[Any], name: str) -> float:
    return statistics.mean(run[name] for run in runs)


def render(results: list[Any]) -> str:
    """The table."""
    header = [
        "task", "wrong labels", "way", "mistakes", "of passive's", "sampling rate", "heaviest", "set aside",
        "flipped of those listed",
    ]  # fmt: skip
    seen = ", ".join(f"{task.examples:,} examples ({task.name})" for task in TASKS)
    return f"Mistakes after {seen}:\n\n" + table(header, [_row(result, results) for result in results])


if __name__ == "__main__":
    options = parse(__doc__ or "")
    figures = measure(options.repeats)
    finish(options, render(figures), {"noise": figures})
