"""Comparisons with sequential passive learning, through the same loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from paraactive.data.events import Observer
from paraactive.learners import Learner
from paraactive.rules import Passive
from paraactive.runs.run import Run, clock
from paraactive.runs.train import train
from paraactive.streams import Stream


@dataclass(frozen=True)
class Comparison:
    """Sequential passive learning on the same stream, until it makes as few mistakes as the active run."""

    passive: Run
    reached: bool
    """False if it saw as many examples as the active run and still made more mistakes."""

    @property
    def seconds(self) -> float:
        """Training time of the passive run: to the same mistakes, or in all if it did not get there."""
        return clock(self.passive.rounds)[1]

    def speedups(self, run: Run) -> dict[int, float]:
        """Passive time over active time, for each number of nodes; a lower bound if not `reached`."""
        return {k: self.seconds / seconds for k, seconds in run.simulated.items()}


def compare_with_passive(
    run: Run,
    learner: Learner,
    stream: Stream,
    test: Path | bool,
    *,
    seed: int,
    observers: Sequence[Observer],
) -> Comparison:
    """Train the (untrained) learner on every example, to the mistakes that `run` ended with."""
    target = run.mistakes

    def reached(passive: Run) -> bool:
        return target is not None and passive.mistakes is not None and passive.mistakes <= target

    passive = train(
        learner, stream, rule=Passive(), examples=run.seen, batch=run.plan.batch, warmstart=run.plan.warmstart,
        seed=seed, test=test, observers=observers, stop=reached,
    )  # fmt: skip
    return Comparison(passive, reached(passive))
