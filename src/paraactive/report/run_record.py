"""The record of a run: everything that a report shows, read once from a run file.

Reading does not write to the file, and it works while the run is in progress.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

from paraactive.data.events import Evaluated, Round
from paraactive.data.examples import Doubles, Floats, dense, entry_bytes
from paraactive.errors import InputError
from paraactive.planning.plan import Planned, plan_for
from paraactive.planning.recorded import Recorded
from paraactive.runs.loop import WARMSTART
from paraactive.runs.replay import measured_of
from paraactive.runs.run import Run, delay_figures, delay_histogram
from paraactive.runs.runfile import RunFile
from paraactive.runs.spec import RunSpec
from paraactive.runs.verdict import Verdict, verdict_of
from paraactive.sifting.estimates import Estimates, errors_on_the_way, estimates_of
from paraactive.sifting.parts import build_stream
from paraactive.streams import Stream

HEAVIEST = 24
_MOST_ENTRIES = 50_000
"""A live page, which is read every second, has estimates up to this number of entries."""
_NODE_EVENTS = ("NodeLost", "NodeSilent", "NodeJoined", "ReplicaRebuilt")


@dataclass(frozen=True)
class HeavyExample:
    """An example that was learned with one of the largest weights.

    Parameters
    ----------
    position : int
        Position in the stream.
    y : int or None
        Label number; None if the label is not known.
    p : float
        Probability with which the example was selected.
    weight : float
        Weight with which the example was learned.
    x : array of float32 or None
        Features; None if they are not stored and the stream cannot be read.
    """

    position: int
    y: int | None
    p: float
    weight: float
    x: Floats | None


@dataclass(frozen=True)
class RunRecord:
    """Everything that a report shows about one run.

    Parameters
    ----------
    name : str
        Name of the run on the page.
    path : Path
        The run file.
    spec : RunSpec
        The description of the run.
    rounds : list of Round
        The rounds that have ended; the first is the warmstart.
    evaluations : list of Evaluated
        Results on the test examples.
    weights : array of float64
        Weights of the entries after the warmstart.
    entry_lag : dict or None
        Statistics of the lag in entries (mean, largest, ...); None if nothing was sifted.
    entry_lag_bins : list of (int, int, int)
        Histogram of the lag in entries: first value, last value and count of each bin.
    heaviest : list of HeavyExample
        Examples with the largest weights.
    node_events : list of (str, dict)
        Events about nodes: kind and payload.
    ended : dict or None
        Payload of the last `RunEnded` event; None if the run has not ended.
    planned : Planned or None
        The cost model fitted to the run; None if the run has no timings.
    shape : tuple of int or None
        Height and width of an example that is an image; None for other examples.
    estimates : Estimates or None
        Estimates of the error from the log alone; None if it has no scores.
    errors : list of tuple of (float, float)
        Examples seen and estimated error of groups of rounds.
    """

    name: str
    path: Path
    spec: RunSpec
    rounds: list[Round]
    evaluations: list[Evaluated]
    weights: Doubles
    entry_lag: dict[str, float] | None
    entry_lag_bins: list[tuple[int, int, int]]
    heaviest: list[HeavyExample]
    node_events: list[tuple[str, dict[str, Any]]]
    ended: dict[str, Any] | None
    planned: Planned | None
    shape: tuple[int, ...] | None
    estimates: Estimates | None = None
    errors: Sequence[tuple[float, float]] = ()

    @property
    def verdict(self) -> Verdict:
        """The estimated error in one sentence, and warnings."""
        selected = sum(ended.selected for ended in self.rounds[1:])
        sifted = self.seen - self.rounds[0].seen if self.rounds else 0
        kept = self.ended is not None and self.ended.get("kept", "") == WARMSTART
        return verdict_of(self.estimates, selected, sifted, kept, self.spec.rule.kind)

    @property
    def seen(self) -> int:
        """Number of examples seen."""
        return self.rounds[-1].seen if self.rounds else 0

    @property
    def is_done(self) -> bool:
        """Whether the run has seen all its examples."""
        return self.ended is not None and self.seen >= self.spec.plan.examples

    @property
    def classes(self) -> list[str]:
        """Names of the classes, in the order of their numbers."""
        return list(self.spec.data.classes)

    def label(self, y: int | None) -> str:
        """Return the user's name of a label.

        Parameters
        ----------
        y : int or None
            Label number: -1 or +1 for two classes, otherwise 0 to C-1. None if the label is not known.

        Returns
        -------
        str
            Name of the label; empty if it is not known.
        """
        if y is None:
            return ""
        number = (y > 0) if len(self.classes) == 2 else y
        return self.classes[int(number)]

    def clock(self) -> dict[int, float]:
        """Return the training time after each round.

        With rounds this is the paper's clock: the sifting time of the slowest node plus the learning time, without
        fetching. Without rounds (asynchronous) it is the clock of the engine.

        Returns
        -------
        dict of int to float
            Seconds since the start, by number of examples seen.
        """
        k = self.spec.nodes
        seconds = [_round_seconds(ended, k) if ended.number else ended.update_seconds for ended in self.rounds]
        return dict(zip((ended.seen for ended in self.rounds), accumulate(seconds), strict=True))


def _round_seconds(ended: Round, nodes: int) -> float:
    """Time of a round on `nodes` nodes, or on the number of nodes that the round had."""
    if nodes in ended.elapsed:
        return ended.elapsed[nodes]
    if len(ended.elapsed) == 1:
        return next(iter(ended.elapsed.values()))
    slowest = max((times.sift for times in ended.nodes), default=ended.sift_seconds)
    return slowest + ended.update_seconds


def read_run_record(
    path: str | Path, *, name: str | None = None, thorough: bool = True, heaviest: int = HEAVIEST
) -> RunRecord:
    """Read the record of a run from its file.

    Parameters
    ----------
    path : str or Path
        The run file.
    name : str, optional
        Name of the run on the page. Default: the file name without its suffix.
    thorough : bool, optional
        Whether to check the whole file for damage first. Default: True.
    heaviest : int, optional
        Number of heavy examples to read. Default: 24.

    Returns
    -------
    RunRecord
        The state of the run at the time of reading.

    Raises
    ------
    RunFileError
        If the file is missing, damaged or not a run file.
    """
    path = Path(path)
    with RunFile.read(path, thorough=thorough) as file, file.consistent_reads(), file.reraise_as_corruption():
        spec, recorded = file.spec, Recorded.of(file)
        rounds, first = recorded.rounds, recorded.rounds[0].version if recorded.rounds else 0
        ended, delays = file.events.read("RunEnded"), file.log.count_delays()
        return RunRecord(
            name=name or path.stem,
            path=path,
            spec=spec,
            rounds=rounds,
            evaluations=[Evaluated(**each) for each in file.events.read("Evaluated") if each["seen"] <= file.seen],
            weights=file.log.learned().weight[first:],
            entry_lag=delay_figures(delays),
            entry_lag_bins=delay_histogram(delays),
            heaviest=_heaviest(file, spec, heaviest),
            node_events=[(kind, each) for kind in _NODE_EVENTS for each in file.events.read(kind)],
            ended=ended[-1] if ended and ended[-1]["seen"] == file.seen else None,
            planned=plan_for(recorded) if recorded.has_times else None,
            shape=(28, 28) if spec.data.stream.kind == "digits" else None,
            **_measured(file, is_shown=thorough or file.version <= _MOST_ENTRIES),
        )


def run_record_of(run: Run, name: str, spec: RunSpec) -> RunRecord:
    """Make the record of a run that is in memory and has no file.

    Parameters
    ----------
    run : Run
        The run.
    name : str
        Name of the run on the page.
    spec : RunSpec
        The description that the page shows.

    Returns
    -------
    RunRecord
        The record. Its heavy examples have neither labels nor features.
    """
    recorded = Recorded(
        name, spec.placement.engine, spec.nodes, {}, spec.plan.batch, spec.schedule, spec.lag, run.rounds, None,
        entry_bytes(spec.data.width), None,
    )  # fmt: skip
    ended = {"wall_seconds": run.wall_seconds, "digest": run.learner.digest()}
    return RunRecord(
        name=name,
        path=Path(name),
        spec=spec,
        rounds=run.rounds,
        evaluations=run.evaluations,
        weights=run.learned.weight[run.warmstart :],
        entry_lag=run.delay_figures(),
        entry_lag_bins=run.delay_histogram(),
        heaviest=[HeavyExample(each.key, None, each.p, each.weight, None) for each in run.heaviest(HEAVIEST)],
        node_events=[],
        ended=ended,
        planned=plan_for(recorded) if recorded.has_times else None,
        shape=None,
        estimates=run.estimates,
        errors=[] if run.measured is None else errors_on_the_way(run.measured),
    )


def _measured(file: RunFile, is_shown: bool) -> dict[str, Any]:
    """The estimates, and the errors on the way."""
    if not is_shown:
        return {}
    # The page shows errors only, for which it does not matter which loss is meant.
    measured = measured_of(file, log_odds=False)
    return {"estimates": estimates_of(measured, file.spec.data.classes), "errors": errors_on_the_way(measured)}


def _heaviest(file: RunFile, spec: RunSpec, count: int) -> list[HeavyExample]:
    """Read the heaviest examples, with the features from the log or, if the log has none, from the stream."""
    rows = file.log.heaviest(count) if count else []
    stream: Stream | None = None
    readable = True
    if rows and file.log.needs_stream:
        try:
            stream = build_stream(spec.data.stream)
        except InputError:  # The data was moved or deleted, or it was an array in memory.
            readable = False
    return [
        HeavyExample(
            row["position"], row["y"], row["p"], row["weight"],
            _features(file, row["sequence"], stream) if readable else None,
        )
        for row in rows
    ]  # fmt: skip


def _features(file: RunFile, sequence: int, stream: Stream | None) -> Floats:
    return dense(file.log.entries(sequence, sequence + 1, stream).selected.examples.x)[0]


def read_run_records(
    paths: Sequence[str | Path], *, shape: tuple[int, int] | None = None, thorough: bool = True
) -> list[RunRecord]:
    """Read the records of several runs, each with a different name.

    Parameters
    ----------
    paths : sequence of str or Path
        The run files.
    shape : (int, int), optional
        Height and width of the examples if they are images. Default: 28 by 28 for the bundled digits, else no images.
    thorough : bool, optional
        Whether to check the whole files for damage first. Default: True.

    Returns
    -------
    list of RunRecord
        One record for each path.

    Raises
    ------
    InputError
        If the examples of a run do not have `shape[0] * shape[1]` features.
    RunFileError
        If a file is missing, damaged or not a run file.
    """
    names = _names([Path(path) for path in paths])
    records = [read_run_record(path, name=name, thorough=thorough) for path, name in zip(paths, names, strict=True)]
    if shape is None:
        return records
    for record in records:
        if record.spec.data.width != shape[0] * shape[1]:
            raise InputError(
                f"the examples of {record.path} have {record.spec.data.width} features",
                why=f"an image of {shape[0]} by {shape[1]} has {shape[0] * shape[1]}",
                remedy="give a height and a width whose product is the number of features",
            )
    return [replace(record, shape=shape) for record in records]


def _names(paths: Sequence[Path]) -> list[str]:
    """Name files by their stems, with as many parent folders as are needed to make the names different.

    >>> _names([Path("a/run.db"), Path("b/run.db")])
    ['a/run', 'b/run']
    """
    for parts in range(1, 1 + max(len(path.absolute().parts) for path in paths)):
        names = ["/".join(path.absolute().with_suffix("").parts[-parts:]) for path in paths]
        if len(set(names)) == len(names):
            return names
    return [f"{path.stem} {number}" for number, path in enumerate(paths, 1)]
