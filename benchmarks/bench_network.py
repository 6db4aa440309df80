"""The network, 3 v 5, time to 8 mistakes (of 1 902), on one core: gradient rule and the paper's margin against passive.

Time to m mistakes as in bench_svm, all of it counted except trying the model; mean over seeds. At k = 1 the runs are
real, on one node in a thread. Simulated: the same runs once more, whose rounds are timed for several k at once; a node
fetches and sifts its portion, and all learn what was selected. That learning does not get less with more nodes, which
is why the paper's rule, which selects much, stops paying early.

    python -m benchmarks.bench_network --repeats 3 --json network.json
"""

from __future__ import annotations

from typing import Any, NamedTuple

from benchmarks.measuring import about, finish, first_reached, parse, reached, spread, table, time_to, times_faster
from paraactive import Digits, Network, train
from paraactive.rules import Gradient, PaperMargin, Passive, Rule

BATCH = 4096
NODES = (1, 2, 4, 8, 16, 32, 64)
RULES: dict[str, Rule] = {
    "gradient": Gradient(),
    "gradient, scale 6": Gradient(6.0),
    "gradient, scale 8": Gradient(8.0),
    "the paper's margin, eta 0.0005": PaperMargin(0.0005),
    "passive": Passive(),
}


class Sizes(NamedTuple):
    """How far to go."""

    target: int
    most: int


FULL = Sizes(8, 240 * BATCH)
SMALL = Sizes(40, 12 * BATCH)


def one(rule: Rule, engine: str, seed: int, sizes: Sizes) -> dict[str, Any]:
    """One run until it is there."""
    digits = Digits((5,), (3,), seed=seed, low=0.0)
    run = train(
        Network(seed=seed), digits, rule=rule, examples=sizes.most, batch=BATCH, warmstart=BATCH, seed=seed,
        test=digits.test(), stop=lambda run: first_reached(run, sizes.target) is not None, engine=engine, nodes=1,
    )  # fmt: skip
    found = time_to(run, sizes.target)
    if engine == "simulated":
        found["simulated"] = {str(k): time_to(run, sizes.target, k)["seconds"] for k in NODES}
    return found


def measure(repeats: int, sizes: Sizes = FULL) -> dict[str, Any]:
    """Each rule, for real and simulated, with several seeds."""
    for rule in RULES.values():
        train(Network(), Digits((5,), (3,), low=0.0), rule=rule, examples=6000)  # compiles
    results: dict[str, Any] = {"target": sizes.target}
    for part, engine in (("real", "threads"), ("simulated", "simulated")):
        results[part] = {
            name: [one(rule, engine, seed, sizes) for seed in range(repeats)]
            for name, rule in RULES.items()
            if engine == "threads" or not isinstance(rule, Passive)
        }
    return results


def _seconds(runs: list[Any]) -> list[float | None]:
    return [run["seconds"] for run in runs]


def _without_fetching(runs: list[Any]) -> list[float | None]:
    """As on the paper's clock: making digits is the same work for all, and not learning."""
    return [None if run["seconds"] is None else run["seconds"] - run["fetching"] for run in runs]


def render(results: dict[str, Any]) -> str:
    """Two tables: one node, and simulated ones."""
    passive, rows = _seconds(results["real"]["passive"]), list[list[str]]()
    for name, runs in results["real"].items():
        times = _seconds(runs)
        rows.append(
            [
                name, about(spread([run["seen"] for run in runs]), 0),
                "" if None in times else f"{sum(run['rate'] for run in runs) / len(runs):.1%}", reached(times),
                about(times_faster(times, passive), 1),
                about(times_faster(_without_fetching(runs), _without_fetching(results["real"]["passive"])), 1),
            ]
        )  # fmt: skip
    heads = ["rule", "examples", "selected", "seconds", "times faster than passive", "without fetching"]
    first = table(heads, rows)
    speedups: list[list[str]] = []
    for name, runs in results["simulated"].items():
        by_nodes = {k: [run["simulated"][str(k)] for run in runs] for k in NODES}
        for than, theirs in (("passive", passive), ("its own k = 1", by_nodes[1])):
            ratios = [times_faster(by_nodes[k], theirs) for k in NODES]
            speedups.append([name, than, *(f"{ratio['mean']:.1f}" if ratio else "" for ratio in ratios)])
    second = table(["rule", "times faster than", *(f"k = {k}" for k in NODES)], speedups)
    return (
        f"To {results['target']} mistakes of 1 902, one node:\n\n{first}\n\n"
        f"Simulated nodes, ratios of means over seeds:\n\n{second}"
    )


if __name__ == "__main__":
    options = parse(__doc__ or "", small=True)
    figures = measure(options.repeats, SMALL if options.small else FULL)
    finish(options, render(figures), {"network": figures})
