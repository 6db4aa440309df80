"""Draw test mistakes against training time from run files, as an SVG: the picture of the README.

    python scripts/draw_error.py passive-*.db signed-*.db --out docs/error-against-time.svg

Time is the paper's clock. Runs of one rule are averaged, checkpoint by checkpoint; a passive rule gives one curve, a
sifting one a curve for each number of nodes.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import fmean

from paraactive.experiments.charts import Chart, Curve, draw
from paraactive.run import clock
from paraactive.runfile import RunFile

TITLE = "Test mistakes (of 4 065) against training time, digits 3,1 v 5,7, mean of three seeds"
NODES: tuple[int, ...] = (1, 8, 64)


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
            lines.append(Curve("passive" if rule == "passive" else f"sifted, k = {k}", points, colour=len(lines)))
    return lines


def main() -> None:
    """Read, draw, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    chart = Chart(TITLE, "seconds", "mistakes", curves(options.runs), y_steps=(1, 2, 3, 4, 5, 7))
    options.out.write_text(draw([chart]))


if __name__ == "__main__":
    main()
