"""What a user hands to train, resume and replay: checked before any work, completed, compared with the run file."""

from __future__ import annotations

import os
import pickle
from typing import Any

from paraactive.basics.validation import one_of, whole
from paraactive.engines import ENGINES, UPDATES, Cluster
from paraactive.errors import InputError
from paraactive.learners import LaSVM, Learner, Network, SklearnLearner
from paraactive.learners.base import capabilities_of
from paraactive.learners.guarded import Guarded
from paraactive.rules import Rule
from paraactive.schedules import SCHEDULES, Plan
from paraactive.sifting import parts
from paraactive.sifting.oracle import Oracle
from paraactive.streams import Stream
from paraactive.streams.base import StreamDetails

BATCH = 4096
"""Default of batch and warmstart, the paper's; less where there are not many examples to see."""

_MINIBATCH = 32
"""Of scikit-learn classifiers that are given as they are: one by one they spend their time on checks."""
_LEARNER = ("score", "update", "end_round", "save", "load", "digest")
_STREAM = ("width", "length", "classes", "regenerates", "read", "at")
_RULE = ("needs_labels", "needs_scores", "probability")


def check_learner(learner: Any) -> None:
    """An error if it is not a learner."""
    _check_part("learner", learner, _LEARNER, "a learner", "give an untrained one, as LaSVM() or Network()")


def check_oracle(oracle: Oracle | None, stream: Stream, rule: Rule, schedule: str) -> None:
    """An error if labels are wanted that nobody can tell, or that the rule would have to see before they are paid."""
    details = StreamDetails(stream)
    if oracle is not None and not isinstance(oracle, Oracle):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(
            f"oracle is of type {type(oracle).__name__}",
            why="it says who is asked, and for how many labels",
            remedy="give Oracle(ask), where ask is a function of row numbers and rows that returns labels",
        )
    if oracle is None:
        if not details.labelled:
            raise InputError(
                "the stream has no labels",
                why="what is selected is learnt with its label",
                remedy="go on with 'paraactive query', or in Python give oracle=Oracle(ask), which is asked for them",
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
            why="labels are asked for round by round, while everybody waits",
            remedy="use schedule 'synchronous', with as small a batch as you like",
        )


def as_learner(given: Any) -> Learner:
    """The learner given, or one around the scikit-learn classifier given."""
    if hasattr(given, "get_params") and not hasattr(given, "update"):
        return SklearnLearner(given, minibatch=_MINIBATCH)
    check_learner(given)
    return given


def check_stream(stream: Any) -> None:
    """An error if it is not a stream."""
    _check_part("stream", stream, _STREAM, "a stream", "give one, as Arrays(x, y) or Digits()")


def find_rule(rule: Any, learner: Learner) -> Rule:
    """The rule given, by itself or by name; if none is, the one that suits the learner."""
    rule = default_rule(learner) if rule is None else rule
    if isinstance(rule, str):
        return parts.RULES[one_of("rule", rule, [name for name in parts.RULES if name not in parts.AROUND])]()
    _check_part("rule", rule, _RULE, "a rule", "give one, as paraactive.rules.Margin(eta=0.1), or its name")
    return rule


def default_rule(learner: Any) -> str:
    """The name of the rule that suits this learner, or the one that is guarded."""
    learner = learner.learner if isinstance(learner, Guarded) else learner
    if capabilities_of(learner).log_odds or isinstance(learner, Network):
        return "gradient"
    return "least" if isinstance(learner, LaSVM) and (learner.classes or 2) > 2 else "signed"


def _check_part(name: str, given: Any, needed: tuple[str, ...], what: str, remedy: str) -> None:
    if isinstance(given, type):
        raise InputError(f"{name} is the class {given.__name__}", why=f"it must be {what} itself", remedy=remedy)
    missing = [each for each in needed if not hasattr(given, each)]
    if missing:
        raise InputError(
            f"{name} is of type {type(given).__name__}", why=f"{what} has {', '.join(missing)}", remedy=remedy
        )


def make_plan(
    stream: Stream, examples: int | None, batch: int | None, warmstart: int | None, nodes: int | None,
    engine: str, schedule: str, lag: int | None, delay: int | None,
) -> Plan:  # fmt: skip
    """How far and in what steps, with defaults that leave something to sift."""
    total = count_examples(stream, examples)
    batch = whole("batch", max(1, min(BATCH, total // 8)) if batch is None else batch)
    warmstart = min(BATCH, total // 5) if warmstart is None else warmstart
    nodes = min(_default_nodes(engine, schedule), max(batch, 1)) if nodes is None else nodes
    for name, given, of in (("lag", lag, "pipelined"), ("delay", delay, "asynchronous")):
        if given is not None and schedule != of:
            raise InputError(
                f"{name} is given for schedule {schedule!r}",
                why=f"only schedule {of!r} has it",
                remedy=f"leave it out, or give schedule {of!r}",
            )
    return Plan(
        total, batch, whole("warmstart", warmstart), whole("nodes", nodes),
        1 if lag is None else whole("lag", lag), None if delay is None else whole("delay", delay),
    )  # fmt: skip


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
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def default_engine(learner: Learner, rule: Rule, schedule: str) -> str:
    """Threads where they really run side by side; otherwise processes, if the parts can be sent to them."""
    if capabilities_of(learner).releases_gil or schedule == "sequential" or not _travels(learner, rule):
        return "threads"
    return "processes"


def _travels(*parts_: object) -> bool:
    try:
        return b"__main__" not in pickle.dumps(parts_)
    except Exception:  # Whatever a class of the user's own says to being pickled.
        return False


def count_examples(stream: Stream, examples: int | None) -> int:
    """How many examples to see: those asked for, or all."""
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


def check_setting(
    engine: str, schedule: str, nodes: int, updates: str, address: str | None, cluster: Cluster | None, resizes: bool
) -> None:
    """An error if there is no such engine or schedule, or they do not go with the rest."""
    one_of("engine", engine, ENGINES)
    one_of("schedule", schedule, SCHEDULES)
    one_of("way of updating", updates, UPDATES)
    for name, given, needed, has in (
        ("address", address is not None, "engine 'ray'", engine == "ray"),
        ("cluster", cluster is not None, "engine 'simulated'", engine == "simulated"),
        ("resize", resizes, "schedule 'asynchronous'", schedule == "asynchronous"),
    ):
        if given and not has:
            raise InputError(f"{name} is given", why=f"only {needed} has it", remedy=f"leave it out, or give {needed}")
    if schedule == "sequential" and engine in ("processes", "ray"):
        raise InputError(
            f"schedule 'sequential' on engine {engine!r}",
            why="it learns after each selected example, so there is nothing to do elsewhere",
            remedy="use engine 'threads' or 'simulated'",
        )
    if schedule == "sequential" and nodes > 1:
        raise InputError(
            f"schedule 'sequential' with {nodes} nodes",
            why="it updates after each selected example, which only one node can do",
            remedy="give nodes=1, or schedule 'synchronous'",
        )


def check_untrained(learner: Learner) -> None:
    """The log of a run file begins with nothing learnt, so its learner must too."""
    description = parts.describe_learner(learner)
    known = description["kind"] in parts.LEARNERS
    if capabilities_of(learner).steps or (known and parts.build_learner(description).digest() != learner.digest()):
        raise InputError(
            "the learner has been trained before",
            why="a run file rebuilds the model from its log, which begins with this run",
            remedy="give a new learner, or resume the run file that it came from",
        )


def the_learner(given: Learner | None, known: parts.Description, classes: int) -> Learner:
    """The learner of a run file: made from it, or handed over and the same."""
    if given is None:
        return parts.build_learner(known)
    check_learner(given)
    if capabilities_of(given).classes is None:
        parts.expect_classes(given, classes)
    parts.check_same("learner", parts.describe_learner(given), known)
    check_untrained(given)
    return given


def the_rule(given: Rule | None, known: parts.Description) -> Rule:
    """The rule of a run file: made from it, or handed over and the same."""
    if given is None:
        return parts.build_rule(known)
    parts.check_same("rule", parts.describe_rule(given), known)
    return given


def the_stream(given: Stream | None, known: parts.Description) -> Stream:
    """The stream of a run file: opened again, or handed over and the same but for its end."""
    if given is None:
        return parts.build_stream(known)
    check_stream(given)
    parts.check_same_stream(given, known)
    return given
