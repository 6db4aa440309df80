"""Algorithm 2 of the paper: no rounds to wait for. Each node learns what waits, sifts one fresh tile, and goes on.

The paper's nodes broadcast to each other in an order that all agree on; here one `Sequencer` gives the order.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import replace
from typing import Protocol, TypeVar

from paraactive.data.events import Round
from paraactive.data.examples import Tile
from paraactive.schedules.base import Engine, Joined, Left, Plan, Published
from paraactive.schedules.sequencer import Sequencer
from paraactive.schedules.warmstart import warmstart
from paraactive.sifting.log import Log
from paraactive.sifting.node import Sifted

_News = TypeVar("_News", contravariant=True)


class Sifting(Protocol[_News]):
    """What Algorithm 2 needs of a node."""

    number: int
    seen: int

    def learn(self, stretch: _News, /) -> float: ...

    def sift(self, first: int, last: int, seen: int) -> Sifted: ...


def step(node: Sifting[_News], selected: Iterable[_News], fresh: Tile) -> Published:
    """One turn of a node: empty Q_S, which has priority; then sift one tile of Q_F and publish what was selected."""
    learning = sum(node.learn(stretch) for stretch in selected)
    sifted = node.sift(fresh.first, fresh.last, node.seen)
    return Published(node.number, fresh, replace(sifted, node=node.number, update_seconds=learning), node.seen)


def asynchronous(engine: Engine, log: Log, plan: Plan) -> Generator[Round]:
    """The sequencer's side: give what nodes publish its place in the log, hand it out, and hand out fresh tiles.

    A round ends when the cluster has seen another batch; it is a mark in the log, at which nobody waits.
    """
    yield from warmstart(engine, log, plan)
    # A previous process may have died after logging an entry and before applying it.
    for stretch in log.stretches_after(engine.model.place):
        engine.apply(stretch)
    sequencer = Sequencer(log, plan)
    for node in engine.begin_asynchronous():
        sequencer.join(node)
    spent, began = 0.0, engine.now()
    while not sequencer.done:
        for node, tile in sequencer.grants():
            engine.grant(node, tile)
        message = engine.receive()
        if isinstance(message, Joined):
            sequencer.join(message.node)
        elif isinstance(message, Left):
            sequencer.leave(message.node)
        else:
            stretch, ended = sequencer.accept(message, spent, engine.now() - began)
            # What ends a round is learnt after it was recorded: its time is the next round's.
            spent = (0.0 if ended else spent) + (engine.apply(stretch) if stretch else 0.0)
            if ended:
                yield ended
                began = engine.now()
