"""An experiment is kinds of runs, and what is told of them. Each run is a run file: what was done need not be again."""

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
from paraactive.report import Chart, Claim, Claims, Page, Story, Table, Text, read_story, write_page
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

Stories: TypeAlias = "Mapping[str, Sequence[Story]]"
"""By kind, a story for each seed."""


@dataclass(frozen=True)
class Kind:
    """One way to train, as a curve."""

    name: str
    """Of its run files, and of its curve."""
    file: str
    learner: Callable[[int], Learner]
    """By seed."""
    rule: Rule
    examples: Mapping[str, int]
    """By scale."""
    schedule: str = "synchronous"
    nodes: int = 1
    cluster: Cluster | None = None


@dataclass(frozen=True)
class Found:
    """What an experiment tells."""

    title: str
    charts: Sequence[Chart]
    claims: Sequence[Claim]
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()
    """Where ours differs from the paper, and other things that a reader should know."""
    files: dict[str, Path] = field(default_factory=dict[str, Path])
    details: dict[str, Any] = field(default_factory=dict[str, Any])
    """More figures, for the points."""

    def page(self) -> Page:
        """All of it."""
        claims = Claims("claims", "The claims, one by one", self.claims)
        notes = [Text("notes", "How it was done", self.notes, wide=True)] if self.notes else []
        return Page(self.title, [claims, *self.charts, *self.tables, *notes])

    def summary(self) -> dict[str, Any]:
        """All points and claims, ready for JSON."""
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
    """Kinds of runs on one stream, and what is made of them."""

    name: str
    stream: Callable[[int], Digits]
    """By seed."""
    kinds: Sequence[Kind]
    seeds: Mapping[str, int]
    """By scale."""
    tell: Callable[[Stories], Found]

    def path(self, folder: Path, kind: Kind, seed: int) -> Path:
        """The run file of one of its runs."""
        return folder / "runs" / f"{self.name}-{kind.file}-{seed}.db"


def reproduce(
    experiment: Experiment,
    scale: str,
    folder: Path,
    *,
    seeds: int | None = None,
    progress: Callable[[str, float], None] = lambda _name, _done: None,
) -> Found:
    """Run what is not there yet, and tell.

    Writes a run file for each curve and seed, all points as JSON, each chart as PNG and SVG, and a page. A run that was
    stopped goes on; one that is there is only read. `progress` is told the name of a run and how much of it is done.
    """
    count = experiment.seeds[scale] if seeds is None else seeds
    _make(folder / "runs")
    stories: dict[str, list[Story]] = {}
    for kind in experiment.kinds:
        for seed in range(count):
            _run(experiment, kind, seed, scale, folder, progress)
            stories.setdefault(kind.name, []).append(
                read_story(experiment.path(folder, kind, seed), name=f"{kind.name}, seed {seed}", heaviest=0)
            )
    return write_found(experiment.tell(stories), experiment.name, folder)


def _run(
    experiment: Experiment, kind: Kind, seed: int, scale: str, folder: Path, progress: Callable[[str, float], None]
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


def _seen_in(path: Path, experiment: Experiment, kind: Kind, seed: int) -> int | None:
    """How many examples a run of this kind has seen; None if there is none. Another run there is an error."""
    try:
        with RunFile.read(path) as file, file.reraise_as_corruption():
            known, seen = file.spec, file.seen
    except RunFileError:  # Nothing is there, or a run that never began; what else it may be is said when we train.
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
            f"{path} is another run",
            why=f"it has another {' and another '.join(differs)} than {kind.name} of {experiment.name}",
            remedy="give another --out, or remove it",
        )
    return seen


def write_found(found: Found, name: str, folder: Path) -> Found:
    """Figures, page and points, in the folder; the same with the names of the files."""
    _make(folder)
    found.files["page"] = write_page(found.page(), folder / f"{name}.html")
    found.files.update({path.name: path for path in save_figures(found.charts, folder)})
    found.files["points"] = folder / f"{name}.json"
    points = json.dumps(found.summary(), indent=1, allow_nan=False) + "\n"
    with atomic_write(found.files["points"]) as file:
        file.write(points.encode())
    return found


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from error
