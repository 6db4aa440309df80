"""The network experiment of the paper: digit 3 against 5, 100 sigmoid units.

The gradient rule is added, as an answer to the open question of the paper: which rule selects fewer examples?
"""

from __future__ import annotations

from collections.abc import Sequence

from paraactive.errors import counted
from paraactive.experiments.paper.claims import by_nodes, decided
from paraactive.experiments.paper.curves import (
    against_time,
    common_levels,
    flat_at,
    least_mistakes,
    rate_at,
    rate_chart,
    rate_curve,
    sampling_rate,
    speedup,
    speedup_chart,
    speedup_table,
    time_chart,
)
from paraactive.experiments.paper.experiment import BATCH, NODES, Experiment, ExperimentResult, RecordsByKind, RunKind
from paraactive.experiments.tasks import find_task
from paraactive.learners import Learner, Network
from paraactive.report import Claim, RunRecord
from paraactive.rules import Gradient, PaperMargin, Passive

PASSIVE, SEQUENTIAL, PARALLEL, OURS = "passive", "sequential active", "parallel active", "gradient (ours)"
ETA = 0.0005


def _network(seed: int) -> Learner:
    return Network(seed=seed)


_EXAMPLES = {"small": 60 * BATCH, "paper": 150 * BATCH}
_KINDS = (
    RunKind(PASSIVE, "passive", _network, Passive(), _EXAMPLES),
    RunKind(SEQUENTIAL, "sequential", _network, PaperMargin(ETA), _EXAMPLES, schedule="sequential"),
    RunKind(PARALLEL, "parallel", _network, PaperMargin(ETA), _EXAMPLES),
    RunKind(OURS, "gradient", _network, Gradient(), _EXAMPLES),
)


def summarize(records: RecordsByKind) -> ExperimentResult:
    """Draw error against time, speedups and sampling rates, and check the claims of the paper.

    Parameters
    ----------
    records : mapping of str to sequence of RunRecord
        Records of the runs, by kind.

    Returns
    -------
    ExperimentResult
        Charts, claims and notes.
    """
    passive, parallel, ours = records[PASSIVE], records[PARALLEL], records[OURS]
    time = time_chart(
        "network-time", "Network, 3 v 5: mistakes against time", passive,
        [
            against_time(PASSIVE, passive, 1, 0),
            against_time(SEQUENTIAL, records[SEQUENTIAL], 1, 1),
            against_time("parallel active, k = 1", parallel, 1, 2),
            against_time("parallel active, k = 2", parallel, 2, 3),
            against_time("parallel active, k = 64", parallel, 64, 4),
            against_time("gradient, k = 1 (ours)", ours, 1, 7),
            against_time("gradient, k = 64 (ours)", ours, 64, 15),
        ],
        "On the paper's clock: the warmstart, then in each round the longest sifting time of k portions plus learning.",
    )  # fmt: skip
    levels, levels_ours = common_levels(passive, parallel, most=4), common_levels(passive, ours, most=4)
    over = speedup_chart("network-speedup", "Margin rule over sequential passive", parallel, passive, levels, NODES)
    over_ours = speedup_chart(
        "network-speedup-ours", "Gradient rule (ours) over sequential passive", ours, passive, levels_ours, NODES
    )
    rates = rate_chart(
        "network-rate", "Sampling rate",
        [
            rate_curve("sequential active", records[SEQUENTIAL], 1),
            rate_curve("parallel active", parallel, 2),
            rate_curve("gradient (ours)", ours, 7),
        ],
    )  # fmt: skip
    return ExperimentResult(
        "Para-active learning, the paper's network experiment", [time, over, over_ours, rates],
        _claims(passive, parallel, ours, levels, levels_ours),
        [speedup_table("speedups", "Speedups", [over, over_ours], NODES)],
        [
            f"{counted(len(passive), 'seed')}, {passive[0].seen:,} examples, B = warmstart = {BATCH}, eta {ETA}.",
            "Time to m mistakes ends at the first checkpoint with at most m mistakes, averaged with its two neighbors.",
            "The gradient rule needs labels: p grows with the gradient of the loss, and is at least 0.01.",
        ],
    )  # fmt: skip


def _claims(
    passive: Sequence[RunRecord],
    parallel: Sequence[RunRecord],
    ours: Sequence[RunRecord],
    levels: list[int],
    levels_ours: list[int],
) -> list[Claim]:
    least = least_mistakes(passive), least_mistakes(parallel), least_mistakes(ours)
    there, flat = rate_at(parallel, 10), flat_at(passive)
    claims = [
        decided(
            "Mistakes level off at 10, then at 9.",
            None if flat is None else 8 <= flat <= 11,
            f"passive learning {'still improves' if flat is None else f'levels off at {flat:.1f}'}; fewest mistakes: "
            f"passive {least[0]:.1f}, margin {least[1]:.1f}, gradient {least[2]:.1f}",
        ),
        decided(
            "At that point the margin rule still selects 40%.",
            None if there is None else 0.25 <= there <= 0.55,
            "no run came down to 10 mistakes"
            if there is None
            else f"{there:.0%} just before 10 mistakes, {sampling_rate(parallel):.0%} over the whole run",
        ),
    ]
    if levels:
        last = levels[-1]
        known = {k: value for k in NODES if (value := speedup(parallel, parallel, last, k)) is not None}
        claims.append(
            decided(
                "Two nodes help; more nodes help little.",
                known[2] > 1.05 and known[64] / known[2] < 1.25,
                f"speedup over k = 1, to {last} mistakes: {by_nodes(known)}",
            )
        )
    if levels_ours:
        last = levels_ours[-1]
        faster = {k: value for k in NODES if (value := speedup(ours, passive, last, k)) is not None}
        claims.append(
            decided(
                "Open question of the paper: is there a rule that selects fewer examples? (ours: gradient)",
                sampling_rate(ours) < 0.5 * sampling_rate(parallel) and least[2] <= least[1] + 1,
                f"{sampling_rate(ours):.1%} selected instead of {sampling_rate(parallel):.0%}; speedup over passive, "
                f"to {last} mistakes: {by_nodes(faster)}",
            )
        )
    return claims


NETWORK = Experiment(
    "network", lambda seed: find_task("digits-3v5").stream("network", seed), _KINDS, {"small": 1, "paper": 3}, summarize
)
