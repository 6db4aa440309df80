"""train: a learner, a rule, a stream and a schedule brought together, with or without a run file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from paraactive.basics.validation import one_of, whole
from paraactive.data.events import Observer
from paraactive.engines import Cluster
from paraactive.engines.placement import Placement
from paraactive.learners.base import Learner
from paraactive.rules import Rule, floored
from paraactive.runs import arguments, file_parts
from paraactive.runs.calibration import uniform_like
from paraactive.runs.evaluation import TestData, find_test
from paraactive.runs.finishing import check_finish
from paraactive.runs.loop import Callbacks, RunLoop, start_engine
from paraactive.runs.run import Run
from paraactive.runs.runfile import DURABILITIES, RunFile
from paraactive.runs.sampling_defaults import find_sampling, is_svm, stream_row_size
from paraactive.runs.spec import RecordingSpec, RunSpec
from paraactive.schedules import Plan
from paraactive.sifting import parts
from paraactive.sifting.guard import Guard, checked_guard, class_weights
from paraactive.sifting.node import Node
from paraactive.sifting.oracle import Oracle
from paraactive.sifting.scaling import standardized
from paraactive.streams import Stream


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
    delay: int | None = None,
    updates: str = "auto",
    address: str | None = None,
    cluster: Cluster | None = None,
    seed: int = 0,
    oracle: Oracle | None = None,
    floor: float | str | None = None,
    select: float | str | None = None,
    guard: Guard | bool | None = None,
    class_weight: Mapping[Any, float] | str | None = None,
    finish: bool | str = False,
    scale: bool | str = "auto",
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
        Number of examples that all nodes together sift in one round, with the same model. Default: 4096, or an eighth
        of the examples.
    warmstart : int, optional
        Number of examples to learn before sifting begins. Default: a fifth of the examples, at least 1000 and at most
        4096. So up to 1000 examples are all learned. With an oracle: 4096, or a fifth of the examples.
    nodes : int, optional
        Number of nodes that sift in parallel. Default: one for each core of this machine.
    engine : {"threads", "processes", "ray", "simulated"}, optional
        Where the nodes run: as threads of this process, as processes of this machine, as Ray actors on a cluster, or
        one after the other with the paper's clock. Default: threads for learners that release the GIL, such as ours,
        otherwise processes.

        In the synchronous schedule the model is the same on all engines.
    schedule : {"synchronous", "asynchronous", "sequential"}, default="synchronous"
        Order of sifting and learning: in rounds (the paper's Algorithm 1), without rounds, so that nodes do not wait
        for each other (Algorithm 2), or one example at a time.
    delay : int, optional
        Schedule "asynchronous": largest number of examples that the cluster may see between the model that sifted an
        example and the place of this example in the log. Default: two batches.
    updates : {"auto", "replicated", "central"}, default="auto"
        Engines "processes" and "ray": how nodes get new models: every node learns ("replicated"), the driver learns and
        sends the model ("central"), or whichever sends fewer bytes ("auto").
    address : str, optional
        Address of a Ray cluster, such as "10.0.0.1:6379". Default: start a cluster on this machine.
    cluster : Cluster, optional
        Engine "simulated": slow nodes, latency and given costs.
    seed : int, default=0
        Seed of the coins.
    oracle : Oracle, optional
        Who is asked for the labels of selected examples, where labels cost money. The rule must not need labels; the
        default is then `Margin()`.
    floor : float or {"auto", "none"}, optional
        Lower bound on the sampling probability p, so that no weight is larger than 1/floor. "auto": 1/sqrt(n), where n
        is the number of examples seen. Default: "auto", or "none" if `rule` is an object and not a name.
    select : float, int or str, optional
        Number of examples to select: a rate below 1, a total, or a limit that grows, such as "50*n**0.5". p is scaled
        to it. "auto" is a limit that keeps the time to learn nearly linear: the warmstart and
        sqrt(750000 n / (features + 50)) entries after n examples, for an SVM only. "none": no limit. Default: "auto",
        or "none" if `rule` is an object and not a name.
    guard : Guard or bool, optional
        Limits the effect of wrong labels and outliers, which are selected more often than other examples: True, or your
        own `Guard`. `run.learner` is then a `learners.guarded.Guarded` around the learner given; its `report()` names
        the examples that were left out.
    class_weight : dict or "balanced", optional
        Weight of the examples of each class, by class name, such as {"spam": 5}. "balanced" needs a stream that knows
        how often each class occurs. Examples of heavier classes are selected more often, if the rule sees labels.
    finish : bool or "auto", default=False
        Whether to end the run with a finishing step: the SVM is optimized once more, on all examples that it learned.
        It lowers the error on most data and takes less time than the run. "auto": if it is cheap compared with the run,
        which it is if few examples were learned (18 000 of 10 features, 4900 of 784) or many more were seen. A run that
        is extended continues from the model before this step.
    scale : bool or "auto", default="auto"
        Whether to standardize the features: subtract the mean of each column and divide by its standard deviation, both
        computed over the warmstart and fixed from then on. "auto" standardizes the columns of tables (Parquet, CSV)
        that do not look like pixels, and not images, sparse rows and arrays. `run.learner` is then a `Standardized`
        around the learner given, and takes features as they are in the data.
    test : tuple of (x, y), path, Examples or bool, optional
        Labeled test data, on which mistakes are counted during the run. True: the stream's own test set.
    out : path, optional
        Run file to write. The run can be resumed, replayed and reported from it.
    overwrite : bool, default=False
        Whether to replace an existing run file.
    durability : {"process", "power"}, default="process"
        Which crash the last commit to the run file survives: the program is killed ("process"), or the machine loses
        power ("power", which waits for the disk at each commit). In both cases the file stays whole.

        There are at most two commits a second, or one for each tile in the asynchronous schedule. Questions to an
        oracle and its answers always survive a loss of power.
    snapshot_seconds : float, default=60.0
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
    sampling rate 0.17, error 0.02
    """
    arguments.require_learner(learner)
    arguments.require_stream(stream)
    parts.expect_classes(learner, len(stream.classes))
    learner = standardized(learner, scale, stream)
    is_baseline = isinstance(rule, str) and rule == "uniform" and oracle is None
    is_named = rule is None or isinstance(rule, str)
    size = stream_row_size(stream, learner, examples)
    rule = arguments.find_rule("margin" if rule is None and oracle else rule, learner, size)
    arguments.check_oracle(oracle, stream, rule, schedule)
    check_finish(finish, learner)
    weights = class_weights(class_weight, stream)
    guard = checked_guard(guard)
    floor = guard.floor if floor is None else floor
    # Labels that are asked for later cannot enter p: the learner multiplies the weights then.
    learner = guard.learner(learner, weights if oracle else None)
    placement = Placement(engine or arguments.default_engine(learner, rule, schedule), updates, address, cluster)
    plan = arguments.make_plan(
        stream, examples, batch, warmstart, nodes, placement.engine, schedule, delay, labels_cost=oracle is not None
    )
    arguments.check_placement(placement, schedule, plan.nodes, resize is not None)
    sampling = find_sampling(
        floor,
        select,
        None if oracle else weights,
        is_named and oracle is None,
        rule,
        size,
        plan,
        is_svm(learner),
    )
    node = Node(learner, rule, stream, whole("seed", seed), sampling=sampling)
    test_set = find_test(test, stream)
    callbacks = Callbacks(list(observers), stop, resize, finished, snapshot_seconds)
    parts.warm_up(node, plan.examples, callbacks.observe)
    if out is not None:
        one_of("durability", durability, DURABILITIES)
        file_parts.check_untrained(learner)
        RunFile.check_creatable(out, overwrite)
    if is_baseline:
        node.rule = _baseline(node, plan, floor, size)
    spec = RunSpec.of(node, plan, schedule, placement, oracle, RecordingSpec(test_set.source, durability))
    spec = replace(spec, finish=finish)
    # The engine starts before the run file is created: a cluster that cannot be reached leaves no run file behind.
    with closing(start_engine(spec, node, callbacks)) as host, ExitStack() as stack:
        file = None if out is None else stack.enter_context(RunFile.create(out, spec, overwrite=overwrite))
        return RunLoop(Run(learner, spec), host, file, node, test_set.examples, oracle, callbacks).to_end()


def _baseline(node: Node, plan: Plan, floor: float | str | None, size: int) -> Rule:
    """The rule Uniform, at the rate that the default rule would have with the same floor."""
    usual = arguments.find_rule(arguments.default_rule(node.learner), node.learner, size)
    if floor is not None and not isinstance(floor, str):
        usual = floored(usual, floor)
    return uniform_like(usual, node.learner, node.stream, plan.warmstart, plan.examples)
