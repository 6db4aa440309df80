"""The SVM experiment of the paper: digits {3,1} against {5,7}, LASVM. Our rule and cascade are added."""

from __future__ import annotations

from paraactive.errors import counted
from paraactive.experiments.paper.claims import by_mistakes, by_nodes, decided, growing
from paraactive.experiments.paper.curves import (
    against_time,
    common_levels,
    rate_chart,
    rate_curve,
    sampling_rate,
    speedup,
    speedup_chart,
    speedup_table,
    time_chart,
)
from paraactive.experiments.paper.experiment import BATCH, NODES, Experiment, ExperimentResult, RecordsByKind, RunKind
from paraactive.experiments.tasks import GAMMA, find_task
from paraactive.experiments.timing import mean_seconds_to
from paraactive.learners import LaSVM, Learner
from paraactive.report import Claim
from paraactive.rules import PaperMargin, Passive, SignedMargin

PASSIVE, SEQUENTIAL, PARALLEL, OURS = "passive", "sequential active", "parallel active", "signed margin, cascade (ours)"


def _plain(_seed: int) -> Learner:
    return LaSVM(C=1, gamma=GAMMA, cascade=False)


def _ours(_seed: int) -> Learner:
    return LaSVM(C=1, gamma=GAMMA, gap=0.2)


_KINDS = (
    RunKind(PASSIVE, "passive", _plain, Passive(), {"small": 20 * BATCH, "paper": 64 * BATCH}),
    RunKind(
        SEQUENTIAL,
        "sequential",
        _plain,
        PaperMargin(0.01),
        {"small": 20 * BATCH, "paper": 64 * BATCH},
        schedule="sequential",
    ),
    RunKind(PARALLEL, "parallel", _plain, PaperMargin(0.1), {"small": 50 * BATCH, "paper": 200 * BATCH}),
    RunKind(OURS, "signed", _ours, SignedMargin(0.05, theta=0.0), {"small": 25 * BATCH, "paper": 100 * BATCH}),
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
    levels = common_levels(passive, parallel)
    nodes = (4, 16, 64, 128)
    time = time_chart(
        "svm-time", "SVM, {3,1} v {5,7}: mistakes against time", passive,
        [
            against_time(PASSIVE, passive, 1, 0),
            against_time(SEQUENTIAL, records[SEQUENTIAL], 1, 1),
            against_time("batch-delayed, k = 1", parallel, 1, 2),
            *(against_time(f"parallel active, k = {k}", parallel, k, 3 + place) for place, k in enumerate(nodes)),
            against_time("signed margin, cascade, k = 1 (ours)", ours, 1, 7),
            against_time("signed margin, cascade, k = 64 (ours)", ours, 64, 15),
        ],
        "On the paper's clock: the warmstart, then in each round the longest sifting time of k portions plus learning.",
    )  # fmt: skip
    overview = time_chart(
        "svm-overview", "Mistakes against training time", passive,
        [
            against_time("learn everything", passive, 1, 0, smooth=True),
            against_time("the paper's sifting, 1 node", parallel, 1, 2, smooth=True),
            against_time("the paper's sifting, 64 nodes", parallel, 64, 3, smooth=True),
            against_time("paraactive, 1 node", ours, 1, 1, smooth=True),
            against_time("paraactive, 64 nodes", ours, 64, 7, smooth=True),
        ],
        "A selection of the curves above, each point averaged over three checkpoints. Nodes are simulated.",
    )  # fmt: skip
    over_passive = speedup_chart(
        "svm-speedup-passive", "Speedup over sequential passive", parallel, passive, levels, NODES
    )
    over_delayed = speedup_chart(
        "svm-speedup-delayed", "Speedup over batch-delayed active, k = 1", parallel, parallel, levels, NODES
    )
    ours_over = speedup_chart(
        "svm-speedup-ours", "Signed margin and cascade (ours), over passive", ours, passive,
        common_levels(passive, ours), NODES,
    )  # fmt: skip
    rates = rate_chart(
        "svm-rate", "Sampling rate",
        [
            rate_curve("sequential active, eta 0.01", records[SEQUENTIAL], 1),
            rate_curve("parallel active, eta 0.1", parallel, 2),
            rate_curve("signed margin, eta 0.05 (ours)", ours, 7),
        ],
    )  # fmt: skip
    charts = [time, overview, over_passive, over_delayed, ours_over, rates]
    return ExperimentResult(
        "Para-active learning, the paper's SVM experiment", charts, _claims(records, levels),
        [speedup_table("speedups", "Speedups", [over_passive, over_delayed, ours_over], NODES)],
        [
            f"{counted(len(passive), 'seed')}, B = warmstart = {BATCH}. Passive and sequential active: "
            f"{passive[0].seen:,} examples; parallel active: {parallel[0].seen:,}; ours: {ours[0].seen:,}.",
            "Time to m mistakes ends at the first checkpoint with at most m mistakes, averaged with its two neighbors.",
            "Compared with its scoring, our LASVM learns several times faster than the LASVM of the paper seems to. So "
            "passive learning is a stronger baseline here, speedups over it are smaller, and they level off at fewer "
            "nodes.",
            "The paper's rule runs without cascade and without reprocessing after a round; ours runs with both.",
        ],
    )  # fmt: skip


def _claims(records: RecordsByKind, levels: list[int]) -> list[Claim]:
    passive, sequential, parallel = records[PASSIVE], records[SEQUENTIAL], records[PARALLEL]
    rate = sampling_rate(parallel)
    claims = [
        decided(
            "The sampling rate is about 2%.", 0.01 <= rate <= 0.04, f"{rate:.1%} of the sifted examples, with eta 0.1"
        )
    ]
    if not levels:
        return [*claims, decided("Speedups.", None, "no number of mistakes was reached by all runs")]
    last = levels[-1]
    at = [(level, value) for level in levels if (value := speedup(parallel, passive, level, 64)) is not None]
    claims.append(
        decided(
            "Speedups grow as the target error falls.",
            growing(at),
            f"speedup over passive, k = 64, to {by_mistakes(at)}",
        )
    )
    known = {k: value for k in NODES if (value := speedup(parallel, parallel, last, k)) is not None}
    claims.append(
        decided(
            "Speedups are substantial up to 64 nodes, and small from 64 to 128.",
            known[64] > 8 and known[128] / known[64] < 1.25,
            f"speedup over k = 1, to {last} mistakes: {by_nodes(known)}",
        )
    )
    both = common_levels(sequential, parallel, most=3)
    one = [
        (level, (mean_seconds_to(sequential, level) or 0) / (mean_seconds_to(parallel, level) or 1)) for level in both
    ]
    claims.append(
        decided(
            "At high accuracy, batch-delayed updates with k = 1 are faster than updates after each example.",
            one[-1][1] > 1 if one else None,
            f"speedup over sequential active, to {by_mistakes(one)}",
        )
    )
    gain = [
        (level, value)
        for level in common_levels(passive, sequential, most=3)
        if (value := speedup(sequential, passive, level, 1)) is not None
    ]
    claims.append(
        decided(
            "Sequential active learning gains little over passive.",
            0.5 < gain[-1][1] < 2 if gain else None,
            f"speedup over passive, to {by_mistakes(gain)}",
        )
    )
    return claims


SVM = Experiment(
    "svm", lambda seed: find_task("digits-31v57").stream("svm", seed), _KINDS, {"small": 1, "paper": 3}, summarize
)
