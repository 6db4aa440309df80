"""The timings of a recorded run, which the cost model is fitted to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraactive.data.events import Round
from paraactive.data.examples import entry_bytes
from paraactive.errors import InputError
from paraactive.planning.values import Line
from paraactive.runs.run import clock
from paraactive.runs.runfile import RunFile


@dataclass(frozen=True)
class Recorded:
    """The timings of a run, and the settings that they depend on.

    Parameters
    ----------
    path : str
        The run file.
    engine : str
        The engine.
    nodes : int
        Number of nodes.
    parts : dict
        Descriptions of learner, rule and stream.
    batch : int
        Examples of a round.
    schedule : str
        The schedule.
    lag : int
        Rounds that learning is behind sifting: 0, except in a pipelined run of version 0.1.
    rounds : list of Round
        The rounds with examples; the first is the warmstart.
    wall_seconds : float or None
        Wall time of a run on a real engine that was not interrupted; None for other runs.
    entry_bytes : int
        Bytes of an entry.
    model_bytes : Line or None
        Bytes of a model, by entries; None if not known.
    """

    path: str
    engine: str
    nodes: int
    parts: dict[str, Any]
    batch: int
    schedule: str
    lag: int
    rounds: list[Round]
    wall_seconds: float | None
    entry_bytes: int
    model_bytes: Line | None

    @property
    def seen(self) -> int:
        """Number of examples seen."""
        return self.rounds[-1].seen

    @property
    def learned(self) -> int:
        """Number of entries learned."""
        return self.rounds[-1].version

    @property
    def warmstart(self) -> int:
        """Number of examples in the warmstart."""
        return self.rounds[0].seen

    @staticmethod
    def read(path: str | Path) -> Recorded:
        """Read the timings of a run file.

        Parameters
        ----------
        path : str or Path
            The run file.

        Returns
        -------
        Recorded
            The timings.

        Raises
        ------
        InputError
            If the run has no timings.
        RunFileError
            If the file is missing, damaged or not a run file.
        """
        with RunFile.read(path) as file:
            recorded = Recorded.of(file)
        if not recorded.has_times:
            rounds = recorded.rounds
            raise InputError(
                f"{path} has no timings to fit",
                why="its rounds took no time" if len(rounds) > 1 else "the run ended with its warmstart, or before",
                remedy="give the file of a run that has sifted at least one round",
            )
        return recorded

    @staticmethod
    def of(file: RunFile) -> Recorded:
        """Read the timings of an open run file, which may have none.

        Parameters
        ----------
        file : RunFile
            The open run file.

        Returns
        -------
        Recorded
            The timings.
        """
        with file.reraise_as_corruption():
            spec, rounds = file.spec, _with_examples(file.log.ended_rounds())
            ended, sessions = file.events.read("RunEnded"), len(file.events.read("RunStarted"))
            weights = file.snapshots.sizes()
            whole_run = sessions == 1 and bool(ended) and spec.placement.engine != "simulated"
            return Recorded(
                str(file.path), spec.placement.engine, spec.nodes,
                {"learner": spec.learner, "rule": spec.rule, "stream": spec.data.stream},
                spec.plan.batch, spec.schedule, spec.lag,
                rounds, ended[-1]["wall_seconds"] if whole_run else None,
                entry_bytes(spec.data.width), _model_bytes(weights),
            )  # fmt: skip

    @property
    def has_times(self) -> bool:
        """Whether the cost model can be fitted."""
        return sum(ended.sift_seconds + ended.update_seconds for ended in self.rounds[1:]) > 0

    def measured(self) -> dict[int, float]:
        """Return the measured times on the paper's clock.

        Returns
        -------
        dict of int to float
            Seconds, by number of nodes.
        """
        return clock(self.rounds)


def _with_examples(rounds: Iterable[Round]) -> list[Round]:
    """Leave out empty rounds, which occur when a label budget is spent at the end of a round."""
    kept: list[Round] = []
    for ended in rounds:
        if not kept or ended.seen > kept[-1].seen:
            kept.append(ended)
    return kept


def _model_bytes(weights: list[tuple[int, int]]) -> Line | None:
    """Fit a line through the first and the last snapshot (entries, bytes), or a constant if there is only one."""
    if not weights:
        return None
    (m0, b0), (m1, b1) = weights[0], weights[-1]
    slope = (b1 - b0) / (m1 - m0) if m1 > m0 else 0.0
    return Line(b1 - slope * m1, slope)
