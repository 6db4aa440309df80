"""The page of one run, or of several side by side."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from paraactive.data.events import NODE_TIMES, Evaluated, NodeTimes, Round
from paraactive.report.names import data_name, event_details, event_name, learner_name, rule_name
from paraactive.report.pictures import grey
from paraactive.report.run_record import HeavyExample, RunRecord
from paraactive.report.sections import (
    Axis,
    Bars,
    Cell,
    Chart,
    Curve,
    Gallery,
    Lane,
    Listing,
    Page,
    Part,
    Picture,
    Section,
    Series,
    TableSection,
    Text,
    Timeline,
    thinned,
)

_SEEN, _TIME = Axis("examples seen", log=True), Axis("training time, s", log=True)
_LOOKS = (5, 0, 1, 3, 6)
_MOST_STRETCHES = 120
_MOST_LANES = 16
_MOST_FEATURES = 12
_BINS = 30
"""Of the sampling rate: a round alone selects too few to tell a rate."""


def page_of(records: Sequence[RunRecord], *, live: bool = False) -> Page:
    """Everything that run files tell. Curves of one run have the same colour in all charts."""
    several = len(records) > 1
    sections: list[Section | None] = [
        _summary(records),
        _error(records, "error-time", "Error against time", _TIME, RunRecord.clock),
        _error(records, "error-seen", "Error against examples seen", _SEEN, None),
        _rate(records),
        _model(records, "vectors", "Support vectors", "vectors"),
        _model(records, "loss", "Loss on the test examples", "mean logistic loss"),
        *(_timeline(number, record, several) for number, record in enumerate(records)),
        _delays(records),
        _weights(records),
        *(_speedup(number, record, several) for number, record in enumerate(records)),
        *(_gallery(number, record, several) for number, record in enumerate(records)),
        _happened(records),
        _settings(records),
        *(_listing(number, record, several) for number, record in enumerate(records)),
    ]
    title = " · ".join(record.name for record in records)
    status = "; ".join(_status(record, several) for record in records) if live else ""
    return Page(f"paraactive: {title}", [section for section in sections if section], status, live)


def _status(record: RunRecord, several: bool) -> str:
    total = record.configuration["examples"]
    how = "done" if record.is_done else "not at its end"
    return f"{f'{record.name}: ' if several else ''}{record.seen:,} of {total:,} examples seen, {how}"


# Figures ---------------------------------------------------------------------------------------------------------


def _summary(records: Sequence[RunRecord]) -> TableSection:
    rows: list[tuple[str, Callable[[RunRecord], Cell]]] = [
        ("examples seen", lambda record: record.seen),
        ("examples planned", lambda record: record.configuration["examples"]),
        ("warmstart examples", lambda record: record.rounds[0].seen if record.rounds else 0),
        ("selected", _selected),
        ("sampling rate", _sampling_rate),
        ("examples scored exactly", lambda record: sum(ended.scored for ended in record.rounds)),
        ("p made smaller by the cascade", lambda record: sum(ended.lowered for ended in record.rounds)),
        ("test mistakes", lambda record: _last(record, "mistakes")),
        ("test examples", lambda record: _last(record, "test_examples")),
        ("support vectors", lambda record: _last(record, "vectors")),
        ("test loss", lambda record: _last(record, "loss")),
        ("warmstart, s", lambda record: record.rounds[0].update_seconds if record.rounds else None),
        ("fetching, s", lambda record: sum(ended.fetch_seconds for ended in record.rounds)),
        ("sifting, s, all nodes", lambda record: sum(ended.sift_seconds for ended in record.rounds)),
        ("updating, s", lambda record: sum(ended.update_seconds for ended in record.rounds[1:])),
        ("wall time, s", lambda record: record.ended["wall_seconds"] if record.ended else None),
        ("largest weight (1/p)", lambda record: float(record.weights.max()) if len(record.weights) else None),
        ("mean delay, entries", lambda record: record.delays["mean"] if record.delays else None),
        ("nodes", lambda record: record.configuration["nodes"]),
        ("engine", lambda record: record.configuration["engine"]),
        ("schedule", lambda record: record.configuration["schedule"]),
        ("learner", lambda record: learner_name(record.configuration["learner"])),
        ("rule", lambda record: rule_name(record.configuration["rule"])),
        ("data", lambda record: data_name(record.configuration["stream"], record.classes)),
        ("model digest", lambda record: record.ended["digest"][:16] if record.ended else None),
    ]
    found = [(name, [value(record) for record in records]) for name, value in rows]
    body = [[name, *values] for name, values in found if any(value is not None for value in values)]
    return TableSection("summary", "Summary", ["", *(record.name for record in records)], body, wide=True)


def _selected(record: RunRecord) -> int:
    return sum(ended.selected for ended in record.rounds[1:])


def _sampling_rate(record: RunRecord) -> float:
    sifted = record.seen - record.rounds[0].seen if record.rounds else 0
    return _selected(record) / sifted if sifted else 0.0


def _last(record: RunRecord, name: str) -> Any:
    return getattr(record.evaluations[-1], name) if record.evaluations else None


def _settings(records: Sequence[RunRecord]) -> TableSection:
    names = list(dict.fromkeys(name for record in records for name in record.configuration.get("versions", {})))
    body = [["paraactive", *(record.configuration["paraactive"] for record in records)]]
    body += [[name, *(record.configuration.get("versions", {}).get(name) for record in records)] for name in names]
    return TableSection("versions", "Versions", ["", *(record.name for record in records)], body, wide=True)


def _listing(number: int, record: RunRecord, several: bool) -> Listing:
    text = json.dumps(record.configuration, indent=2)
    return Listing(
        f"configuration-{number}", _titled("Configuration", record, several), text, "As it stands in the run file."
    )


def _titled(title: str, record: RunRecord, several: bool) -> str:
    return f"{title}: {record.name}" if several else title


# Curves ----------------------------------------------------------------------------------------------------------


def _error(
    records: Sequence[RunRecord],
    name: str,
    title: str,
    axis: Axis,
    clock: Callable[[RunRecord], dict[int, float]] | None,
) -> Chart | Text | None:
    """Test error; of runs that were tried on something."""
    curves: list[Curve] = []
    for look, record in enumerate(records):
        times = clock(record) if clock else None
        points = [
            (float(tried.seen if times is None else times[tried.seen]), tried.mistakes / tried.test_examples)
            for tried in record.evaluations
            if times is None or tried.seen in times
        ]
        if points:
            curves.append(Curve(record.name, thinned(points), look))
    if not curves:
        line = "The run had no test examples, so its error is not known. Give test=... or --test for a curve here."
        return Text(name, title, [line], wide=True) if clock else None
    note = _clock_note(records) if clock else ""
    log = all(y > 0 for curve in curves for _, y in curve.points)
    return Chart(name, title, axis, Axis("test error", log=log), curves, note)


def _clock_note(records: Sequence[RunRecord]) -> str:
    rounds = "Sifting of the slowest node, and learning; fetching is not counted, as in the paper."
    without = "Of asynchronous runs, all the time that passed on the engine's clock."
    kinds = {record.configuration["schedule"] == "asynchronous" for record in records}
    return rounds if kinds == {False} else without if kinds == {True} else f"{rounds} {without}"


def _rate(records: Sequence[RunRecord]) -> Chart | None:
    curves = [
        Curve(record.name, points, look) for look, record in enumerate(records) if (points := _rates(record.rounds))
    ]
    if not curves:
        return None
    log = all(y > 0 for curve in curves for _, y in curve.points)
    note = "Selected of sifted, over neighbouring rounds."
    return Chart("rate", "Sampling rate", _SEEN, Axis("sampling rate", log=log), curves, note)


def _rates(rounds: Sequence[Round]) -> list[tuple[float, float]]:
    """Over at most so many stretches of equal numbers of rounds, the warmstart left out."""
    found: list[tuple[float, float]] = []
    for part in _stretches(rounds[1:], _BINS):
        sifted = part[-1].seen - rounds[part[0].number - 1].seen
        if sifted:  # A budget that ends with a round leaves an empty one behind it.
            found.append((float(part[-1].seen), sum(ended.selected for ended in part) / sifted))
    return found


def _stretches(rounds: Sequence[Round], most: int) -> list[Sequence[Round]]:
    edges = np.unique(np.linspace(0, len(rounds), min(most, len(rounds)) + 1).astype(int)).tolist()
    return [rounds[a:b] for a, b in pairwise(edges) if b > a]


def _model(records: Sequence[RunRecord], of: str, title: str, label: str) -> Chart | None:
    def points(evaluations: Iterable[Evaluated]) -> list[tuple[float, float]]:
        return [
            (float(tried.seen), float(getattr(tried, of))) for tried in evaluations if getattr(tried, of) is not None
        ]

    curves = [
        Curve(record.name, thinned(points(record.evaluations)), look)
        for look, record in enumerate(records)
        if points(record.evaluations)
    ]
    return Chart(of, title, _SEEN, Axis(label), curves) if curves else None


# Nodes -----------------------------------------------------------------------------------------------------------


def _timeline(number: int, record: RunRecord, several: bool) -> Timeline | None:
    rounds = [ended for ended in record.rounds if ended.nodes]
    if not rounds:
        return None
    totals = _spent(rounds)
    lanes = {node: list[Part]() for node in sorted(totals)[:_MOST_LANES]}
    start = 0.0
    for part in _stretches(rounds, _MOST_STRETCHES):
        longest = sum(max(_total(times) for times in ended.nodes) for ended in part)
        spent = _spent(part)
        for node, lane in lanes.items():
            lane += _parts(node, spent.get(node, [0.0] * len(NODE_TIMES)), part, start, longest)
        start += longest
    pipelined = record.configuration["schedule"] == "pipelined"
    beside = " In a pipelined run learning goes on beside sifting." if pipelined else ""
    left_out = f" The first {_MOST_LANES} of {len(totals)} nodes." if len(totals) > _MOST_LANES else ""
    return Timeline(
        f"timeline-{number}", _titled("What the nodes did", record, several), Axis("seconds"), NODE_TIMES, _LOOKS,
        [Lane(_name(node), lane) for node, lane in lanes.items()],
        ["", *(f"{kind}, s" for kind in NODE_TIMES)], [[_name(node), *totals[node]] for node in sorted(totals)],
        "Round by round, neighbouring rounds together; each part is as long as they took for it together."
        f"{beside}{left_out}",
    )  # fmt: skip


def _total(times: NodeTimes) -> float:
    return sum(getattr(times, kind) for kind in NODE_TIMES)


def _name(node: int) -> str:
    return f"node {node}" if node >= 0 else "the driver"  # It sifts where no node answers.


def _spent(rounds: Iterable[Round]) -> dict[int, list[float]]:
    """By node: its seconds of each kind."""
    found: dict[int, list[float]] = {}
    for ended in rounds:
        for times in ended.nodes:
            own = found.setdefault(times.node, [0.0] * len(NODE_TIMES))
            for place, kind in enumerate(NODE_TIMES):
                own[place] += getattr(times, kind)
    return found


def _parts(node: int, spent: Sequence[float], rounds: Sequence[Round], start: float, longest: float) -> list[Part]:
    numbers = f"rounds {rounds[0].number} to {rounds[-1].number}" if len(rounds) > 1 else f"round {rounds[0].number}"
    found: list[Part] = []
    for place, kind in enumerate(NODE_TIMES):
        length = min(spent[place], longest)
        if length > 0:
            found.append(Part(place, start, length, f"{_name(node)}, {numbers}\n{kind}: {length:.4g} s"))
            start += length
    return found


def _happened(records: Sequence[RunRecord]) -> TableSection | None:
    rows: list[list[Cell]] = [
        [record.name, event_name(kind), event_details(event)] for record in records for kind, event in record.happened
    ]
    lost = any(kind != "NodeJoined" for record in records for kind, _ in record.happened)
    return TableSection("happened", "What happened to nodes", ["run", "event", "details"], rows[:500]) if lost else None


def _speedup(number: int, record: RunRecord, several: bool) -> Chart | None:
    planned = record.planned
    if planned is None:
        return None
    predicted = [(float(each.nodes), planned.speedup(each)) for each in planned.predictions]
    curves = [Curve("predicted", predicted, 0)]
    base = next((check.measured for check in planned.checks if check.nodes == 1), None)
    measured = [
        (float(check.nodes), base / check.measured)
        for check in planned.checks
        if base and check.what == "paper's clock" and check.measured > 0
    ]
    if len(measured) > 1:
        curves.append(Curve("measured, on the paper's clock", measured, 1))
    nodes = "one node is enough" if planned.pays_until == 1 else f"{planned.pays_until} nodes pay"
    at_most = planned.pays_until >= planned.predictions[-1].nodes
    rule = "more would still pay" if at_most else f"{planned.bound}-bound beyond"
    note = (
        f"The paper's cost model, fitted to this run: {nodes}, {rule}. "
        "Communication is not in it; 'paraactive plan' takes latency and bandwidth."
    )
    return Chart(
        f"speedup-{number}", _titled("How many nodes pay", record, several), Axis("nodes", log=True),
        Axis("times faster than one", log=True), curves, note,
    )  # fmt: skip


# Entries ---------------------------------------------------------------------------------------------------------


def _delays(records: Sequence[RunRecord]) -> Bars | None:
    longest = max((record.delay_bins for record in records), key=len)
    if not longest:
        return None
    labels = [str(a) if a == b else f"{a}-{b}" for a, b, _ in longest]
    series = [
        Series(record.name, [count for *_, count in record.delay_bins] + [0] * (len(longest) - len(record.delay_bins)))
        for record in records
    ]
    note = "How many entries the log was ahead of the model that sifted an entry."
    return Bars("delays", "Delays", Axis("delay, entries"), Axis("entries"), labels, series, note)


def _weights(records: Sequence[RunRecord]) -> Bars | None:
    largest = max((float(record.weights.max()) for record in records if len(record.weights)), default=0.0)
    if not largest:
        return None
    top = max(1, int(np.ceil(np.log2(max(largest, 1.0)) + 1e-9)))
    low = min(0, *(int(np.floor(np.log2(record.weights.min()))) for record in records if len(record.weights)))
    edges = 2.0 ** np.arange(low, top + 1)
    labels = [f"{a:g}-{b:g}" for a, b in pairwise(edges)]
    series = [Series(record.name, np.histogram(record.weights, edges)[0].tolist()) for record in records]
    note = "1/p of what was selected: few heavy entries count as much as many light ones."
    return Bars("weights", "Weights", Axis("weight"), Axis("entries", log=True), labels, series, note)


def _gallery(number: int, record: RunRecord, several: bool) -> Gallery | TableSection | None:
    if not record.heaviest or float(record.heaviest[0].row["weight"]) <= 1.0:
        return None
    name, title = f"heaviest-{number}", _titled("The heaviest examples", record, several)
    note = "Selected with the smallest p. Look at them: outliers and wrong labels are often among these."
    shape = record.shape
    if shape and all(heavy.x is not None for heavy in record.heaviest):
        return Gallery(name, title, [_picture(record, heavy, shape) for heavy in record.heaviest], note)
    features = min(_MOST_FEATURES, max((len(heavy.x) for heavy in record.heaviest if heavy.x is not None), default=0))
    names = record.configuration["stream"].get("features") or [f"x{column}" for column in range(features)]
    labeled = any(heavy.row["y"] is not None for heavy in record.heaviest)  # A run in memory keeps no labels.
    rows: list[list[Cell]] = [
        [
            heavy.row["position"], *([record.label(heavy.row["y"])] if labeled else []), float(heavy.row["weight"]),
            float(heavy.row["p"]),
            *([None] * features if heavy.x is None else [float(value) for value in heavy.x[:features]]),
        ]
        for heavy in record.heaviest
    ]  # fmt: skip
    label = ["label"] if labeled else []
    head = ["position", *label, "weight", "p", *(str(each) for each in list(names)[:features])]
    return TableSection(name, title, head, rows, note, wide=True)


def _picture(record: RunRecord, heavy: HeavyExample, shape: tuple[int, ...]) -> Picture:
    row = heavy.row
    label = record.label(row["y"])
    lines = [f"label {label}", f"weight {row['weight']:.4g}", f"position {row['position']}"]
    return Picture(grey(heavy.x, shape), f"Example {row['position']}, label {label}", lines)
