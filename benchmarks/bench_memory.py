"""Memory of a run of ten million examples: resident size of the driver and its nodes, on the way.

A network, whose model does not grow, with a run file, asynchronously on two processes. Then the report of that run
file: how long it takes, and how large the page is.

    python -m benchmarks.bench_memory --json memory.json
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.bench_stragglers import nodes_of_this_process
from benchmarks.measuring import finish, parse, seconds, table
from paraactive import Digits, Network, train
from paraactive.data.events import Event, Round
from paraactive.report import write_report

EXAMPLES = 10_000_000
LOOKS = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0)


def resident(process: int) -> float:
    """Megabytes of private memory; shared pages are counted once, for the driver."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in lines)
    return int(fields["RssAnon"].split()[0]) / 1024


def measure(examples: int = EXAMPLES) -> dict[str, Any]:
    """One run, looked at as it goes."""
    looks: list[dict[str, float]] = []

    def observe(event: Event) -> None:
        if isinstance(event, Round) and len(looks) < len(LOOKS) and event.seen >= LOOKS[len(looks)] * examples:
            looks.append(
                {
                    "seen": event.seen,
                    "driver": resident(os.getpid()),
                    "nodes": sum(resident(node) for node in nodes_of_this_process()),
                }
            )

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.db"
        run = train(
            Network(), Digits(negative=(5,), positive=(3,), low=0), examples=examples, engine="processes", nodes=2,
            schedule="asynchronous", out=path, observers=[observe],
        )  # fmt: skip
        size = path.stat().st_size / 2**20
        page = Path(folder) / "run.html"
        reporting = seconds(lambda: write_report([path], page))
        return {
            "looks": looks, "selected": run.selected, "wall_seconds": run.wall_seconds, "run_file": size,
            "report_seconds": reporting, "page": page.stat().st_size / 1e6,
        }  # fmt: skip


def render(results: dict[str, Any]) -> str:
    """The table."""
    rows = [[f"{look['seen']:,.0f}", f"{look['driver']:.0f}", f"{look['nodes']:.0f}"] for look in results["looks"]]
    end = (
        f"{results['selected']:,} selected, {results['wall_seconds']:.0f} s, run file {results['run_file']:.0f} MB. "
        f"Its report took {results['report_seconds']:.1f} s and has {results['page']:.2f} MB."
    )
    return table(["seen", "driver, MB", "2 nodes, MB"], rows) + "\n\n" + end


if __name__ == "__main__":
    options = parse(__doc__ or "")
    figures = measure()
    finish(options, render(figures), {"memory": figures})
