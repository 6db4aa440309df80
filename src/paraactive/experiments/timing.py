"""Time to m mistakes: how runs are compared."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Protocol

from paraactive.data.events import Evaluated, Round


class EvaluatedRun(Protocol):
    """A run, or what a run file tells of one."""

    @property
    def rounds(self) -> list[Round]: ...

    @property
    def evaluations(self) -> list[Evaluated]: ...


def smoothed(run: EvaluatedRun) -> list[tuple[int, float]]:
    """(examples seen, mistakes) at each checkpoint but the first and last: the mean with its two neighbours."""
    tried = run.evaluations
    return [
        (tried[place].seen, statistics.mean(each.mistakes for each in tried[place - 1 : place + 2]))
        for place in range(1, len(tried) - 1)
    ]


def first_reached(run: EvaluatedRun, target: float) -> int | None:
    """Place of the first evaluation whose mean with its two neighbours is at most the target."""
    return next((place for place, (_, mistakes) in enumerate(smoothed(run), 1) if mistakes <= target), None)


def seconds_until(rounds: Sequence[Round], seen: int, nodes: int = 1) -> float:
    """On the paper's clock: the warmstart, and the rounds up to so many examples, on so many nodes."""
    first, *rest = rounds
    return first.update_seconds + sum(ended.elapsed[nodes] for ended in rest if ended.seen <= seen)


def seconds_to(run: EvaluatedRun, mistakes: float, nodes: int = 1) -> float | None:
    """On the paper's clock, until the run makes so few mistakes; None if it never does."""
    place = first_reached(run, mistakes)
    return None if place is None else seconds_until(run.rounds, run.evaluations[place].seen, nodes)


def mean_seconds_to(runs: Sequence[EvaluatedRun], mistakes: float, nodes: int = 1) -> float | None:
    """The same, in the mean over seeds; None if one of them never gets there."""
    times = [seconds_to(run, mistakes, nodes) for run in runs]
    known = [each for each in times if each is not None]
    return statistics.mean(known) if len(known) == len(times) else None
