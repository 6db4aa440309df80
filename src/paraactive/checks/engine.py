"""Conformance checks of engines: every promise of `paraactive.schedules.Engine`. Each function checks one property.

Each run is a schedule on the engine with a log in memory, as in `train`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from paraactive.basics.coins import coins
from paraactive.basics.validation import one_of
from paraactive.checks.properties import attempt, name_of, require, same_bits
from paraactive.data.examples import Doubles, Ints, Place, Selected
from paraactive.engines import ENGINES, EngineFactory, Placement
from paraactive.errors import InputError
from paraactive.learners import LaSVM, Learner, Network
from paraactive.learners.rows import learn, scores
from paraactive.rules import Gradient, Rule, SignedMargin, Uniform
from paraactive.schedules import SCHEDULES, Plan
from paraactive.sifting.log import MemoryLog
from paraactive.sifting.node import Node, learn_stretch
from paraactive.streams import Arrays

EngineLike: TypeAlias = str | EngineFactory
EngineCheck: TypeAlias = Callable[[EngineLike], None]

_SEED, _RATE = 4, 0.3
_EXAMPLES, _WARMSTART, _BATCH = 900, 150, 200
_NODES = (1, 2, 3)
_REFUSAL = "this learner does not score"
_SAME_LOG = "the model must not depend on the engine or the number of nodes"


@dataclass(frozen=True)
class _Trained:
    """The log of a run, the learner of the driver, and the digests of the replicas."""

    log: MemoryLog
    learner: Learner
    replicas: dict[int, str]

    @property
    def entries(self) -> Selected:
        return Selected.concatenate([entries.selected for entries in self.log.entries])


@dataclass(frozen=True)
class _Case:
    """The engine to check, and the runs that were made on it. Several properties use the same run."""

    engine: EngineLike
    address: str | None
    known: dict[tuple[str, str, int], _Trained] = field(default_factory=dict[tuple[str, str, int], _Trained])

    def run(self, schedule: str, nodes: int, parts: str = "svm") -> _Trained:
        """Make a run on this engine, or return the one that was made before."""
        key = schedule, parts, nodes
        if key not in self.known:
            self.known[key] = _run(self.engine, self.address, *key)
        return self.known[key]


def check_engine(engine: EngineLike, *, address: str | None = None) -> None:
    """Check that an engine keeps the contract of `paraactive.schedules.Engine`.

    The check makes small runs with 1, 2 and 3 nodes, in all schedules for several nodes.

    Parameters
    ----------
    engine : str or callable
        Name of one of our engines, or an `EngineFactory`, which starts one.
    address : str, optional
        Address of a cluster, which the engine receives in `Placement.address`. Default: none.

    Raises
    ------
    CheckError
        If a property does not hold. The error names the first one.

    Examples
    --------
    >>> from paraactive.engines import Simulated
    >>> check_engine("simulated")
    >>> class Reversed(Simulated):
    ...     def sift(self, first, last, seen):
    ...         sifted, largest = super().sift(first, last, seen)
    ...         return sifted[::-1], largest
    >>> check_engine(lambda node, plan, placement, observe: Reversed(node, plan.nodes))
    Traceback (most recent call last):
    ...
    paraactive.errors.CheckError: 'synchronous runs are those of the simulated engine' does not hold, with 2 nodes the
    log differs in length: the model must not depend on the engine or the number of nodes; sift with the current model,
    and return the selected examples in the order of the stream.
    """
    for _, check in engine_checks(address=address):
        check(engine)


def engine_checks(*, address: str | None = None) -> list[tuple[str, EngineCheck]]:
    """List the checks of `check_engine`, to parametrize a test.

    The checks of one list share their runs, so call this function once.

    Parameters
    ----------
    address : str, optional
        Address of a cluster, which the engine receives. Default: none.

    Returns
    -------
    list of (str, callable)
        Name of each property, and a function of the engine that raises `CheckError` if the property does not hold.

    Examples
    --------
    >>> for name, check in engine_checks()[:1]:
    ...     check("threads")
    ...     print(name)
    synchronous runs are those of the simulated engine
    """
    cases: dict[EngineLike, _Case] = {}

    def bound(check: Callable[[_Case], None]) -> EngineCheck:
        return lambda engine: attempt(check, cases.setdefault(engine, _Case(engine, address)))

    return [(name_of(check), bound(check)) for check in _CHECKS]


# The properties --------------------------------------------------------------------------------------------------


def synchronous_runs_are_those_of_the_simulated_engine(case: _Case) -> None:
    """With 1, 2 and 3 nodes, the log and the model have the bits of a run on one simulated node."""
    for nodes in _NODES:
        _require_simulated(case, "synchronous", nodes)


def all_replicas_are_equal_in_the_end(case: _Case) -> None:
    """`finish` returns a digest for every replica, and all are equal to the digest of the driver, in every schedule."""
    runs = [case.run("synchronous", 3), case.run("asynchronous", 3, "network")]
    for run in runs:
        require(
            bool(run.replicas) and set(run.replicas.values()) == {run.learner.digest()},
            f"the driver has {run.learner.digest()[:8]}, the replicas {[each[:8] for each in run.replicas.values()]}",
            why="each replica sifts with its own model",
            remedy="let every replica learn every stretch once, in order, and let finish wait for all replicas",
        )


def without_rounds_every_example_is_sifted_once(case: _Case) -> None:
    """An asynchronous run sees each position once, and loses no selected example."""
    run = case.run("asynchronous", 2, "uniform")
    found, expected = np.sort(run.entries.examples.index), _expected_positions()
    require(
        run.log.seen == _EXAMPLES and np.array_equal(found, expected),
        f"the run saw {run.log.seen} of {_EXAMPLES} examples and logged {len(found)} of {len(expected)} entries",
        why="p is the exact probability only if each coin is tossed once",
        remedy="publish the whole result of each tile that a node received",
    )


def the_log_rebuilds_the_model(case: _Case) -> None:
    """A new learner that learns the log of a run has the digest of the model of the run."""
    for run in (
        case.run("synchronous", 3),
        case.run("asynchronous", 3, "network"),
        case.run("asynchronous", 2, "uniform"),
    ):
        learner = type(run.learner)(**run.learner.describe())
        for stretch in run.log.stretches_after(Place(0, 0)):
            learn_stretch(learner, stretch)
        require(
            learner.digest() == run.learner.digest(),
            "the log rebuilds another model",
            why="a run resumes, and a node joins, by replaying the log",
            remedy="let the node of the driver learn every applied stretch, and nothing else",
        )


def entries_say_which_model_sifted_them(case: _Case) -> None:
    """The p of each entry comes from the model that has learned `version` entries."""
    entries = case.run("asynchronous", 3, "network").entries
    learner, rule = _network(), Gradient()
    examples, applied = entries.examples, 0
    for version in np.unique(entries.version[_WARMSTART:]).tolist():
        learn(learner, entries.take(slice(applied, version)))
        applied = version
        rows = np.flatnonzero(entries.version == version)
        rows = rows[rows >= _WARMSTART]
        p = rule.probability(scores(learner, examples.x[rows]), entries.seen[rows], examples.y[rows])
        require(
            same_bits(p, entries.p[rows]),
            f"entries of version {version} have another p than the model of that version gives",
            why="delays are derived from versions, and p must be exact",
            remedy="call Node.sift on the replica, and do not change its result",
        )


def an_error_on_a_node_reaches_the_caller(case: _Case) -> None:
    """An exception of a learner on a node is raised unchanged where the run was started."""
    for schedule in ("synchronous", "asynchronous"):
        raised: Exception | None = None
        try:
            _run(case.engine, case.address, schedule, "refusing", 2)
        except Exception as error:
            raised = error
        require(
            isinstance(raised, InputError) and raised.fact == _REFUSAL,
            f"a learner that refuses to score, {schedule}, gave {raised!r}",
            why="a user must see the error of a part, and not wait for a lost node",
            remedy="send the error of a node to the driver, and raise it in sift and in receive",
        )


# Runs ------------------------------------------------------------------------------------------------------------


def _run(engine: EngineLike, address: str | None, schedule: str, parts: str, nodes: int) -> _Trained:
    learner, rule, stream = _parts(parts)
    # A learner that cannot score is to fail on a node, and not on the driver, which scores a part of the warmstart.
    warmstart = 0 if parts == "refusing" else _WARMSTART
    plan, log = Plan(_EXAMPLES, _BATCH, warmstart, nodes), MemoryLog(keep=True)
    node = Node(learner, rule, stream, _SEED)
    name = engine if isinstance(engine, str) else "own"
    start = ENGINES[one_of("engine", engine, ENGINES)] if isinstance(engine, str) else engine
    with closing(start(node, plan, Placement(name, address=address), lambda _: None)) as host:
        with closing(SCHEDULES[schedule](host, log, plan)) as rounds:
            for _ in rounds:
                pass
        replicas = host.finish()
        return _Trained(log, node.learner, replicas)


@cache
def _simulated(schedule: str) -> _Trained:
    return _run("simulated", None, schedule, "svm", 1)


def _parts(kind: str) -> tuple[Learner, Rule, Arrays]:
    """Return a quick learner, rule and stream that reveal mistakes of an engine."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, _EXAMPLES)
    stream = Arrays(rng.normal(size=(_EXAMPLES, 2)) + y[:, None], y)
    if kind == "svm":
        return (
            LaSVM(gamma=1.0, gap=0.1),
            SignedMargin(0.1),
            stream,
        )  # It learns in end_round, too.
    # The network has not: its model depends on the version only.
    learner = _Refusing(hidden=8) if kind == "refusing" else _network()
    return learner, Uniform(_RATE) if kind == "uniform" else Gradient(), stream


def _network() -> Network:
    return Network(hidden=8)


class _Refusing(Network):
    """A network that learns and cannot score."""

    def score(self, x: ArrayLike) -> Doubles:  # noqa: ARG002
        raise InputError(_REFUSAL, why="this is a check of the engine", remedy="do nothing")


def _require_simulated(case: _Case, schedule: str, nodes: int) -> None:
    expected, found = _simulated(schedule), case.run(schedule, nodes)
    different = _different(expected.entries, found.entries)
    remedy = "sift with the current model, and return the selected examples in the order of the stream"
    require(not different, f"with {nodes} nodes the log differs in {different}", why=_SAME_LOG, remedy=remedy)
    require(
        found.learner.digest() == expected.learner.digest(),
        f"with {nodes} nodes the log is the same and the model is not",
        why=_SAME_LOG,
        remedy="let the node of the driver learn every stretch once, with the end of its round",
    )


def _different(expected: Selected, found: Selected) -> str:
    """Return the first column in which two logs differ. The nodes that sifted may differ."""
    if len(expected) != len(found):
        return "length"
    pairs = {
        "index": (expected.examples.index, found.examples.index),
        "p": (expected.p, found.p),
        "seen": (expected.seen, found.seen),
        "version": (expected.version, found.version),
        "y": (expected.examples.y, found.examples.y),
        "x": (expected.examples.x, found.examples.x),
    }
    return next((name for name, pair in pairs.items() if not same_bits(*pair)), "")


def _expected_positions() -> Ints:
    """Return the positions that a uniform rule selects, which do not depend on the nodes."""
    index = np.arange(_EXAMPLES)
    return index[(index < _WARMSTART) | (coins(_SEED, index) < _RATE)]


_CHECKS: tuple[Callable[[_Case], None], ...] = (
    synchronous_runs_are_those_of_the_simulated_engine,
    all_replicas_are_equal_in_the_end,
    without_rounds_every_example_is_sifted_once,
    the_log_rebuilds_the_model,
    entries_say_which_model_sifted_them,
    an_error_on_a_node_reaches_the_caller,
)
