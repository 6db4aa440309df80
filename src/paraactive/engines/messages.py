"""What the driver and a node say to each other, whatever carries it: pipes or Ray."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from paraactive.data.examples import Stretch, Tile
from paraactive.engines.shared import Model
from paraactive.schedules.base import Published


@dataclass(frozen=True, slots=True)
class News:
    """Stretches of the log to be learnt, or a whole model to be taken over."""

    items: list[Stretch | Model]
    beside: bool = False
    """True if the model before it may still be wanted, to sift with."""


@dataclass(frozen=True, slots=True)
class Fresh:
    """A tile to be sifted. Everything that is to be learnt before was said before."""

    tile: Tile
    part: int = 0
    """Which part of a round it is."""
    seen: int | None = None
    """n of the rule. None: Algorithm 2, in which a node uses what it knows, and learns first what waits."""
    same_model: bool = False
    """True to sift with the model of the tile before, though more was learnt since."""


@dataclass(frozen=True, slots=True)
class Check:
    """Tell the digest of the model, here in the order of what was said."""


@dataclass(frozen=True, slots=True)
class Stop:
    """The end."""


ToNode: TypeAlias = News | Fresh | Check | Stop


@dataclass(frozen=True, slots=True)
class Ready:
    """A node is there, with an empty model."""


@dataclass(frozen=True, slots=True)
class Done:
    """What was asked for by a `Fresh`."""

    part: int
    published: Published


@dataclass(frozen=True, slots=True)
class Digest:
    """The answer to a `Check`: answers come in the order of what was asked."""

    digest: str


@dataclass(frozen=True, slots=True)
class Failed:
    """An error of the node's own, which another node would make as well: the end of the run."""

    error: BaseException


@dataclass(frozen=True, slots=True)
class Gone:
    """Said by the transport: nothing more will come from this node."""

    why: str


FromNode: TypeAlias = Ready | Done | Digest | Failed | Gone
