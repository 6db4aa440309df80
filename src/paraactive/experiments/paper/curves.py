"""Curves, charts and tables that several experiments use.

`runs` are always runs of one kind that differ in their seed. Times are on the paper's clock (see `timing`).
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

from paraactive.experiments.timing import first_reached, mean_seconds_to, seconds_until, smoothed
from paraactive.report import Axis, Chart, Curve, RunRecord, TableSection

# Numbers of mistakes at which runs may be compared.
LEVELS = (80, 70, 60, 50, 45, 40, 35, 30, 27, 25, 22, 20, 18, 16, 14, 12, 10, 9, 8, 7, 6)


def against_time(name: str, runs: Sequence[RunRecord], nodes: int, look: int, *, smooth: bool = False) -> Curve:
    """Make a curve of mistakes against seconds, averaged over seeds.

    Parameters
    ----------
    name : str
        Name in the legend.
    runs : sequence of RunRecord
        The runs.
    nodes : int
        Number of nodes.
    look : int
        Number of the color and mark.
    smooth : bool, optional
        Whether to average each checkpoint with its two neighbors. Default: False.

    Returns
    -------
    Curve
        The curve, with a point for each checkpoint that all runs have.
    """
    by_run = [dict(smoothed(run)) if smooth else {each.seen: each.mistakes for each in run.evaluations} for run in runs]
    points: list[tuple[float, float]] = []
    for seen in sorted(set.intersection(*map(set, by_run))):
        seconds = statistics.mean(seconds_until(run.rounds, seen, nodes) for run in runs)
        points.append((seconds, statistics.mean(mistakes[seen] for mistakes in by_run)))
    return Curve(name, points, look)


def time_chart(name: str, title: str, runs: Sequence[RunRecord], curves: Sequence[Curve], note: str) -> Chart:
    """Make a chart of mistakes against seconds.

    Parameters
    ----------
    name : str
        Identifier of the chart.
    title : str
        Heading of the chart.
    runs : sequence of RunRecord
        Runs that tell the number of test examples.
    curves : sequence of Curve
        Curves of `against_time`.
    note : str
        Sentence under the heading.

    Returns
    -------
    Chart
        The chart.
    """
    seconds = Axis("training time, s", log=True)
    return Chart(name, title, seconds, Axis(mistakes_label(runs), log=True), curves, note, wide=True)


def mistakes_label(runs: Sequence[RunRecord]) -> str:
    """Return the label of an axis of mistakes, with the number of test examples.

    Parameters
    ----------
    runs : sequence of RunRecord
        The runs.

    Returns
    -------
    str
        The label.
    """
    count = f"{runs[0].evaluations[-1].test_examples:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")
    return f"test mistakes, of {count}"


def rate_curve(name: str, runs: Sequence[RunRecord], look: int) -> Curve:
    """Make a curve of the sampling rate, averaged over seeds and over eight consecutive rounds.

    Parameters
    ----------
    name : str
        Name in the legend.
    runs : sequence of RunRecord
        The runs.
    look : int
        Number of the color and mark.

    Returns
    -------
    Curve
        The curve.
    """
    points: list[tuple[float, float]] = []
    first = runs[0]
    for last in range(8, len(first.rounds), 8):
        before, ended = first.rounds[last - 8], first.rounds[last]
        selected = statistics.mean(sum(each.selected for each in run.rounds[last - 7 : last + 1]) for run in runs)
        points.append((float(ended.seen), selected / (ended.seen - before.seen)))
    return Curve(name, points, look)


def sampling_rate(runs: Sequence[RunRecord]) -> float:
    """Return the number of selected examples divided by the number of sifted ones, over all runs.

    Parameters
    ----------
    runs : sequence of RunRecord
        The runs.

    Returns
    -------
    float
        The sampling rate.
    """
    selected = sum(ended.selected for run in runs for ended in run.rounds[1:])
    return selected / sum(run.seen - run.rounds[0].seen for run in runs)


def rate_at(runs: Sequence[RunRecord], level: float) -> float | None:
    """Return the sampling rate in the eight rounds before a run first makes `level` mistakes.

    Parameters
    ----------
    runs : sequence of RunRecord
        The runs.
    level : float
        Number of mistakes.

    Returns
    -------
    float or None
        Mean over the runs that make so few mistakes; None if no run does.
    """
    rates: list[float] = []
    for run in runs:
        place = first_reached(run, level)
        if place is not None:
            before = [ended for ended in run.rounds[1:] if ended.seen <= run.evaluations[place].seen][-9:]
            sifted = before[-1].seen - before[0].seen
            if sifted:  # 0 if the run reached the level in its first round: then there are no rounds before.
                rates.append(sum(ended.selected for ended in before[1:]) / sifted)
    return statistics.mean(rates) if rates else None


def rate_chart(name: str, title: str, curves: Sequence[Curve]) -> Chart:
    """Make a chart of sampling rates against examples seen.

    Parameters
    ----------
    name : str
        Identifier of the chart.
    title : str
        Heading of the chart.
    curves : sequence of Curve
        Curves of `rate_curve`.

    Returns
    -------
    Chart
        The chart.
    """
    return Chart(name, title, Axis("examples seen", log=True), Axis("sampling rate", log=True), curves)


def common_levels(*kinds: Sequence[RunRecord], most: int = 5) -> list[int]:
    """Choose numbers of mistakes that all runs reach.

    Parameters
    ----------
    *kinds : sequence of RunRecord
        Runs of each kind.
    most : int, optional
        Maximum number of levels. Default: 5.

    Returns
    -------
    list of int
        Levels out of `LEVELS`, from the largest to the smallest; the smallest common one is among them.
    """
    every = [run for runs in kinds for run in runs]
    reached = [level for level in LEVELS if all(_reaches(run, level) for run in every)]
    # A level that all runs have from the first checkpoint on shows no difference, so only the lowest one is kept.
    at_once = [level for level in reached if all(smoothed(run)[0][1] <= level for run in every)]
    reached = reached[max(0, len(at_once) - 1) :]
    if len(reached) <= most:
        return reached
    step = (len(reached) - 1) / (most - 1)
    return [reached[round(place * step)] for place in range(most)]


def _reaches(run: RunRecord, level: float) -> bool:
    return any(mistakes <= level for _, mistakes in smoothed(run))


def least_mistakes(runs: Sequence[RunRecord]) -> float:
    """Return the fewest mistakes, averaged over three neighboring checkpoints and over seeds.

    Parameters
    ----------
    runs : sequence of RunRecord
        The runs.

    Returns
    -------
    float
        Number of mistakes.
    """
    return statistics.mean(min(mistakes for _, mistakes in smoothed(run)) for run in runs)


def flat_at(runs: Sequence[RunRecord]) -> float | None:
    """Return the number of mistakes at which runs level off.

    A run has leveled off if, in the last quarter of its checkpoints, the second half has at least nine tenths of the
    mistakes of the first half.

    Parameters
    ----------
    runs : sequence of RunRecord
        The runs.

    Returns
    -------
    float or None
        Mean mistakes in the last quarter of the checkpoints; None if one of the runs still improves.
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
    """Return how many times faster one kind of run makes `level` mistakes than another.

    Parameters
    ----------
    ours : sequence of RunRecord
        Runs that are timed on `nodes` nodes.
    theirs : sequence of RunRecord
        Runs that are timed on one node.
    level : float
        Number of mistakes.
    nodes : int
        Number of nodes.

    Returns
    -------
    float or None
        Time of `theirs` divided by time of `ours`; None if a run never makes so few mistakes.
    """
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
    """Make a chart of speedups against the number of nodes, with a curve for each number of mistakes.

    Parameters
    ----------
    name : str
        Identifier of the chart.
    title : str
        Heading of the chart.
    ours : sequence of RunRecord
        Runs that are timed on several nodes.
    theirs : sequence of RunRecord
        Runs that are timed on one node.
    levels : iterable of int
        Numbers of mistakes.
    nodes : sequence of int
        Numbers of nodes.

    Returns
    -------
    Chart
        The chart.
    """
    curves: list[Curve] = []
    for level in levels:
        points = [(float(k), value) for k in nodes if (value := speedup(ours, theirs, level, k)) is not None]
        if points:
            curves.append(Curve(f"to {level} mistakes", points))
    return Chart(name, title, Axis("nodes", log=True), Axis("speedup", log=True), curves)


def speedup_table(name: str, title: str, charts: Sequence[Chart], nodes: Sequence[int]) -> TableSection:
    """Make a table of the points of speedup charts.

    Parameters
    ----------
    name : str
        Identifier of the table.
    title : str
        Heading of the table.
    charts : sequence of Chart
        Charts of `speedup_chart`.
    nodes : sequence of int
        Numbers of nodes; a column for each.

    Returns
    -------
    TableSection
        The table.
    """
    rows: list[list[str | int | float | None]] = []
    for chart in charts:
        for curve in chart.curves:
            known = dict(curve.points)
            values = [round(known[k], 2) if k in known else None for k in nodes]
            rows.append([chart.title, curve.name.removeprefix("to "), *values])
    return TableSection(name, title, ["speedup", "to", *(f"k={k}" for k in nodes)], rows, wide=True)
