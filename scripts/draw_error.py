"""Draw test mistakes against training time from run files, as an SVG: the picture of the README.

    python scripts/draw_error.py passive-*.db signed-*.db --out docs/error-against-time.svg

Time is the paper's clock. Runs of one rule are averaged, checkpoint by checkpoint; a passive rule gives one curve, a
sifting one a curve for each number of nodes.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from paraactive.run import clock
from paraactive.runfile import RunFile

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 400, 62, 170, 46, 52
COLOURS = ("#000000", "#0072B2", "#009E73", "#D55E00", "#CC79A7")  # told apart by colour-blind people too
NODES: tuple[int, ...] = (1, 8, 64)


@dataclass(frozen=True)
class Curve:
    """Mistakes against seconds."""

    name: str
    points: list[tuple[float, float]]


def checkpoints(path: Path) -> tuple[str, dict[int, tuple[dict[int, float], int]]]:
    """The rule, and for each checkpoint (examples seen) the seconds of k nodes and the mistakes."""
    with RunFile.read(path) as file:
        rounds, rule = list(file.ended_rounds()), str(file.configuration["rule"]["kind"])
        mistakes = {evaluated["seen"]: evaluated["mistakes"] for evaluated in file.events("Evaluated")}
    warmstart = dict.fromkeys(NODES, rounds[0].update_seconds)
    times = {seen: warmstart | clock([ended for ended in rounds if ended.seen <= seen]) for seen in mistakes}
    return rule, {seen: (times[seen], mistakes[seen]) for seen in mistakes}


def curves(paths: list[Path]) -> list[Curve]:
    """The curves of these run files, averaged over the runs of each rule."""
    runs: dict[str, list[dict[int, tuple[dict[int, float], int]]]] = {}
    for path in paths:
        rule, found = checkpoints(path)
        runs.setdefault(rule, []).append(found)
    lines: list[Curve] = []
    for rule, found in runs.items():
        common = sorted(set.intersection(*(set(run) for run in found)))
        for k in (1,) if rule == "passive" else NODES:
            points = [
                (fmean(run[seen][0][k] for run in found), fmean(run[seen][1] for run in found)) for seen in common
            ]
            lines.append(Curve("passive" if rule == "passive" else f"sifted, k = {k}", points))
    return lines


def scale(low: float, high: float, start: float, stop: float) -> Callable[[float], float]:
    """A logarithmic axis."""
    return lambda value: start + (math.log(value) - math.log(low)) / (math.log(high) - math.log(low)) * (stop - start)


def ticks(low: float, high: float, steps: tuple[int, ...] = (1, 2, 5)) -> list[float]:
    """Round numbers between the two."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [step * 10.0**power for power in powers for step in steps if low <= step * 10.0**power <= high]


def draw(lines: list[Curve]) -> str:
    """The picture."""
    seconds = [s for line in lines for s, _ in line.points]
    mistakes = [m for line in lines for _, m in line.points]
    low, high = min(seconds) * 0.8, max(seconds) * 1.2
    few, many = min(mistakes) * 0.85, max(mistakes) * 1.1
    x, y = scale(low, high, LEFT, WIDTH - RIGHT), scale(few, many, HEIGHT - BOTTOM, TOP)
    title = "Test mistakes (of 4 065) against training time, digits 3,1 v 5,7, mean of three seeds"
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        'font-size="13">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="24" font-size="15">{title}</text>',
    ]
    for tick in ticks(low, high):
        out.append(f'<line x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}" stroke="#ddd"/>')
        out.append(f'<text x="{x(tick):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{tick:g}</text>')
    for tick in ticks(few, many, (1, 2, 3, 4, 5, 7)):
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(tick):.1f}" y2="{y(tick):.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{LEFT - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 12}" text-anchor="middle">seconds</text>')
    for number, (line, colour) in enumerate(zip(lines, COLOURS, strict=False)):
        path = " ".join(f"{x(s):.1f},{y(m):.1f}" for s, m in line.points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{x(s):.1f}" cy="{y(m):.1f}" r="2.5" fill="{colour}"/>' for s, m in line.points]
        level = TOP + 16 + 22 * number
        start, stop = WIDTH - RIGHT + 14, WIDTH - RIGHT + 38
        out.append(f'<path d="M{start} {level}H{stop}" stroke="{colour}" stroke-width="2"/>')
        out.append(f'<text x="{stop + 8}" y="{level + 4}">{line.name}</text>')
    return "\n".join([*out, "</svg>"]) + "\n"


def main() -> None:
    """Read, draw, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.out.write_text(draw(curves(options.runs)))


if __name__ == "__main__":
    main()
