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
    Table,
    Text,
    Timeline,
    thinned,
)
from paraactive.report.story import Heavy, Story

_SEEN, _TIME = Axis("examples seen", log=True), Axis("training time, s", log=True)
_LOOKS = (5, 0, 1, 3, 6)
_MOST_STRETCHES = 120
_MOST_LANES = 16
_MOST_FEATURES = 12
_BINS = 30
"""Of the sampling rate: a round alone selects too few to tell a rate."""


def page_of(stories: Sequence[Story], *, live: bool = False) -> Page:
    """Everything that run files tell. Curves of one run have the same colour in all charts."""
    several = len(stories) > 1
    sections: list[Section | None] = [
        _summary(stories),
        _error(stories, "error-time", "Error against time", _TIME, Story.clock),
        _error(stories, "error-seen", "Error against examples seen", _SEEN, None),
        _rate(stories),
        _model(stories, "vectors", "Support vectors", "vectors"),
        _model(stories, "loss", "Loss on the test examples", "mean logistic loss"),
        *(_timeline(number, story, several) for number, story in enumerate(stories)),
        _delays(stories),
        _weights(stories),
        *(_speedup(number, story, several) for number, story in enumerate(stories)),
        *(_gallery(number, story, several) for number, story in enumerate(stories)),
        _happened(stories),
        _settings(stories),
        *(_listing(number, story, several) for number, story in enumerate(stories)),
    ]
    title = " · ".join(story.name for story in stories)
    status = "; ".join(_status(story, several) for story in stories) if live else ""
    return Page(f"paraactive: {title}", [section for section in sections if section], status, live)


def _status(story: Story, several: bool) -> str:
    total = story.spec.plan.examples
    how = "done" if story.is_done else "not at its end"
    return f"{f'{story.name}: ' if several else ''}{story.seen:,} of {total:,} examples seen, {how}"


# Figures ---------------------------------------------------------------------------------------------------------


def _summary(stories: Sequence[Story]) -> Table:
    rows: list[tuple[str, Callable[[Story], Cell]]] = [
        ("examples seen", lambda story: story.seen),
        ("examples planned", lambda story: story.spec.plan.examples),
        ("warmstart examples", lambda story: story.rounds[0].seen if story.rounds else 0),
        ("selected", _selected),
        ("sampling rate", _sampling_rate),
        ("examples scored exactly", lambda story: sum(ended.scored for ended in story.rounds)),
        ("p made smaller by the cascade", lambda story: sum(ended.lowered for ended in story.rounds)),
        ("test mistakes", lambda story: _last(story, "mistakes")),
        ("test examples", lambda story: _last(story, "test_examples")),
        ("support vectors", lambda story: _last(story, "vectors")),
        ("test loss", lambda story: _last(story, "loss")),
        ("warmstart, s", lambda story: story.rounds[0].update_seconds if story.rounds else None),
        ("fetching, s", lambda story: sum(ended.fetch_seconds for ended in story.rounds)),
        ("sifting, s, all nodes", lambda story: sum(ended.sift_seconds for ended in story.rounds)),
        ("updating, s", lambda story: sum(ended.update_seconds for ended in story.rounds[1:])),
        ("wall time, s", lambda story: story.ended["wall_seconds"] if story.ended else None),
        ("largest weight (1/p)", lambda story: float(story.weights.max()) if len(story.weights) else None),
        ("mean delay, entries", lambda story: story.delays["mean"] if story.delays else None),
        ("nodes", lambda story: story.spec.nodes),
        ("engine", lambda story: story.spec.placement.engine),
        ("schedule", lambda story: story.spec.schedule),
        ("learner", lambda story: learner_name(story.spec.learner)),
        ("rule", lambda story: rule_name(story.spec.rule)),
        ("data", lambda story: data_name(story.spec.data)),
        ("model digest", lambda story: story.ended["digest"][:16] if story.ended else None),
    ]
    found = [(name, [value(story) for story in stories]) for name, value in rows]
    body = [[name, *values] for name, values in found if any(value is not None for value in values)]
    return Table("summary", "Summary", ["", *(story.name for story in stories)], body, wide=True)


def _selected(story: Story) -> int:
    return sum(ended.selected for ended in story.rounds[1:])


def _sampling_rate(story: Story) -> float:
    sifted = story.seen - story.rounds[0].seen if story.rounds else 0
    return _selected(story) / sifted if sifted else 0.0


def _last(story: Story, name: str) -> Any:
    return getattr(story.evaluations[-1], name) if story.evaluations else None


def _settings(stories: Sequence[Story]) -> Table:
    names = list(dict.fromkeys(name for story in stories for name in story.spec.software.versions))
    body = [["paraactive", *(story.spec.software.paraactive for story in stories)]]
    body += [[name, *(story.spec.software.versions.get(name) for story in stories)] for name in names]
    return Table("versions", "Versions", ["", *(story.name for story in stories)], body, wide=True)


def _listing(number: int, story: Story, several: bool) -> Listing:
    text = json.dumps(story.spec.to_dict(), indent=2)
    return Listing(
        f"configuration-{number}", _titled("Configuration", story, several), text, "As it stands in the run file."
    )


def _titled(title: str, story: Story, several: bool) -> str:
    return f"{title}: {story.name}" if several else title


# Curves ----------------------------------------------------------------------------------------------------------


def _error(
    stories: Sequence[Story], name: str, title: str, axis: Axis, clock: Callable[[Story], dict[int, float]] | None
) -> Chart | Text | None:
    """Test error; of runs that were tried on something."""
    curves: list[Curve] = []
    for look, story in enumerate(stories):
        times = clock(story) if clock else None
        points = [
            (float(tried.seen if times is None else times[tried.seen]), tried.mistakes / tried.test_examples)
            for tried in story.evaluations
            if times is None or tried.seen in times
        ]
        if points:
            curves.append(Curve(story.name, thinned(points), look))
    if not curves:
        line = "The run had no test examples, so its error is not known. Give test=... or --test for a curve here."
        return Text(name, title, [line], wide=True) if clock else None
    note = _clock_note(stories) if clock else ""
    log = all(y > 0 for curve in curves for _, y in curve.points)
    return Chart(name, title, axis, Axis("test error", log=log), curves, note)


def _clock_note(stories: Sequence[Story]) -> str:
    rounds = "Sifting of the slowest node, and learning; fetching is not counted, as in the paper."
    without = "Of asynchronous runs, all the time that passed on the engine's clock."
    kinds = {story.spec.schedule == "asynchronous" for story in stories}
    return rounds if kinds == {False} else without if kinds == {True} else f"{rounds} {without}"


def _rate(stories: Sequence[Story]) -> Chart | None:
    curves = [Curve(story.name, points, look) for look, story in enumerate(stories) if (points := _rates(story.rounds))]
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


def _model(stories: Sequence[Story], of: str, title: str, label: str) -> Chart | None:
    def points(evaluations: Iterable[Evaluated]) -> list[tuple[float, float]]:
        return [
            (float(tried.seen), float(getattr(tried, of))) for tried in evaluations if getattr(tried, of) is not None
        ]

    curves = [
        Curve(story.name, thinned(points(story.evaluations)), look)
        for look, story in enumerate(stories)
        if points(story.evaluations)
    ]
    return Chart(of, title, _SEEN, Axis(label), curves) if curves else None


# Nodes -----------------------------------------------------------------------------------------------------------


def _timeline(number: int, story: Story, several: bool) -> Timeline | None:
    rounds = [ended for ended in story.rounds if ended.nodes]
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
    pipelined = story.spec.schedule == "pipelined"
    beside = " In a pipelined run learning goes on beside sifting." if pipelined else ""
    left_out = f" The first {_MOST_LANES} of {len(totals)} nodes." if len(totals) > _MOST_LANES else ""
    return Timeline(
        f"timeline-{number}", _titled("What the nodes did", story, several), Axis("seconds"), NODE_TIMES, _LOOKS,
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


def _happened(stories: Sequence[Story]) -> Table | None:
    rows: list[list[Cell]] = [
        [story.name, event_name(kind), event_details(event)] for story in stories for kind, event in story.happened
    ]
    lost = any(kind != "NodeJoined" for story in stories for kind, _ in story.happened)
    return Table("happened", "What happened to nodes", ["run", "event", "details"], rows[:500]) if lost else None


def _speedup(number: int, story: Story, several: bool) -> Chart | None:
    planned = story.planned
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
        f"speedup-{number}", _titled("How many nodes pay", story, several), Axis("nodes", log=True),
        Axis("times faster than one", log=True), curves, note,
    )  # fmt: skip


# Entries ---------------------------------------------------------------------------------------------------------


def _delays(stories: Sequence[Story]) -> Bars | None:
    longest = max((story.delay_bins for story in stories), key=len)
    if not longest:
        return None
    labels = [str(a) if a == b else f"{a}-{b}" for a, b, _ in longest]
    series = [
        Series(story.name, [count for *_, count in story.delay_bins] + [0] * (len(longest) - len(story.delay_bins)))
        for story in stories
    ]
    note = "How many entries the log was ahead of the model that sifted an entry."
    return Bars("delays", "Delays", Axis("delay, entries"), Axis("entries"), labels, series, note)


def _weights(stories: Sequence[Story]) -> Bars | None:
    largest = max((float(story.weights.max()) for story in stories if len(story.weights)), default=0.0)
    if not largest:
        return None
    top = max(1, int(np.ceil(np.log2(max(largest, 1.0)) + 1e-9)))
    low = min(0, *(int(np.floor(np.log2(story.weights.min()))) for story in stories if len(story.weights)))
    edges = 2.0 ** np.arange(low, top + 1)
    labels = [f"{a:g}-{b:g}" for a, b in pairwise(edges)]
    series = [Series(story.name, np.histogram(story.weights, edges)[0].tolist()) for story in stories]
    note = "1/p of what was selected: few heavy entries count as much as many light ones."
    return Bars("weights", "Weights", Axis("weight"), Axis("entries", log=True), labels, series, note)


def _gallery(number: int, story: Story, several: bool) -> Gallery | Table | None:
    if not story.heaviest or float(story.heaviest[0].row["weight"]) <= 1.0:
        return None
    name, title = f"heaviest-{number}", _titled("The heaviest examples", story, several)
    note = "Selected with the smallest p. Look at them: outliers and wrong labels are often among these."
    shape = story.shape
    if shape and all(heavy.x is not None for heavy in story.heaviest):
        return Gallery(name, title, [_picture(story, heavy, shape) for heavy in story.heaviest], note)
    features = min(_MOST_FEATURES, max((len(heavy.x) for heavy in story.heaviest if heavy.x is not None), default=0))
    names = story.spec.data.feature_names or [f"x{column}" for column in range(features)]
    labeled = any(heavy.row["y"] is not None for heavy in story.heaviest)  # A run in memory keeps no labels.
    rows: list[list[Cell]] = [
        [
            heavy.row["position"], *([story.label(heavy.row["y"])] if labeled else []), float(heavy.row["weight"]),
            float(heavy.row["p"]),
            *([None] * features if heavy.x is None else [float(value) for value in heavy.x[:features]]),
        ]
        for heavy in story.heaviest
    ]  # fmt: skip
    label = ["label"] if labeled else []
    head = ["position", *label, "weight", "p", *(str(each) for each in list(names)[:features])]
    return Table(name, title, head, rows, note, wide=True)


def _picture(story: Story, heavy: Heavy, shape: tuple[int, ...]) -> Picture:
    row = heavy.row
    label = story.label(row["y"])
    lines = [f"label {label}", f"weight {row['weight']:.4g}", f"position {row['position']}"]
    return Picture(grey(heavy.x, shape), f"Example {row['position']}, label {label}", lines)
