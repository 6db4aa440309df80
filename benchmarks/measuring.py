"""What the programs share: repeated timings, the machine's name, tables and JSON."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def seconds(work: Callable[[], object]) -> float:
    """The time that one call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def spread(values: list[float]) -> dict[str, float]:
    """Median, smallest and largest."""
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def machine() -> str:
    """Its cores and model."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        model = names[0] if names else model
    return f"{os.cpu_count()} cores, {model}"


def table(header: list[str], rows: list[list[str]]) -> str:
    """Markdown, aligned for the terminal too."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    lines = [header, ["-" * width for width in widths], *rows]
    return "\n".join("| " + " | ".join(cell.ljust(widths[i]) for i, cell in enumerate(line)) + " |" for line in lines)


def between(figures: dict[str, float], digits: int = 2) -> str:
    """Median and spread, to be read."""
    return f"{figures['median']:.{digits}f} ({figures['min']:.{digits}f}-{figures['max']:.{digits}f})"


def parse(description: str) -> argparse.Namespace:
    """The options that every program has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--repeats", type=int, default=3, help="repeated measurements, for the spread")
    return parser.parse_args()


def finish(options: argparse.Namespace, text: str, figures: dict[str, Any]) -> None:
    """Print the table and write the JSON."""
    print(text)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")
