"""Sections about nodes: their time by activity, their events, and the predicted speedup of more nodes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from paraactive.data.events import NODE_TIMES, NodeTimes, Round
from paraactive.planning.plan import Planned
from paraactive.report.charts import Axis, Chart, Curve
from paraactive.report.names import event_details, event_name
from paraactive.report.run_charts import round_groups
from paraactive.report.run_record import RunRecord
from paraactive.report.sections import Cell, Lane, Part, TableSection, Timeline

_LOOKS = (5, 0, 1, 3, 6)
_MAX_GROUPS = 120
_MAX_LANES = 16
_MAX_EVENTS = 500


def timeline(number: int, record: RunRecord, ending: str) -> Timeline | None:
    """Make the timeline of the nodes of a run.

    Parameters
    ----------
    number : int
        Number of the run on the page.
    record : RunRecord
        The run.
    ending : str
        Text behind the title, which names the run if the page has several.

    Returns
    -------
    Timeline or None
        The timeline; None if the run has no times of nodes.
    """
    rounds = [ended for ended in record.rounds if ended.nodes]
    if not rounds:
        return None
    totals = _seconds_by_node(rounds)
    lanes = {node: list[Part]() for node in sorted(totals)[:_MAX_LANES]}
    start = 0.0
    for group in round_groups(rounds, _MAX_GROUPS):
        longest = sum(max(_total(times) for times in ended.nodes) for ended in group)
        seconds = _seconds_by_node(group)
        for node, lane in lanes.items():
            lane += _parts(node, seconds.get(node, [0.0] * len(NODE_TIMES)), group, start, longest)
        start += longest
    pipelined = record.spec.schedule == "pipelined"
    overlap = " In a pipelined run, nodes learn and sift at the same time." if pipelined else ""
    left_out = f" Only the first {_MAX_LANES} of {len(totals)} nodes are drawn." if len(totals) > _MAX_LANES else ""
    return Timeline(
        f"timeline-{number}", f"Time that each node spent, by activity{ending}", Axis("seconds"), NODE_TIMES, _LOOKS,
        [Lane(_node_name(node), lane) for node, lane in lanes.items()],
        ["", *(f"{kind}, s" for kind in NODE_TIMES)], [[_node_name(node), *totals[node]] for node in sorted(totals)],
        "Consecutive rounds are drawn as one group. Within a group, the times of each activity are added up."
        f"{overlap}{left_out}",
    )  # fmt: skip


def _total(times: NodeTimes) -> float:
    return sum(getattr(times, kind) for kind in NODE_TIMES)


def _node_name(node: int) -> str:
    return f"node {node}" if node >= 0 else "driver"  # The driver sifts if no node answers.


def _seconds_by_node(rounds: Iterable[Round]) -> dict[int, list[float]]:
    """Add up the seconds of each activity, by node."""
    totals: dict[int, list[float]] = {}
    for ended in rounds:
        for times in ended.nodes:
            own = totals.setdefault(times.node, [0.0] * len(NODE_TIMES))
            for place, kind in enumerate(NODE_TIMES):
                own[place] += getattr(times, kind)
    return totals


def _parts(node: int, seconds: Sequence[float], rounds: Sequence[Round], start: float, longest: float) -> list[Part]:
    """Lay the activities of a node in a group of rounds one after the other, none longer than the group."""
    numbers = f"rounds {rounds[0].number} to {rounds[-1].number}" if len(rounds) > 1 else f"round {rounds[0].number}"
    parts: list[Part] = []
    for place, kind in enumerate(NODE_TIMES):
        length = min(seconds[place], longest)
        if length > 0:
            parts.append(Part(place, start, length, f"{_node_name(node)}, {numbers}\n{kind}: {length:.4g} s"))
            start += length
    return parts


def node_events_table(records: Sequence[RunRecord]) -> TableSection | None:
    """List the events about nodes.

    Parameters
    ----------
    records : sequence of RunRecord
        The runs.

    Returns
    -------
    TableSection or None
        The table; None if nodes only joined.
    """
    rows: list[list[Cell]] = [
        [record.name, event_name(kind), event_details(event)]
        for record in records
        for kind, event in record.node_events
    ]
    unusual = any(kind != "NodeJoined" for record in records for kind, _ in record.node_events)
    head = ["run", "event", "details"]
    return TableSection("node-events", "Node events", head, rows[:_MAX_EVENTS]) if unusual else None


def speedup_chart(number: int, record: RunRecord, ending: str) -> Chart | None:
    """Chart the predicted speedup against the number of nodes.

    Parameters
    ----------
    number : int
        Number of the run on the page.
    record : RunRecord
        The run.
    ending : str
        Text behind the title, which names the run if the page has several.

    Returns
    -------
    Chart or None
        The chart; None if the cost model cannot be fitted to the run.
    """
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
        curves.append(Curve("measured on the paper's clock", measured, 1))
    return Chart(
        f"speedup-{number}", f"Speedup by number of nodes{ending}", Axis("nodes", log=True),
        Axis("speedup over one node", log=True), curves, _speedup_note(planned),
    )  # fmt: skip


def _speedup_note(planned: Planned) -> str:
    largest = planned.predictions[-1].nodes
    if planned.pays_until >= largest:
        advice = f"time still falls at {largest} nodes"
    elif planned.pays_until == 1:
        advice = f"one node is enough; with more, {_BOUNDS[planned.bound]}"
    else:
        advice = f"up to {planned.pays_until} nodes are worthwhile; beyond, {_BOUNDS[planned.bound]}"
    return (
        f"Prediction of the paper's cost model, fitted to this run: {advice}. "
        "Communication is not included; 'paraactive plan' accepts a latency and a bandwidth."
    )


_BOUNDS = {
    "update": "learning takes most of the time",
    "sift": "a round has too few examples to share",
    "network": "communication costs more than sifting gains",
}
