"""One run from where it stands to its end: rounds, evaluations, snapshots, and what observers hear of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import cast

import numpy as np

from paraactive.basics.registry import LEARNERS
from paraactive.basics.threads import one_blas_thread
from paraactive.basics.validation import whole
from paraactive.data.events import Event, Observer, Round, RunEnded, RunStarted, SnapshotTaken
from paraactive.data.examples import Examples
from paraactive.data.labels import signed_margin
from paraactive.engines import ENGINES
from paraactive.learners.base import Learner
from paraactive.learners.rows import learn, scores
from paraactive.runs.evaluation import evaluate
from paraactive.runs.finishing import finish_model, is_due, load_finished, may_finish
from paraactive.runs.run import Run
from paraactive.runs.runfile import RunFile
from paraactive.runs.spec import RunSpec
from paraactive.runs.verdict import is_worse_than_warmstart
from paraactive.schedules import SCHEDULES, Engine
from paraactive.sifting import parts
from paraactive.sifting.log import Log, MemoryLog
from paraactive.sifting.node import Node
from paraactive.sifting.oracle import Answers, AskingLog, BudgetSpent, Oracle
from paraactive.streams.base import StreamDetails

_COMPARED = 4096
"""Largest number of examples on which the model after the warmstart is compared with the recent models."""
WARMSTART = "warmstart"
"""What `RunEnded.kept` says if the model after the warmstart was kept."""
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
        self._log = file.writer if file else MemoryLog(keep=may_finish(run.spec, node.learner))
        # A run with a file begins with an untrained learner. Without one, the learner may have been trained before.
        self._began_untrained = file is not None or not parts.is_trained(node.learner)

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
        self._keep_better()
        if run.seen > run.last_evaluated or run.kept_warmstart:
            self._evaluate()
        if self._file:
            self._snapshot(self._file)
        is_finished = self._finish()
        digest = self._digest_of(run, run.kept_warmstart or is_finished)
        self._callbacks.observe(ended_event(run, self._log.version, digest))
        if self._callbacks.finished:
            self._callbacks.finished(run)
        return run

    def _keep_better(self) -> None:
        """Keep the model after the warmstart if the latest one is significantly worse. The log stays as it is.

        Where the data changes, the error may rise though the latest models are better. So the recent examples decide.
        """
        run, node = self._run, self._node
        run.measured = self._engine.model.measured
        can_learn_again = self._began_untrained and run.spec.learner.kind in LEARNERS
        can_read_again = self._oracle is None and StreamDetails(node.stream).window is None
        if can_learn_again and can_read_again and is_worse_than_warmstart(run.estimates):
            earlier = _after_warmstart(node, run.warmstart)
            if is_better_on_recent(earlier, node, run):
                run.learner, run.kept_warmstart = earlier, True

    @staticmethod
    def _digest_of(run: Run, is_changed: bool) -> str:
        """The digest of the final model. It takes milliseconds, and replicas in this process have computed it."""
        known = set(run.replicas.values())
        if run.updates[0] == "shared" and len(known) == 1 and not is_changed:
            return known.pop()
        return run.learner.digest()

    def _finish(self) -> bool:
        """Let the learner finish on the log, if that is due. Snapshots stay those of the model before.

        Returns whether it has finished.
        """
        run, file, log = self._run, self._file, self._log
        if run.kept_warmstart or not is_due(run.spec, run.learner, log.version, run.seen):
            if file:
                file.finished.remove()
            return False
        if file and load_finished(file, run.learner, self._node.stream):
            return True  # The run was finished before it was resumed.
        start = time.perf_counter()
        finish_model(run.learner, log.everything())
        run.wall_seconds += time.perf_counter() - start
        if file:
            file.finished.save(run.learner.save(), run.learner.digest())
        if self._test is not None:
            run.evaluations.append(evaluate(run.learner, self._test, run.seen, log.version))
            self._callbacks.observe(run.evaluations[-1])
        return True

    def _after_round(self, ended: Round) -> None:
        run = self._run
        run.rounds.append(ended)
        # While nodes sift with one copy, another copy may learn.
        run.learner, run.measured = self._engine.model.learner, self._engine.model.measured
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
        learner = self._run.learner if self._run.kept_warmstart else model.learner
        evaluated = evaluate(learner, self._test, self._run.seen, model.version)
        self._run.evaluations.append(evaluated)
        self._callbacks.observe(evaluated)

    def _snapshot(self, file: RunFile) -> None:
        model = self._engine.model
        digest = model.learner.digest()
        self._callbacks.observe(SnapshotTaken(self._run.seen, *model.place, digest))
        file.snapshots.save(model.place, model.learner.save(), digest)


def _after_warmstart(node: Node, warmstart: int) -> Learner:
    """The model after the warmstart, learned anew from the stream."""
    learner = parts.untrained(node.learner)
    with one_blas_thread():
        learn(learner, node.take(0, warmstart).selected)
        learner.end_round()
    return learner


def is_better_on_recent(earlier: Learner, node: Node, run: Run) -> bool:
    """Return whether the model after the warmstart is better on the examples of the recent error.

    It has learned none of these examples, and the recent models had not learned them when they scored them.

    Parameters
    ----------
    earlier : Learner
        The model after the warmstart.
    node : Node
        Reads the examples.
    run : Run
        The run, with its estimates.
    """
    known = run.estimates
    if known is None:
        return False
    last = min(run.seen, run.spec.data.first_pass or run.seen)
    first = max(last - known.recent_examples, run.warmstart)
    rows = node.take(first, min(first + _COMPARED, last)).selected
    with one_blas_thread():
        wrong = signed_margin(scores(earlier, rows.examples.x), rows.examples.y) <= 0.0
    return len(rows) > 0 and float(np.average(wrong, weights=rows.weight)) < known.weighted_error.low


def ended_event(run: Run, version: int, digest: str) -> RunEnded:
    """The event that ends a run.

    Parameters
    ----------
    run : Run
        The run.
    version : int
        Number of entries in the log.
    digest : str
        Digest of the model.

    Returns
    -------
    RunEnded
        The event.
    """
    kept = WARMSTART if run.kept_warmstart else ""
    return RunEnded(run.seen, version, digest, run.replicas, run.updates, run.wall_seconds, kept)
