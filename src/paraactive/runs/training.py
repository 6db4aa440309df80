"""train, resume, replay: a learner, a rule, a stream and a schedule brought together, with or without a run file."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from paraactive._version import __version__
from paraactive.basics.platforms import versions
from paraactive.basics.validation import one_of, whole
from paraactive.data.events import Evaluated, Event, Observer, Round, RunEnded, RunStarted, SnapshotTaken
from paraactive.data.examples import Place
from paraactive.engines import ENGINES, Cluster, Hosting
from paraactive.errors import InputError, ReplayError
from paraactive.learners.base import Learner
from paraactive.rules import FlooredBlind, Rule, floored
from paraactive.runs import arguments
from paraactive.runs.calibration import uniform_like
from paraactive.runs.evaluation import TestData, TestSet, evaluate, find_again, find_test
from paraactive.runs.run import Run
from paraactive.runs.runfile import DURABILITIES, RunFile
from paraactive.schedules import SCHEDULES, Engine, Plan
from paraactive.sifting import parts
from paraactive.sifting.guard import Guard, class_weights, guarded
from paraactive.sifting.log import Log, MemoryLog
from paraactive.sifting.node import Node, as_on_a_node, relearn
from paraactive.sifting.oracle import Answers, AskingLog, BudgetSpent, Oracle
from paraactive.streams import Stream
from paraactive.streams.base import StreamDetails

_EVALUATION_GROWTH = 1.1
"""The model is tried on the test examples whenever it has seen a tenth more than the last time."""


@dataclass(frozen=True)
class _Setting:
    """All that stays fixed during one call of train or resume."""

    node: Node
    plan: Plan
    engine: str
    schedule: str
    updates: str
    address: str | None
    cluster: Cluster | None
    test: TestSet
    snapshot_seconds: float
    stop: Callable[[Run], bool] | None
    resize: Callable[[Run], int] | None
    oracle: Oracle | None
    finished: Callable[[Run], None] | None


def train(
    learner: Learner,
    stream: Stream,
    *,
    rule: Rule | str | None = None,
    examples: int | None = None,
    batch: int | None = None,
    warmstart: int | None = None,
    nodes: int | None = None,
    engine: str | None = None,
    schedule: str = "synchronous",
    lag: int | None = None,
    delay: int | None = None,
    updates: str = "auto",
    address: str | None = None,
    cluster: Cluster | None = None,
    seed: int = 0,
    oracle: Oracle | None = None,
    guard: Guard | bool | None = None,
    class_weight: Mapping[Any, float] | str | None = None,
    test: TestData = None,
    out: str | Path | None = None,
    overwrite: bool = False,
    durability: str = "process",
    snapshot_seconds: float = 60.0,
    observers: Sequence[Observer] = (),
    stop: Callable[[Run], bool] | None = None,
    resize: Callable[[Run], int] | None = None,
    finished: Callable[[Run], None] | None = None,
) -> Run:
    """Train a learner on a stream: score all examples, and learn from the few that are selected.

    Parameters
    ----------
    learner : Learner
        The untrained learner, such as `LaSVM()`. This object is trained.
    stream : Stream
        The labeled examples, such as `Arrays(x, y)`.
    rule : Rule or str, optional
        Sets the probability p with which each example is selected. Default: `SignedMargin()` for the SVM,
        `LeastMargin()` if it has more than two classes, and `Gradient()` for learners whose scores are log-odds, such
        as the network. "uniform" is the baseline to compare these with: it selects every example with the same p,
        which is the mean p that the default rule would give (see `calibration.uniform_like`), or 0.02 with an oracle.
    examples : int, optional
        Number of examples to read. Default: the whole stream, if it ends.
    batch : int, optional
        Number of examples that all nodes together sift in one round. The model that sifts is at most this much behind.
        Default: 4096, or an eighth of the examples.
    warmstart : int, optional
        Number of examples to learn before sifting begins. Default: 4096, or a fifth of the examples.
    nodes : int, optional
        Number of nodes that sift in parallel. Default: one for each core of this machine.
    engine : {"threads", "processes", "ray", "simulated"}, optional
        Where the nodes run: as threads of this process (default for learners that release the GIL, such as ours), as
        processes of this machine (default for others), as Ray actors on a cluster, or one after the other with the
        paper's clock. In the synchronous and the pipelined schedule the model is the same on all engines.
    schedule : {"synchronous", "pipelined", "asynchronous", "sequential"}
        Order of sifting and learning: in rounds (the paper's Algorithm 1), with the next round sifted while one is
        learned, without rounds (Algorithm 2), or one example at a time.
    lag : int, optional
        Schedule "pipelined": number of rounds by which the sifting model lags behind. 0 is synchronous. Default: 1.
    delay : int, optional
        Schedule "asynchronous": largest number of examples that the cluster may see between the model that sifted an
        example and the place of this example in the log. Default: two batches.
    updates : {"auto", "replicated", "central"}
        On processes and ray: every node learns, the driver learns and sends the model, or whichever sends less.
    address : str, optional
        Address of a Ray cluster, such as "10.0.0.1:6379". Default: start a cluster on this machine.
    cluster : Cluster, optional
        Engine "simulated": slow nodes, latency and given costs.
    seed : int
        Seed of the coins.
    oracle : Oracle, optional
        Who is asked for the labels of selected examples, where labels cost money. The rule must not need labels; the
        default is then `Margin()`.
    guard : Guard or bool, optional
        Limits the effect of wrong labels and outliers, which are selected more often than other examples: True, or your
        own `Guard`. `run.learner` is then a `learners.guarded.Guarded` around the learner given; its `report()` names
        the examples that were left out.
    class_weight : dict or "balanced", optional
        Weight of the examples of each class, by class name, such as {"spam": 5}. "balanced" needs a stream that knows
        how often each class occurs. `run.learner` is then a `Guarded`, as with a guard.
    test : tuple of (x, y), path, Examples or bool, optional
        Labeled test data, on which mistakes are counted during the run. True: the stream's own test set.
    out : path, optional
        Run file to write. The run can be resumed, replayed and reported from it.
    overwrite : bool
        Whether to replace an existing run file.
    durability : {"process", "power"}
        Which crash the last commit to the run file survives: the program is killed, or also a loss of power. "power"
        waits for the disk at each commit (at most two a second; one for each tile in the asynchronous schedule). With
        "process" a loss of power may cost the last commits; the file stays whole and can be resumed. Questions to an
        oracle and its answers always survive a loss of power.
    snapshot_seconds : float
        Seconds between snapshots of the whole model in the run file. The log is written all the time.
    observers : sequence of callables
        Each is called with every event of the run.
    stop : callable, optional
        Called with the run after each round; if it returns True, the run ends.
    resize : callable, optional
        Schedule "asynchronous": called with the run after each round; returns the number of nodes from then on.
    finished : callable, optional
        Called with the run when it has ended and before the nodes are ended.

    Returns
    -------
    Run
        The trained learner, and all figures of the run.

    Examples
    --------
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
    parts.expect_classes(learner, len(stream.classes))
    is_baseline = isinstance(rule, str) and rule == "uniform" and oracle is None
    rule = arguments.find_rule("margin" if rule is None and oracle else rule, learner)
    arguments.check_oracle(oracle, stream, rule, schedule)
    learner, rule = guarded(learner, rule, guard, class_weights(class_weight, stream))
    engine = engine or arguments.default_engine(learner, rule, schedule)
    plan = arguments.make_plan(stream, examples, batch, warmstart, nodes, engine, schedule, lag, delay)
    arguments.check_setting(engine, schedule, plan.nodes, updates, address, cluster, resize is not None)
    node = Node(learner, rule, stream, whole("seed", seed))
    setting = _Setting(
        node, plan, engine, schedule, updates, address, cluster, find_test(test, stream), snapshot_seconds, stop,
        resize, oracle, finished,
    )  # fmt: skip
    parts.warm_up(node, plan.examples, lambda event: _observe(observers, event))
    if out is not None:
        one_of("durability", durability, DURABILITIES)
        arguments.check_untrained(learner)
        RunFile.check_room(out, overwrite)
    if is_baseline:
        node.rule = _baseline(node, plan)
    watching = list(observers)
    # The engine first: a cluster that cannot be reached leaves no run file.
    with closing(_start(setting, watching)) as host, ExitStack() as stack:
        log: Log = MemoryLog()
        if out is not None:
            known = {"paraactive": __version__, "versions": versions()} | _configuration(setting)
            known["durability"] = durability
            log = stack.enter_context(RunFile.create(out, known, overwrite=overwrite, durability=durability))
        return _go_on(Run(learner, plan, engine, schedule), host, log, setting, watching)


def resume(
    path: str | Path,
    *,
    examples: int | None = None,
    nodes: int | None = None,
    engine: str | None = None,
    updates: str | None = None,
    address: str | None = None,
    cluster: Cluster | None = None,
    stream: Stream | None = None,
    learner: Learner | None = None,
    rule: Rule | None = None,
    oracle: Oracle | None = None,
    test: TestData = None,
    durability: str | None = None,
    snapshot_seconds: float = 60.0,
    observers: Sequence[Observer] = (),
    stop: Callable[[Run], bool] | None = None,
    resize: Callable[[Run], int] | None = None,
    finished: Callable[[Run], None] | None = None,
) -> Run:
    """Go on with a run from its last committed round; it ends in the same model as if it had never stopped.

    `examples` extends the run, which then equals one long run. `nodes` and `engine` may differ from before. `stream`,
    `learner` and `rule` are for parts that the run file cannot make by itself (arrays in memory, parts of your own);
    a stream may be handed over with more passes than before. `durability` is as before, unless it is given. The whole
    log is compared with its hashes first. An asynchronous run goes on from its last tile; what its model becomes
    depends on who was fast, stopped or not.
    """
    with ExitStack() as engines, RunFile.resume(path) as file:  # The file is closed first: engines may die at the end.
        with file.understood():
            known = file.configuration
            changed = {"examples": examples, "nodes": nodes, "engine": engine, "updates": updates, "address": address}
            known |= {name: value for name, value in changed.items() if value is not None}
            known["nodes"] = known["nodes"] if nodes is None else whole("nodes", nodes)
            stream = arguments.the_stream(stream, known["stream"])
            learner = arguments.the_learner(learner, known["learner"], len(known["classes"]))
            node = Node(learner, arguments.the_rule(rule, known["rule"]), stream, known["seed"])
            plan = _plan_of(known | {"examples": arguments.count_examples(stream, known["examples"])})
            tried = find_again(known["test"], stream) if test is None else find_test(test, stream)
            where, schedule = str(known["engine"]), str(known["schedule"])
            address = known["address"] if where == "ray" else None
            durability = str(known.get("durability", "process")) if durability is None else durability
            file.survive(durability)
            setting = _Setting(
                node,
                plan,
                where,
                schedule,
                known["updates"],
                address,
                cluster,
                tried,
                snapshot_seconds,
                stop,
                resize,
                oracle,
                finished,
            )
        arguments.check_setting(where, schedule, plan.nodes, setting.updates, address, cluster, resize is not None)
        if plan.examples > file.seen:
            arguments.check_oracle(oracle, stream, node.rule, schedule)
        _check_not_behind(plan, file)
        parts.warm_up(node, plan.examples, lambda event: _observe(observers, event))
        if plan.examples > file.seen and schedule != "asynchronous":
            file.drop_short_round(plan, oracle.per_round if oracle else None)
        run = Run(learner, plan, where, schedule)
        with file.understood():
            _catch_up(run, file, setting)
        watching = list(observers)
        host = engines.enter_context(closing(_start(setting, watching)))
        file.configure(**_configuration(setting), durability=durability)
        return _go_on(run, host, file, setting, watching)


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
    with RunFile.read(path) as file, file.one_state():
        with file.understood():
            known = file.configuration
            if file.needs_stream:
                stream = arguments.the_stream(stream, known["stream"])
            learner = arguments.the_learner(learner, known["learner"], len(known["classes"]))
            run = Run(learner, _plan_of(known), known["engine"], known["schedule"])
            check = _DigestCheck(file, learner)
        _observe(observers, RunStarted(file.seen, 0))
        with file.understood(), as_on_a_node():
            rounds = list(file.ended_rounds())
            for stretch in file.stretches(Place(0, 0), stream):
                relearn(learner, stretch)
                if stretch.ends_round:
                    run.rounds.append(rounds[stretch.rounds])
                    _observe(observers, run.rounds[-1])
                check(stretch.ends)
            run.delays, run.learnt = file.delays, file.learnt()
            _recall(run, file)
        run.checked = check.count
        _observe(observers, _ended(run, file.version))
        return run


def _baseline(node: Node, plan: Plan) -> Rule:
    """Uniform, at the rate that the default rule would have, under the same guard."""
    usual = arguments.find_rule(None, node.learner)
    if isinstance(node.rule, FlooredBlind):
        usual = floored(usual, node.rule.floor)
    return uniform_like(usual, node.learner, node.stream, plan.warmstart, plan.examples)


# One run, from where it stands to its end ------------------------------------------------------------------------


def _start(setting: _Setting, observers: list[Observer]) -> Engine:
    """The engine, which tells the observers, also those that are added later, of its nodes."""
    hosting = Hosting(
        setting.node, setting.plan, setting.updates, setting.address, setting.cluster,
        observe=lambda event: _observe(observers, event),
    )  # fmt: skip
    return ENGINES[setting.engine](hosting)


def _go_on(run: Run, engine: Engine, log: Log, setting: _Setting, observers: list[Observer]) -> Run:
    file = log if isinstance(log, RunFile) else None
    if file:
        observers.append(file.observe)
        file.use_stream(setting.node.stream)
    run.delays = log.delays
    _observe(observers, RunStarted(setting.plan.examples, run.seen, run.sifted, run.selected))
    _evaluate_if_due(run, engine, setting, observers)  # A run that was killed before it could.
    with closing(SCHEDULES[setting.schedule](engine, _asking(log, setting), setting.plan)) as rounds:
        for ended in _timed(run, rounds):
            run.rounds.append(ended)
            run.learner = engine.model.learner  # Where somebody learns while others sift, there are two.
            _observe(observers, ended)
            _evaluate_if_due(run, engine, setting, observers)
            _snapshot_if_due(run, engine, file, setting, observers)
            _resize(run, engine, file, setting)
            if setting.stop and setting.stop(run):
                break
    run.replicas, run.learner = engine.finish(), setting.node.learner
    run.updates, run.learnt = engine.updates, log.learnt()
    if run.seen > _last_tried(run):
        _evaluate(run, engine, setting, observers)
    if file:
        _snapshot(run, engine, file, observers)
    _observe(observers, _ended(run, log.version))
    if setting.finished:
        setting.finished(run)
    return run


def _asking(log: Log, setting: _Setting) -> Log:
    """The log, if need be with an oracle before it."""
    if setting.oracle is None:
        return log
    answers = cast(Answers, log)  # All our logs keep them.
    return cast(Log, AskingLog(log, answers, setting.oracle, setting.node.stream))


def _resize(run: Run, engine: Engine, file: RunFile | None, setting: _Setting) -> None:
    """As many nodes as the caller wants, or as somebody else has asked for in the run file."""
    if setting.resize:
        engine.resize(whole("the number of nodes that resize returns", setting.resize(run), least=1))
    elif file and setting.schedule == "asynchronous":
        engine.resize(file.wanted_nodes)


def _ended(run: Run, version: int) -> RunEnded:
    return RunEnded(run.seen, version, run.learner.digest(), run.replicas, run.updates, run.wall_seconds)


def _timed(run: Run, rounds: Iterator[Round]) -> Iterator[Round]:
    """The rounds, with the wall time that the schedule took for them; what is done in between is not its time."""
    while True:
        start = time.perf_counter()
        try:
            ended = next(rounds, None)
        except BudgetSpent as spent:
            ended = spent.ended
        if ended is None:
            return
        run.wall_seconds += time.perf_counter() - start
        yield ended


def _last_tried(run: Run) -> int:
    return run.evaluations[-1].seen if run.evaluations else 0


def _evaluate_if_due(run: Run, engine: Engine, setting: _Setting, observers: Iterable[Observer]) -> None:
    last = _last_tried(run)
    if run.seen > last and run.seen >= min(_EVALUATION_GROWTH * last, setting.plan.examples):
        _evaluate(run, engine, setting, observers)


def _evaluate(run: Run, engine: Engine, setting: _Setting, observers: Iterable[Observer]) -> None:
    test = setting.test.examples
    if test is None:
        return
    evaluated = evaluate(engine.model.learner, test, run.seen, engine.model.version)
    run.evaluations.append(evaluated)
    _observe(observers, evaluated)


def _snapshot_if_due(
    run: Run, engine: Engine, file: RunFile | None, setting: _Setting, observers: Iterable[Observer]
) -> None:
    if file and time.monotonic() - file.last_snapshot_at > setting.snapshot_seconds:
        _snapshot(run, engine, file, observers)


def _snapshot(run: Run, engine: Engine, file: RunFile, observers: Iterable[Observer]) -> None:
    model = engine.model
    digest = model.learner.digest()
    _observe(observers, SnapshotTaken(run.seen, *model.place, digest))
    file.snapshot(model.place, model.learner.save(), digest)


def _observe(observers: Iterable[Observer], event: Event) -> None:
    for observer in observers:
        observer(event)


# Replaying -------------------------------------------------------------------------------------------------------


def _catch_up(run: Run, file: RunFile, setting: _Setting) -> None:
    """The model that the run had when it stopped: the newest snapshot, and the log from there.

    In the pipelined schedule that model is behind the log, unless there is nothing more to sift.
    """
    node = setting.node
    lag = setting.plan.lag if setting.schedule == "pipelined" and file.seen < setting.plan.examples else 0
    rounds = max(file.rounds - lag, min(file.rounds, 1))
    place = file.load_snapshot(node.learner, rounds)
    place = file.learn_on(node.learner, place, node.stream, rounds if lag else None)
    node.stand_at(place, file.seen)
    run.rounds = list(file.ended_rounds())
    _recall(run, file)


def _recall(run: Run, file: RunFile) -> None:
    """What only events say."""
    run.evaluations = [Evaluated(**event) for event in file.events("Evaluated") if event["seen"] <= file.seen]
    for event in file.events("RunEnded"):
        run.wall_seconds = event["wall_seconds"]
        if event["seen"] == file.seen:
            run.replicas = {int(node): digest for node, digest in event["replicas"].items()}
            way, why = event["updates"]
            run.updates = way, why


class _DigestCheck:
    """Wherever the run took a snapshot, the model must be what it was."""

    def __init__(self, file: RunFile, learner: Learner) -> None:
        taken = file.events("SnapshotTaken")
        self._digests = {Place(each["version"], each["rounds"]): each["digest"] for each in taken}
        self._path, self._learner = file.path, learner
        self.count = 0

    def __call__(self, place: Place) -> None:
        """The replay is here."""
        known = self._digests.get(place)
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


def _plan_of(known: dict[str, Any]) -> Plan:
    return Plan(*(known[name] for name in ("examples", "batch", "warmstart", "nodes", "lag", "delay")))


def _configuration(setting: _Setting) -> dict[str, Any]:
    """Everything that makes the run what it is."""
    node = setting.node
    return {
        "learner": parts.describe_learner(node.learner),
        "rule": parts.describe_rule(node.rule),
        "stream": parts.describe_stream(node.stream),
        "width": node.stream.width,
        "classes": node.stream.classes,
        "label_type": StreamDetails(node.stream).label_type,
        "test": setting.test.source,
        **asdict(setting.plan),
        "engine": setting.engine,
        "schedule": setting.schedule,
        "updates": setting.updates,
        "address": setting.address,
        "seed": node.seed,
        "budget": setting.oracle.budget if setting.oracle else None,
        "per_round": setting.oracle.per_round if setting.oracle else None,
    }
