"""What a run file tells of a run: read once, without writing, also while the run goes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

from paraactive.data.events import Evaluated, Round
from paraactive.data.examples import Doubles, dense, entry_bytes
from paraactive.errors import InputError
from paraactive.planning.plan import Planned, Recorded, plan_for
from paraactive.runs.run import Run, delay_figures, delay_histogram
from paraactive.runs.runfile import RunFile
from paraactive.runs.spec import RunSpec
from paraactive.sifting.parts import build_stream
from paraactive.streams import Stream

HEAVIEST = 24
"""Examples of the gallery."""


@dataclass(frozen=True)
class Heavy:
    """One of the examples with the largest weights."""

    row: dict[str, Any]
    """Its place in the log, label, p and weight."""
    x: Any
    """Its features, dense; None if nobody can make them again."""


@dataclass(frozen=True)
class Story:
    """All that a report shows of one run."""

    name: str
    path: Path
    spec: RunSpec
    rounds: list[Round]
    evaluations: list[Evaluated]
    weights: Doubles
    """Of the entries after the warmstart."""
    delays: dict[str, float] | None
    delay_bins: list[tuple[int, int, int]]
    heaviest: list[Heavy]
    happened: list[tuple[str, dict[str, Any]]]
    """Nodes that were lost or came, replicas that were rebuilt."""
    ended: dict[str, Any] | None
    """What was said at the end, if the run is there."""
    planned: Planned | None
    shape: tuple[int, ...] | None
    """Of an example, if it is an image."""

    @property
    def seen(self) -> int:
        """Examples seen."""
        return self.rounds[-1].seen if self.rounds else 0

    @property
    def is_done(self) -> bool:
        """True if it has seen all that it was to see."""
        return self.ended is not None and self.seen >= self.spec.plan.examples

    @property
    def classes(self) -> list[str]:
        """The labels as they were given, in the order of their numbers."""
        return list(self.spec.data.classes)

    def label(self, y: int | None) -> str:
        """What the user calls label y; nothing if it is not known."""
        if y is None:
            return ""
        number = (y > 0) if len(self.classes) == 2 else y
        return self.classes[int(number)]

    def clock(self) -> dict[int, float]:
        """Training seconds after each number of examples: the warmstart, then what each round took on its nodes.

        In rounds it is the paper's clock: sifting of the slowest node and learning; fetching is not in it. Without
        rounds it is the engine's clock.
        """
        k = self.spec.nodes
        took = [_took(ended, k) if ended.number else ended.update_seconds for ended in self.rounds]
        return dict(zip((ended.seen for ended in self.rounds), accumulate(took), strict=True))


def _took(ended: Round, nodes: int) -> float:
    """Of a round, on so many nodes; if it had another number, on those."""
    if nodes in ended.elapsed:
        return ended.elapsed[nodes]
    if len(ended.elapsed) == 1:
        return next(iter(ended.elapsed.values()))
    slowest = max((times.sift for times in ended.nodes), default=ended.sift_seconds)
    return slowest + ended.update_seconds


def read_story(path: str | Path, *, name: str | None = None, thorough: bool = True, heaviest: int = HEAVIEST) -> Story:
    """The run in this file."""
    path = Path(path)
    with RunFile.read(path, thorough=thorough) as file, file.consistent_reads(), file.reraise_as_corruption():
        spec, recorded = file.spec, Recorded.of(file)
        rounds, first = recorded.rounds, recorded.rounds[0].version if recorded.rounds else 0
        ended, delays = file.events.read("RunEnded"), file.log.count_delays()
        kinds = ("NodeLost", "NodeSilent", "NodeJoined", "ReplicaRebuilt")
        return Story(
            name=name or path.stem,
            path=path,
            spec=spec,
            rounds=rounds,
            evaluations=[Evaluated(**each) for each in file.events.read("Evaluated") if each["seen"] <= file.seen],
            weights=file.log.learned().weight[first:],
            delays=delay_figures(delays),
            delay_bins=delay_histogram(delays),
            heaviest=_heaviest(file, spec, heaviest),
            happened=[(kind, each) for kind in kinds for each in file.events.read(kind)],
            ended=ended[-1] if ended and ended[-1]["seen"] == file.seen else None,
            planned=plan_for(recorded) if recorded.has_times else None,
            shape=(28, 28) if spec.data.stream.kind == "digits" else None,
        )


def story_of(run: Run, name: str, spec: RunSpec) -> Story:
    """A run that is in memory, without a file, under the description that readers are to see."""
    recorded = Recorded(
        name, spec.placement.engine, spec.nodes, {}, spec.plan.batch, spec.schedule, spec.lag, run.rounds, None,
        entry_bytes(spec.data.width), None,
    )  # fmt: skip
    heaviest = [
        Heavy({"position": each.key, "y": None, "p": each.p, "weight": each.weight}, None)
        for each in run.heaviest(HEAVIEST)
    ]
    ended = {"wall_seconds": run.wall_seconds, "digest": run.learner.digest()}
    return Story(
        name, Path(name), spec, run.rounds, run.evaluations, run.learned.weight[run.warmstart :], run.delay_figures(),
        run.delay_histogram(), heaviest, [], ended, plan_for(recorded) if recorded.has_times else None, None,
    )  # fmt: skip


def _heaviest(file: RunFile, spec: RunSpec, count: int) -> list[Heavy]:
    """The heaviest, with their features as the log has them, or as the stream makes them again."""
    rows = file.log.heaviest(count) if count else []
    stream: Stream | None = None
    if rows and file.log.needs_stream:
        try:
            stream = build_stream(spec.data.stream)
        except InputError:  # The data is not here any more, or was an array in memory.
            return [Heavy(row, None) for row in rows]
    found: list[Heavy] = []
    for row in rows:
        x = file.log.entries(row["sequence"], row["sequence"] + 1, stream).selected.examples.x
        found.append(Heavy(row, dense(x)[0]))
    return found


def read_stories(
    paths: Sequence[str | Path], *, shape: tuple[int, int] | None = None, thorough: bool = True
) -> list[Story]:
    """The runs of these files, each with a name of its own."""
    names = _names([Path(path) for path in paths])
    stories = [read_story(path, name=name, thorough=thorough) for path, name in zip(paths, names, strict=True)]
    if shape is None:
        return stories
    for story in stories:
        if story.spec.data.width != shape[0] * shape[1]:
            raise InputError(
                f"the examples of {story.path} have {story.spec.data.width} features",
                why=f"an image of {shape[0]} by {shape[1]} has {shape[0] * shape[1]}",
                remedy="give the height and the width that the features make",
            )
    return [replace(story, shape=shape) for story in stories]


def _names(paths: Sequence[Path]) -> list[str]:
    """Their file names, with so much of the folders before them as it takes to tell them apart.

    >>> _names([Path("a/run.db"), Path("b/run.db")])
    ['a/run', 'b/run']
    """
    for parts in range(1, 1 + max(len(path.absolute().parts) for path in paths)):
        names = ["/".join(path.absolute().with_suffix("").parts[-parts:]) for path in paths]
        if len(set(names)) == len(names):
            return names
    return [f"{path.stem} {number}" for number, path in enumerate(paths, 1)]
