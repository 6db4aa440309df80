"""Run all benchmarks, and write benchmarks/results.json and benchmarks/RESULTS.md.

RESULTS.md and the table in the README are rendered from results.json alone: no figure is typed by hand.

python -m benchmarks            # measure all of them
python -m benchmarks nodes      # measure only the named ones again
python -m benchmarks --print    # measure nothing: print RESULTS.md as rendered from results.json
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import (
    bench_cascade,
    bench_classes,
    bench_coverage,
    bench_floor,
    bench_growth,
    bench_hashes,
    bench_iwal,
    bench_linear,
    bench_memory,
    bench_network,
    bench_nodes,
    bench_noise,
    bench_peers,
    bench_plan,
    bench_query,
    bench_score,
    bench_sift,
    bench_sound,
    bench_sparse,
    bench_startup,
    bench_stragglers,
    bench_stream,
    bench_svm,
    bench_table,
    bench_torch,
    measuring,
)
from paraactive.basics.atomic_files import atomic_write

HERE = Path(__file__).parent
BEGIN, END = "<!-- made by make bench -->", "<!-- end -->"
REPEATS = 3


class Part(NamedTuple):
    """One program: what it measures, and how its figures are shown."""

    name: str
    title: str
    measure: Callable[[], Any]
    render: Callable[[Any], str]


PARTS = (
    Part("svm", "Time to m mistakes, {3,1} v {5,7}", lambda: bench_svm.measure(REPEATS), bench_svm.render),
    Part("cascade", "Cascade against exact sifting", lambda: bench_cascade.measure(REPEATS), bench_cascade.render),
    Part("score", "Scoring against SVC.decision_function", lambda: bench_score.measure(REPEATS), bench_score.render),
    Part("network", "The network, 3 v 5, to 8 mistakes", lambda: bench_network.measure(REPEATS), bench_network.render),
    Part("peers", "What a user would pick instead", bench_peers.measure, bench_peers.render),
    Part("growth", "Growth with the examples seen", bench_growth.measure, bench_growth.render),
    Part("sparse", "Sparse rows against dense", lambda: bench_sparse.measure(REPEATS), bench_sparse.render),
    Part("startup", "Start-up", lambda: bench_startup.measure(REPEATS), bench_startup.render),
    Part("sift", "Exact scoring against sgemm", lambda: bench_sift.measure(REPEATS), bench_sift.render),
    Part("nodes", "Two nodes against one, wall time", lambda: bench_nodes.measure(REPEATS), bench_nodes.render),
    Part(
        "stragglers",
        "One slow node, to 35 mistakes",
        lambda: bench_stragglers.measure(REPEATS),
        bench_stragglers.render,
    ),
    Part("plan", "The plan against the simulation", lambda: bench_plan.measure(REPEATS), bench_plan.render),
    Part("iwal", "IWAL", lambda: bench_iwal.measure(REPEATS), bench_iwal.render),
    Part("classes", "All ten digits", bench_classes.measure, bench_classes.render),
    Part("torch", "A torch CNN on all ten digits", lambda: bench_torch.measure(REPEATS), bench_torch.render),
    Part("linear", "Linear models and networks of scikit-learn", lambda: bench_linear.measure(5), bench_linear.render),
    Part("noise", "Wrong labels", lambda: bench_noise.measure(REPEATS), bench_noise.render),
    Part("sound", "Sound on any data", bench_sound.measure, bench_sound.render),
    Part("floor", "Bounds on the weights", lambda: bench_floor.measure(REPEATS), bench_floor.render),
    Part("coverage", "Coverage of the intervals", bench_coverage.measure, bench_coverage.render),
    Part("query", "What 300 labels are worth", lambda: bench_query.measure(REPEATS), bench_query.render),
    Part("hashes", "What the hashes of a run file cost", lambda: bench_hashes.measure(7), bench_hashes.render),
    Part("memory", "Memory of ten million examples", bench_memory.measure, bench_memory.render),
    Part("table", "A Parquet file of five million rows", bench_table.measure, bench_table.render),
    Part("stream", "The digits stream", lambda: bench_stream.measure(REPEATS), bench_stream.render),
)


def render(results: Mapping[str, Any]) -> str:
    """RESULTS.md, of results.json and nothing else."""
    machines, busy = results["machines"], results.get("busy", [])
    usual = Counter(machines.values()).most_common(1)[0][0]
    text = [
        "# What was measured", "",
        f"Measured by `make bench` on one core, unless stated otherwise. Machine: {usual}.",
        f"Median of {REPEATS} (smallest-largest). Both sides of a ratio were measured in the same run.",
    ]  # fmt: skip
    for part in PARTS:
        if part.name in results:
            text += ["", f"## {part.title}", "", part.render(results[part.name])]
            if machines[part.name] != usual:
                text += ["", f"Measured on another machine: {machines[part.name]}."]
            if part.name in busy:
                text += ["", "Measured while other programs used the machine, so times are longer than alone."]
    return "\n".join(text) + "\n"


def measure(names: list[str], busy: bool) -> dict[str, Any]:
    """Measure these; the rest stays as it was measured before. Returns all results as the file has them."""
    known = HERE / "results.json"
    results: dict[str, Any] = json.loads(known.read_text()) if known.exists() else {"machines": {}}
    for part in PARTS:
        if part.name in names:
            results[part.name], results["machines"][part.name] = part.measure(), measuring.machine()
            others = [name for name in results.get("busy", []) if name != part.name]
            results["busy"] = [*others, part.name] if busy else others
            # After each: what took an hour is not lost if the next one fails.
            write(known, json.dumps(results, indent=2) + "\n")
            print(f"## {part.title}\n\n{part.render(results[part.name])}\n")
    return json.loads(known.read_text())  # In JSON, all names are strings.


def put_into_readme(rendered: str) -> None:
    """Replace the table of the README."""
    readme = HERE.parent / "README.md"
    before, rest = readme.read_text().split(BEGIN)
    _, after = rest.split(END)
    write(readme, f"{before}{BEGIN}\n{rendered}\n{END}{after}")


def write(path: Path, text: str) -> None:
    """All of it or nothing."""
    with atomic_write(path) as file:
        file.write(text.encode())


def main() -> None:
    """Measure everything, or only what is named, and write what was measured."""
    names = [part.name for part in PARTS]
    parser = argparse.ArgumentParser(description="Measure, and write results.json and RESULTS.md.")
    parser.add_argument("names", nargs="*", choices=[*names, []], metavar="NAME", help=f"one of {', '.join(names)}")
    parser.add_argument("--print", action="store_true", help="measure nothing, print RESULTS.md as results.json has it")
    parser.add_argument("--busy", action="store_true", help="note that other programs use the machine meanwhile")
    options = parser.parse_args()
    if options.print:
        print(render(json.loads((HERE / "results.json").read_text())), end="")
        return
    results = measure(options.names or names, options.busy)
    write(HERE / "RESULTS.md", render(results))
    put_into_readme(bench_svm.render_against_svc(results["svm"]))


if __name__ == "__main__":
    main()
