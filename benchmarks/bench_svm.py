"""Time to m mistakes on {3,1} v {5,7}, on one core: sifted against our own passive run. `bench_svc` has SVC.

The time is all of it (warmstart, fetching, sifting, updating) except counting the mistakes. Time to m mistakes: the
first checkpoint at which the mean over it and its two neighbors is at most m; mean over seeds. All targets are read off
one run for each seed and kind, which goes on until the last of them.

Simulated: one pass times the portions of k nodes for all k. A node fetches and sifts its portion, the largest is waited
for, and all learn. It sifts in small pieces, which takes a little longer: at k = 1 the real node is faster. Sequential
passive is the passive rule on one node, in real time; fetching counts on both sides. Rounds and warmstart are of 4096
examples, gap 0.2; small rounds are of 2048 after a warmstart of 1024, gap 0.1.

    python -m benchmarks.bench_svm --repeats 3 --json svm.json
"""

from __future__ import annotations

from typing import Any, NamedTuple

from benchmarks.measuring import (
    about,
    finish,
    first_reached,
    parse,
    reached,
    spread,
    table,
    time_to,
    times_faster,
)
from paraactive import Digits, LaSVM, train
from paraactive.rules import PaperMargin, Passive, Rule, SignedMargin

BATCH, GAMMA = 4096, 0.012
NODES = (1, 2, 4, 8, 16, 32, 64)


class Sizes(NamedTuple):
    """How far to go."""

    targets: tuple[int, ...]
    """Mistakes; the last ends a run. Nodes are compared at the last that every run reaches."""
    most: int
    """Examples after which a run gives up."""
    most_passive: int


FULL = Sizes((33, 25, 18), 100 * BATCH, 48 * BATCH)
SMALL = Sizes((80, 70, 60), 6 * BATCH, 4 * BATCH)


class Kind(NamedTuple):
    """What runs."""

    rule: Rule
    gap: float | None
    cascade: bool
    engine: str = "threads"
    batch: int = BATCH
    warmstart: int = BATCH


SIGNED, PAPER = SignedMargin(0.2), PaperMargin(0.1)
KINDS = {
    "signed margin, cascade, small rounds": Kind(SIGNED, 0.1, True, batch=2048, warmstart=1024),
    "signed margin, cascade": Kind(SIGNED, 0.2, True),
    "signed margin, exact": Kind(SIGNED, 0.2, False),
    "the paper's margin, exact": Kind(PAPER, None, False),
    "passive": Kind(Passive(), None, False),
}
SIMULATED = {
    "signed margin, cascade, small rounds": Kind(SIGNED, 0.1, True, "simulated", batch=2048, warmstart=1024),
    "signed margin, cascade": Kind(SIGNED, 0.2, True, "simulated"),
    "signed margin, exact": Kind(SIGNED, 0.2, False, "simulated"),
    "the paper's margin, exact": Kind(PAPER, None, False, "simulated"),
}


def one(kind: Kind, seed: int, sizes: Sizes) -> list[dict[str, Any]]:
    """One run, until the last target: for each target what it took, and if simulated, for each number of nodes."""
    digits, last = Digits(seed=seed), sizes.targets[-1]
    run = train(
        LaSVM(C=1, gamma=GAMMA, gap=kind.gap, cascade=kind.cascade), digits, rule=kind.rule,
        examples=sizes.most_passive if isinstance(kind.rule, Passive) else sizes.most, batch=kind.batch,
        warmstart=kind.warmstart,
        seed=seed, test=digits.test(), stop=lambda run: first_reached(run, last) is not None, engine=kind.engine,
        nodes=1,
    )  # fmt: skip
    found: list[dict[str, Any]] = []
    for target in sizes.targets:
        figures = time_to(run, target)
        if kind.engine == "simulated" and figures["seconds"] is not None:
            figures["simulated"] = {str(k): time_to(run, target, k)["seconds"] for k in NODES}
        found.append(figures)
    return found


def measure(repeats: int, sizes: Sizes = FULL) -> dict[str, Any]:
    """All sides, each of ours with several seeds."""
    for cascade in (False, True):
        train(LaSVM(gamma=GAMMA, gap=0.2, cascade=cascade), Digits(), examples=9000)  # compiles
    results: dict[str, Any] = {"targets": sizes.targets}
    for part, kinds in (("ours", KINDS), ("simulated", SIMULATED)):
        results[part] = {name: [one(kind, seed, sizes) for seed in range(repeats)] for name, kind in kinds.items()}
    return results


def taken(runs: list[Any], place: int, nodes: int | None = None) -> list[float | None]:
    """Seconds to the target of that place, of each seed."""
    found = [run[place] for run in runs]
    if nodes is None:
        return [each["seconds"] for each in found]
    return [each["simulated"][str(nodes)] if "simulated" in each else None for each in found]


def _to_targets(results: dict[str, Any]) -> list[list[str]]:
    rows: list[list[str]] = []
    for place, target in enumerate(results["targets"]):
        passive = taken(results["ours"]["passive"], place)
        for name, runs in results["ours"].items():
            times = taken(runs, place)
            seen = about(spread([run[place]["seen"] for run in runs]), 0)
            rows.append([str(target), name, seen, reached(times), about(times_faster(times, passive), 1)])
    return rows


def common_target(results: dict[str, Any]) -> int:
    """Place of the last target that all runs reach, also the simulated ones; the first if there is none."""
    sides = [runs for part in ("ours", "simulated") for runs in results[part].values()]
    places = range(len(results["targets"]))
    return max((place for place in places if all(None not in taken(runs, place) for runs in sides)), default=0)


def _against_passive(results: dict[str, Any]) -> list[list[str]]:
    last = common_target(results)
    passive = taken(results["ours"]["passive"], last)
    rows = [["passive", reached(passive), "1", *("" for _ in NODES)]]
    for name, runs in results["simulated"].items():
        real = taken(results["ours"][name], last)
        simulated = [times_faster(taken(runs, last, k), passive) for k in NODES]
        means = [f"{ratio['mean']:.1f}" if ratio else "" for ratio in simulated[:-1]]
        rows.append([name, reached(real), about(times_faster(real, passive), 1), *means, about(simulated[-1], 1)])
    return rows


def render(results: dict[str, Any]) -> str:
    """Two tables: on one node, and on simulated ones."""
    first = table(["to mistakes", "learner", "examples", "seconds", "times faster than passive"], _to_targets(results))
    own = table(["learner", "1 node, s", "times faster", *(f"k = {k}" for k in NODES)], _against_passive(results))
    target = results["targets"][common_target(results)]
    return (
        f"{first}\n\nOn simulated nodes, to {target} mistakes, against our own sequential passive run:\n\n{own}\n\n"
        "The columns of k give how many times faster than passive the run is on k simulated nodes. Means over seeds "
        "(smallest-largest). Times include fetching; on k simulated nodes, 1/k of it."
    )


if __name__ == "__main__":
    options = parse(__doc__ or "", small=True)
    figures = measure(options.repeats, SMALL if options.small else FULL)
    finish(options, render(figures), {"svm": figures})
