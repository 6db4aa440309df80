"""Cascade sifting against exact sifting on {3,1} v {5,7}, on one core: the same model, and whole runs.

For each seed two runs, signed margin eta 0.05, gap 0.2: one with the cascade, one without; both go on to the last
example, and time to m mistakes is read off as in bench_svm. The model at the end of the run with the cascade then sifts
fresh digits, with the cascade and without, in turn: no digit twice, the same ones for both, and what they select is
compared. Scored: the share of the fresh digits that were given an exact score. Lowered: how many of the selected have a
p below what the exact score gives, because the cheap one was off by more than its guard. Times of sifting are those of
the node, without fetching; of runs, all but trying the model.

    python -m benchmarks.bench_cascade --repeats 3 --json cascade.json
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.measuring import about, between, finish, parse, reached, spent, spread, table, time_to, times_faster
from paraactive import Digits, LaSVM, train
from paraactive.data.events import Round
from paraactive.rules import SignedMargin
from paraactive.runs.run import Run
from paraactive.sifting.node import Node, Sifted

BATCH, RULE = 4096, SignedMargin(0.05, theta=0.0)
WAYS = {"cascade": True, "exact": False}


class Sizes(NamedTuple):
    """How far to go."""

    examples: int
    target: int
    fresh: int
    times: int
    """Stretches of fresh digits that are sifted."""


FULL = Sizes(36 * BATCH, 25, 8192, 5)
SMALL = Sizes(5 * BATCH, 60, 1024, 2)


def whole_run(cascade: bool, seed: int, sizes: Sizes) -> Run:
    """To the last example."""
    digits = Digits(seed=seed)
    return train(
        LaSVM(C=1, gamma=0.012, gap=0.2, cascade=cascade), digits, rule=RULE, examples=sizes.examples, batch=BATCH,
        warmstart=BATCH, seed=seed, test=digits.test(), engine="threads", nodes=1,
    )  # fmt: skip


def figures_of(run: Run, sizes: Sizes) -> dict[str, Any]:
    """Time to the target, and how the run ended."""
    return {
        "to_target": time_to(run, sizes.target),
        "seconds": spent(run.rounds),
        "mistakes": float(np.mean([tried.mistakes for tried in run.evaluations[-3:]])),
        "selected": run.selected,
        **counted(run.rounds),
    }


def counted(parts: Sequence[Round | Sifted]) -> dict[str, int]:
    """Exact scores and lowered probabilities."""
    return {"scored": sum(part.scored for part in parts), "lowered": sum(part.lowered for part in parts)}


def same_model(run: Run, seed: int, sizes: Sizes) -> dict[str, Any]:
    """One model sifts fresh digits in both ways."""
    learner: Any = run.learner
    without = LaSVM(C=1, gamma=0.012, gap=0.2, cascade=False)
    without.load(learner.save())
    learners = {"cascade": learner, "exact": without}
    nodes = {way: Node(learners[way], RULE, Digits(seed=seed), seed) for way in WAYS}
    starts = [run.seen + number * sizes.fresh for number in range(sizes.times + 1)]
    passed: dict[str, list[Sifted]] = {way: [] for way in WAYS}
    for start in starts:
        for way, node in nodes.items():
            passed[way].append(node.sift(start, start + sizes.fresh, run.seen))
    passed = {way: parts[1:] for way, parts in passed.items()}  # The first stretch warms the caches.
    count = sizes.times * sizes.fresh
    cheap, exact = passed["cascade"], passed["exact"]
    alike = [_log(a) == _log(b) for a, b in zip(cheap, exact, strict=True)]
    return {
        "vectors": learner.vectors,
        "rate": sum(len(part.selected) for part in exact) / count,
        "seconds": {way: [part.sift_seconds for part in parts] for way, parts in passed.items()},
        "times_faster": [b.sift_seconds / a.sift_seconds for a, b in zip(cheap, exact, strict=True)],
        "same_selected": sum(alike) / len(alike),
        "scored": counted(cheap)["scored"] / count,
        "lowered": counted(cheap)["lowered"],
    }


def _log(part: Sifted) -> list[tuple[int, float]]:
    return list(zip(part.selected.examples.index.tolist(), part.selected.p.tolist(), strict=True))


def measure(repeats: int, sizes: Sizes = FULL) -> dict[str, Any]:
    """Both ways, with several seeds."""
    for cascade in WAYS.values():
        train(LaSVM(gamma=0.012, gap=0.2, cascade=cascade), Digits(), examples=9000)  # compiles
    results: dict[str, Any] = {"sizes": sizes._asdict(), "runs": {way: [] for way in WAYS}, "same_model": []}
    for seed in range(repeats):
        for way, cascade in WAYS.items():
            run = whole_run(cascade, seed, sizes)
            results["runs"][way].append(figures_of(run, sizes))
            if cascade:
                results["same_model"].append(same_model(run, seed, sizes))
    return results


def _times(runs: list[Any], to_target: bool) -> list[float | None]:
    return [run["to_target"]["seconds"] if to_target else run["seconds"] for run in runs]


def render(results: dict[str, Any]) -> str:
    """Two tables: one model, and whole runs."""
    sizes, runs = Sizes(**results["sizes"]), results["runs"]
    one = [
        [
            str(seed), f"{r['vectors']:,}", f"{r['rate']:.2%}", *(between(spread(r["seconds"][way])) for way in WAYS),
            between(spread(r["times_faster"]), 1), f"{r['scored']:.1%}", str(r["lowered"]), f"{r['same_selected']:.0%}",
        ]
        for seed, r in enumerate(results["same_model"])
    ]  # fmt: skip
    header = ["seed", "vectors", "rate", "cascade, s", "exact, s", "times faster", "scored", "lowered", "same log"]
    whole: list[list[str]] = []
    for name, to_target in ((f"to {sizes.target} mistakes", True), (f"to {sizes.examples:,} examples", False)):
        cheap, exact = (_times(runs[way], to_target) for way in WAYS)
        ratio = times_faster(cheap, exact)
        whole.append([name, reached(cheap), reached(exact), about(ratio, 1)])
    ended = "; ".join(
        f"{way} {about(spread([run['mistakes'] for run in each]), 1)}, {sum(run['selected'] for run in each)} selected "
        f"and {sum(run['lowered'] for run in each)} lowered in all"
        for way, each in runs.items()
    )
    return (
        f"One model sifts {sizes.times} batches of {sizes.fresh:,} fresh digits. Times are seconds per batch; scored "
        "is the share of examples that get an exact score, lowered the number of selected examples whose p becomes "
        "smaller:\n\n"
        + table(header, one)
        + "\n\nWhole runs, means over seeds:\n\n"
        + table(["run", "cascade, s", "exact, s", "times faster"], whole)
        + f"\n\nMistakes at the end (mean of three checkpoints): {ended}."
    )


if __name__ == "__main__":
    options = parse(__doc__ or "", small=True)
    figures = measure(options.repeats, SMALL if options.small else FULL)
    finish(options, render(figures), {"cascade": figures})
