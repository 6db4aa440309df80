"""One slow node of eight: Algorithm 1 waits for the slow node, Algorithm 2 does not.

The nodes run on a virtual clock; the costs of sifting and learning are measured.
"""

from __future__ import annotations

from paraactive.engines import Cluster
from paraactive.errors import counted
from paraactive.experiments.paper.claims import by_mistakes, decided
from paraactive.experiments.paper.curves import (
    against_time,
    common_levels,
    mistakes_label,
    time_chart,
)
from paraactive.experiments.paper.experiment import BATCH, Experiment, ExperimentResult, RecordsByKind, RunKind
from paraactive.experiments.tasks import GAMMA, find_task
from paraactive.experiments.timing import mean_seconds_to
from paraactive.learners import LaSVM, Learner
from paraactive.report import Axis, Chart, Curve
from paraactive.rules import SignedMargin

NODES, SLOWDOWN = 8, 4.0
_SLOW = Cluster(slowness=(SLOWDOWN,))
_EXAMPLES = {"small": 20 * BATCH, "paper": 60 * BATCH}
SYNCHRONOUS, ASYNCHRONOUS = "synchronous", "asynchronous"


def _svm(_seed: int) -> Learner:
    return LaSVM(C=1, gamma=GAMMA, gap=0.2)


def _name(schedule: str, slow: bool) -> str:
    return f"{schedule}, one node {SLOWDOWN:g} times slower" if slow else f"{schedule}, equal nodes"


_KINDS = tuple(
    RunKind(
        _name(schedule, slow), f"{schedule}-{'slow' if slow else 'alike'}", _svm, SignedMargin(0.05, theta=0.0),
        _EXAMPLES,
        schedule=schedule, nodes=NODES, cluster=_SLOW if slow else None,
    )
    for schedule in (SYNCHRONOUS, ASYNCHRONOUS)
    for slow in (False, True)
)  # fmt: skip


def summarize(records: RecordsByKind) -> ExperimentResult:
    """Draw mistakes against simulated time, and the cost of the slow node in each schedule.

    Parameters
    ----------
    records : mapping of str to sequence of RunRecord
        Records of the runs, by kind.

    Returns
    -------
    ExperimentResult
        Charts, claims and notes.
    """
    names = [kind.name for kind in _KINDS]
    first = records[names[0]]
    time = time_chart(
        "stragglers-time", f"One slow node of {NODES}: mistakes against time", first,
        [against_time(name, records[name], NODES, look) for look, name in enumerate(names)],
        "SVM, {3,1} v {5,7}, signed margin. The clock is simulated; the costs of sifting and learning are measured.",
    )  # fmt: skip
    levels = common_levels(*(records[name] for name in names), most=4)
    cost = {schedule: _cost(records, schedule, levels) for schedule in (SYNCHRONOUS, ASYNCHRONOUS)}
    slowed = Chart(
        "stragglers-cost", "Cost of one slow node", Axis(mistakes_label(first)), Axis("slowdown"),
        [Curve(schedule, [(float(level), value) for level, value in points]) for schedule, points in cost.items()],
    )  # fmt: skip
    gain = [(level, _seconds(records, SYNCHRONOUS, level) / _seconds(records, ASYNCHRONOUS, level)) for level in levels]
    claims = [
        decided(
            "In the synchronous schedule, all nodes wait for the slowest node.",
            cost[SYNCHRONOUS][-1][1] > 1.5 if levels else None,
            f"slowdown with the slow node, to {by_mistakes(cost[SYNCHRONOUS])}",
        ),
        decided(
            "In the asynchronous schedule, the slow node costs little.",
            cost[ASYNCHRONOUS][-1][1] < 1.5 if levels else None,
            f"slowdown with the slow node, to {by_mistakes(cost[ASYNCHRONOUS])}",
        ),
        decided(
            "With a slow node, the asynchronous schedule is faster.",
            gain[-1][1] > 1 if gain else None,
            f"speedup over synchronous, to {by_mistakes(gain)}",
        ),
    ]
    return ExperimentResult(
        "One slow node: synchronous and asynchronous", [time, slowed], claims, (),
        [f"{counted(len(first), 'seed')}, {first[0].seen:,} examples, B = warmstart = {BATCH}, {NODES} nodes."],
    )  # fmt: skip


def _seconds(records: RecordsByKind, schedule: str, level: float, slow: bool = True) -> float:
    return mean_seconds_to(records[_name(schedule, slow)], level, NODES) or float("nan")


def _cost(records: RecordsByKind, schedule: str, levels: list[int]) -> list[tuple[int, float]]:
    return [
        (level, _seconds(records, schedule, level) / _seconds(records, schedule, level, slow=False)) for level in levels
    ]


STRAGGLERS = Experiment(
    "stragglers",
    lambda seed: find_task("digits-31v57").stream("svm", seed),
    _KINDS,
    {"small": 1, "paper": 3},
    summarize,
)
