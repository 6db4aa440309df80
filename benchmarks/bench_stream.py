"""How fast the digits stream makes examples, on one core.

python -m benchmarks.bench_stream --repeats 5 --json stream.json
"""

from __future__ import annotations

from typing import Any

from benchmarks.measuring import between, finish, parse, seconds, spread, table
from paraactive import Digits

COUNT, BATCH = 40_960, 4096


def measure(repeats: int) -> list[Any]:
    """Digits per second, original and deformed."""
    digits = Digits()
    digits.read(0, 10)
    digits.read(100_000, 100_010)
    results: list[Any] = []
    for kind, start, count in (("original", 0, 20_480), ("deformed", 100_000, COUNT)):
        speeds = [
            count / seconds(lambda a=start, n=count: [digits.read(i, i + BATCH) for i in range(a, a + n, BATCH)])
            for _ in range(repeats)
        ]
        results.append({"digits": kind, "digits_per_second": spread(speeds)})
    return results


def render(results: list[Any]) -> str:
    """The table."""
    return table(["digits", "digits/s"], [[r["digits"], between(r["digits_per_second"], 0)] for r in results])


if __name__ == "__main__":
    options = parse(__doc__ or "")
    figures = measure(options.repeats)
    finish(options, render(figures), {"stream": figures})
