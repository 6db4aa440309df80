"""Memory and time of a run over a Parquet file of five million rows of 50 features, row groups of 65 536.

The file is made first, group by group. A network learns it, so that the model does not grow; two nodes in threads, no
run file. Memory is what the process holds privately, looked at as the run goes.

    python -m benchmarks.bench_table --json table.json
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.bench_memory import resident
from benchmarks.measuring import finish, parse, table
from paraactive import Network, train
from paraactive.data.events import Event, Round
from paraactive.streams import Table

ROWS, FEATURES, GROUP = 5_000_000, 50, 65_536
LOOKS = (0.01, 0.1, 0.25, 0.5, 0.75, 1.0)


def make(path: Path, rows: int) -> None:
    """A linear problem with a curve in it, and one label in twenty wrong."""
    rng = np.random.default_rng(0)
    direction = rng.normal(size=FEATURES)
    writer = None
    for first in range(0, rows, GROUP):
        count = min(GROUP, rows - first)
        x = rng.normal(size=(count, FEATURES)).astype(np.float32)
        side = (x @ direction + 2 * x[:, 0] * x[:, 1] > 0) ^ (rng.random(count) < 0.05)
        columns = {f"f{column}": x[:, column] for column in range(FEATURES)}
        block = pa.table(columns | {"y": np.where(side, "yes", "no")})
        writer = writer or pq.ParquetWriter(path, block.schema)
        writer.write_table(block, row_group_size=GROUP)
    assert writer is not None
    writer.close()


def measure(rows: int = ROWS) -> dict[str, Any]:
    """One run, looked at as it goes."""
    looks: list[dict[str, float]] = []

    def observe(event: Event) -> None:
        if isinstance(event, Round) and len(looks) < len(LOOKS) and event.seen >= LOOKS[len(looks)] * rows:
            looks.append({"seen": event.seen, "resident": resident(os.getpid())})

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.parquet"
        make(path, rows)
        size = path.stat().st_size / 2**20
        start = time.perf_counter()
        stream = Table(path, "y")
        opening = time.perf_counter() - start
        run = train(Network(hidden=50), stream, nodes=2, observers=[observe])
    return {
        "rows": rows, "megabytes": size, "looks": looks, "opening": opening, "wall_seconds": run.wall_seconds,
        "fetch_seconds": run.fetch_seconds, "sampling_rate": run.sampling_rate,
    }  # fmt: skip


def render(results: dict[str, Any]) -> str:
    """The table."""
    rows = [[f"{look['seen']:,.0f}", f"{look['resident']:.0f}"] for look in results["looks"]]
    opening, running, reading = (results[name] for name in ("opening", "wall_seconds", "fetch_seconds"))
    end = (
        f"The file has {results['rows']:,} rows and {results['megabytes']:.0f} MB. Opening it took {opening:.1f} s, "
        f"the run {running:.0f} s, of which the two nodes read for {reading:.0f} s; "
        f"{results['sampling_rate']:.1%} were selected."
    )
    return table(["rows seen", "memory, MB"], rows) + "\n\n" + end


if __name__ == "__main__":
    options = parse(__doc__ or "")
    figures = measure()
    finish(options, render(figures), {"table": figures})
