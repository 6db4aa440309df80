"""Curves and claims that the experiments share."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence

from paraactive.experiments.timing import first_reached, mean_seconds_to, seconds_until, smoothed
from paraactive.report import Axis, Chart, Claim, Curve, RunRecord, TableSection

LEVELS = (80, 70, 60, 50, 45, 40, 35, 30, 27, 25, 22, 20, 18, 16, 14, 12, 10, 9, 8, 7, 6)
"""Of mistakes, at which runs may be compared."""


def against_time(name: str, runs: Sequence[RunRecord], nodes: int, look: int, *, smooth: bool = False) -> Curve:
    """Mistakes against seconds on the paper's clock, in the mean over seeds; smooth: and over three checkpoints."""
    tried = [dict(smoothed(run)) if smooth else {each.seen: each.mistakes for each in run.evaluations} for run in runs]
    points: list[tuple[float, float]] = []
    for seen in sorted(set.intersection(*map(set, tried))):
        seconds = statistics.mean(seconds_until(run.rounds, seen, nodes) for run in runs)
        points.append((seconds, statistics.mean(mistakes[seen] for mistakes in tried)))
    return Curve(name, points, look)


def time_chart(name: str, title: str, runs: Sequence[RunRecord], curves: Sequence[Curve], note: str) -> Chart:
    """Mistakes against seconds; `runs` says of how many test examples."""
    seconds = Axis("training time, s", log=True)
    return Chart(name, title, seconds, Axis(mistakes_label(runs), log=True), curves, note, wide=True)


def mistakes_label(runs: Sequence[RunRecord]) -> str:
    """What an axis of mistakes says: a number of mistakes means little without the number of test examples."""
    count = f"{runs[0].evaluations[-1].test_examples:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")
    return f"test mistakes, of {count}"


def rate_curve(name: str, runs: Sequence[RunRecord], look: int) -> Curve:
    """Sampling rate of each round, in the mean over seeds and over eight neighbouring rounds."""
    points: list[tuple[float, float]] = []
    first = runs[0]
    for last in range(8, len(first.rounds), 8):
        before, ended = first.rounds[last - 8], first.rounds[last]
        selected = statistics.mean(sum(each.selected for each in run.rounds[last - 7 : last + 1]) for run in runs)
        points.append((float(ended.seen), selected / (ended.seen - before.seen)))
    return Curve(name, points, look)


def sampling_rate(runs: Sequence[RunRecord]) -> float:
    """Selected of sifted, over all of these."""
    selected = sum(ended.selected for run in runs for ended in run.rounds[1:])
    return selected / sum(run.seen - run.rounds[0].seen for run in runs)


def rate_at(runs: Sequence[RunRecord], level: float) -> float | None:
    """The sampling rate of the eight rounds before a run first makes so few mistakes; None if none does."""
    rates: list[float] = []
    for run in runs:
        place = first_reached(run, level)
        if place is not None:
            before = [ended for ended in run.rounds[1:] if ended.seen <= run.evaluations[place].seen][-9:]
            sifted = before[-1].seen - before[0].seen
            if sifted:  # Otherwise it was there after its first round, and nothing is known of the rounds before.
                rates.append(sum(ended.selected for ended in before[1:]) / sifted)
    return statistics.mean(rates) if rates else None


def rate_chart(name: str, title: str, curves: Sequence[Curve]) -> Chart:
    """Sampling rates against examples seen."""
    return Chart(name, title, Axis("examples seen", log=True), Axis("sampling rate", log=True), curves)


def common_levels(*kinds: Sequence[RunRecord], most: int = 5) -> list[int]:
    """Numbers of mistakes that all of these runs reach, at most so many, the smallest among them."""
    every = [run for runs in kinds for run in runs]
    reached = [level for level in LEVELS if all(_reaches(run, level) for run in every)]
    # What all make from the first checkpoint on tells nothing apart.
    at_once = [level for level in reached if all(smoothed(run)[0][1] <= level for run in every)]
    reached = reached[max(0, len(at_once) - 1) :]
    if len(reached) <= most:
        return reached
    step = (len(reached) - 1) / (most - 1)
    return [reached[round(place * step)] for place in range(most)]


def _reaches(run: RunRecord, level: float) -> bool:
    return any(mistakes <= level for _, mistakes in smoothed(run))


def least_mistakes(runs: Sequence[RunRecord]) -> float:
    """The fewest mistakes that three neighbouring checkpoints have, in the mean over seeds."""
    return statistics.mean(min(mistakes for _, mistakes in smoothed(run)) for run in runs)


def flat_at(runs: Sequence[RunRecord]) -> float | None:
    """The mistakes that runs level off at: of the last quarter of their checkpoints, if those fall no further.

    Fall no further: its second half makes at least nine tenths of the mistakes of its first. None if they still fall.
    """
    levels: list[float] = []
    for run in runs:
        late = [mistakes for _, mistakes in smoothed(run)]
        late = late[-max(4, len(late) // 4) :]
        half = len(late) // 2
        if half < 2 or statistics.mean(late[half:]) < 0.9 * statistics.mean(late[:half]):
            return None
        levels.append(statistics.mean(late))
    return statistics.mean(levels)


def speedup(ours: Sequence[RunRecord], theirs: Sequence[RunRecord], level: float, nodes: int) -> float | None:
    """How many times sooner ours makes so few mistakes, on so many nodes, than theirs on one."""
    a, b = mean_seconds_to(ours, level, nodes), mean_seconds_to(theirs, level, 1)
    return b / a if a and b else None


def speedup_chart(
    name: str,
    title: str,
    ours: Sequence[RunRecord],
    theirs: Sequence[RunRecord],
    levels: Iterable[int],
    nodes: Sequence[int],
) -> Chart:
    """Speedups against the number of nodes, a curve for each number of mistakes."""
    curves: list[Curve] = []
    for level in levels:
        points = [(float(k), value) for k in nodes if (value := speedup(ours, theirs, level, k)) is not None]
        if points:
            curves.append(Curve(f"to {level} mistakes", points))
    return Chart(name, title, Axis("nodes", log=True), Axis("times faster", log=True), curves)


def speedup_table(name: str, title: str, charts: Sequence[Chart], nodes: Sequence[int]) -> TableSection:
    """The same as figures."""
    rows: list[list[str | int | float | None]] = []
    for chart in charts:
        for curve in chart.curves:
            known = dict(curve.points)
            rows.append(
                [
                    chart.title,
                    curve.name.removeprefix("to "),
                    *(round(known[k], 2) if k in known else None for k in nodes),
                ]
            )
    return TableSection(name, title, ["speedup", "to", *(f"k={k}" for k in nodes)], rows, wide=True)


def decided(claim: str, holds: bool | None, measured: str) -> Claim:
    """With its verdict."""
    return Claim(claim, "open" if holds is None else "yes" if holds else "no", measured)


def growing(speedups: Sequence[tuple[int, float]]) -> bool | None:
    """True if the last, at the fewest mistakes, is above the first by a tenth, and nearly the largest.

    None if there are fewer than two.
    """
    if len(speedups) < 2:
        return None
    last = speedups[-1][1]
    return last > 1.1 * speedups[0][1] and last > 0.9 * max(value for _, value in speedups)


def named(values: Iterable[tuple[int, float]]) -> str:
    """By mistakes, as a sentence.

    >>> named([(40, 12.13), (30, 14.0)])
    '40 mistakes: 12.1, 30 mistakes: 14.0'
    """
    return ", ".join(f"{level} mistakes: {value:.1f}" for level, value in values)


def by_nodes(values: Mapping[int, float]) -> str:
    """By nodes, as a sentence.

    >>> by_nodes({1: 1.0, 64: 6.42})
    'k = 1: 1.0, k = 64: 6.4'
    """
    return ", ".join(f"k = {k}: {value:.1f}" for k, value in values.items())
