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
from paraactive.schedules.plan import Plan
from paraactive.sifting.log import LearnedExamples, WeightedExample


@dataclass(repr=False)
class Run:
    """What came of a run so far. `summary()` has all its figures."""

    learner: Learner
    spec: RunSpec
    rounds: list[Round] = field(default_factory=list[Round])
    evaluations: list[Evaluated] = field(default_factory=list[Evaluated])
    checked: int = 0
    """Digests that a replay compared."""
    delays: Counter[int] = field(default_factory=Counter[int])
    """How many of the sifted entries had which delay: entries that the log was ahead of the model that sifted."""
    replicas: dict[int, str] = field(default_factory=dict[int, str])
    """The digest of each replica at the end."""
    updates: tuple[str, str] = "", ""
    """Who learnt, and why it was done so."""
    learned: LearnedExamples = field(default_factory=LearnedExamples.nothing)
    """Which examples were learnt, in order, with their p; known at the end."""
    wall_seconds: float = 0.0
    """Real time of the schedule, without evaluating; of a resumed run, since then."""

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
        """Examples seen, the warmstart included."""
        return self.rounds[-1].seen if self.rounds else 0

    @property
    def warmstart(self) -> int:
        """Examples learnt before sifting began."""
        return self.rounds[0].seen if self.rounds else 0

    @property
    def sifted(self) -> int:
        """Examples for which a coin was tossed: all seen but the warmstart."""
        return self.seen - self.warmstart

    @property
    def selected(self) -> int:
        """Examples that passed the coin; the warmstart is not among them."""
        return sum(ended.selected for ended in self.rounds[1:])

    @property
    def sampling_rate(self) -> float:
        """Selected of sifted; 0 if nothing was sifted."""
        return self.selected / self.sifted if self.sifted else 0.0

    @property
    def mistakes(self) -> int | None:
        """On the test examples, of the model as it is; None if it was not tried."""
        tried = self.evaluations[-1] if self.evaluations else None
        return tried.mistakes if tried and tried.seen == self.seen else None

    @property
    def warmstart_seconds(self) -> float:
        return self.rounds[0].update_seconds if self.rounds else 0.0

    @property
    def fetch_seconds(self) -> float:
        return sum(ended.fetch_seconds for ended in self.rounds)

    @property
    def sift_seconds(self) -> float:
        return sum(ended.sift_seconds for ended in self.rounds)

    @property
    def scored(self) -> int:
        """Examples that got an exact score; the learner's proxy ruled out the others, or the rule needs none."""
        return sum(ended.scored for ended in self.rounds)

    @property
    def lowered(self) -> int:
        """Selected examples whose p the proxy made smaller, as it was off by more than its guard."""
        return sum(ended.lowered for ended in self.rounds)

    @property
    def update_seconds(self) -> float:
        """After the warmstart."""
        return sum(ended.update_seconds for ended in self.rounds[1:])

    @property
    def simulated(self) -> dict[int, float]:
        """For several k: the seconds that k nodes would take, on the paper's clock."""
        return clock(self.rounds)

    @property
    def learnt(self) -> LearnedExamples:
        """The former name of `learned`."""
        return self.learned

    def heaviest(self, count: int = 10) -> list[WeightedExample]:
        """(key, p, weight) of the examples with the largest weights, the heaviest first.

        Look at them: outliers and wrong labels are often among them, and each counts as much as many others.
        """
        return self.learned.heaviest(count)

    def delay_figures(self) -> dict[str, float] | None:
        """Mean, median, 99th percentile and largest delay; None if nothing was selected."""
        return delay_figures(self.delays)

    def delay_histogram(self) -> list[tuple[int, int, int]]:
        """(first, last, entries) for delays of 0, 1, 2-3, 4-7 and so on."""
        return delay_histogram(self.delays)

    def summary(self) -> dict[str, Any]:
        """All figures, ready for JSON."""
        vectors = capabilities_of(self.learner).vectors
        return {
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
    """See `Run.delay_figures`."""
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
    """See `Run.delay_histogram`."""
    bins: Counter[int] = Counter()
    for delay, count in delays.items():
        bins[delay.bit_length()] += count
    return [(1 << bits >> 1, (1 << bits) - 1, bins[bits]) for bits in range(max(bins, default=-1) + 1)]


def clock(rounds: Iterable[Round]) -> dict[int, float]:
    """The paper's clock: the warmstart, and what each round takes with k nodes, where that is known for all rounds.

    >>> rounds = [Round(0, 9, 9, 9, 0, 0, 1.0), Round(1, 18, 12, 3, 0, 4.0, 0.5, {1: 4.5, 2: 3.0})]
    >>> clock(rounds)
    {1: 5.5, 2: 4.0}
    """
    rounds = list(rounds)
    first = sum(ended.update_seconds for ended in rounds[:1])
    # A run that was resumed with another number of nodes was not timed for it before.
    timed = set[int].intersection(*(set(ended.elapsed) for ended in rounds[1:])) if rounds[1:] else {1}
    return {k: first + sum(ended.elapsed[k] for ended in rounds[1:]) for k in sorted(timed)}
