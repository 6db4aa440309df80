"""All programs, one after the other: writes benchmarks/results.json and benchmarks/RESULTS.md."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks import bench_memory, bench_nodes, bench_sift, bench_stragglers, bench_stream, bench_svm, measuring

HERE = Path(__file__).parent
BEGIN, END = "<!-- made by make bench -->", "<!-- end -->"


def put_into_readme(rendered: str) -> None:
    """Replace the table of the README, so that no figure there is typed by hand."""
    readme = HERE.parent / "README.md"
    before, rest = readme.read_text().split(BEGIN)
    _, after = rest.split(END)
    readme.write_text(f"{before}{BEGIN}\n{rendered}\n{END}{after}")


def main() -> None:
    """Measure everything."""
    repeats = 3
    parts: list[tuple[str, str, Any, Any]] = [
        ("Time to 35 mistakes, {3,1} v {5,7}", "svm", bench_svm.measure(repeats), bench_svm.render),
        ("Exact scoring against sgemm", "sift", bench_sift.measure(repeats), bench_sift.render),
        ("Two nodes against one, wall time", "nodes", bench_nodes.measure(repeats), bench_nodes.render),
        ("One slow node, to 35 mistakes", "stragglers", bench_stragglers.measure(repeats), bench_stragglers.render),
        ("Memory of ten million examples", "memory", bench_memory.measure(), bench_memory.render),
        ("The digits stream", "stream", bench_stream.measure(repeats), bench_stream.render),
    ]
    figures = {name: result for _, name, result, _ in parts}
    (HERE / "results.json").write_text(json.dumps({"machine": measuring.machine(), **figures}, indent=2) + "\n")
    text = [
        "# What was measured",
        "",
        f"By `make bench`, on one core unless it says otherwise, of: {measuring.machine()}.",
        f"Median of {repeats} (smallest-largest); both sides of a ratio were measured in the same run.",
    ]
    for title, _, result, render in parts:
        text += ["", f"## {title}", "", render(result)]
        print("\n".join(text[-2:]))
    (HERE / "RESULTS.md").write_text("\n".join(text) + "\n")
    put_into_readme(bench_svm.render(figures["svm"]))


if __name__ == "__main__":
    main()
