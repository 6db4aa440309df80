"""How many nodes pay: the cost model fitted to a recorded run, its predictions, and how far off they are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraactive.basics.validation import whole
from paraactive.data.events import Round
from paraactive.data.examples import Doubles, entry_bytes
from paraactive.errors import InputError
from paraactive.planning.cost import CostModel, Line, Link, Prediction
from paraactive.runs.run import clock
from paraactive.runs.runfile import RunFile

NODES = tuple(2**power for power in range(11))
"""k = 1, 2, 4 ... 1024."""
PAYS = 0.1
"""More nodes pay if they save at least this part of the time for each doubling."""

_BEYOND = 2
"""Times more entries than T was measured on, up to which it is believed: how it grows with many is not seen in few."""


@dataclass(frozen=True)
class Recorded:
    """What a run file says of times."""

    path: str
    engine: str
    nodes: int
    parts: dict[str, Any]
    """Learner, rule and stream, as described."""
    batch: int
    schedule: str
    lag: int
    """Rounds that learning is behind sifting: 0, but for a pipelined run."""
    rounds: list[Round]
    wall_seconds: float | None
    """Of the schedule on a real engine, if the run went through in one go."""
    entry_bytes: int
    model_bytes: Line | None

    @property
    def seen(self) -> int:
        """Examples seen."""
        return self.rounds[-1].seen

    @property
    def learnt(self) -> int:
        """Entries learnt."""
        return self.rounds[-1].version

    @property
    def warmstart(self) -> int:
        """Examples learnt first."""
        return self.rounds[0].seen

    @staticmethod
    def read(path: str | Path) -> Recorded:
        """The run file at `path`, if it has times to learn from."""
        with RunFile.read(path) as file:
            recorded = Recorded.of(file)
        if not recorded.has_times:
            rounds = recorded.rounds
            raise InputError(
                f"{path} has no timings to fit",
                why="its rounds took no time at all" if len(rounds) > 1 else "it ends with its warmstart, or before",
                remedy="give the file of a run that has sifted for a round or more",
            )
        return recorded

    @staticmethod
    def of(file: RunFile) -> Recorded:
        """An open run file, with times or without."""
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
        """True if a model can be fitted to it."""
        return sum(ended.sift_seconds + ended.update_seconds for ended in self.rounds[1:]) > 0

    def measured(self) -> dict[int, float]:
        """On the paper's clock: the seconds of k nodes."""
        return clock(self.rounds)


def _with_examples(rounds: Iterable[Round]) -> list[Round]:
    """Without empty rounds, which a budget of labels that ends with a round leaves."""
    kept: list[Round] = []
    for ended in rounds:
        if not kept or ended.seen > kept[-1].seen:
            kept.append(ended)
    return kept


def fit(recorded: Recorded) -> CostModel:
    """S, T and phi by least squares over the rounds.

    S(m) = s0 + s1 m from sift seconds for each example; dT/dm = t0 + t1 m and the time that each round takes from
    update seconds; phi(n) = warmstart + a (n - warmstart)^b from what was selected, through the last point. Each is
    scaled such that its sum over the rounds is the measured one.
    """
    first, later = recorded.rounds[0], recorded.rounds[1:]
    seen, version = (
        np.array([getattr(ended, name) for ended in recorded.rounds], float) for name in ("seen", "version")
    )
    examples, new, before = np.diff(seen), np.diff(version), version[:-1]
    sift, update, fetch = (
        np.array([getattr(ended, name) for ended in later])
        for name in ("sift_seconds", "update_seconds", "fetch_seconds")
    )
    score = _fitted(np.column_stack([examples, examples * before]), sift, free_first=True)
    columns = np.column_stack([new, new * (before + new / 2), np.ones(len(new))])
    # The warmstart is one more round to learn T from: it begins with an empty model.
    columns = np.vstack([[version[0], version[0] ** 2 / 2, 1.0], _learnt_in(columns, recorded.lag)])
    learn = _fitted(columns, np.concatenate([[first.update_seconds], update]), sums=slice(1, None))
    scale, exponent = _power(seen[1:] - seen[0], version[1:] - version[0])
    return CostModel(
        warmstart=int(seen[0]), batch=recorded.batch, warmstart_seconds=first.update_seconds,
        score=Line(*score), learn=Line(*learn[:2]), settle=learn[2], scale=scale, exponent=exponent,
        fetch=float(np.sum(fetch)) / float(np.sum(examples)), entry_bytes=recorded.entry_bytes,
        model_bytes=recorded.model_bytes, schedule=recorded.schedule, lag=recorded.lag,
    )  # fmt: skip


@dataclass(frozen=True)
class Check:
    """A prediction beside what was measured."""

    path: str
    nodes: int
    what: str
    """Which time: on the paper's clock, or the wall's."""
    predicted: float
    measured: float

    @property
    def error(self) -> float:
        """(predicted - measured) / measured."""
        return self.predicted / self.measured - 1.0


@dataclass(frozen=True)
class Planned:
    """What `plan` found."""

    path: str
    examples: int
    model: CostModel
    link: Link
    predictions: list[Prediction]
    """For k = 1, 2, 4 ... 1024."""
    pays_until: int
    """More nodes than this do not pay."""
    bound: str
    """Why not: what the time is spent on, there. "sift" if a round has no more examples to share out, or, at the most
    nodes, if more still would pay."""
    learnt: int
    """Entries that T was measured on."""
    checks: list[Check]
    differs: list[str]
    """In what the other run differs from the one that the model was fitted to."""

    @property
    def updates(self) -> str:
        """Which sends less, or "unknown"."""
        sends = self.model.sends(self.examples)
        if sends["central"] is None or sends["replicated"] is None:
            return "unknown"
        return "replicated" if sends["replicated"] <= sends["central"] else "central"

    def speedup(self, prediction: Prediction) -> float:
        """Over one node."""
        return self.predictions[0].seconds / prediction.seconds

    def summary(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
        model, n = self.model, self.examples
        kinds = {
            "sequential passive": model.passive(n) if n <= _BEYOND * self.learnt else None,
            "sequential active": model.sequential_active(n),
            "parallel active": model.parallel_active(n, self.pays_until),
        }
        return {
            "run": self.path,
            "examples": n,
            "selected": float(model.selected(n)),
            "model": asdict(model),
            "latency": self.link.latency,
            "bandwidth": None if self.link.bandwidth == float("inf") else self.link.bandwidth,
            "predictions": [
                asdict(each) | {"speedup": self.speedup(each), "wall": each.wall} for each in self.predictions
            ],
            "pays_until": self.pays_until,
            "bound": self.bound,
            "enough_nodes": model.enough_nodes(n),
            "sends": model.sends(n),
            "updates": self.updates,
            "kinds": {name: asdict(cost) if cost else None for name, cost in kinds.items()},
            "checks": [asdict(check) | {"error": check.error} for check in self.checks],
            "differs": self.differs,
        }


def plan(
    path: str | Path, other: str | Path | None = None, *, link: Link | None = None, examples: int | None = None
) -> Planned:
    """Fit the cost model to the run in `path`, and predict the time of k = 1 ... 1024 nodes.

    other : a second run file; the model fitted to the first is tried on it, too.
    link : latency and bandwidth between machines.
    examples : predict for so many; by default as many as the run has seen.

    See `CostModel.predict` for the formula. More nodes pay if they save a tenth of the time for each doubling;
    `pays_until` is the largest number that does.

    >>> import tempfile
    >>> from paraactive import Digits, LaSVM, train
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = train(LaSVM(gamma=0.012), Digits(), engine="simulated", examples=8192, out=folder + "/run.db")
    ...     found = plan(folder + "/run.db")
    >>> [each.nodes for each in found.predictions][:3], found.updates, abs(found.checks[0].error) < 0.2
    ([1, 2, 4], 'replicated', True)
    """
    return plan_for(Recorded.read(path), other, link=link, examples=examples)


def plan_for(
    recorded: Recorded, other: str | Path | None = None, *, link: Link | None = None, examples: int | None = None
) -> Planned:
    """The same, of what was read before."""
    link, model = link or Link(), fit(recorded)
    n = recorded.seen if examples is None else whole("examples", examples, 1)
    predictions = [model.predict(n, k, link) for k in NODES]
    pays_until, bound = _where_it_ends(predictions)
    checks, differs = _checks(model, recorded, link), list[str]()
    if other is not None:
        second = Recorded.read(other)
        differs = [name for name in recorded.parts if recorded.parts[name] != second.parts[name]]
        differs += ["warmstart"] if second.warmstart != recorded.warmstart else []
        checks += _checks(_moved(model, second), second, link)
    return Planned(recorded.path, n, model, link, predictions, pays_until, bound, recorded.learnt, checks, differs)


def _where_it_ends(predictions: list[Prediction]) -> tuple[int, str]:
    """The k up to which more nodes pay, and what the time goes into beyond."""
    last = 0
    for number, each in enumerate(predictions):
        if each.seconds <= (1 - PAYS) ** (number - last) * predictions[last].seconds:
            last = number
    here = predictions[last]
    if here is predictions[-1]:
        return here.nodes, "sift"
    more = predictions[last + 1]
    if 2 * (more.network - here.network) > here.sift - more.sift > 0:
        return here.nodes, "network"  # It eats up what sifting gains.
    return here.nodes, more.bound


def _moved(model: CostModel, run: Recorded) -> CostModel:
    """The model for a run with other rounds or another warmstart, whose time is taken to go with T."""
    learning = replace(model, warmstart=0, warmstart_seconds=0.0)
    before, now = (learning.train_seconds(entries, 1) for entries in (model.warmstart, run.warmstart))
    return replace(
        model, batch=run.batch, schedule=run.schedule, lag=run.lag, warmstart=run.warmstart,
        warmstart_seconds=model.warmstart_seconds * (now / before if before > 0 else 1.0),
    )  # fmt: skip


def _learnt_in(columns: NDArray[np.float64], lag: int) -> NDArray[np.float64]:
    """What was learnt while each round was sifted: what was selected `lag` rounds before; in the last, all the rest."""
    lag = min(lag, len(columns) - 1)
    learnt = np.vstack([np.zeros((lag, columns.shape[1])), columns[: len(columns) - lag]])
    learnt[-1] += columns[len(columns) - lag :].sum(axis=0)
    return learnt


def _checks(model: CostModel, run: Recorded, link: Link) -> list[Check]:
    """On the paper's clock for each k that was timed; on the wall's for a run on real nodes."""
    checks = [
        Check(run.path, k, "paper's clock", model.predict(run.seen, k).seconds, seconds)
        for k, seconds in run.measured().items()
    ]
    if run.wall_seconds:
        checks.append(
            Check(run.path, run.nodes, "wall", model.predict(run.seen, run.nodes, link).wall, run.wall_seconds)
        )
    return checks


def _fitted(
    columns: NDArray[np.float64], seconds: Doubles, *, free_first: bool = False, sums: slice = slice(None)
) -> list[float]:
    """Coefficients with the least squares, scaled such that these rows add up.

    They are >= 0; `free_first`: but for the first.
    """
    count = columns.shape[1]
    best, least = np.zeros(count), float("inf")
    for chosen in range(1, 1 << count):  # So few coefficients that all ways to leave some out can be tried.
        used = [c for c in range(count) if chosen >> c & 1]
        found = np.zeros(count)
        found[used] = np.linalg.lstsq(columns[:, used], seconds, rcond=None)[0]
        off = float(np.sum((columns @ found - seconds) ** 2))
        allowed = np.all(found[free_first:] >= 0)
        if allowed and off < least:
            best, least = found, off
    total = float(np.sum((columns @ best)[sums]))
    return (best * (float(np.sum(seconds[sums])) / total if total > 0 else 1.0)).tolist()


def _power(sifted: Doubles, selected: Doubles) -> tuple[float, float]:
    """a and b of selected = a sifted^b, through the last point."""
    some = selected > 0
    if not some.any():
        return 0.0, 1.0
    x, y = np.log(sifted[some] / sifted[-1]), np.log(selected[some] / selected[-1])
    steep = float(x @ y) / float(x @ x) if len(x) > 1 else 1.0
    exponent = min(max(steep, 0.0), 1.0)
    return float(selected[-1]) / float(sifted[-1]) ** exponent, exponent


def _model_bytes(weights: list[tuple[int, int]]) -> Line | None:
    """From snapshots (entries, bytes): a line through two of them, or as much as the only one weighs."""
    if not weights:
        return None
    (m0, b0), (m1, b1) = weights[0], weights[-1]
    slope = (b1 - b0) / (m1 - m0) if m1 > m0 else 0.0
    return Line(b1 - slope * m1, slope)
