"""Run all benchmarks, and write benchmarks/results.json and benchmarks/RESULTS.md.

RESULTS.md, the table and the picture of the README, and the tables of the documentation are made from results.json
alone: no figure is typed by hand. results.json says of each part with which commit, on which machine, when and by which
command it was measured. Parts of another commit or machine than the first one are shown apart from it.

python -m benchmarks            # measure all of them: hours
python -m benchmarks nodes      # measure only the named ones again
python -m benchmarks --missing  # only those of another commit or machine: go on after a stop
python -m benchmarks --quick    # smaller sizes, ten minutes in all, into .venv/quick
python -m benchmarks --print    # measure nothing: print RESULTS.md as rendered from results.json
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import (
    bench_cascade,
    bench_classes,
    bench_coverage,
    bench_curves,
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
    bench_sift,
    bench_sound,
    bench_sparse,
    bench_startup,
    bench_stragglers,
    bench_stream,
    bench_svc,
    bench_svm,
    bench_table,
    bench_torch,
    provenance,
)
from benchmarks.peers_table import render as render_peers
from paraactive.basics.atomic_files import atomic_write
from paraactive.report.figures import save_figure

HERE = Path(__file__).parent
QUICK = HERE.parent / ".venv" / "quick"
BEGIN, END = "<!-- made by make bench -->", "<!-- end -->"
REPEATS = 3


class Part(NamedTuple):
    """One program: what it measures, and how its figures are shown."""

    name: str
    title: str
    measure: Callable[[], Any]
    render: Callable[[Any], str]
    quick: Callable[[], Any] | None = None
    """A small form, of those parts that have one."""


PARTS = (
    Part("svc", "Against SVC", bench_svc.measure, bench_svc.render, lambda: bench_svc.measure(bench_svc.QUICK)),
    Part(
        "peers", "What a user would pick instead", bench_peers.measure, render_peers,
        lambda: bench_peers.measure(True),
    ),
    Part("curves", "Error against time", bench_curves.measure, bench_curves.render, lambda: bench_curves.measure(True)),
    Part("svm", "Time to m mistakes, {3,1} v {5,7}", lambda: bench_svm.measure(REPEATS), bench_svm.render),
    Part("classes", "All ten digits", bench_classes.measure, bench_classes.render),
    Part("cascade", "Cascade against exact sifting", lambda: bench_cascade.measure(REPEATS), bench_cascade.render),
    Part("network", "The network, 3 v 5, to 8 mistakes", lambda: bench_network.measure(REPEATS), bench_network.render),
    Part("growth", "Growth with the examples seen", bench_growth.measure, bench_growth.render),
    Part("nodes", "Two nodes against one, wall time", lambda: bench_nodes.measure(REPEATS), bench_nodes.render),
    Part(
        "stragglers", "One slow node, to 35 mistakes", lambda: bench_stragglers.measure(REPEATS),
        bench_stragglers.render,
    ),
    Part("plan", "The plan against the simulation", lambda: bench_plan.measure(REPEATS), bench_plan.render),
    Part("iwal", "IWAL", lambda: bench_iwal.measure(REPEATS), bench_iwal.render),
    Part("torch", "A torch CNN on all ten digits", lambda: bench_torch.measure(REPEATS), bench_torch.render),
    Part("sparse", "Sparse rows against dense", lambda: bench_sparse.measure(REPEATS), bench_sparse.render),
    Part("startup", "Start-up", lambda: bench_startup.measure(REPEATS), bench_startup.render,
         lambda: bench_startup.measure(1)),
    Part("sift", "Exact scoring against sgemm", lambda: bench_sift.measure(REPEATS), bench_sift.render,
         lambda: bench_sift.measure(REPEATS)),
    Part("linear", "Linear models and networks of scikit-learn", lambda: bench_linear.measure(5), bench_linear.render),
    Part("noise", "Wrong labels", lambda: bench_noise.measure(REPEATS), bench_noise.render),
    Part("query", "What 300 labels are worth", lambda: bench_query.measure(REPEATS), bench_query.render),
    Part("hashes", "What the hashes of a run file cost", lambda: bench_hashes.measure(7), bench_hashes.render),
    Part("memory", "Memory of ten million examples", bench_memory.measure, bench_memory.render),
    Part("table", "A Parquet file of five million rows", bench_table.measure, bench_table.render),
    Part("stream", "The digits stream", lambda: bench_stream.measure(REPEATS), bench_stream.render,
         lambda: bench_stream.measure(REPEATS)),
    Part("coverage", "Coverage of the intervals", bench_coverage.measure, bench_coverage.render),
    Part("floor", "Bounds on the weights", lambda: bench_floor.measure(REPEATS), bench_floor.render),
    Part("sound", "Sound on any data", bench_sound.measure, bench_sound.render),
)  # fmt: skip
"""Those that people ask for first come first."""


def render(results: Mapping[str, Any]) -> str:
    """RESULTS.md, of results.json and nothing else."""
    measured = {part: results[part.name] for part in PARTS if part.name in results}
    usual = provenance.origin(next(iter(measured.values())))  # The first part is that of the README.
    together = {part: one for part, one in measured.items() if provenance.origin(one) == usual}
    apart = {part: one for part, one in measured.items() if part not in together}
    commit, machine = usual
    text = [
        "# What was measured", "",
        f"Machine: {machine}. Commit: {commit}. One thread, unless stated otherwise.",
        f"Median of {REPEATS} (smallest-largest), unless stated otherwise. Both sides of a ratio were measured in the "
        "same run. The line under each table is the command that measures it.",
    ]  # fmt: skip
    for part, one in together.items():
        text += ["", f"## {part.title}", "", part.render(one["figures"]), "", provenance.sentence(one)]
    if apart:
        text += ["", "# Measured at another commit or on another machine", "", "Not to be compared with the above."]
    for part, one in apart.items():
        machine = f"Machine: {one['machine']}."
        text += ["", f"## {part.title}", "", part.render(one["figures"]), "", provenance.sentence(one), "", machine]
    return "\n".join(text) + "\n"


def measure(parts: list[Part], known: Path, quick: bool, busy: bool) -> dict[str, Any]:
    """Measure these; the rest stays as it was measured before. Returns all results as the file has them."""
    results: dict[str, Any] = json.loads(known.read_text()) if known.exists() else {}
    if quick:  # Figures of other sources are of no use, and may have another form.
        results = {name: one for name, one in results.items() if provenance.is_from_here(results, name)}
    known.parent.mkdir(parents=True, exist_ok=True)
    for part in parts:
        print(f"{time.strftime('%H:%M:%S')} {part.name}", flush=True)
        start = time.perf_counter()
        figures = part.quick() if quick and part.quick else part.measure()
        command = f"python -m benchmarks {part.name}{' --quick' if quick else ''}"
        results[part.name] = provenance.stamp(command, (time.perf_counter() - start) / 60, busy) | {"figures": figures}
        # After each: what took an hour is not lost if the next one fails.
        write(known, json.dumps(results, indent=1) + "\n")
        print(f"## {part.title}\n\n{part.render(json.loads(json.dumps(figures)))}\n", flush=True)
    return json.loads(known.read_text())  # In JSON, all names are strings.


def show(results: Mapping[str, Any]) -> None:
    """Write RESULTS.md, the table of the README and its picture."""
    write(HERE / "RESULTS.md", render(results))
    readme = HERE.parent / "README.md"
    before, rest = readme.read_text().split(BEGIN)
    _, after = rest.split(END)
    write(readme, f"{before}{BEGIN}\n{bench_svc.render_short(results['svc']['figures'])}\n{END}{after}")
    draw(results, HERE.parent / "docs" / "figures")


def draw(results: Mapping[str, Any], folder: Path) -> None:
    """The picture of the README, and its points."""
    charts = bench_curves.charts(results["curves"]["figures"])
    png, _ = save_figure(charts, folder / "peers")
    png.unlink()
    points = {"title": "Error against time, beside others", "charts": [asdict(chart) for chart in charts]}
    write(folder / "peers.json", json.dumps(points, indent=1) + "\n")


def write(path: Path, text: str) -> None:
    """All of it or nothing."""
    with atomic_write(path) as file:
        file.write(text.encode())


def main() -> None:
    """Measure everything, or only what is named, and write what was measured."""
    names = [part.name for part in PARTS]
    parser = argparse.ArgumentParser(description="Measure, and write results.json and RESULTS.md.")
    parser.add_argument("names", nargs="*", choices=[*names, []], metavar="NAME", help=f"one of {', '.join(names)}")
    parser.add_argument("--quick", action="store_true", help=f"small sizes, into {QUICK.relative_to(HERE.parent)}")
    parser.add_argument("--missing", action="store_true", help="only those not measured here with these sources")
    parser.add_argument("--print", action="store_true", help="measure nothing, print RESULTS.md as results.json has it")
    parser.add_argument("--show", action="store_true", help="measure nothing, write RESULTS.md, README and picture")
    parser.add_argument("--busy", action="store_true", help="note that other programs use the machine meanwhile")
    options = parser.parse_args()
    known = HERE / "results.json"
    if options.print:
        print(render(json.loads(known.read_text())), end="")
        return
    if options.quick:
        chosen = [part for part in PARTS if (part.name in options.names if options.names else part.quick)]
        results = measure(chosen, QUICK / "results.json", True, options.busy)
        write(QUICK / "RESULTS.md", render(results))
        print(f"All of it is in {QUICK / 'RESULTS.md'}.")
        return
    chosen = [part for part in PARTS if part.name in options.names or not options.names]
    if options.missing:
        chosen = [part for part in chosen if not provenance.is_from_here(json.loads(known.read_text()), part.name)]
    if not options.show:
        measure(chosen, known, False, options.busy)
    show(json.loads(known.read_text()))


if __name__ == "__main__":
    main()
