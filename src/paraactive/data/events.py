"""What is said while a run goes on. Every engine says the same; progress bar, run file and report are observers.

Times are measured on the node that did the work; clocks of two machines are never compared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Compiling:
    """Before a run: its loops are compiled, which takes up to half a minute. The next process finds them on disk."""

    learner: str
    """Whose loops."""


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run begins, or goes on."""

    examples: int
    """Examples it is to see."""
    seen: int
    """Examples it has seen already: 0, or more when it resumes."""
    sifted: int = 0
    """Those of them for which a coin was tossed."""
    selected: int = 0
    """Those of them that passed."""


@dataclass(frozen=True, slots=True)
class NodeTimes:
    """What one node did during a round, in seconds; all of it durations, measured by who did it."""

    node: int
    fetch: float
    sift: float
    update: float
    """Learning: on its own replica, or while it waited for the model that it shares with others."""
    transfer: float
    """Work on its way to the node, and what it selected on its way back."""
    wait: float
    """The rest of the round: for slower nodes, or for work. In an asynchronous run transfer is part of it."""


NODE_TIMES = ("fetch", "sift", "update", "transfer", "wait")
"""The kinds of them."""


@dataclass(frozen=True, slots=True)
class Round:
    """A round has ended: its entries are in the log and in the model. Round 0 is the warmstart."""

    number: int
    seen: int
    """Examples seen by the cluster up to the end of this round."""
    version: int
    """Log entries up to the end of this round."""
    selected: int
    """Entries of this round."""
    fetch_seconds: float
    """Making or reading the fresh examples, summed over the nodes."""
    sift_seconds: float
    """Scoring and tossing, summed over the nodes."""
    update_seconds: float
    """Learning on one replica: the entries of this round, or of an earlier one in a pipelined run."""
    elapsed: dict[int, float] = field(default_factory=dict[int, float])
    """For several k: the seconds that k nodes side by side take for this round. The warmstart is an update alone."""
    scored: int = 0
    """Examples that got an exact score; the learner's proxy ruled out the others, or the rule needs no scores."""
    lowered: int = 0
    """Selected examples whose p the proxy made smaller, as it was off by more than its guard."""
    nodes: tuple[NodeTimes, ...] = ()
    """Who did what meanwhile."""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The model was tried on the test examples."""

    seen: int
    version: int
    mistakes: int
    test_examples: int
    seconds: float
    vectors: int | None = None
    """That the model has, if it is made of vectors."""
    loss: float | None = None
    """Mean logistic loss on the test examples, of a model whose scores are log-odds."""


@dataclass(frozen=True, slots=True)
class SnapshotTaken:
    """The whole model is in the run file."""

    seen: int
    version: int
    rounds: int
    """With the version, its place in the log."""
    digest: str


@dataclass(frozen=True, slots=True)
class NodeJoined:
    """A node takes part from here on, with the model of this version."""

    node: int
    version: int


@dataclass(frozen=True, slots=True)
class NodeLost:
    """A node is gone. What it was sifting is sifted by another."""

    node: int
    why: str


@dataclass(frozen=True, slots=True)
class NodeSilent:
    """A node owes an answer for too long. Others sift its portion; it joins again as soon as it says something."""

    node: int
    seconds: float
    """How long it was waited for."""


@dataclass(frozen=True, slots=True)
class ReplicaRebuilt:
    """A replica differed from the others, and was given the model anew."""

    node: int
    version: int
    """Where the difference was found."""


@dataclass(frozen=True, slots=True)
class RunEnded:
    """All examples have been seen, and everybody has learnt what there is to learn."""

    seen: int
    version: int
    digest: str
    replicas: dict[int, str] = field(default_factory=dict[int, str])
    """The digest of each replica."""
    updates: tuple[str, str] = "", ""
    """Who learnt, and why it was done so."""
    wall_seconds: float = 0.0
    """Real time of the schedule, without evaluating."""


Event: TypeAlias = (
    Compiling
    | RunStarted
    | Round
    | Evaluated
    | SnapshotTaken
    | NodeJoined
    | NodeLost
    | NodeSilent
    | ReplicaRebuilt
    | RunEnded
)
Observer: TypeAlias = Callable[[Event], None]
