"""Arguments of train, resume and replay: checked before any work, completed, compared with the run file."""

from __future__ import annotations

import os
import pickle
import warnings
from dataclasses import replace
from typing import cast

from paraactive.basics.registry import RULES
from paraactive.basics.validation import one_of, whole
from paraactive.engines import ENGINES, UPDATES, Placement
from paraactive.errors import InputError, PassiveWarning
from paraactive.learners import LaSVM, Learner, Network, SklearnLearner
from paraactive.learners.base import capabilities_of
from paraactive.learners.standardized import innermost
from paraactive.rules import LeastMargin, Rule, SignedMargin
from paraactive.runs.sampling_defaults import is_svm, steepest
from paraactive.schedules import SCHEDULES, Plan
from paraactive.sifting.oracle import Oracle
from paraactive.streams import Stream
from paraactive.streams.base import StreamDetails

BATCH = 4096
"""Default of batch and warmstart, as in the paper. It is less for short streams."""
_LEAST_WARMSTART = 1000
"""Fewest examples to learn before sifting begins: with fewer examples sifting saves nothing."""

_MINIBATCH = 32
"""Minibatch of scikit-learn classifiers, which spend most of their time on input checks otherwise."""
_LEARNER = ("score", "update", "end_round", "save", "load", "digest")
_STREAM = ("width", "length", "classes", "regenerates", "read", "at")
_RULE = ("needs_labels", "needs_scores", "probability")


def require_learner(learner: object) -> None:
    """Check that an object is a learner.

    Parameters
    ----------
    learner : object
        What the user gives. An InputError is raised if it is not a learner.
    """
    _require("learner", learner, _LEARNER, "a learner", "give an untrained one, as LaSVM() or Network()")


def check_oracle(oracle: Oracle | None, stream: Stream, rule: Rule, schedule: str) -> None:
    """Check that an oracle, or its absence, goes with the stream, the rule and the schedule.

    Parameters
    ----------
    oracle : Oracle or None
        Who is asked for labels. An InputError names what does not fit.
    stream : Stream
        The training data.
    rule : Rule
        The rule, which must not need labels if there is an oracle.
    schedule : str
        Name of the schedule.
    """
    details = StreamDetails(stream)
    if oracle is not None and not isinstance(oracle, Oracle):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(
            f"oracle is of type {type(oracle).__name__}",
            why="it must be an Oracle",
            remedy="give Oracle(ask), where ask is a function of row numbers and rows that returns labels",
        )
    if oracle is None:
        if not details.labelled:
            raise InputError(
                "the stream has no labels",
                why="selected examples are learned with their labels",
                remedy="use 'paraactive query', or in Python give oracle=Oracle(ask)",
            )
        return
    if rule.needs_labels is True:
        raise InputError(
            f"rule {type(rule).__name__} needs the labels of all examples",
            why="the oracle is asked only for those that are selected",
            remedy="use a rule that is blind to labels: margin, iwal or uniform",
        )
    if details.passes != 1:
        raise InputError(
            f"a stream of {details.passes} passes with an oracle",
            why="a row would be paid for again in each pass",
            remedy="give passes=1",
        )
    if schedule != "synchronous":
        raise InputError(
            f"schedule {schedule!r} with an oracle",
            why="labels are asked for once in each round",
            remedy="use schedule 'synchronous', with as small a batch as you like",
        )


def as_learner(given: object) -> Learner:
    """A learner from what the user of the estimator gives.

    Parameters
    ----------
    given : object
        A learner, or a scikit-learn classifier with `partial_fit`, which is wrapped.

    Returns
    -------
    Learner
        The learner.
    """
    if hasattr(given, "get_params") and not hasattr(given, "update"):
        return SklearnLearner(given, minibatch=_MINIBATCH)
    require_learner(given)
    return cast(Learner, given)


def require_stream(stream: object) -> None:
    """Check that an object is a stream.

    Parameters
    ----------
    stream : object
        What the user gives. An InputError is raised if it is not a stream.
    """
    _require("stream", stream, _STREAM, "a stream", "give one, as Arrays(x, y) or Digits()")


def find_rule(rule: Rule | str | None, learner: Learner, width: int | None = None) -> Rule:
    """The rule that a user gives or names; the default rule of the learner if there is none.

    Parameters
    ----------
    rule : Rule, str or None
        A rule, its name in the registry, or "package.module:Class" of a rule of the user's own.
    learner : Learner
        The learner, which decides the default. If sifting does not suit it, the default is "passive", with a warning.
    width : int, optional
        Number of features, which bounds the slope of a margin rule that is not given as an object; see `steepest`.
        Default: no bound.

    Returns
    -------
    Rule
        The rule.
    """
    given = _suited_rule(learner) if rule is None else rule
    if isinstance(given, str):
        given = cast(Rule, RULES.find(given)())
        if width is not None and isinstance(given, SignedMargin | LeastMargin) and is_svm(learner):
            given = replace(given, steepest=steepest(width))
    _require("rule", given, _RULE, "a rule", "give a rule, such as paraactive.rules.Margin(eta=0.1), or its name")
    return given


def _suited_rule(learner: Learner) -> str:
    if capabilities_of(learner).sifts:
        return default_rule(learner)
    why = getattr(learner, "why_passive", f"{type(learner).__name__} declares that sifting does not suit it")
    warnings.warn(f"every example is learned: {why}", PassiveWarning, stacklevel=4)
    return "passive"


def default_rule(learner: Learner) -> str:
    """The name of the rule that suits a learner, or the learner inside its wrappers, if it sifts.

    Parameters
    ----------
    learner : Learner
        The learner, with its number of classes set.

    Returns
    -------
    str
        "gradient" for scores that are log-odds and for networks, "least" for an SVM or a linear model of scikit-learn
        with more than two classes, otherwise "signed".
    """
    learner = innermost(learner)
    if capabilities_of(learner).log_odds or isinstance(learner, Network):
        return "gradient"
    one_against_rest = isinstance(learner, LaSVM) or (isinstance(learner, SklearnLearner) and learner.one_against_rest)
    return "least" if one_against_rest and (capabilities_of(learner).classes or 2) > 2 else "signed"


def _require(name: str, given: object, needed: tuple[str, ...], what: str, remedy: str) -> None:
    if isinstance(given, type):
        raise InputError(f"{name} is the class {given.__name__}", why=f"it must be {what} itself", remedy=remedy)
    missing = [each for each in needed if not hasattr(given, each)]
    if missing:
        raise InputError(
            f"{name} is of type {type(given).__name__}", why=f"{what} has {', '.join(missing)}", remedy=remedy
        )


def make_plan(
    stream: Stream, examples: int | None, batch: int | None, warmstart: int | None, nodes: int | None,
    engine: str, schedule: str, delay: int | None, labels_cost: bool = False,
) -> Plan:  # fmt: skip
    """Complete the numbers of a run with defaults.

    Parameters
    ----------
    stream : Stream
        The training data.
    examples, batch, warmstart, nodes : int or None
        What the user gives; see `train`.
    engine, schedule : str
        Names of the engine and the schedule.
    delay : int or None
        What the user gives; see `train`.
    labels_cost : bool, default=False
        Whether labels are asked for: then the warmstart has no least number of examples.

    Returns
    -------
    Plan
        The plan.
    """
    total = count_examples(stream, examples)
    batch = whole("batch", max(1, min(BATCH, total // 8)) if batch is None else batch)
    if warmstart is None:
        once = min(total, StreamDetails(stream).first_pass or total)  # Later, the run could not measure itself.
        warmstart = min(BATCH, total // 5) if labels_cost else default_warmstart(once)
    nodes = min(_default_nodes(engine, schedule), max(batch, 1)) if nodes is None else nodes
    if delay is not None and schedule != "asynchronous":
        raise InputError(
            f"delay is given for schedule {schedule!r}",
            why="only schedule 'asynchronous' has it",
            remedy="leave it out, or give schedule 'asynchronous'",
        )
    return Plan(
        total, batch, whole("warmstart", warmstart), whole("nodes", nodes),
        delay=None if delay is None else whole("delay", delay),
    )  # fmt: skip


def default_warmstart(examples: int) -> int:
    """Return how many examples are learned before sifting begins, if the user does not say so.

    Parameters
    ----------
    examples : int
        Number of examples of the run; 0 if it is not known.

    Returns
    -------
    int
        A fifth of the examples, at least 1000 and at most 4096.
    """
    return min(max(examples // 5, _LEAST_WARMSTART), BATCH)


def _default_nodes(engine: str, schedule: str) -> int:
    if schedule == "sequential" or engine == "simulated":
        return 1
    if engine == "ray":
        raise InputError(
            "nodes is not given",
            why="only you know how much of the cluster the run may use",
            remedy="say how many nodes, as nodes=8",
        )
    return count_cores()


def count_cores() -> int:
    """Number of CPU cores that this process may use.

    Returns
    -------
    int
        The number.
    """
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def default_engine(learner: Learner, rule: Rule, schedule: str) -> str:
    """The engine for a learner if the user names none.

    Parameters
    ----------
    learner : Learner
        The learner.
    rule : Rule
        The rule.
    schedule : str
        Name of the schedule.

    Returns
    -------
    str
        "threads" if the learner releases the GIL or cannot be sent to another process, otherwise "processes".
    """
    if capabilities_of(learner).releases_gil or schedule == "sequential" or not _travels(learner, rule):
        return "threads"
    return "processes"


def _travels(*parts_: object) -> bool:
    try:
        return b"__main__" not in pickle.dumps(parts_)
    except Exception:  # A class of the user's own may raise anything when it is pickled.
        return False


def count_examples(stream: Stream, examples: int | None) -> int:
    """Number of examples to read.

    Parameters
    ----------
    stream : Stream
        The training data.
    examples : int or None
        What the user gives; None for all. An InputError is raised if the stream is shorter, or never ends.

    Returns
    -------
    int
        The number.
    """
    if examples is None and stream.length is None:
        raise InputError(
            "examples is not given", why="the stream never ends", remedy="say how many to see, as examples=100_000"
        )
    if examples is None:
        return stream.length or 0
    examples = whole("examples", examples)
    if stream.length is not None and examples > stream.length:
        raise InputError(
            f"examples is {examples}",
            why=f"the stream ends after {stream.length}",
            remedy="leave it out to see all, or give the stream more passes",
        )
    return examples


def check_placement(placement: Placement, schedule: str, nodes: int, resizes: bool) -> None:
    """Check that the engine, the schedule and their options exist and go together.

    Parameters
    ----------
    placement : Placement
        Where the nodes live. An InputError names the first option that does not fit.
    schedule : str
        Name of the schedule.
    nodes : int
        Number of nodes.
    resizes : bool
        Whether the caller changes the number of nodes during the run.
    """
    engine = one_of("engine", placement.engine, ENGINES)
    one_of("schedule", schedule, SCHEDULES)
    one_of("way of updating", placement.updates, UPDATES)
    for name, given, needed, has in (
        ("address", placement.address is not None, "engine 'ray'", engine == "ray"),
        ("cluster", placement.cluster is not None, "engine 'simulated'", engine == "simulated"),
        ("resize", resizes, "schedule 'asynchronous'", schedule == "asynchronous"),
    ):
        if given and not has:
            raise InputError(f"{name} is given", why=f"only {needed} has it", remedy=f"leave it out, or give {needed}")
    if schedule == "sequential" and engine in ("processes", "ray"):
        raise InputError(
            f"schedule 'sequential' on engine {engine!r}",
            why="it learns after each selected example, so other processes would have nothing to do",
            remedy="use engine 'threads' or 'simulated'",
        )
    if schedule == "sequential" and nodes > 1:
        raise InputError(
            f"schedule 'sequential' with {nodes} nodes",
            why="it learns after each selected example, which only one node can do",
            remedy="give nodes=1, or schedule 'synchronous'",
        )
