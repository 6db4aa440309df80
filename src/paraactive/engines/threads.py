"""The threads engine: k nodes as threads of this process, side by side, on one shared model.

It pays for learners whose scoring releases the GIL, as ours does: nothing to start, nothing to send, and no copy of the
model, but for a second one in schedules that learn while others sift.
"""

from __future__ import annotations

import queue
import threading
from concurrent.futures import Future, ThreadPoolExecutor

from threadpoolctl import threadpool_limits

from paraactive.data.examples import Stretch, Tile
from paraactive.engines.clock import largest_portions
from paraactive.engines.shared import OnSharedModel, SharedModel
from paraactive.schedules.asynchronous import step
from paraactive.schedules.base import Joined, Left, Message, Published, portion
from paraactive.sifting.node import TILE, Node, Sifted


class Threads(OnSharedModel):
    """k sifting threads; the times are those of the threads, waiting for each other included."""

    updates = "shared", "the nodes are threads on one model, and nothing is sent"

    def __init__(self, node: Node, nodes: int) -> None:
        self._shared, self._nodes = SharedModel(node), nodes
        self._threads = ThreadPoolExecutor(nodes, thread_name_prefix="node")
        self._front = node
        self._sifting: list[Future[list[Sifted]]] = []
        self._asynchronous: dict[int, _Sifter] = {}
        self._ending: list[_Sifter] = []
        self._outbox: queue.SimpleQueue[Message | BaseException] = queue.SimpleQueue()
        # Each node computes on its own core: a BLAS that starts threads of its own would only get in the way.
        self._limits = threadpool_limits(limits=1, user_api="blas")

    # Round by round ----------------------------------------------------------------------------------------------

    def begin_sift(self, first: int, last: int, seen: int) -> None:
        """See `Engine.begin_sift`."""
        self._shared.show()
        self._front = self._shared.enter()
        self._sifting = [
            self._threads.submit(
                _sift_tiles, self._front.seen_by(number), *portion(first, last, number, self._nodes), seen
            )
            for number in range(self._nodes)
        ]

    def end_sift(self) -> tuple[list[Sifted], dict[int, float]]:
        """See `Engine.end_sift`."""
        try:
            portions = [each.result() for each in self._sifting]
        finally:
            self._shared.leave(self._front)
        tiles = [tile for tiles in portions for tile in tiles]
        cuts = [portions[0][0].last, *(tile.last for tile in tiles)]
        largest = largest_portions(cuts, [tile.sift_seconds for tile in tiles], self._nodes)
        return [Sifted.join(tiles) for tiles in portions], largest

    # Tile by tile ------------------------------------------------------------------------------------------------

    def begin_asynchronous(self) -> list[int]:
        """See `Engine.begin_asynchronous`."""
        self._shared.split()
        if not self._asynchronous:
            self._asynchronous = {number: _Sifter(number, self._shared, self._outbox) for number in range(self._nodes)}
        return list(self._asynchronous)

    def grant(self, node: int, tile: Tile) -> None:
        """See `Engine.grant`."""
        if node in self._asynchronous:
            self._asynchronous[node].fresh.put(tile)

    def receive(self) -> Message:
        """See `Engine.receive`."""
        message = self._outbox.get()
        if isinstance(message, BaseException):
            raise message
        return message

    def resize(self, nodes: int) -> None:
        """Threads join or leave."""
        self._nodes = nodes
        if not self._asynchronous:
            return
        for number in [each for each in self._asynchronous if each >= nodes]:
            leaving = self._asynchronous.pop(number)
            leaving.fresh.put(None)
            self._ending.append(leaving)
            self._outbox.put(Left(number))
        for number in range(nodes):
            if number not in self._asynchronous:
                self._asynchronous[number] = _Sifter(number, self._shared, self._outbox)
                self._outbox.put(Joined(number))

    # Both --------------------------------------------------------------------------------------------------------

    def apply(self, stretch: Stretch) -> float:
        """The shared model learns, for all."""
        seconds = self._shared.learn(stretch)
        if self._asynchronous:
            self._shared.show()
        return seconds

    def finish(self) -> dict[int, str]:
        """See `Engine.finish`: the copies of the shared model."""
        self._end_sifters()
        return {number: node.learner.digest() for number, node in enumerate(self._shared.copies())}

    def close(self) -> None:
        """End the threads, and give BLAS back its own."""
        self._end_sifters()
        self._threads.shutdown(cancel_futures=True)
        self._limits.restore_original_limits()

    def _end_sifters(self) -> None:
        for sifter in self._asynchronous.values():
            sifter.fresh.put(None)
        for sifter in [*self._asynchronous.values(), *self._ending]:
            sifter.join()
        self._asynchronous, self._ending = {}, []


class _Sifter(threading.Thread):
    """A node of Algorithm 2. Whoever learns for all empties its Q_S: each tile is sifted with the newest model."""

    def __init__(self, number: int, shared: SharedModel, outbox: queue.SimpleQueue[Message | BaseException]) -> None:
        super().__init__(name=f"node-{number}", daemon=True)
        self._number, self._shared, self._outbox = number, shared, outbox
        self.fresh: queue.SimpleQueue[Tile | None] = queue.SimpleQueue()
        self.start()

    def run(self) -> None:
        """Sift until there is an end to it."""
        try:
            while (tile := self.fresh.get()) is not None:
                with self._shared.reading() as front:
                    published: Published = step(front.seen_by(self._number), (), tile)
                self._outbox.put(published)
        except BaseException as error:
            self._outbox.put(error)


def _sift_tiles(node: Node, first: int, last: int, seen: int) -> list[Sifted]:
    """A portion, tile by tile, so that the clock can be read in between; nothing first, to know where it begins."""
    tiles = [node.sift(a, min(a + TILE, last), seen) for a in range(first, last, TILE)]
    return [Sifted.nothing(first, node.stream.width, node.number), *tiles]
