"""Time to m mistakes, by which runs are compared.

Single checkpoints vary by chance, so the mistakes at a checkpoint are averaged with its two neighbors. Times are on the
paper's clock: the warmstart, then in each round the sifting time of the slowest node plus the learning time.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Protocol

from paraactive.data.events import Evaluated, Round


class EvaluatedRun(Protocol):
    """A run that was evaluated on test examples: a `Run` or a `RunRecord`."""

    @property
    def rounds(self) -> list[Round]:
        """The rounds that have ended; the first is the warmstart."""
        ...

    @property
    def evaluations(self) -> list[Evaluated]:
        """Results on the test examples, in order of time."""
        ...


def smoothed(run: EvaluatedRun) -> list[tuple[int, float]]:
    """Return the mistakes at each checkpoint, averaged with its two neighbors.

    Parameters
    ----------
    run : EvaluatedRun
        The run.

    Returns
    -------
    list of (int, float)
        Examples seen and mean mistakes, without the first and the last checkpoint.
    """
    evaluations = run.evaluations
    return [
        (evaluations[place].seen, statistics.mean(each.mistakes for each in evaluations[place - 1 : place + 2]))
        for place in range(1, len(evaluations) - 1)
    ]


def first_reached(run: EvaluatedRun, target: float) -> int | None:
    """Find the first checkpoint with at most `target` mistakes, averaged with its neighbors.

    Parameters
    ----------
    run : EvaluatedRun
        The run.
    target : float
        Number of mistakes.

    Returns
    -------
    int or None
        Index into `run.evaluations`; None if the run never reaches the target.
    """
    return next((place for place, (_, mistakes) in enumerate(smoothed(run), 1) if mistakes <= target), None)


def seconds_until(rounds: Sequence[Round], seen: int, nodes: int = 1) -> float:
    """Return the time until a number of examples was seen, on the paper's clock.

    Parameters
    ----------
    rounds : sequence of Round
        The rounds of a run; the first is the warmstart.
    seen : int
        Number of examples seen.
    nodes : int, optional
        Number of nodes. Default: 1.

    Returns
    -------
    float
        Seconds.
    """
    first, *rest = rounds
    return first.update_seconds + sum(ended.elapsed[nodes] for ended in rest if ended.seen <= seen)


def seconds_to(run: EvaluatedRun, mistakes: float, nodes: int = 1) -> float | None:
    """Return the time until a run makes at most `mistakes` mistakes, on the paper's clock.

    Parameters
    ----------
    run : EvaluatedRun
        The run.
    mistakes : float
        Number of mistakes.
    nodes : int, optional
        Number of nodes. Default: 1.

    Returns
    -------
    float or None
        Seconds; None if the run never makes so few mistakes.
    """
    place = first_reached(run, mistakes)
    return None if place is None else seconds_until(run.rounds, run.evaluations[place].seen, nodes)


def mean_seconds_to(runs: Sequence[EvaluatedRun], mistakes: float, nodes: int = 1) -> float | None:
    """Return the mean of `seconds_to` over runs.

    Parameters
    ----------
    runs : sequence of EvaluatedRun
        Runs that differ in their seed.
    mistakes : float
        Number of mistakes.
    nodes : int, optional
        Number of nodes. Default: 1.

    Returns
    -------
    float or None
        Seconds; None if one of the runs never makes so few mistakes.
    """
    times = [seconds_to(run, mistakes, nodes) for run in runs]
    known = [each for each in times if each is not None]
    return statistics.mean(known) if len(known) == len(times) else None
