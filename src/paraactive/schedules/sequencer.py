"""The sequencer of the asynchronous schedule: who sifts what, and what comes where in the log."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from paraactive.data.events import Round
from paraactive.data.examples import Stretch, Tile
from paraactive.schedules.base import Plan, Published
from paraactive.schedules.synchronous import times_of
from paraactive.sifting.log import Log
from paraactive.sifting.node import Sifted

_TILES_HELD = 2
"""Tiles in the hands of one node: one that it sifts, and one so that it need not wait for the next."""


@dataclass
class _Known:
    """What the sequencer knows of a node."""

    seen: int
    """How far its model was when it last sifted."""
    tile: int
    """Size of the tiles that it gets."""
    held: set[Tile] = field(default_factory=set[Tile])


class Sequencer:
    """Hands out tiles, and accepts each position of the stream once, whoever sifted it and however often it comes.

    It knows no time. A node that is slow, gone or cut off holds back nobody: what it held is given to another when
    there is nothing else left, and the first to publish it wins. What is in the hands of nodes is bounded, so nobody's
    queue grows: who does not publish gets no more.
    """

    def __init__(self, log: Log, plan: Plan) -> None:
        self._log, self._plan = log, plan
        self._nodes: dict[int, _Known] = {}
        self._hungry: deque[int] = deque()
        """Nodes that may take a tile."""
        self._open: set[Tile] = set()
        """Disjoint tiles that were cut from the stream and not yet accepted."""
        self._returned: deque[Tile] = deque()
        """Open tiles that wait for a node; some may have been accepted meanwhile."""
        self._missed: deque[Tile] = deque()
        """At the end: open tiles that others hold."""
        self._frontier = min(plan.warmstart, plan.examples)
        self._fill_gaps()
        self._sifted: list[Sifted] = []
        """Of this round."""
        self._round_end = self._next_round_end()

    def _fill_gaps(self) -> None:
        """Of a run that was stopped: what lies open between the tiles that were accepted."""
        for tile in self._log.accepted():
            self._give_back(Tile(self._frontier, tile.first))
            self._frontier = tile.last

    def _next_round_end(self) -> int:
        batch, warmstart = self._plan.batch, self._plan.warmstart
        sifted = max(self._log.seen - warmstart, 0)
        return min(warmstart + (sifted // batch + 1) * batch, self._plan.examples)

    # Who is there ------------------------------------------------------------------------------------------------

    def join(self, node: int) -> None:
        """A node is ready, with a model that has learnt everything accepted."""
        self.leave(node)
        self._nodes[node] = _Known(self._log.seen, self._plan.tile)
        self._hungry.extend([node] * _TILES_HELD)

    def leave(self, node: int) -> None:
        """A node is gone: others sift what it held."""
        known = self._nodes.pop(node, None)
        if known:
            self._hungry = deque(other for other in self._hungry if other != node)
            self._returned.extend(sorted(known.held))

    # Handing out -------------------------------------------------------------------------------------------------

    def grants(self) -> Iterator[tuple[int, Tile]]:
        """Tiles to hand out now. All that was accepted must reach a node before a tile does."""
        while self._hungry:
            node = self._hungry.popleft()
            known = self._nodes[node]
            if len(known.held) >= _TILES_HELD or (known.held and self._is_behind(known)):
                continue
            tile = self._next_tile(known)
            if tile:
                known.held.add(tile)
                self._open.add(tile)
                yield node, tile

    def _is_behind(self, known: _Known) -> bool:
        """Its model was too old the last time: one tile at a time, so that it learns more between them."""
        return self._log.seen - known.seen > self._plan.longest_delay

    def _next_tile(self, known: _Known) -> Tile | None:
        while self._returned:
            tile = self._returned.popleft()
            if tile in self._open and tile not in known.held:
                return self._cut(tile, known.tile)
        if self._frontier < self._plan.examples:
            tile = Tile(self._frontier, min(self._frontier + known.tile, self._plan.examples))
            self._frontier = tile.last
            return tile
        return None if known.held else self._next_missed()

    def _next_missed(self) -> Tile | None:
        """Nothing is left but what others hold: somebody else may be faster."""
        while self._missed and self._missed[0] not in self._open:
            self._missed.popleft()
        if not self._missed:
            self._missed.extend(sorted(self._open))
        self._missed.rotate(-1)
        return self._missed[-1] if self._missed else None

    def _cut(self, tile: Tile, size: int) -> Tile:
        """No more of the tile than this; the rest waits for the next."""
        if tile.last - tile.first <= size:
            return tile
        self._open.discard(tile)
        self._give_back(Tile(tile.first + size, tile.last))
        return Tile(tile.first, tile.first + size)

    def _give_back(self, tile: Tile) -> None:
        if tile.first < tile.last:
            self._open.add(tile)
            self._returned.appendleft(tile)

    # Taking in ---------------------------------------------------------------------------------------------------

    @property
    def done(self) -> bool:
        """True if every position of the plan was accepted."""
        return self._log.seen >= self._plan.examples

    def accept(self, published: Published, update: float, elapsed: float) -> tuple[Stretch | None, Round | None]:
        """Give it its place: what replicas are to learn, and the round that ends with it. Nothing if it came before,
        or too late: then it is sifted again, with a younger model.
        """
        tile, known = published.tile, self._nodes.get(published.node)
        if known:
            known.seen = max(known.seen, published.seen)
            known.held.discard(tile)
            self._hungry.extend([published.node] * (_TILES_HELD - len(known.held)))
        if tile not in self._open:
            return None, None
        age, bound = self._log.seen - published.seen, self._plan.longest_delay
        if age > bound:
            if known:
                known.tile = max(1, known.tile // 2)  # It is slow: less at a time makes its news younger.
            self._returned.append(tile)
            return None, None
        if known and 4 * age < bound:
            known.tile = min(2 * known.tile, self._plan.tile)  # It was slow for a while only.
        return self._place(published, update, elapsed)

    def _place(self, published: Published, update: float, elapsed: float) -> tuple[Stretch, Round | None]:
        tile, sifted, log = published.tile, published.sifted, self._log
        self._open.discard(tile)
        self._sifted.append(sifted)
        rounds, seen = log.rounds, log.seen + tile.last - tile.first
        ended = self._end_round(seen, log.version + len(sifted.selected), update, elapsed)
        entries = log.accept(tile, sifted.selected, ended)
        if ended:
            self._round_end = self._next_round_end()
        return Stretch(entries, rounds, seen, ends_round=ended is not None), ended

    def _end_round(self, seen: int, version: int, update: float, elapsed: float) -> Round | None:
        if seen < self._round_end:
            return None
        ended = Round(
            number=self._log.rounds,
            seen=seen,
            version=version,
            selected=version - self._log.round_version,
            fetch_seconds=sum(part.fetch_seconds for part in self._sifted),
            sift_seconds=sum(part.sift_seconds for part in self._sifted),
            update_seconds=update,
            elapsed={self._plan.nodes: elapsed},
            scored=sum(part.scored for part in self._sifted),
            lowered=sum(part.lowered for part in self._sifted),
            nodes=times_of(self._sifted, 0.0, elapsed),
        )
        self._sifted = []
        return ended
