"""The sequencer of the asynchronous schedule: it assigns tiles to nodes and places in the log to selected examples."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from paraactive.data.events import Round
from paraactive.data.examples import Stretch, Tile
from paraactive.schedules.engine import Published
from paraactive.schedules.plan import Plan
from paraactive.schedules.rounds import times_of
from paraactive.sifting.log import Log
from paraactive.sifting.node import Sifted

_TILES_HELD = 2
"""Tiles that one node holds: one that it sifts, and one that it starts next without waiting for the driver."""


@dataclass
class _NodeState:
    """What the sequencer knows about a node."""

    seen: int  # Examples that the cluster had seen, as the model of the node knew when it last sifted.
    tile: int  # Largest size of a tile for this node.
    held: set[Tile] = field(default_factory=set[Tile])


class Sequencer:
    """Grants tiles, and accepts each position of the stream once.

    The sequencer uses no clock. A node that is slow, gone or cut off does not delay the others: when no other tile is
    left, its tiles are granted to another node, and the first node to publish a tile wins. A node holds at most two
    tiles. A node that publishes nothing receives no further tiles.

    Parameters
    ----------
    log : Log
        Receives the selected examples. The sequencer continues at its end.
    plan : Plan
        Gives the number of examples, the size of tiles and rounds, and the bound on the delay.
    """

    def __init__(self, log: Log, plan: Plan) -> None:
        self._log, self._plan = log, plan
        self._nodes: dict[int, _NodeState] = {}
        # Nodes that may receive a tile.
        self._hungry: deque[int] = deque()
        # Disjoint tiles that were cut from the stream and not yet accepted.
        self._open: set[Tile] = set()
        # Open tiles that wait for a node. Some may have been accepted since.
        self._returned: deque[Tile] = deque()
        # At the end of the stream: open tiles that other nodes hold.
        self._missed: deque[Tile] = deque()
        self._frontier = min(plan.warmstart, plan.examples)
        self._fill_gaps()
        self._sifted: list[Sifted] = []  # Tiles of this round.
        self._round_end = self._next_round_end()

    def _fill_gaps(self) -> None:
        """In a run that was stopped: open the gaps between the tiles that were accepted."""
        for tile in self._log.accepted():
            self._give_back(Tile(self._frontier, tile.first))
            self._frontier = tile.last

    def _next_round_end(self) -> int:
        batch, warmstart = self._plan.batch, self._plan.warmstart
        sifted = max(self._log.seen - warmstart, 0)
        return min(warmstart + (sifted // batch + 1) * batch, self._plan.examples)

    # Nodes -------------------------------------------------------------------------------------------------------

    def join(self, node: int) -> None:
        """Add a node whose model has learned everything that was accepted.

        Parameters
        ----------
        node : int
            Number of the node.
        """
        self.leave(node)
        self._nodes[node] = _NodeState(self._log.seen, self._plan.tile)
        self._hungry.extend([node] * _TILES_HELD)

    def leave(self, node: int) -> None:
        """Remove a node. Other nodes sift the tiles that it held.

        Parameters
        ----------
        node : int
            Number of the node.
        """
        state = self._nodes.pop(node, None)
        if state:
            self._hungry = deque(other for other in self._hungry if other != node)
            self._returned.extend(sorted(state.held))

    # Granting ----------------------------------------------------------------------------------------------------

    def grants(self) -> Iterator[tuple[int, Tile]]:
        """Return the tiles to grant now.

        Everything that was accepted must reach a node before a tile does.

        Yields
        ------
        tuple of (int, Tile)
            Number of the node, and its tile.
        """
        while self._hungry:
            node = self._hungry.popleft()
            state = self._nodes[node]
            if len(state.held) >= _TILES_HELD or (state.held and self._is_behind(state)):
                continue
            tile = self._next_tile(state)
            if tile:
                state.held.add(tile)
                self._open.add(tile)
                yield node, tile

    def _is_behind(self, state: _NodeState) -> bool:
        """True if the model of a node was too old. The node then holds one tile at a time, and learns between tiles."""
        return self._log.seen - state.seen > self._plan.longest_delay

    def _next_tile(self, state: _NodeState) -> Tile | None:
        while self._returned:
            tile = self._returned.popleft()
            if tile in self._open and tile not in state.held:
                return self._cut(tile, state.tile)
        if self._frontier < self._plan.examples:
            tile = Tile(self._frontier, min(self._frontier + state.tile, self._plan.examples))
            self._frontier = tile.last
            return tile
        return None if state.held else self._next_missed()

    def _next_missed(self) -> Tile | None:
        """Return a tile that another node holds: the stream has ended, and this node may be faster."""
        while self._missed and self._missed[0] not in self._open:
            self._missed.popleft()
        if not self._missed:
            self._missed.extend(sorted(self._open))
        self._missed.rotate(-1)
        return self._missed[-1] if self._missed else None

    def _cut(self, tile: Tile, size: int) -> Tile:
        """Return the first `size` positions of a tile. The rest waits for the next node."""
        if tile.last - tile.first <= size:
            return tile
        self._open.discard(tile)
        self._give_back(Tile(tile.first + size, tile.last))
        return Tile(tile.first, tile.first + size)

    def _give_back(self, tile: Tile) -> None:
        if tile.first < tile.last:
            self._open.add(tile)
            self._returned.appendleft(tile)

    # Accepting ---------------------------------------------------------------------------------------------------

    @property
    def done(self) -> bool:
        """True if every position of the plan was accepted."""
        return self._log.seen >= self._plan.examples

    def accept(self, published: Published, update: float, elapsed: float) -> tuple[Stretch | None, Round | None]:
        """Append what a node published to the log.

        A tile that was accepted before is ignored. A tile whose delay would exceed the bound is sifted again, with a
        newer model.

        Parameters
        ----------
        published : Published
            The selected examples of one tile.
        update : float
            Seconds of learning in this round so far.
        elapsed : float
            Seconds since the beginning of this round.

        Returns
        -------
        Stretch or None
            What all replicas must learn now.
        Round or None
            The round that ends with this tile.
        """
        tile, state = published.tile, self._nodes.get(published.node)
        if state:
            state.seen = max(state.seen, published.seen)
            state.held.discard(tile)
            self._hungry.extend([published.node] * (_TILES_HELD - len(state.held)))
        if tile not in self._open:
            return None, None
        age, bound = self._log.seen - published.seen, self._plan.longest_delay
        if age > bound:
            if state:
                state.tile = max(1, state.tile // 2)  # The node is slow: smaller tiles have shorter delays.
            self._returned.append(tile)
            return None, None
        if state and 4 * age < bound:
            state.tile = min(2 * state.tile, self._plan.tile)  # The node is fast again.
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
