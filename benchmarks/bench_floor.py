"""Which bound on the weights is the default: lower bounds on p, and a cap on the weights, on 22 data sets.

At most 10 000 rows of each data set of `bench_sound` are learned. The default was chosen by this table. The last two
columns are of the steep rule of paraactive 0.2, which does not know the noise.

    python -m benchmarks.bench_floor --repeats 3 --json floor.json
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.datasets import DATA_SETS, named
from benchmarks.measuring import finish, on_all_cores, parse, table
from benchmarks.sound_ways import confusion_error
from paraactive import LaSVM, ParaActiveClassifier
from paraactive.learners import Guarded
from paraactive.rules import LeastMargin, SignedMargin

ROWS = 10_000
AUTO = "auto, 1/sqrt(n)"
POLICIES: dict[str, dict[str, Any]] = {
    "none": {"floor": None}, "0.01": {"floor": 0.01}, "0.05": {"floor": 0.05}, AUTO: {"floor": "auto"},
    "none, weights at most 10": {"floor": None, "learner": Guarded(LaSVM(gap=0.2), cap=10)},
    "none, steep rule": {"floor": None, "eta": 0.05}, "auto, steep rule": {"floor": "auto", "eta": 0.05},
}  # fmt: skip


def _one(data_set: str, seed: int) -> dict[str, dict[str, float]]:
    data, found = named(data_set), dict[str, dict[str, float]]()
    split = data.split(seed, ROWS)
    for name, policy in POLICIES.items():
        options: dict[str, Any] = {"class_weight": "balanced"} if data.balanced else {}
        options |= {option: value for option, value in policy.items() if option != "eta"}
        if "eta" in policy:
            options["rule"] = (SignedMargin if data.classes == 2 else LeastMargin)(policy["eta"], theta=0)
        clf = ParaActiveClassifier(random_state=seed, **options).fit(split.x, split.y)
        known = clf.run_.estimates
        found[name] = {
            "error": confusion_error(split.test_y, clf.predict(split.test_x), data.balanced),
            "rate": clf.sampling_rate_,
            "effective": known.effective_size / known.selected if known is not None and known.selected else 1.0,
        }
    return found


def measure(repeats: int) -> dict[str, list[Any]]:
    """Errors, sampling rates and effective sizes by data set; a seed for each repeat."""
    names = [data.name for data in DATA_SETS for _ in range(repeats)]
    found = on_all_cores(_one, names, [*range(repeats)] * len(DATA_SETS))
    return {name: found[names.index(name) : names.index(name) + repeats] for name in dict.fromkeys(names)}


def render(results: dict[str, list[Any]]) -> str:
    """The table, and how often each policy is within the standard error of the best one."""
    rows, near = list[list[str]](), dict.fromkeys(POLICIES, 0)
    for name, runs in results.items():
        errors = {policy: np.array([run[policy]["error"] for run in runs]) for policy in POLICIES}
        best = min(each.mean() for each in errors.values())
        for policy, each in errors.items():
            off = float(np.std([run[policy]["error"] for run in runs], ddof=1)) / len(runs) ** 0.5
            near[policy] += bool(each.mean() <= best + off)
        effective = np.mean([run[AUTO]["effective"] for run in runs])
        rate = np.mean([run[AUTO]["rate"] for run in runs])
        rows.append(
            [name, *(f"{100 * each.mean():.2f}" for each in errors.values()), f"{rate:.0%}", f"{effective:.0%}"]
        )
    rows.append(["within its standard error of the best", *(str(each) for each in near.values()), "", ""])
    count = len(next(iter(results.values())))
    return table(["test error, %, with floor", *POLICIES, "learned", "effective size"], rows) + (
        f"\n\nMean of {count} seeds, at most {ROWS:,} rows learned. learned and effective size (in parts of the number "
        f"selected) are with {AUTO}."
    )


if __name__ == "__main__":
    options = parse(__doc__ or "")
    figures = measure(options.repeats)
    finish(options, render(figures), {"floor": figures})
