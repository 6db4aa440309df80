"""Events that a run reports. Every engine reports the same events; progress bar, run file and report observe them.

Times are measured on the node that did the work. Clocks of two machines are never compared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Compiling:
    """The loops of a learner are being compiled before the run, which takes up to half a minute on the first use.

    Parameters
    ----------
    learner : str
        Class name of the learner.
    """

    learner: str


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run has started or resumed.

    Parameters
    ----------
    examples : int
        Number of examples that the run will see in all.
    seen : int
        Number of examples seen before; more than 0 if the run is resumed.
    sifted : int, default=0
        How many of the seen examples were sifted.
    selected : int, default=0
        How many of the sifted examples were selected.
    """

    examples: int
    seen: int
    sifted: int = 0
    selected: int = 0


@dataclass(frozen=True, slots=True)
class NodeTimes:
    """Time that one node spent in a round, by activity, in seconds.

    Parameters
    ----------
    node : int
        Number of the node.
    fetch : float
        Reading or generating examples.
    sift : float
        Scoring and selecting.
    update : float
        Learning on the node's own replica, or waiting for the shared model to learn.
    transfer : float
        Sending work to the node and the selected examples back.
    wait : float
        The rest of the round: waiting for slower nodes or for work. In an asynchronous run it includes the transfer.
    """

    node: int
    fetch: float
    sift: float
    update: float
    transfer: float
    wait: float


# The activities of `NodeTimes`.
NODE_TIMES = ("fetch", "sift", "update", "transfer", "wait")


@dataclass(frozen=True, slots=True)
class Round:
    """A round has ended: its entries are in the log and the model has learned them. Round 0 is the warmstart.

    Parameters
    ----------
    number : int
        Number of the round.
    seen : int
        Number of examples that the cluster has seen by the end of this round.
    version : int
        Number of log entries by the end of this round.
    selected : int
        Number of entries of this round.
    fetch_seconds : float
        Time to read or generate the examples, summed over the nodes.
    sift_seconds : float
        Time to score and select, summed over the nodes.
    update_seconds : float
        Time of one replica to learn during this round.
    elapsed : dict of int to float, optional
        For several numbers of nodes k, the seconds that k parallel nodes take for this round. The warmstart is an
        update only.
    scored : int, default=0
        Number of examples with an exact score. The learner's proxy ruled out the others, or the rule needs no scores.
    lowered : int, default=0
        Number of selected examples whose p the proxy lowered, because its error exceeded its bound.
    nodes : tuple of NodeTimes, default=()
        Time that each node spent, by activity.
    """

    number: int
    seen: int
    version: int
    selected: int
    fetch_seconds: float
    sift_seconds: float
    update_seconds: float
    elapsed: dict[int, float] = field(default_factory=dict[int, float])
    scored: int = 0
    lowered: int = 0
    nodes: tuple[NodeTimes, ...] = ()


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The model was evaluated on the test examples.

    Parameters
    ----------
    seen : int
        Number of examples that the cluster has seen.
    version : int
        Number of log entries that the model has learned.
    mistakes : int
        Number of misclassified test examples.
    test_examples : int
        Number of test examples.
    seconds : float
        Time of the evaluation.
    vectors : int, optional
        Number of support vectors, if the model has any.
    loss : float, optional
        Mean logistic loss on the test examples, if the scores are log-odds.
    """

    seen: int
    version: int
    mistakes: int
    test_examples: int
    seconds: float
    vectors: int | None = None
    loss: float | None = None


@dataclass(frozen=True, slots=True)
class SnapshotTaken:
    """The whole model was written to the run file.

    Parameters
    ----------
    seen : int
        Number of examples that the cluster has seen.
    version : int
        Number of log entries that the model has learned.
    rounds : int
        Number of rounds that the model has ended. With the version, it is the model's place in the log.
    digest : str
        Digest of the model.
    """

    seen: int
    version: int
    rounds: int
    digest: str


@dataclass(frozen=True, slots=True)
class NodeJoined:
    """A node has joined the run.

    Parameters
    ----------
    node : int
        Number of the node.
    version : int
        Number of log entries that its model has learned.
    """

    node: int
    version: int


@dataclass(frozen=True, slots=True)
class NodeLost:
    """A node is gone. Another node sifts its portion.

    Parameters
    ----------
    node : int
        Number of the node.
    why : str
        Why it is considered gone.
    """

    node: int
    why: str


@dataclass(frozen=True, slots=True)
class NodeSilent:
    """A node has not answered for too long. Others sift its portion; the node joins again when it answers.

    Parameters
    ----------
    node : int
        Number of the node.
    seconds : float
        Time without an answer.
    """

    node: int
    seconds: float


@dataclass(frozen=True, slots=True)
class ReplicaRebuilt:
    """A replica differed from the others and received the model again.

    Parameters
    ----------
    node : int
        Number of the node.
    version : int
        Number of log entries at which the difference was found.
    """

    node: int
    version: int


@dataclass(frozen=True, slots=True)
class RunEnded:
    """All examples have been seen, and all replicas have learned the whole log.

    Parameters
    ----------
    seen : int
        Number of examples that the cluster has seen.
    version : int
        Number of log entries.
    digest : str
        Digest of the model.
    replicas : dict of int to str, optional
        Digest of the replica of each node.
    updates : tuple of two str, default=("", "")
        Which nodes learned ("replicated" or "central"), and why.
    wall_seconds : float, default=0.0
        Wall time of the schedule without evaluations, in seconds.
    kept : str, default=""
        "warmstart" if the model after the warmstart was kept, because the latest model was significantly worse.
    """

    seen: int
    version: int
    digest: str
    replicas: dict[int, str] = field(default_factory=dict[int, str])
    updates: tuple[str, str] = "", ""
    wall_seconds: float = 0.0
    kept: str = ""


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
