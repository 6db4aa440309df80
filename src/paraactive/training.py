"""train, resume, replay: a learner, a rule, a stream and a schedule brought together, with or without a run file."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from paraactive import arguments, parts
from paraactive._version import __version__
from paraactive.engines import ENGINES
from paraactive.errors import InputError, ReplayError
from paraactive.evaluation import TestData, TestSet, count_mistakes, find_again, find_test
from paraactive.events import Evaluated, Event, Observer, Round, RunEnded, RunStarted, SnapshotTaken
from paraactive.learners.base import Learner
from paraactive.log import Log, MemoryLog
from paraactive.node import Node
from paraactive.rules import Rule
from paraactive.run import Run
from paraactive.runfile import RunFile
from paraactive.schedules import SCHEDULES, Plan
from paraactive.sifting import take_all
from paraactive.streams import Stream
from paraactive.validation import whole

_FEW = 8
_EVALUATION_GROWTH = 1.1
"""The model is tried on the test examples whenever it has seen a tenth more than the last time."""


@dataclass(frozen=True)
class _Setting:
    """All that stays fixed during one call of train or resume."""

    node: Node
    plan: Plan
    engine: str
    schedule: str
    test: TestSet
    snapshot_seconds: float
    stop: Callable[[Run], bool] | None


def train(
    learner: Learner,
    stream: Stream,
    *,
    rule: Rule | str | None = None,
    examples: int | None = None,
    batch: int | None = None,
    warmstart: int | None = None,
    nodes: int = 1,
    engine: str = "simulated",
    schedule: str = "synchronous",
    seed: int = 0,
    test: TestData = None,
    out: str | Path | None = None,
    overwrite: bool = False,
    snapshot_seconds: float = 60.0,
    observers: Sequence[Observer] = (),
    stop: Callable[[Run], bool] | None = None,
) -> Run:
    """Train the learner on the stream, by sifting; the learner given is the one trained.

    Parameters
    ----------
    rule : who passes, a rule or its name; by default SignedMargin() for the SVM and Gradient() for the network.
    examples : how many to see; by default the whole stream, if it ends.
    batch : fresh examples of a round, over all nodes; the model that sifts is at most this much behind. By default
        4096, or an eighth of the examples.
    warmstart : examples learnt before sifting begins. By default 4096, or a fifth of the examples.
    engine : "simulated" (one after the other, with the paper's clock) or "threads" (side by side in this process). The
        model is the same.
    test : examples on which mistakes are counted on the way: (x, y), a file, Examples, or True for the stream's own.
    out : a run file, from which the run can be resumed, replayed and looked at.
    overwrite : replace a run file that is there.
    snapshot_seconds : how often the run file gets the whole model; the log is written all the time.
    observers : called with each event.
    stop : called after each round; True ends the run early.

    >>> import numpy as np
    >>> from paraactive import Arrays, LaSVM, train
    >>> x = np.random.default_rng(0).normal(size=(2000, 2))
    >>> y = np.hypot(x[:, 0], x[:, 1]) > 1.2
    >>> run = train(LaSVM(gamma=1.0, gap=0.2), Arrays(x, y), warmstart=200, batch=200)
    >>> error = np.mean((run.learner.score(x) > 0) != y)
    >>> print(f"sampling rate {run.sampling_rate:.2f}, error {error:.2f}")
    sampling rate 0.26, error 0.01
    """
    arguments.check_learner(learner)
    arguments.check_stream(stream)
    rule = arguments.find_rule(rule, learner)
    plan = arguments.make_plan(stream, examples, batch, warmstart, nodes)
    arguments.check_names(engine, schedule, plan.nodes)
    node = Node(learner, rule, stream, whole("seed", seed))
    setting = _Setting(node, plan, engine, schedule, find_test(test, stream), snapshot_seconds, stop)
    _warm_up(node, plan.examples)
    with ExitStack() as stack:
        log: Log = MemoryLog()
        if out is not None:
            arguments.check_untrained(learner)
            known = {"paraactive": __version__} | _configuration(setting)
            log = stack.enter_context(RunFile.create(out, known, overwrite=overwrite))
        return _go_on(Run(learner, plan, engine, schedule), log, setting, observers)


def resume(
    path: str | Path,
    *,
    examples: int | None = None,
    nodes: int | None = None,
    engine: str | None = None,
    stream: Stream | None = None,
    learner: Learner | None = None,
    rule: Rule | None = None,
    test: TestData = None,
    snapshot_seconds: float = 60.0,
    observers: Sequence[Observer] = (),
    stop: Callable[[Run], bool] | None = None,
) -> Run:
    """Go on with a run from its last committed round; it ends in the same model as if it had never stopped.

    `examples` extends the run, which then equals one long run. `nodes` and `engine` may differ from before. `stream`,
    `learner` and `rule` are for parts that the run file cannot make by itself (arrays in memory, parts of your own);
    a stream may be handed over with more passes than before.
    """
    with RunFile.resume(path) as file:
        with file.understood():
            known = file.configuration
            changed = {"examples": examples, "nodes": nodes, "engine": engine}
            known |= {name: value for name, value in changed.items() if value is not None}
            stream = arguments.the_stream(stream, known["stream"])
            learner = arguments.the_learner(learner, known["learner"])
            node = Node(learner, arguments.the_rule(rule, known["rule"]), stream, known["seed"])
            plan = Plan(
                arguments.count_examples(stream, known["examples"]),
                known["batch"], known["warmstart"], whole("nodes", known["nodes"]),
            )  # fmt: skip
            tried = find_again(known["test"], stream) if test is None else find_test(test, stream)
            where, schedule = str(known["engine"]), str(known["schedule"])
        arguments.check_names(where, schedule, plan.nodes)
        _check_not_behind(plan, file)
        _warm_up(node, plan.examples)
        if plan.examples > file.seen:
            file.drop_short_round(plan)
        run = Run(learner, plan, where, schedule)
        with file.understood():
            node.version = _catch_up(run, file, stream)
        setting = _Setting(node, plan, where, schedule, tried, snapshot_seconds, stop)
        file.configure(**_configuration(setting))
        return _go_on(run, file, setting, observers)


def replay(
    path: str | Path,
    *,
    stream: Stream | None = None,
    learner: Learner | None = None,
    observers: Sequence[Observer] = (),
) -> Run:
    """Rebuild the model from the log alone, from its first entry, and check it by every digest that the run wrote down.

    The features of a user's data are in the log, so the data itself is not needed. `checked` of the result says how
    many digests there were.
    """
    with RunFile.read(path) as file:
        with file.understood():
            known = file.configuration
            if file.needs_stream:
                stream = arguments.the_stream(stream, known["stream"])
            learner = arguments.the_learner(learner, known["learner"])
            plan = Plan(known["examples"], known["batch"], known["warmstart"], known["nodes"])
            run = Run(learner, plan, known["engine"], known["schedule"])
        _observe(observers, RunStarted(file.seen, 0))
        check = _DigestCheck(file, learner)
        with file.understood():
            version = _apply_rounds(run, file, stream, 0, 0, [check, *observers])
            run.evaluations = _evaluations(file)
        run.checked = check.count
        _observe(observers, RunEnded(run.seen, version, learner.digest()))
        return run


# One run, from where it stands to its end ------------------------------------------------------------------------


def _go_on(run: Run, log: Log, setting: _Setting, observers: Iterable[Observer]) -> Run:
    file = log if isinstance(log, RunFile) else None
    observers = [*observers, *([file.observe] if file else [])]
    if file:
        file.keep_features(not setting.node.stream.regenerates)
    _observe(observers, RunStarted(setting.plan.examples, run.seen, run.sifted, run.selected))
    _evaluate_if_due(run, setting, observers)  # A run that was killed before it could.
    with closing(ENGINES[setting.engine](setting.node, setting.plan.nodes)) as engine:
        saved = time.monotonic()
        for ended in SCHEDULES[setting.schedule](engine, log, setting.plan):
            run.rounds.append(ended)
            _observe(observers, ended)
            _evaluate_if_due(run, setting, observers)
            if file and time.monotonic() - saved > setting.snapshot_seconds:
                _snapshot(run, file, run.learner.digest(), observers)
                saved = time.monotonic()
            if setting.stop and setting.stop(run):
                break
    if run.seen > _last_tried(run):
        _evaluate(run, setting, observers)
    digest = run.learner.digest()
    if file:
        _snapshot(run, file, digest, observers)
    _observe(observers, RunEnded(run.seen, setting.node.version, digest))
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


def _last_tried(run: Run) -> int:
    return run.evaluations[-1].seen if run.evaluations else 0


def _evaluate_if_due(run: Run, setting: _Setting, observers: Iterable[Observer]) -> None:
    last = _last_tried(run)
    if run.seen > last and run.seen >= min(_EVALUATION_GROWTH * last, setting.plan.examples):
        _evaluate(run, setting, observers)


def _evaluate(run: Run, setting: _Setting, observers: Iterable[Observer]) -> None:
    test = setting.test.examples
    if test is None:
        return
    start = time.perf_counter()
    mistakes = count_mistakes(run.learner, test)
    evaluated = Evaluated(run.seen, setting.node.version, mistakes, len(test), time.perf_counter() - start)
    run.evaluations.append(evaluated)
    _observe(observers, evaluated)


def _snapshot(run: Run, file: RunFile, digest: str, observers: Iterable[Observer]) -> None:
    _observe(observers, SnapshotTaken(run.seen, file.version, digest))
    file.snapshot(run.learner.save(), digest)


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


class _DigestCheck:
    """An observer of the rounds replayed: the model must be what it was wherever the run took a snapshot."""

    def __init__(self, file: RunFile, learner: Learner) -> None:
        taken = file.events("SnapshotTaken")
        self._digests = {(each["seen"], each["version"]): each["digest"] for each in taken}
        self._path, self._learner = file.path, learner
        self.count = 0

    def __call__(self, event: Event) -> None:
        known = self._digests.get((event.seen, event.version)) if isinstance(event, Round) else None
        if known is None:
            return
        if known != self._learner.digest():
            raise ReplayError(
                f"replaying {self._path} gives another model than the run had",
                why="the log was changed, or another version of paraactive or another processor made it",
                remedy="replay it where it was trained, or restore a copy of the run file",
            )
        self.count += 1


# The run file ----------------------------------------------------------------------------------------------------


def _check_not_behind(plan: Plan, file: RunFile) -> None:
    if plan.examples < file.seen:
        raise InputError(
            f"examples is {plan.examples}, and the run has seen {file.seen}",
            why="what was learnt is not unlearnt",
            remedy=f"give examples >= {file.seen}",
        )


def _configuration(setting: _Setting) -> dict[str, Any]:
    """Everything that makes the run what it is."""
    node = setting.node
    return {
        "learner": parts.describe_learner(node.learner),
        "rule": parts.describe_rule(node.rule),
        "stream": parts.describe_stream(node.stream),
        "width": node.stream.width,
        "classes": node.stream.classes,
        "test": setting.test.source,
        **asdict(setting.plan),
        "engine": setting.engine,
        "schedule": setting.schedule,
        "seed": node.seed,
    }
