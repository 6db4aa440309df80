"""resume: go on with a run from its run file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

from paraactive.basics.validation import whole
from paraactive.data.events import Observer
from paraactive.engines import Cluster
from paraactive.errors import InputError
from paraactive.learners.base import Learner
from paraactive.rules import Rule
from paraactive.runs import arguments, file_parts
from paraactive.runs.evaluation import TestData, find_test, find_test_again
from paraactive.runs.finishing import check_finish
from paraactive.runs.loop import Callbacks, RunLoop, start_engine
from paraactive.runs.replay import recall_events
from paraactive.runs.run import Run
from paraactive.runs.runfile import RunFile
from paraactive.runs.spec import RunSpec
from paraactive.schedules import Plan
from paraactive.sifting import parts
from paraactive.sifting.node import Node
from paraactive.sifting.oracle import Oracle
from paraactive.streams import Stream


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
    finish: bool | str | None = None,
    test: TestData = None,
    durability: str | None = None,
    snapshot_seconds: float = 60.0,
    observers: Sequence[Observer] = (),
    stop: Callable[[Run], bool] | None = None,
    resize: Callable[[Run], int] | None = None,
    finished: Callable[[Run], None] | None = None,
) -> Run:
    """Continue a run from its last committed round. It ends in the same model as a run that never stopped.

    The whole log is compared with its hashes first. An asynchronous run continues from its last tile; the model that it
    ends in depends on the speed of the nodes, whether it was stopped or not.

    Parameters
    ----------
    path : path
        The run file.
    examples : int, optional
        New total number of examples to read. It must not be smaller than before. A run that is extended equals one long
        run. Default: as before.
    nodes : int, optional
        Number of nodes that sift in parallel. Default: as before.
    engine : {"threads", "processes", "ray", "simulated"}, optional
        Where the nodes run. Default: as before.
    updates : {"auto", "replicated", "central"}, optional
        Engines "processes" and "ray": who learns; see `train`. Default: as before.
    address : str, optional
        Engine "ray": address of the cluster. Default: as before.
    cluster : Cluster, optional
        Engine "simulated": the machines to simulate. The run file does not have them.
    stream : Stream, optional
        The training data, if the run file cannot open it (arrays in memory, a stream of your own). It may have more
        passes than before.
    learner : Learner, optional
        The untrained learner, if the run file cannot build it (a torch module, a learner of your own).
    rule : Rule, optional
        The rule, if the run file cannot build it (a rule of your own).
    oracle : Oracle, optional
        Who is asked for labels, for a run that began with an oracle.
    finish : bool or "auto", optional
        Whether to end the run with the finishing step; see `train`. Default: as before.
    test : tuple of (x, y), path, Examples or bool, optional
        Labeled test data. Default: as before; test data that was in memory must be given again.
    durability : {"process", "power"}, optional
        Which crash the last commit survives; see `train`. Default: as before.
    snapshot_seconds : float, default=60.0
        Seconds between snapshots of the whole model in the run file.
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
    """
    with ExitStack() as engines, RunFile.resume(path) as file:  # The file is closed before the engine, which may fail.
        with file.reraise_as_corruption():
            known = file.spec
            _check_schedule(known, path)
            stream = file_parts.stream_of(stream, known.data.stream)
            learner = file_parts.learner_of(learner, known.learner, len(known.data.classes))
            rule = file_parts.rule_of(rule, known.rule)
            node = Node(learner, rule, stream, known.seed, sampling=known.sampling)
            test_set = find_test_again(known.recording.test, stream) if test is None else find_test(test, stream)
            plan = _changed_plan(known.plan, stream, examples, nodes)
            placement = known.placement
            where = placement.engine if engine is None else engine
            placement = replace(
                placement,
                engine=where,
                updates=placement.updates if updates is None else updates,
                address=(placement.address if address is None else address) if where == "ray" else None,
                cluster=cluster,
            )
            recording = replace(
                known.recording, test=test_set.source, durability=durability or known.recording.durability
            )
            file.database.set_durability(recording.durability)
            spec = replace(
                RunSpec.of(node, plan, known.schedule, placement, oracle, recording),
                software=known.software,
                finish=known.finish if finish is None else check_finish(finish, learner),
            )
        arguments.check_placement(placement, spec.schedule, plan.nodes, resize is not None)
        if plan.examples > file.seen:
            arguments.check_oracle(oracle, stream, node.rule, spec.schedule)
        _check_not_shorter(plan, file.seen)
        callbacks = Callbacks(list(observers), stop, resize, finished, snapshot_seconds)
        parts.warm_up(node, plan.examples, callbacks.observe)
        if plan.examples > file.seen and spec.schedule != "asynchronous":
            file.revision.drop_short_round(plan, spec.labels.per_round)
        run = Run(learner, spec)
        with file.reraise_as_corruption():
            _restore(run, file, node)
        host = engines.enter_context(closing(start_engine(spec, node, callbacks)))
        file.write_spec(spec)
        return RunLoop(run, host, file, node, test_set.examples, oracle, callbacks).to_end()


def _changed_plan(plan: Plan, stream: Stream, examples: int | None, nodes: int | None) -> Plan:
    total = arguments.count_examples(stream, plan.examples if examples is None else examples)
    return replace(plan, examples=total, nodes=plan.nodes if nodes is None else whole("nodes", nodes))


def _restore(run: Run, file: RunFile, node: Node) -> None:
    """Rebuild the model that the run had when it stopped: the newest snapshot, and the log from there on."""
    place = file.log.learn(node.learner, file.snapshots.load(node.learner), node.stream)
    node.set_place(place, file.seen)
    file.log.measure(node.measured)
    run.rounds = list(file.log.ended_rounds())
    recall_events(run, file)


def _check_schedule(spec: RunSpec, path: str | Path) -> None:
    if spec.schedule == "pipelined":
        raise InputError(
            "the run's schedule 'pipelined' was removed",
            why="it was slower than 'synchronous', because every node learned everything twice",
            remedy=f"train anew with schedule 'synchronous'; replay, predict and report work on {path}",
        )


def _check_not_shorter(plan: Plan, seen: int) -> None:
    if plan.examples < seen:
        raise InputError(
            f"examples is {plan.examples}, and the run has seen {seen}",
            why="a run cannot be shortened",
            remedy=f"give examples >= {seen}",
        )
