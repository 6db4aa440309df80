"""All programs, one after the other: writes benchmarks/results.json and benchmarks/RESULTS.md.

python -m benchmarks            # all of them
python -m benchmarks nodes      # only these anew
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import (
    bench_cascade,
    bench_classes,
    bench_growth,
    bench_importance,
    bench_iwal,
    bench_memory,
    bench_network,
    bench_nodes,
    bench_noise,
    bench_peers,
    bench_plan,
    bench_score,
    bench_sift,
    bench_sparse,
    bench_startup,
    bench_stragglers,
    bench_stream,
    bench_svm,
    bench_table,
    bench_torch,
    measuring,
)

HERE = Path(__file__).parent
BEGIN, END = "<!-- made by make bench -->", "<!-- end -->"


def put_into_readme(rendered: str) -> None:
    """Replace the table of the README, so that no figure there is typed by hand."""
    readme = HERE.parent / "README.md"
    before, rest = readme.read_text().split(BEGIN)
    _, after = rest.split(END)
    readme.write_text(f"{before}{BEGIN}\n{rendered}\n{END}{after}")


def main() -> None:
    """Measure everything, or only what is named; the rest stays as it was measured before."""
    repeats = 3
    parts: list[tuple[str, str, Callable[[], Any], Callable[[Any], str]]] = [
        ("svm", "Time to m mistakes, {3,1} v {5,7}", lambda: bench_svm.measure(repeats), bench_svm.render),
        ("cascade", "Cascade against exact sifting", lambda: bench_cascade.measure(repeats), bench_cascade.render),
        ("score", "Scoring against SVC.decision_function", lambda: bench_score.measure(repeats), bench_score.render),
        ("network", "The network, 3 v 5, to 8 mistakes", lambda: bench_network.measure(repeats), bench_network.render),
        ("peers", "What a user would pick instead", bench_peers.measure, bench_peers.render),
        ("growth", "Growth with the examples seen", bench_growth.measure, bench_growth.render),
        ("sparse", "Sparse rows against dense", lambda: bench_sparse.measure(repeats), bench_sparse.render),
        ("startup", "Start-up", lambda: bench_startup.measure(repeats), bench_startup.render),
        ("sift", "Exact scoring against sgemm", lambda: bench_sift.measure(repeats), bench_sift.render),
        ("nodes", "Two nodes against one, wall time", lambda: bench_nodes.measure(repeats), bench_nodes.render),
        (
            "stragglers",
            "One slow node, to 35 mistakes",
            lambda: bench_stragglers.measure(repeats),
            bench_stragglers.render,
        ),
        ("plan", "The plan against the simulation", lambda: bench_plan.measure(repeats), bench_plan.render),
        ("iwal", "IWAL", lambda: bench_iwal.measure(repeats), bench_iwal.render),
        (
            "importance",
            "Importance-aware steps of the network",
            lambda: bench_importance.measure(repeats),
            bench_importance.render,
        ),
        ("classes", "All ten digits", bench_classes.measure, bench_classes.render),
        ("torch", "A torch CNN on all ten digits", lambda: bench_torch.measure(repeats), bench_torch.render),
        ("noise", "Wrong labels", lambda: bench_noise.measure(repeats), bench_noise.render),
        ("memory", "Memory of ten million examples", bench_memory.measure, bench_memory.render),
        ("table", "A Parquet file of five million rows", bench_table.measure, bench_table.render),
        ("stream", "The digits stream", lambda: bench_stream.measure(repeats), bench_stream.render),
    ]
    known = HERE / "results.json"
    wanted = set(sys.argv[1:]) or {name for name, *_ in parts}
    before = json.loads(known.read_text()) if known.exists() else {}
    parts = [part for part in parts if part[0] in wanted or part[0] in before]
    figures: dict[str, Any] = {name: before[name] for name, *_ in parts if name not in wanted}
    here, machines = measuring.machine(), dict[str, str](before.get("machines", {}))
    for name, _, measure, _ in parts:
        if name in wanted:
            figures[name], machines[name] = measure(), here
            # After each: what took an hour is not lost if the next one fails.
            known.write_text(json.dumps({**before, **figures, "machines": machines}, indent=2) + "\n")
    text = [
        "# What was measured",
        "",
        f"By `make bench`, on one core unless it says otherwise, of: {here}.",
        f"Median of {repeats} (smallest-largest); both sides of a ratio were measured in the same run.",
    ]
    for name, title, _, render in parts:
        text += ["", f"## {title}", "", render(figures[name])]
        if machines.get(name, here) != here:
            text[-1] += f"\n\nMeasured on another machine: {machines[name]}."
        print("\n".join(text[-2:]))
    (HERE / "RESULTS.md").write_text("\n".join(text) + "\n")
    put_into_readme(bench_svm.render(figures["svm"]))


if __name__ == "__main__":
    main()
