"""An experiment: several kinds of runs, and a function that draws charts and checks claims.

Each run is stored in a run file. A finished run is only read again, and a run that was interrupted is resumed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from paraactive.basics.atomic_files import atomic_write
from paraactive.data.events import Event, Round
from paraactive.engines import Cluster
from paraactive.errors import InputError, RunFileError, cannot_write
from paraactive.learners import Learner
from paraactive.report import Chart, Claim, Claims, Page, RunRecord, TableSection, Text, read_run_record, write_page
from paraactive.report.figures import save_figures
from paraactive.rules import Rule
from paraactive.runs.resume import resume
from paraactive.runs.runfile import RunFile
from paraactive.runs.train import train
from paraactive.schedules import Plan
from paraactive.sifting.parts import describe_learner, describe_rule, describe_stream
from paraactive.streams import Digits

BATCH = 4096
NODES = (1, 2, 4, 8, 16, 32, 64, 128)

# For each kind of run, by name: the records of its runs, one for each seed.
RecordsByKind: TypeAlias = "Mapping[str, Sequence[RunRecord]]"


@dataclass(frozen=True)
class RunKind:
    """One way to train, which gives one curve.

    Parameters
    ----------
    name : str
        Name of the curve.
    file : str
        Part of the names of the run files.
    learner : callable
        Makes an untrained learner from a seed.
    rule : Rule
        The rule.
    examples : mapping of str to int
        Number of examples, by scale ("small" or "paper").
    schedule : str, optional
        The schedule. Default: "synchronous".
    nodes : int, optional
        Number of nodes. Default: 1.
    cluster : Cluster, optional
        The simulated cluster. Default: equal nodes without latency.
    """

    name: str
    file: str
    learner: Callable[[int], Learner]
    rule: Rule
    examples: Mapping[str, int]
    schedule: str = "synchronous"
    nodes: int = 1
    cluster: Cluster | None = None


@dataclass(frozen=True)
class ExperimentResult:
    """The result of an experiment.

    Parameters
    ----------
    title : str
        Title of the page.
    charts : sequence of Chart
        The charts.
    claims : sequence of Claim
        The claims, with their verdicts.
    tables : sequence of TableSection, optional
        The tables.
    notes : sequence of str, optional
        Settings, and differences from the paper.
    files : dict of str to Path, optional
        The files that were written.
    details : dict, optional
        More values for the JSON file.
    """

    title: str
    charts: Sequence[Chart]
    claims: Sequence[Claim]
    tables: Sequence[TableSection] = ()
    notes: Sequence[str] = ()
    files: dict[str, Path] = field(default_factory=dict[str, Path])
    details: dict[str, Any] = field(default_factory=dict[str, Any])

    def page(self) -> Page:
        """Make the page of the result.

        Returns
        -------
        Page
            Claims, charts, tables and notes.
        """
        claims = Claims("claims", "Claims", self.claims)
        notes = [Text("notes", "Settings and notes", self.notes, wide=True)] if self.notes else []
        return Page(self.title, [claims, *self.charts, *self.tables, *notes])

    def summary(self) -> dict[str, Any]:
        """Return all points and claims as a dictionary for JSON.

        Returns
        -------
        dict
            Title, claims, charts, tables, notes, files and details.
        """
        return {
            "title": self.title,
            "claims": [asdict(claim) for claim in self.claims],
            "charts": [asdict(chart) for chart in self.charts],
            "tables": [asdict(table) for table in self.tables],
            "notes": list(self.notes),
            "files": {name: str(path) for name, path in self.files.items()},
            **self.details,
        }


@dataclass(frozen=True)
class Experiment:
    """Several kinds of runs on one stream, and the function that summarizes them.

    Parameters
    ----------
    name : str
        Name of the experiment.
    stream : callable
        Makes the stream from a seed.
    kinds : sequence of RunKind
        The kinds of runs.
    seeds : mapping of str to int
        Number of seeds, by scale ("small" or "paper").
    summarize : callable
        Makes the `ExperimentResult` from the records of the runs.
    """

    name: str
    stream: Callable[[int], Digits]
    kinds: Sequence[RunKind]
    seeds: Mapping[str, int]
    summarize: Callable[[RecordsByKind], ExperimentResult]

    def path(self, folder: Path, kind: RunKind, seed: int) -> Path:
        """Return the path of the file of a run.

        Parameters
        ----------
        folder : Path
            Folder of the experiment.
        kind : RunKind
            Kind of the run.
        seed : int
            Seed of the run.

        Returns
        -------
        Path
            The run file.
        """
        return folder / "runs" / f"{self.name}-{kind.file}-{seed}.db"


def reproduce(
    experiment: Experiment,
    scale: str,
    folder: Path,
    *,
    seeds: int | None = None,
    progress: Callable[[str, float], None] = lambda _name, _done: None,
) -> ExperimentResult:
    """Run an experiment and write its files.

    The files are a run file for each kind and seed, the points as JSON, each chart as PNG and SVG, and an HTML page. A
    run that was interrupted is resumed, and a finished run is only read.

    Parameters
    ----------
    experiment : Experiment
        The experiment.
    scale : str
        "small" or "paper".
    folder : Path
        Folder of the files. It is created if it does not exist.
    seeds : int, optional
        Number of seeds. Default: that of the scale.
    progress : callable, optional
        Called with the name of a run and the finished share of the run, from 0 to 1.

    Returns
    -------
    ExperimentResult
        The result, with the paths of the files.

    Raises
    ------
    InputError
        If a run file of another run is in the folder, or a file cannot be written.
    """
    count = experiment.seeds[scale] if seeds is None else seeds
    _make_folder(folder / "runs")
    records: dict[str, list[RunRecord]] = {}
    for kind in experiment.kinds:
        for seed in range(count):
            _run(experiment, kind, seed, scale, folder, progress)
            records.setdefault(kind.name, []).append(
                read_run_record(experiment.path(folder, kind, seed), name=f"{kind.name}, seed {seed}", heaviest=0)
            )
    return write_result(experiment.summarize(records), experiment.name, folder)


def _run(
    experiment: Experiment, kind: RunKind, seed: int, scale: str, folder: Path, progress: Callable[[str, float], None]
) -> None:
    path, examples = experiment.path(folder, kind, seed), kind.examples[scale]
    name = f"{kind.name}, seed {seed}"

    def observe(event: Event) -> None:
        if isinstance(event, Round):
            progress(name, min(1.0, event.seen / examples))

    seen = _seen_in(path, experiment, kind, seed)
    if seen is None:
        digits = experiment.stream(seed)
        train(
            kind.learner(seed), digits, rule=kind.rule, examples=examples, batch=BATCH, warmstart=BATCH, seed=seed,
            test=True, engine="simulated", nodes=kind.nodes, schedule=kind.schedule, cluster=kind.cluster, out=path,
            observers=[observe],
        )  # fmt: skip
    elif seen < examples:
        resume(path, examples=examples, cluster=kind.cluster, observers=[observe])
    progress(name, 1.0)


def _seen_in(path: Path, experiment: Experiment, kind: RunKind, seed: int) -> int | None:
    """Return how many examples the run in `path` has seen; None if there is no run. A different run is an error."""
    try:
        with RunFile.read(path) as file, file.reraise_as_corruption():
            known, seen = file.spec, file.seen
    except RunFileError:  # There is no file, or the run never started. `train` reports any other problem.
        return None
    plan = Plan(known.plan.examples, BATCH, BATCH, kind.nodes)
    compared = {
        "rule": (known.rule, describe_rule(kind.rule)),
        "stream": (known.data.stream, describe_stream(experiment.stream(seed))),
        "plan": (known.plan, plan),
        "schedule": (known.schedule, kind.schedule),
        "seed": (known.seed, seed),
        "learner": (known.learner.kind, describe_learner(kind.learner(seed)).kind),
    }
    differs = [name for name, (one, other) in compared.items() if one != other]
    if differs:
        raise InputError(
            f"{path} is a different run",
            why=f"it has another {' and another '.join(differs)} than {kind.name} of {experiment.name}",
            remedy="give another --out, or delete the file",
        )
    return seen


def write_result(result: ExperimentResult, name: str, folder: Path) -> ExperimentResult:
    """Write the page, the figures and the points of an experiment.

    Parameters
    ----------
    result : ExperimentResult
        The result. The paths of the files are added to it.
    name : str
        Name of the page and the points, without suffix.
    folder : Path
        Folder of the files. It is created if it does not exist.

    Returns
    -------
    ExperimentResult
        The same result.

    Raises
    ------
    InputError
        If a file cannot be written.
    """
    _make_folder(folder)
    result.files["page"] = write_page(result.page(), folder / f"{name}.html")
    result.files.update({path.name: path for path in save_figures(result.charts, folder)})
    result.files["points"] = folder / f"{name}.json"
    points = json.dumps(result.summary(), indent=1, allow_nan=False) + "\n"
    with atomic_write(result.files["points"]) as file:
        file.write(points.encode())
    return result


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from error
