"""The result of a run: the model, the counts, and the times on the paper's clock."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from paraactive.events import Evaluated, Round
from paraactive.learners.base import Learner


@dataclass
class Run:
    """What came of a run so far. `summary()` has all its figures."""

    learner: Learner
    nodes: int
    engine: str
    schedule: str
    rounds: list[Round] = field(default_factory=list[Round])
    evaluations: list[Evaluated] = field(default_factory=list[Evaluated])

    @property
    def seen(self) -> int:
        """Examples seen, the warmstart included."""
        return self.rounds[-1].seen if self.rounds else 0

    @property
    def selected(self) -> int:
        """Examples learnt from, the warmstart included."""
        return sum(ended.selected for ended in self.rounds)

    @property
    def sampling_rate(self) -> float:
        """Selected by sifting, of all that were sifted: the warmstart is not counted."""
        sifted = self.seen - (self.rounds[0].seen if self.rounds else 0)
        return sum(ended.selected for ended in self.rounds[1:]) / sifted if sifted else 1.0

    @property
    def mistakes(self) -> int | None:
        """On the test examples, at the end; None without test examples."""
        return self.evaluations[-1].mistakes if self.evaluations else None

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
    def update_seconds(self) -> float:
        """After the warmstart."""
        return sum(ended.update_seconds for ended in self.rounds[1:])

    @property
    def simulated(self) -> dict[int, float]:
        """For several k: the seconds that k nodes would take, on the paper's clock."""
        return clock(self.rounds)

    def summary(self) -> dict[str, Any]:
        """All figures, ready for JSON."""
        vectors = getattr(self.learner, "vectors", None)
        return {
            "seen": self.seen,
            "selected": self.selected,
            "sampling_rate": self.sampling_rate,
            "mistakes": self.mistakes,
            "test_examples": self.evaluations[-1].test_examples if self.evaluations else None,
            **({} if vectors is None else {"vectors": vectors}),
            "warmstart_seconds": self.warmstart_seconds,
            "fetch_seconds": self.fetch_seconds,
            "sift_seconds": self.sift_seconds,
            "update_seconds": self.update_seconds,
            "digest": self.learner.digest(),
            "nodes": self.nodes,
            "engine": self.engine,
            "schedule": self.schedule,
            "simulated": [{"nodes": k, "seconds": seconds} for k, seconds in self.simulated.items()],
        }


def clock(rounds: Iterable[Round]) -> dict[int, float]:
    """The paper's clock: the warmstart, and for each round the largest sift time of k portions plus the update.

    >>> rounds = [Round(0, 9, 9, 9, 0, 0, 1.0), Round(1, 18, 12, 3, 0, 4.0, 0.5, {1: 4.0, 2: 2.5})]
    >>> clock(rounds)
    {1: 5.5, 2: 4.0}
    """
    rounds = list(rounds)
    updates = sum(ended.update_seconds for ended in rounds)
    counts = sorted({k for ended in rounds for k in ended.largest})
    return {k: updates + sum(ended.largest.get(k, 0.0) for ended in rounds) for k in counts}
