"""The messages between the driver and a node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from paraactive.data.examples import Stretch, Tile
from paraactive.engines.replica import ReplicaState
from paraactive.schedules.engine import Published


@dataclass(frozen=True, slots=True)
class Learn:
    """Learn these stretches of the log.

    Parameters
    ----------
    stretches : list of Stretch
        Consecutive stretches.
    """

    stretches: list[Stretch]


@dataclass(frozen=True, slots=True)
class Load:
    """Replace the model.

    Parameters
    ----------
    replica : ReplicaState
        The new model and its place in the log.
    """

    replica: ReplicaState


@dataclass(frozen=True, slots=True)
class Fresh:
    """Sift a tile, with a model that has learned everything that was sent before.

    Parameters
    ----------
    tile : Tile
        The positions.
    part : int, optional
        Number of the part of a round. The answer repeats it.
    seen : int, optional
        Number n of examples that the cluster has seen, for the rule. None: run one iteration of Algorithm 2, which
        learns first what waits, and uses the n that the replica knows.
    """

    tile: Tile
    part: int = 0
    seen: int | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """Send the digest of the model, which has learned everything that was sent before."""


@dataclass(frozen=True, slots=True)
class Stop:
    """End."""


ToNode: TypeAlias = Learn | Load | Fresh | Check | Stop


@dataclass(frozen=True, slots=True)
class Ready:
    """A node has started, with an untrained model."""


@dataclass(frozen=True, slots=True)
class Done:
    """The answer to a `Fresh`.

    Parameters
    ----------
    part : int
        Number of the part of a round, as in `Fresh`.
    published : Published
        The selected examples.
    """

    part: int
    published: Published


@dataclass(frozen=True, slots=True)
class Digest:
    """The answer to a `Check`. Answers come in the order of the checks.

    Parameters
    ----------
    digest : str
        Digest of the model.
    """

    digest: str


@dataclass(frozen=True, slots=True)
class Failed:
    """An error on a node that would occur on every other node too. It ends the run.

    Parameters
    ----------
    error : BaseException
        The error.
    """

    error: BaseException


@dataclass(frozen=True, slots=True)
class Gone:
    """A message of the transport: nothing more will be received from this node.

    Parameters
    ----------
    why : str
        The reason.
    """

    why: str


FromNode: TypeAlias = Ready | Done | Digest | Failed | Gone
