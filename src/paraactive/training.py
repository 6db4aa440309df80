"""train, resume, replay: a learner, a rule, a stream and a schedule brought together, with or without a run file."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from paraactive import parts
from paraactive.engines import ENGINES
from paraactive.errors import InputError, ReplayError, one_of
from paraactive.evaluation import TestSet, count_mistakes, find_again, find_test
from paraactive.events import Evaluated, Event, Observer, Round, RunEnded, RunStarted, SnapshotTaken
from paraactive.examples import Examples
from paraactive.learners.base import Learner
from paraactive.log import Log, MemoryLog
from paraactive.node import Node
from paraactive.rules import Rule, SignedMargin
from paraactive.run import Run
from paraactive.runfile import RunFile
from paraactive.schedules import SCHEDULES, Plan
from paraactive.sifting import take_all
from paraactive.streams import Stream

BATCH = 4096
_FEW = 8
_EVALUATION_GROWTH = 1.1
"""The model is tried on the test examples whenever it has seen a tenth more than the last time."""


@dataclass(frozen=True)
class _Setting:
    """All that stays fixed during one call of train or resume."""

    rule: Rule
    stream: Stream
    plan: Plan
    engine: str
    schedule: str
    seed: int
    test: TestSet
    snapshot_seconds: float
    stop: Callable[[Run], bool]


def train(
    learner: Learner,
    stream: Stream,
    *,
    rule: Rule | None = None,
    examples: int | None = None,
    batch: int | None = None,
    warmstart: int | None = None,
    nodes: int = 1,
    engine: str = "simulated",
    schedule: str = "synchronous",
    seed: int = 0,
    test: Examples | str | Path | bool | None = None,
    out: str | Path | None = None,
    overwrite: bool = False,
    snapshot_seconds: float = 60.0,
    observers: Sequence[Observer] = (),
    stop: Callable[[Run], bool] | None = None,
) -> Run:
    """Train the learner on the stream, by sifting; the learner given is the one trained.

    Parameters
    ----------
    rule : who passes; by default SignedMargin().
    examples : how many to see; by default the whole stream, if it ends.
    batch : fresh examples of a round, over all nodes; the model that sifts is at most this much behind. By default
        4096, or a twentieth of a short stream.
    warmstart : examples learnt before sifting begins. By default 4096, or a fifth of a short stream.
    test : examples on which mistakes are counted on the way: a file, Examples, or True for the stream's own.
    out : a run file, from which the run can be resumed, replayed and looked at.
    snapshot_seconds : how often the run file gets the whole model; the log is written all the time.
    observers : called with each event.
    stop : called after each evaluation or round; True ends the run early.

    >>> import numpy as np
    >>> from paraactive import Arrays, LaSVM, train
    >>> x = np.random.default_rng(0).normal(size=(2000, 2))
    >>> y = np.hypot(x[:, 0], x[:, 1]) > 1.2
    >>> run = train(LaSVM(gamma=1.0), Arrays(x, y), warmstart=200, batch=200)
    >>> error = np.mean((run.learner.score(x.astype(np.float32)) > 0) != y)
    >>> print(f"sampling rate {run.sampling_rate:.2f}, error {error:.3f}")
    sampling rate 0.26, error 0.010
    """
    rule = SignedMargin() if rule is None else rule
    plan = _plan(stream, examples, batch, warmstart, nodes)
    tried = find_test(test, stream)
    setting = _setting(rule, stream, plan, engine, schedule, seed, tried, snapshot_seconds, stop)
    with ExitStack() as stack:
        log: Log = MemoryLog()
        if out is not None:
            _check_untrained(learner)
            file = RunFile.create(out, _configuration(learner, setting), overwrite=overwrite)
            log = stack.enter_context(file)
        node = Node(learner, rule, stream, seed)
        return _go_on(Run(learner, nodes, engine, schedule), node, log, setting, observers)


def resume(
    path: str | Path,
    *,
    examples: int | None = None,
    nodes: int | None = None,
    engine: str | None = None,
    stream: Stream | None = None,
    learner: Learner | None = None,
    rule: Rule | None = None,
    test: Examples | str | Path | bool | None = None,
    snapshot_seconds: float = 60.0,
    observers: Sequence[Observer] = (),
    stop: Callable[[Run], bool] | None = None,
) -> Run:
    """Go on with a run from its last committed round; it ends in the same model as if it had never stopped.

    `examples` extends the run: it equals one long run if it had ended with a whole round, since a short last round is
    in the log. `nodes` and `engine` may differ from before. `stream`, `learner` and `rule` are for parts that the run
    file cannot make by itself (arrays in memory, parts of your own).
    """
    with RunFile.resume(path) as file:
        known = file.configuration
        changed = {"examples": examples, "nodes": nodes, "engine": engine}
        known |= {name: value for name, value in changed.items() if value is not None}
        stream = _stream_of(known, stream)
        rule = rule or parts.build_rule(known["rule"])
        plan = Plan(_examples(stream, known["examples"]), known["batch"], known["warmstart"], known["nodes"])
        _check_not_behind(plan, file)
        tried = find_again(known["test"], stream) if test is None else find_test(test, stream)
        setting = _setting(
            rule, stream, plan, known["engine"], known["schedule"], known["seed"], tried, snapshot_seconds, stop
        )
        run = Run(learner or parts.build_learner(known["learner"]), known["nodes"], known["engine"], known["schedule"])
        file.configure(**{name: known[name] for name in changed})
        node = Node(run.learner, rule, stream, known["seed"])
        node.version = _catch_up(run, file, stream)
        return _go_on(run, node, file, setting, observers)


def replay(
    path: str | Path,
    *,
    stream: Stream | None = None,
    learner: Learner | None = None,
    observers: Sequence[Observer] = (),
) -> Run:
    """Rebuild the model from the log alone, from its first entry, and check it by every digest that the run wrote down.

    The features of a user's data are in the log, so the data itself is not needed.
    """
    with RunFile.read(path) as file:
        known = file.configuration
        if stream is None and file.needs_stream:
            stream = parts.build_stream(known["stream"])
        learner = learner or parts.build_learner(known["learner"])
        run = Run(learner, known["nodes"], known["engine"], known["schedule"])
        _observe(observers, RunStarted(file.seen, 0))
        version = _apply_rounds(run, file, stream, 0, 0, [_digest_check(file, learner), *observers])
        run.evaluations = _evaluations(file)
        _observe(observers, RunEnded(run.seen, version, learner.digest()))
        return run


# One run, from where it stands to its end ------------------------------------------------------------------------


def _go_on(run: Run, node: Node, log: Log, setting: _Setting, observers: Iterable[Observer]) -> Run:
    file = log if isinstance(log, RunFile) else None
    observers = [*observers, *([file.observe] if file else [])]
    if file:
        file.keep_features(not setting.stream.regenerates)
    _observe(observers, RunStarted(setting.plan.examples, log.seen))
    _warm_up(node, setting.plan.examples)
    engine = ENGINES[setting.engine](node, setting.plan.nodes)
    saved = time.monotonic()
    for ended in SCHEDULES[setting.schedule](engine, log, setting.plan):
        run.rounds.append(ended)
        _observe(observers, ended)
        if _is_due(run, setting):
            _evaluate(run, node, setting.test.examples, observers)
        if file and time.monotonic() - saved > setting.snapshot_seconds:
            _snapshot(run, node, file, observers)
            saved = time.monotonic()
        if setting.stop(run):
            break
    if run.seen > _last_tried(run):
        _evaluate(run, node, setting.test.examples, observers)
    if file:
        _snapshot(run, node, file, observers)
    _observe(observers, RunEnded(run.seen, node.version, node.learner.digest()))
    return run


def _warm_up(node: Node, examples: int) -> None:
    """Load or compile the loops on a twin of the learner, so that no measured time contains it."""
    description = parts.describe_learner(node.learner)
    fresh = node.stream.read(0, min(_FEW, examples))
    if description["kind"] in parts.LEARNERS:
        twin = Node(parts.build_learner(description), node.rule, node.stream, node.seed)
        twin.learner.update(take_all(fresh, fresh.index, 0, 0))
        twin.learner.end_round()
        twin.sift(0, len(fresh), 0)


def _is_due(run: Run, setting: _Setting) -> bool:
    last = _last_tried(run)
    return run.seen >= min(_EVALUATION_GROWTH * last, setting.plan.examples) and run.seen > last


def _last_tried(run: Run) -> int:
    return run.evaluations[-1].seen if run.evaluations else 0


def _evaluate(run: Run, node: Node, test: Examples | None, observers: Iterable[Observer]) -> None:
    if test is None:
        return
    start = time.perf_counter()
    mistakes = count_mistakes(node.learner, test)
    evaluated = Evaluated(run.seen, node.version, mistakes, len(test), time.perf_counter() - start)
    run.evaluations.append(evaluated)
    _observe(observers, evaluated)


def _snapshot(run: Run, node: Node, file: RunFile, observers: Iterable[Observer]) -> None:
    digest = node.learner.digest()
    _observe(observers, SnapshotTaken(run.seen, node.version, digest))
    file.snapshot(node.learner.save(), digest)


def _observe(observers: Iterable[Observer], event: Event) -> None:
    for observer in observers:
        observer(event)


# Replaying -------------------------------------------------------------------------------------------------------


def _catch_up(run: Run, file: RunFile, stream: Stream) -> int:
    """The model as it was after the last committed round: the newest snapshot, and the log from there."""
    version = first = 0
    snapshot = file.last_snapshot()
    if snapshot is not None:
        version, first, state = snapshot
        run.learner.load(state)
        run.rounds = [ended for ended in file.ended_rounds() if ended.number < first]
    run.evaluations = _evaluations(file)
    return _apply_rounds(run, file, stream, first, version, ())


def _apply_rounds(
    run: Run, file: RunFile, stream: Stream | None, first: int, version: int, observers: Iterable[Observer]
) -> int:
    """Learn the logged rounds from `first` on. Returns the version of the model then."""
    for ended in file.ended_rounds(first):
        entries = file.entries(version, ended.version, stream)
        if len(entries):
            run.learner.update(entries.selected)
        run.learner.end_round()
        run.rounds.append(ended)
        version = ended.version
        _observe(observers, ended)
    return version


def _evaluations(file: RunFile) -> list[Evaluated]:
    return [Evaluated(**payload) for payload in file.events("Evaluated") if payload["seen"] <= file.seen]


def _digest_check(file: RunFile, learner: Learner) -> Observer:
    """An observer of the rounds replayed: the model must be what it was wherever the run took a snapshot."""
    digests = {(taken["seen"], taken["version"]): taken["digest"] for taken in file.events("SnapshotTaken")}

    def check(event: Event) -> None:
        known = digests.get((event.seen, event.version)) if isinstance(event, Round) else None
        if known is not None and known != learner.digest():
            raise ReplayError(
                f"replaying {file.path} gives another model than the run had",
                why="digests differ: the log was changed, or this processor rounds otherwise",
                remedy="replay where the run was trained, or restore a copy of the run file",
            )

    return check


# Settings --------------------------------------------------------------------------------------------------------


def _setting(
    rule: Rule, stream: Stream, plan: Plan, engine: str, schedule: str, seed: int, test: TestSet,
    snapshot_seconds: float, stop: Callable[[Run], bool] | None,
) -> _Setting:  # fmt: skip
    one_of("engine", engine, ENGINES)
    one_of("schedule", schedule, SCHEDULES)
    if schedule == "sequential" and plan.nodes > 1:
        raise InputError(
            f"schedule 'sequential' with {plan.nodes} nodes",
            why="it updates after each selected example, which only one node can do",
            remedy="give nodes=1, or schedule 'synchronous'",
        )
    return _Setting(rule, stream, plan, engine, schedule, seed, test, snapshot_seconds, stop or _never)


def _check_untrained(learner: Learner) -> None:
    """The log of a run file begins with nothing learnt, so its learner must too."""
    description = parts.describe_learner(learner)
    if description["kind"] in parts.LEARNERS and parts.build_learner(description).digest() != learner.digest():
        raise InputError(
            "the learner has been trained before",
            why="a run file rebuilds the model from its log, which begins with this run",
            remedy="give a new learner, or resume the run file that it came from",
        )


def _check_not_behind(plan: Plan, file: RunFile) -> None:
    if plan.examples < file.seen:
        raise InputError(
            f"examples is {plan.examples}, and the run has seen {file.seen}",
            why="what was learnt is not unlearnt",
            remedy=f"give examples >= {file.seen}, or leave it out",
        )


def _never(run: Run) -> bool:  # noqa: ARG001
    return False


def _examples(stream: Stream, examples: int | None) -> int:
    if examples is None and stream.length is None:
        raise InputError(
            "examples is not given", why="the stream never ends", remedy="say how many to see, as examples=100_000"
        )
    if examples is None:
        return stream.length or 0
    return examples if stream.length is None else min(examples, stream.length)


def _plan(stream: Stream, examples: int | None, batch: int | None, warmstart: int | None, nodes: int) -> Plan:
    """Defaults that leave a short stream something to sift."""
    length = BATCH * 20 if stream.length is None else stream.length
    batch = max(nodes, min(BATCH, length // 20), 1) if batch is None else batch
    warmstart = min(BATCH, length // 5) if warmstart is None else warmstart
    return Plan(_examples(stream, examples), batch, warmstart, nodes)


def _configuration(learner: Learner, setting: _Setting) -> dict[str, Any]:
    from paraactive import __version__

    return {
        "paraactive": __version__,
        "learner": parts.describe_learner(learner),
        "rule": parts.describe_rule(setting.rule),
        "stream": parts.describe_stream(setting.stream),
        "width": setting.stream.width,
        "classes": setting.stream.classes,
        "test": setting.test.source,
        **asdict(setting.plan),
        "engine": setting.engine,
        "schedule": setting.schedule,
        "seed": setting.seed,
    }


def _stream_of(known: dict[str, Any], stream: Stream | None) -> Stream:
    if stream is None:
        return parts.build_stream(known["stream"])
    parts.check_same_stream(stream, known["stream"])
    return stream
