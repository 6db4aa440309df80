"""Two nodes against one, for real: the wall time of a sift-bound SVM run on the threads engine.

python -m benchmarks.bench_nodes --repeats 3 --json nodes.json
"""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks.measuring import between, finish, parse, seconds, spread, table
from paraactive import Digits, LaSVM, train
from paraactive.rules import SignedMargin

EXAMPLES = 20 * 4096


def run(nodes: int) -> None:
    """One run; at 80 000 examples nine tenths of its time is sifting."""
    train(LaSVM(gamma=0.012, gap=0.2), Digits(), rule=SignedMargin(), examples=EXAMPLES, nodes=nodes, engine="threads")


def measure(repeats: int) -> dict[str, Any]:
    """Wall times of one and two nodes, in turn, and their ratios."""
    train(LaSVM(gamma=0.012, gap=0.2), Digits(), examples=2000)  # compiles
    times = [(seconds(partial(run, 1)), seconds(partial(run, 2))) for _ in range(repeats)]
    return {
        "one": spread([one for one, _ in times]),
        "two": spread([two for _, two in times]),
        "times_faster": spread([one / two for one, two in times]),
    }


def render(results: dict[str, Any]) -> str:
    """The table."""
    return table(
        ["engine", "1 node, s", "2 nodes, s", "times faster"],
        [["threads", between(results["one"]), between(results["two"]), between(results["times_faster"])]],
    )


if __name__ == "__main__":
    options = parse(__doc__ or "")
    figures = measure(options.repeats)
    finish(options, render(figures), {"nodes": figures})
