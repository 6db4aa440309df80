"""The result of a run: the model, the counts, and the times on the paper's clock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paraactive.data.events import Evaluated, Round
from paraactive.learners.base import Learner, capabilities_of
from paraactive.runs.spec import RunSpec
from paraactive.runs.verdict import Verdict, verdict_of
from paraactive.schedules.plan import Plan
from paraactive.sifting.estimates import Estimates, estimates_of
from paraactive.sifting.log import LearnedExamples, WeightedExample
from paraactive.sifting.measurements import Measurements


@dataclass(repr=False)
class Run:
    """The result of a run so far. `summary()` has all its figures.

    Parameters
    ----------
    learner : Learner
        The trained learner.
    spec : RunSpec
        The description of the run.
    rounds : list of Round
        The rounds, the warmstart first.
    evaluations : list of Evaluated
        The evaluations on the test examples.
    checked : int
        Number of digests that a replay compared.
    delays : Counter
        Number of sifted entries by their lag: the number of entries that the log was ahead of the model that sifted.
    replicas : dict of int to str
        Digest of each replica at the end, by node, before the finishing step.
    updates : tuple of (str, str)
        How nodes got new models, and why.
    learned : LearnedExamples
        The examples that were learned, in order, with their p. Known at the end.
    wall_seconds : float
        Wall time of the schedule, without evaluations; of a resumed run, since it was resumed.
    measured : Measurements or None
        What the log says about the models on the way; see `estimates`.
    kept_warmstart : bool
        Whether `learner` is the model after the warmstart, because the latest model was significantly worse.
    """

    learner: Learner
    spec: RunSpec
    rounds: list[Round] = field(default_factory=list[Round])
    evaluations: list[Evaluated] = field(default_factory=list[Evaluated])
    checked: int = 0
    delays: Counter[int] = field(default_factory=Counter[int])
    replicas: dict[int, str] = field(default_factory=dict[int, str])
    updates: tuple[str, str] = "", ""
    learned: LearnedExamples = field(default_factory=LearnedExamples.nothing)
    wall_seconds: float = 0.0
    measured: Measurements | None = None
    kept_warmstart: bool = False

    def __repr__(self) -> str:
        tried = "" if self.mistakes is None else f", mistakes={self.mistakes}"
        return f"Run({self.learner!r}, seen={self.seen}, selected={self.selected}{tried})"

    @property
    def plan(self) -> Plan:
        """Numbers of examples, of nodes and of examples in a round."""
        return self.spec.plan

    @property
    def engine(self) -> str:
        """Name of the engine."""
        return self.spec.placement.engine

    @property
    def schedule(self) -> str:
        """Name of the schedule."""
        return self.spec.schedule

    @property
    def last_evaluated(self) -> int:
        """Examples seen at the last evaluation; 0 if there was none."""
        return self.evaluations[-1].seen if self.evaluations else 0

    @property
    def seen(self) -> int:
        """Number of examples seen, including the warmstart."""
        return self.rounds[-1].seen if self.rounds else 0

    @property
    def warmstart(self) -> int:
        """Number of examples learned before sifting began."""
        return self.rounds[0].seen if self.rounds else 0

    @property
    def sifted(self) -> int:
        """Number of examples for which a coin was tossed: all seen but the warmstart."""
        return self.seen - self.warmstart

    @property
    def selected(self) -> int:
        """Number of examples that were selected, without the warmstart."""
        return sum(ended.selected for ended in self.rounds[1:])

    @property
    def sampling_rate(self) -> float:
        """Selected / sifted examples; 0 if none were sifted."""
        return self.selected / self.sifted if self.sifted else 0.0

    @property
    def mistakes(self) -> int | None:
        """Mistakes of the present model on the test examples; None if it was not evaluated."""
        tried = self.evaluations[-1] if self.evaluations else None
        return tried.mistakes if tried and tried.seen == self.seen else None

    @property
    def estimates(self) -> Estimates | None:
        """Estimates of the error from the log alone, without test examples; None if the log has no scores."""
        return None if self.measured is None else estimates_of(self.measured, self.spec.data.classes)

    @property
    def verdict(self) -> Verdict:
        """The estimated error in one sentence, and warnings."""
        return verdict_of(self.estimates, self.selected, self.sifted, self.kept_warmstart, self.spec.rule.kind)

    @property
    def warmstart_seconds(self) -> float:
        """Seconds of learning the warmstart."""
        return self.rounds[0].update_seconds if self.rounds else 0.0

    @property
    def fetch_seconds(self) -> float:
        """Seconds of reading examples, summed over nodes."""
        return sum(ended.fetch_seconds for ended in self.rounds)

    @property
    def sift_seconds(self) -> float:
        """Seconds of sifting, summed over nodes."""
        return sum(ended.sift_seconds for ended in self.rounds)

    @property
    def scored(self) -> int:
        """Number of exact scores. The learner's proxy ruled out the other examples, or the rule needs no scores."""
        return sum(ended.scored for ended in self.rounds)

    @property
    def lowered(self) -> int:
        """Number of selected examples whose p the proxy made smaller, because its error was above the error bound."""
        return sum(ended.lowered for ended in self.rounds)

    @property
    def update_seconds(self) -> float:
        """Seconds of learning after the warmstart."""
        return sum(ended.update_seconds for ended in self.rounds[1:])

    @property
    def simulated(self) -> dict[int, float]:
        """For several numbers of nodes: the seconds that the run would take, on the paper's clock."""
        return clock(self.rounds)

    @property
    def learnt(self) -> LearnedExamples:
        """The former name of `learned`."""
        return self.learned

    def heaviest(self, count: int = 10) -> list[WeightedExample]:
        """The examples with the largest weights. Outliers and wrong labels are often among them.

        Parameters
        ----------
        count : int, default=10
            Number of examples.

        Returns
        -------
        list of WeightedExample
            (key, p, weight), the heaviest first.
        """
        return self.learned.heaviest(count)

    def delay_figures(self) -> dict[str, float] | None:
        """Mean, median, 99th percentile and largest lag in entries; None if nothing was selected."""
        return delay_figures(self.delays)

    def delay_histogram(self) -> list[tuple[int, int, int]]:
        """(first, last, entries) for lags of 0, 1, 2-3, 4-7 entries and so on."""
        return delay_histogram(self.delays)

    def summary(self) -> dict[str, Any]:
        """All figures, for JSON."""
        vectors, estimates, verdict = capabilities_of(self.learner).vectors, self.estimates, self.verdict
        return {
            "verdict": verdict.sentence,
            "warnings": list(verdict.warnings),
            "estimates": None if estimates is None else estimates.summary(),
            "kept_warmstart": self.kept_warmstart,
            "seen": self.seen,
            "warmstart": self.warmstart,
            "selected": self.selected,
            "sampling_rate": self.sampling_rate,
            "scored": self.scored,
            "lowered": self.lowered,
            "mistakes": self.mistakes,
            "test_examples": self.evaluations[-1].test_examples if self.evaluations else None,
            **({} if vectors is None else {"vectors": vectors}),
            "warmstart_seconds": self.warmstart_seconds,
            "fetch_seconds": self.fetch_seconds,
            "sift_seconds": self.sift_seconds,
            "update_seconds": self.update_seconds,
            "wall_seconds": self.wall_seconds,
            "digest": self.learner.digest(),
            "replicas": [{"node": node, "digest": digest} for node, digest in self.replicas.items()],
            "delays": self.delay_figures(),
            "delay_histogram": [{"from": a, "to": b, "entries": count} for a, b, count in self.delay_histogram()],
            "nodes": self.plan.nodes,
            "engine": self.engine,
            "schedule": self.schedule,
            "updates": self.updates[0],
            "updates_why": self.updates[1],
            "simulated": [{"nodes": k, "seconds": seconds} for k, seconds in self.simulated.items()],
        }


def delay_figures(delays: Counter[int]) -> dict[str, float] | None:
    """Summarize lags.

    Parameters
    ----------
    delays : Counter
        Number of entries by their lag in entries.

    Returns
    -------
    dict or None
        "mean", "p50", "p99" and "max"; None if there are no entries.
    """
    if not delays:
        return None
    delay = np.array(sorted(delays))
    count = np.array([delays[each] for each in delay.tolist()])
    total = np.cumsum(count)
    return {
        "mean": float(delay @ count / total[-1]),
        "p50": int(delay[np.searchsorted(total, 0.5 * total[-1])]),
        "p99": int(delay[np.searchsorted(total, 0.99 * total[-1])]),
        "max": int(delay[-1]),
    }


def delay_histogram(delays: Counter[int]) -> list[tuple[int, int, int]]:
    """Count lags in bins that double in width.

    Parameters
    ----------
    delays : Counter
        Number of entries by their lag in entries.

    Returns
    -------
    list of (int, int, int)
        First lag, last lag and number of entries of each bin.
    """
    bins: Counter[int] = Counter()
    for delay, count in delays.items():
        bins[delay.bit_length()] += count
    return [(1 << bits >> 1, (1 << bits) - 1, bins[bits]) for bits in range(max(bins, default=-1) + 1)]


def clock(rounds: Iterable[Round]) -> dict[int, float]:
    """Time on the paper's clock: the warmstart, and what each round takes with k nodes.

    Parameters
    ----------
    rounds : iterable of Round
        All rounds.

    Returns
    -------
    dict of int to float
        Seconds by number of nodes, for the numbers that are known for all rounds.

    Examples
    --------
    >>> rounds = [Round(0, 9, 9, 9, 0, 0, 1.0), Round(1, 18, 12, 3, 0, 4.0, 0.5, {1: 4.5, 2: 3.0})]
    >>> clock(rounds)
    {1: 5.5, 2: 4.0}
    """
    rounds = list(rounds)
    first = sum(ended.update_seconds for ended in rounds[:1])
    # Rounds before a change of the number of nodes have no time for the new number.
    timed = set[int].intersection(*(set(ended.elapsed) for ended in rounds[1:])) if rounds[1:] else {1}
    return {k: first + sum(ended.elapsed[k] for ended in rounds[1:]) for k in sorted(timed)}
