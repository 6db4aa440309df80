"""One run from where it stands to its end: rounds, evaluations, snapshots, and what observers hear of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import cast

from paraactive.basics.validation import whole
from paraactive.data.events import Event, Observer, Round, RunEnded, RunStarted, SnapshotTaken
from paraactive.data.examples import Examples
from paraactive.engines import ENGINES
from paraactive.runs.evaluation import evaluate
from paraactive.runs.run import Run
from paraactive.runs.runfile import RunFile
from paraactive.runs.spec import RunSpec
from paraactive.schedules import SCHEDULES, Engine
from paraactive.sifting.log import Log, MemoryLog
from paraactive.sifting.node import Node
from paraactive.sifting.oracle import Answers, AskingLog, BudgetSpent, Oracle

_EVALUATION_GROWTH = 1.1
"""The model is evaluated whenever it has seen a tenth more examples than at the last evaluation."""


@dataclass(frozen=True)
class Callbacks:
    """What the caller of `train` or `resume` wants to hear and to decide during a run.

    Parameters
    ----------
    observers : list of callables
        Each is called with every event. The run file is appended to the list.
    stop : callable, optional
        Called with the run after each round; if it returns True, the run ends.
    resize : callable, optional
        Called with the run after each round; returns the number of nodes from then on.
    finished : callable, optional
        Called with the run when it has ended and before the nodes are ended.
    snapshot_seconds : float, default=60.0
        Seconds between snapshots.
    """

    observers: list[Observer]
    stop: Callable[[Run], bool] | None = None
    resize: Callable[[Run], int] | None = None
    finished: Callable[[Run], None] | None = None
    snapshot_seconds: float = 60.0

    def observe(self, event: Event) -> None:
        """Call all observers, also those that are added later.

        Parameters
        ----------
        event : Event
            What happened.
        """
        notify(self.observers, event)


def notify(observers: Iterable[Observer], event: Event) -> None:
    """Call each observer with an event.

    Parameters
    ----------
    observers : iterable of callables
        The observers.
    event : Event
        What happened.
    """
    for observer in observers:
        observer(event)


def start_engine(spec: RunSpec, node: Node, callbacks: Callbacks) -> Engine:
    """Start the engine of a run.

    Parameters
    ----------
    spec : RunSpec
        The run.
    node : Node
        The driver's replica.
    callbacks : Callbacks
        Its observers are called when nodes join or leave.

    Returns
    -------
    Engine
        The engine. The caller closes it.
    """
    return ENGINES[spec.placement.engine](node, spec.plan, spec.placement, callbacks.observe)


class RunLoop:
    """Runs a schedule on an engine to its end.

    Parameters
    ----------
    run : Run
        What came of the run so far.
    engine : Engine
        Where the nodes live.
    file : RunFile or None
        The run file, which is given the log, the events and the snapshots. None: the log is kept in memory.
    node : Node
        The driver's replica.
    test : Examples or None
        Test examples.
    oracle : Oracle or None
        Who is asked for labels.
    callbacks : Callbacks
        What the caller wants to hear and to decide.
    """

    def __init__(
        self, run: Run, engine: Engine, file: RunFile | None, node: Node, test: Examples | None, oracle: Oracle | None,
        callbacks: Callbacks,
    ) -> None:  # fmt: skip
        self._run, self._engine, self._file, self._node = run, engine, file, node
        self._test, self._oracle, self._callbacks = test, oracle, callbacks
        self._log = file.writer if file else MemoryLog()

    def to_end(self) -> Run:
        """Run from where the log stands to the end of the plan.

        Returns
        -------
        Run
            The run that was given, with all its figures.
        """
        run, spec, engine = self._run, self._run.spec, self._engine
        if self._file:
            self._callbacks.observers.append(self._file.events.observe)
            self._file.writer.use_stream(self._node.stream)
        run.delays = self._log.delays
        self._callbacks.observe(RunStarted(spec.plan.examples, run.seen, run.sifted, run.selected))
        self._evaluate_if_due()  # A run that was killed may have missed its last evaluation.
        with closing(SCHEDULES[spec.schedule](engine, self._asking(), spec.plan)) as rounds:
            for ended in self._timed(rounds):
                self._after_round(ended)
                if self._callbacks.stop and self._callbacks.stop(run):
                    break
        run.replicas, run.learner = engine.finish(), self._node.learner
        run.updates, run.learned = engine.updates, self._log.learned()
        if run.seen > run.last_evaluated:
            self._evaluate()
        if self._file:
            self._snapshot(self._file)
        self._callbacks.observe(ended_event(run, self._log.version))
        if self._callbacks.finished:
            self._callbacks.finished(run)
        return run

    def _after_round(self, ended: Round) -> None:
        run = self._run
        run.rounds.append(ended)
        run.learner = self._engine.model.learner  # While nodes sift with one copy, another copy may learn.
        self._callbacks.observe(ended)
        self._evaluate_if_due()
        if self._file and self._file.snapshots.age_seconds > self._callbacks.snapshot_seconds:
            self._snapshot(self._file)
        self._resize()

    def _asking(self) -> Log:
        """The log; with an oracle, one that asks for the labels of what is appended."""
        if self._oracle is None:
            return self._log
        answers = cast(Answers, self._file.questions if self._file else self._log)
        return cast(Log, AskingLog(self._log, answers, self._oracle, self._node.stream))

    def _resize(self) -> None:
        """Use as many nodes as the caller wants, or as 'paraactive resize' has asked for in the run file."""
        if self._callbacks.resize:
            nodes = self._callbacks.resize(self._run)
            self._engine.resize(whole("the number of nodes that resize returns", nodes, least=1))
        elif self._file and self._run.spec.schedule == "asynchronous":
            self._engine.resize(self._file.spec.nodes)

    def _timed(self, rounds: Iterator[Round]) -> Iterator[Round]:
        """The rounds. The time that the schedule takes for them is added to the run's wall time, and no other time."""
        while True:
            start = time.perf_counter()
            try:
                ended = next(rounds, None)
            except BudgetSpent as spent:
                ended = spent.ended
            if ended is None:
                return
            self._run.wall_seconds += time.perf_counter() - start
            yield ended

    def _evaluate_if_due(self) -> None:
        seen, last = self._run.seen, self._run.last_evaluated
        if seen > last and seen >= min(_EVALUATION_GROWTH * last, self._run.spec.plan.examples):
            self._evaluate()

    def _evaluate(self) -> None:
        if self._test is None:
            return
        model = self._engine.model
        evaluated = evaluate(model.learner, self._test, self._run.seen, model.version)
        self._run.evaluations.append(evaluated)
        self._callbacks.observe(evaluated)

    def _snapshot(self, file: RunFile) -> None:
        model = self._engine.model
        digest = model.learner.digest()
        self._callbacks.observe(SnapshotTaken(self._run.seen, *model.place, digest))
        file.snapshots.save(model.place, model.learner.save(), digest)


def ended_event(run: Run, version: int) -> RunEnded:
    """The event that ends a run.

    Parameters
    ----------
    run : Run
        The run.
    version : int
        Number of entries in the log.

    Returns
    -------
    RunEnded
        The event.
    """
    return RunEnded(run.seen, version, run.learner.digest(), run.replicas, run.updates, run.wall_seconds)
