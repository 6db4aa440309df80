"""Comparison of a run with sequential passive learning, which uses the same training loop."""

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
    """A passive run on the same stream, which stopped when it made as few mistakes as the active run.

    Parameters
    ----------
    passive : Run
        The passive run.
    reached : bool
        Whether the passive run made as few mistakes. If not, it saw as many examples as the active run.
    """

    passive: Run
    reached: bool

    @property
    def seconds(self) -> float:
        """Training time of the passive run on the paper's clock, in seconds."""
        return clock(self.passive.rounds)[1]

    def speedups(self, run: Run) -> dict[int, float]:
        """Return how many times faster the active run was.

        Parameters
        ----------
        run : Run
            The active run.

        Returns
        -------
        dict of int to float
            Passive time divided by active time, by number of nodes. The values are lower bounds if not `reached`.
        """
        return {k: self.seconds / seconds for k, seconds in run.simulated.items()}


def compare_with_passive(
    run: Run,
    learner: Learner,
    stream: Stream,
    test: Path | bool,
    *,
    seed: int,
    observers: Sequence[Observer],
    scale: bool | str = "auto",
) -> Comparison:
    """Train passively on the same stream, until the learner makes as few mistakes as `run` at its end.

    Parameters
    ----------
    run : Run
        The active run.
    learner : Learner
        An untrained learner.
    stream : Stream
        The stream of the active run.
    test : Path or bool
        Test data, as in `train`.
    seed : int
        Seed of the passive run.
    observers : sequence of Observer
        Observers of the passive run.
    scale : bool or "auto", default="auto"
        Whether to standardize the features, as in `train`.

    Returns
    -------
    Comparison
        The passive run, and whether it reached the target.
    """
    target = run.mistakes

    def reached(passive: Run) -> bool:
        return target is not None and passive.mistakes is not None and passive.mistakes <= target

    passive = train(
        learner, stream, rule=Passive(), examples=run.seen, batch=run.plan.batch, warmstart=run.plan.warmstart,
        seed=seed, test=test, observers=observers, stop=reached, scale=scale,
    )  # fmt: skip
    return Comparison(passive, reached(passive))
