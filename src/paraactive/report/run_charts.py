"""Charts of runs: error, sampling rate, model size, lag in entries and weights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np

from paraactive.data.events import Evaluated, Round
from paraactive.report.charts import Axis, Bars, Chart, Curve, Series, thinned
from paraactive.report.run_record import RunRecord
from paraactive.report.sections import Text

_SEEN, _TIME = Axis("examples seen", log=True), Axis("training time, s", log=True)
# One round selects too few examples for a stable rate, so rounds are merged into groups.
_MAX_RATE_POINTS = 30


def error_against_time(records: Sequence[RunRecord]) -> Chart | Text:
    """Chart the test error against the training time.

    Parameters
    ----------
    records : sequence of RunRecord
        The runs.

    Returns
    -------
    Chart or Text
        The chart; a text that says why it is missing if no run has test examples.
    """
    curves = _error_curves(records, [record.clock() for record in records])
    if not curves:
        line = "This run has no test examples. Give test=... or --test to get this chart. The estimated error is below."
        return Text("error-time", "Error against time", [line], wide=True)
    return Chart("error-time", "Error against time", _TIME, _error_axis(curves), curves, _clock_note(records))


def error_against_seen(records: Sequence[RunRecord]) -> Chart | None:
    """Chart the test error against the number of examples seen.

    Parameters
    ----------
    records : sequence of RunRecord
        The runs.

    Returns
    -------
    Chart or None
        The chart; None if no run has test examples.
    """
    curves = _error_curves(records, [None] * len(records))
    return Chart("error-seen", "Error against examples seen", _SEEN, _error_axis(curves), curves) if curves else None


def _error_curves(records: Sequence[RunRecord], clocks: Sequence[Mapping[int, float] | None]) -> list[Curve]:
    """Make a curve for each run that has test examples; without a clock x is the number of examples seen."""
    curves: list[Curve] = []
    for look, (record, clock) in enumerate(zip(records, clocks, strict=True)):
        points = [
            (float(each.seen if clock is None else clock[each.seen]), each.mistakes / each.test_examples)
            for each in record.evaluations
            if clock is None or each.seen in clock
        ]
        if points:
            curves.append(Curve(record.name, thinned(points), look))
    return curves


def _error_axis(curves: Sequence[Curve]) -> Axis:
    return Axis("test error", log=_all_positive(curves))


def _all_positive(curves: Sequence[Curve]) -> bool:
    return all(y > 0 for curve in curves for _, y in curve.points)


def _clock_note(records: Sequence[RunRecord]) -> str:
    rounds = "Sifting time of the slowest node plus learning time. Fetching is not counted, as in the paper."
    without = "For asynchronous runs: elapsed time on the clock of the engine."
    kinds = {record.spec.schedule == "asynchronous" for record in records}
    return rounds if kinds == {False} else without if kinds == {True} else f"{rounds} {without}"


def estimated_error_chart(records: Sequence[RunRecord]) -> Chart | None:
    """Chart the error that runs estimate for themselves against the number of examples seen.

    Parameters
    ----------
    records : sequence of RunRecord
        The runs.

    Returns
    -------
    Chart or None
        The chart; None if no run has scores in its log.
    """
    curves = [Curve(record.name, list(record.errors), look) for look, record in enumerate(records) if record.errors]
    if not curves:
        return None
    note = "From the scores of selected examples before they were learned, weighted by 1/p, over groups of rounds."
    axis = Axis("estimated error", log=_all_positive(curves))
    return Chart("estimated-error", "Estimated error against examples seen", _SEEN, axis, curves, note)


def sampling_rate_chart(records: Sequence[RunRecord]) -> Chart | None:
    """Chart the sampling rate against the number of examples seen.

    Parameters
    ----------
    records : sequence of RunRecord
        The runs.

    Returns
    -------
    Chart or None
        The chart; None if no run has sifted a round.
    """
    rates = [_rates(record.rounds) for record in records]
    curves = [
        Curve(record.name, points, look)
        for look, (record, points) in enumerate(zip(records, rates, strict=True))
        if points
    ]
    if not curves:
        return None
    note = "Selected examples divided by sifted examples, over groups of consecutive rounds."
    return Chart("rate", "Sampling rate", _SEEN, Axis("sampling rate", log=_all_positive(curves)), curves, note)


def _rates(rounds: Sequence[Round]) -> list[tuple[float, float]]:
    """Return (examples seen, sampling rate) of each group of rounds, without the warmstart."""
    rates: list[tuple[float, float]] = []
    for group in round_groups(rounds[1:], _MAX_RATE_POINTS):
        sifted = group[-1].seen - rounds[group[0].number - 1].seen
        if sifted:  # A label budget that is spent at the end of a round leaves an empty round behind it.
            rates.append((float(group[-1].seen), sum(ended.selected for ended in group) / sifted))
    return rates


def round_groups(rounds: Sequence[Round], most: int) -> list[Sequence[Round]]:
    """Divide consecutive rounds into groups of about equal size.

    Parameters
    ----------
    rounds : sequence of Round
        The rounds.
    most : int
        Maximum number of groups.

    Returns
    -------
    list of sequence of Round
        The groups; none is empty.
    """
    edges = np.unique(np.linspace(0, len(rounds), min(most, len(rounds)) + 1).astype(int)).tolist()
    return [rounds[a:b] for a, b in pairwise(edges) if b > a]


def evaluation_chart(records: Sequence[RunRecord], field: str, title: str, label: str) -> Chart | None:
    """Chart one figure of the evaluations against the number of examples seen.

    Parameters
    ----------
    records : sequence of RunRecord
        The runs.
    field : str
        Field of `Evaluated` to show; also the identifier of the section.
    title : str
        Heading of the section.
    label : str
        Label of the vertical axis.

    Returns
    -------
    Chart or None
        The chart; None if no evaluation has this figure.
    """

    def points(evaluations: Iterable[Evaluated]) -> list[tuple[float, float]]:
        values = ((each.seen, getattr(each, field)) for each in evaluations)
        return [(float(seen), float(value)) for seen, value in values if value is not None]

    curves = [
        Curve(record.name, thinned(points(record.evaluations)), look)
        for look, record in enumerate(records)
        if points(record.evaluations)
    ]
    return Chart(field, title, _SEEN, Axis(label), curves) if curves else None


def entry_lag_bars(records: Sequence[RunRecord]) -> Bars | None:
    """Chart the lag in entries of the sifting models.

    Parameters
    ----------
    records : sequence of RunRecord
        The runs.

    Returns
    -------
    Bars or None
        A histogram; None if nothing was sifted.
    """
    longest = max((record.entry_lag_bins for record in records), key=len)
    if not longest:
        return None
    labels = [str(a) if a == b else f"{a}-{b}" for a, b, _ in longest]
    series = [
        Series(
            record.name,
            [count for *_, count in record.entry_lag_bins] + [0] * (len(longest) - len(record.entry_lag_bins)),
        )
        for record in records
    ]
    note = "Number of entries by which the log was ahead of the model that sifted an entry."
    title = "Lag of the sifting model"
    return Bars("entry-lag", title, Axis("lag in entries"), Axis("entries"), labels, series, note)


def weight_bars(records: Sequence[RunRecord]) -> Bars | None:
    """Chart the weights of the selected examples.

    Parameters
    ----------
    records : sequence of RunRecord
        The runs.

    Returns
    -------
    Bars or None
        A histogram with a bin for each power of two; None if nothing was selected.
    """
    largest = max((float(record.weights.max()) for record in records if len(record.weights)), default=0.0)
    if not largest:
        return None
    top = max(1, int(np.ceil(np.log2(max(largest, 1.0)) + 1e-9)))
    low = min(0, *(int(np.floor(np.log2(record.weights.min()))) for record in records if len(record.weights)))
    edges = 2.0 ** np.arange(low, top + 1)
    labels = [f"{a:g}-{b:g}" for a, b in pairwise(edges)]
    series = [Series(record.name, np.histogram(record.weights, edges)[0].tolist()) for record in records]
    note = "An example that was selected with probability p has weight 1/p, times its importance."
    return Bars("weights", "Weights", Axis("weight"), Axis("entries", log=True), labels, series, note)
