"""Algorithm 2 of the paper, without rounds: each node learns what waits, sifts one fresh tile, and continues.

In the paper the nodes broadcast to each other in an order on which all agree. Here one `Sequencer` sets this order.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import replace
from typing import Protocol, TypeVar

from paraactive.data.events import Round
from paraactive.data.examples import Tile
from paraactive.schedules.engine import Engine, Joined, Left, Published
from paraactive.schedules.plan import Plan
from paraactive.schedules.sequencer import Sequencer
from paraactive.schedules.warmstart import warmstart
from paraactive.sifting.log import Log
from paraactive.sifting.node import Sifted

_Stretch = TypeVar("_Stretch", contravariant=True)


class Sifting(Protocol[_Stretch]):
    """The part of a node that Algorithm 2 uses."""

    number: int
    seen: int

    def learn(self, stretch: _Stretch, /) -> float:
        """See `Node.learn`."""
        ...

    def sift(self, first: int, last: int, seen: int) -> Sifted:
        """See `Node.sift`."""
        ...


def step(node: Sifting[_Stretch], selected: Iterable[_Stretch], fresh: Tile) -> Published:
    """Run one iteration of a node: empty the queue Q_S, which has priority, then sift one tile of Q_F.

    Parameters
    ----------
    node : Sifting
        The node.
    selected : iterable of stretches
        The queue Q_S: stretches of the log to learn, in order.
    fresh : Tile
        The tile to sift.

    Returns
    -------
    Published
        The selected examples of the tile, and the count n that the rule used.
    """
    learning = sum(node.learn(stretch) for stretch in selected)
    sifted = node.sift(fresh.first, fresh.last, node.seen)
    return Published(node.number, fresh, replace(sifted, node=node.number, update_seconds=learning), node.seen)


def asynchronous(engine: Engine, log: Log, plan: Plan) -> Generator[Round]:
    """Run the sequencer: log what nodes publish, send it to all replicas, and grant fresh tiles.

    A round ends when the cluster has seen another B examples. It is a mark in the log. Nodes do not wait for it.

    Parameters
    ----------
    engine : Engine
        Hosts the nodes.
    log : Log
        The run continues at its end.
    plan : Plan
        Gives the number of examples, B, the warmstart and the bound on the delay.

    Yields
    ------
    Round
        Each round when it has ended.
    """
    yield from warmstart(engine, log, plan)
    # A previous process may have died after logging an entry and before applying it.
    for stretch in log.stretches_after(engine.model.place):
        engine.apply(stretch)
    sequencer = Sequencer(log, plan)
    for node in engine.begin_asynchronous():
        sequencer.join(node)
    update_seconds, began = 0.0, engine.now()
    while not sequencer.done:
        for node, tile in sequencer.grants():
            engine.grant(node, tile)
        message = engine.receive()
        if isinstance(message, Joined):
            sequencer.join(message.node)
        elif isinstance(message, Left):
            sequencer.leave(message.node)
        else:
            stretch, ended = sequencer.accept(message, update_seconds, engine.now() - began)
            # A stretch that ends a round is learned after the round was recorded: its time counts in the next round.
            update_seconds = (0.0 if ended else update_seconds) + (engine.apply(stretch) if stretch else 0.0)
            if ended:
                yield ended
                began = engine.now()
