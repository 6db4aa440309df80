"""How many digits a second one core makes: undeformed and deformed, read in batches as a sifter reads them.

Run it as `python benchmarks/bench_stream.py --json stream.json`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path

from paraactive.streams import Digits


def rate(stream: Digits, start: int, batch: int, batches: int) -> float:
    """Digits a second: the median over the batches from `start` on."""
    seconds: list[float] = []
    for first in range(start, start + batch * batches, batch):
        began = time.perf_counter()
        stream.read(first, first + batch)
        seconds.append(time.perf_counter() - began)
    return batch / statistics.median(seconds)


def main() -> None:
    """Measure and print; write JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=4096, help="digits in one read")
    parser.add_argument("--batches", type=int, default=50, help="reads to take the median of")
    parser.add_argument("--json", type=Path, help="file to write the figures to")
    options = parser.parse_args()
    stream = Digits()
    began = time.perf_counter()
    stream.read(0, 1)
    opening = time.perf_counter() - began
    # The undeformed digits end after the first pass, so few batches of them are read.
    plain = rate(stream, 0, options.batch, max(1, min(options.batches, stream.originals // options.batch)))
    deformed = rate(stream, stream.originals, options.batch, options.batches)
    figures = {"opening_seconds": opening, "undeformed_per_second": plain, "deformed_per_second": deformed}
    print(f"opening (images, fields, compiled loops): {opening:.2f} s")
    print(f"undeformed: {plain:,.0f} digits/s   deformed: {deformed:,.0f} digits/s   ratio {plain / deformed:.2f}")
    if options.json:
        options.json.write_text(json.dumps({"batch": options.batch, **figures}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
