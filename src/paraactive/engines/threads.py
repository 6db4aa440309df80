"""The threads engine: k nodes as threads of this process, on one shared model.

It suits learners whose scoring releases the GIL, as ours do. Nothing is started, sent or copied. Only the asynchronous
schedule, in which some threads sift while another one learns, needs a second copy of the model.
"""

from __future__ import annotations

import queue
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

from paraactive.basics.threads import one_blas_thread
from paraactive.data.examples import Stretch, Tile
from paraactive.engines.replica import UsesDriverReplica
from paraactive.engines.shared import SharedModel
from paraactive.engines.simulated.clock import largest_portions
from paraactive.schedules.asynchronous import step
from paraactive.schedules.engine import Joined, Left, Message
from paraactive.schedules.plan import portion
from paraactive.sifting.node import CHUNK_ROWS, Node, Sifted


class Threads(UsesDriverReplica):
    """k sifting threads. Their times include waiting for each other.

    Parameters
    ----------
    node : Node
        The replica that all threads share.
    nodes : int
        Number of threads.
    """

    updates = "shared", "the nodes are threads on one model, and nothing is sent"

    def __init__(self, node: Node, nodes: int) -> None:
        self._node, self._nodes = node, nodes
        self._shared: SharedModel | None = None  # In the asynchronous schedule.
        self._threads = ThreadPoolExecutor(nodes, thread_name_prefix="node")
        self._sifters: dict[int, _Sifter] = {}
        self._ending: list[_Sifter] = []
        self._outbox: queue.SimpleQueue[Message | BaseException] = queue.SimpleQueue()
        self._limits = ExitStack()
        # Each node computes on its own core. More threads of BLAS would compete for these cores.
        self._limits.enter_context(one_blas_thread())

    # In rounds -----------------------------------------------------------------------------------------------------

    def sift(self, first: int, last: int, seen: int) -> tuple[list[Sifted], dict[int, float]]:
        """See `Engine.sift`."""
        model = self.model
        sifting = [
            self._threads.submit(
                _sift_in_chunks, model.numbered(number), *portion(first, last, number, self._nodes), seen
            )
            for number in range(self._nodes)
        ]
        portions = [each.result() for each in sifting]
        chunks = [chunk for chunks in portions for chunk in chunks]
        cuts = [first, *(chunk.last for chunk in chunks)]
        largest = largest_portions(cuts, [chunk.sift_seconds for chunk in chunks], self._nodes)
        return [Sifted.join(chunks) for chunks in portions], largest

    # Without rounds ------------------------------------------------------------------------------------------------

    def begin_asynchronous(self) -> list[int]:
        """See `Engine.begin_asynchronous`."""
        if not self._sifters:
            shared = self._shared = self._shared or SharedModel(self._node)
            self._sifters = {number: _Sifter(number, shared, self._outbox) for number in range(self._nodes)}
        return list(self._sifters)

    def grant(self, node: int, tile: Tile) -> None:
        """See `Engine.grant`."""
        if node in self._sifters:
            self._sifters[node].fresh.put(tile)

    def receive(self) -> Message:
        """See `Engine.receive`."""
        message = self._outbox.get()
        if isinstance(message, BaseException):
            raise message
        return message

    def resize(self, nodes: int) -> None:
        """See `Engine.resize`."""
        self._nodes = nodes
        if not self._sifters or self._shared is None:
            return
        for number in [each for each in self._sifters if each >= nodes]:
            leaving = self._sifters.pop(number)
            leaving.fresh.put(None)
            self._ending.append(leaving)
            self._outbox.put(Left(number))
        for number in range(nodes):
            if number not in self._sifters:
                self._sifters[number] = _Sifter(number, self._shared, self._outbox)
                self._outbox.put(Joined(number))

    # In both -------------------------------------------------------------------------------------------------------

    @property
    def model(self) -> Node:
        """See `Engine.model`."""
        return self._shared.latest if self._shared else self._node

    def apply(self, stretch: Stretch) -> float:
        """See `Engine.apply`. The shared model learns for all nodes."""
        return self._shared.learn(stretch) if self._shared else self._node.learn(stretch)

    def now(self) -> float:
        """See `Engine.now`."""
        return time.perf_counter()

    def finish(self) -> dict[int, str]:
        """See `Engine.finish`. The replicas are the copies of the shared model."""
        self._end_sifters()
        copies = self._shared.finish() if self._shared else [self._node]
        return {number: node.learner.digest() for number, node in enumerate(copies)}

    def close(self) -> None:
        """End the threads, and restore the number of threads of BLAS."""
        self._end_sifters()
        self._threads.shutdown(cancel_futures=True)
        self._limits.close()

    def _end_sifters(self) -> None:
        for sifter in self._sifters.values():
            sifter.fresh.put(None)
        for sifter in [*self._sifters.values(), *self._ending]:
            sifter.join()
        self._sifters, self._ending = {}, []


class _Sifter(threading.Thread):
    """A node of Algorithm 2. The driver empties the queue Q_S for all: each tile is sifted with the newest model."""

    def __init__(self, number: int, shared: SharedModel, outbox: queue.SimpleQueue[Message | BaseException]) -> None:
        super().__init__(name=f"node-{number}", daemon=True)
        self._number, self._shared, self._outbox = number, shared, outbox
        self.fresh: queue.SimpleQueue[Tile | None] = queue.SimpleQueue()
        self.start()

    def run(self) -> None:
        """Sift tiles until None is granted."""
        try:
            while (tile := self.fresh.get()) is not None:
                with self._shared.reading() as front:
                    published = step(front.numbered(self._number), (), tile)
                self._outbox.put(published)
        except BaseException as error:
            self._outbox.put(error)


def _sift_in_chunks(node: Node, first: int, last: int, seen: int) -> list[Sifted]:
    """Sift a portion chunk by chunk, so that the times of smaller portions are known too."""
    chunks = [node.sift(a, min(a + CHUNK_ROWS, last), seen) for a in range(first, last, CHUNK_ROWS)]
    return chunks or [Sifted.nothing(first, node.stream.width, node.number)]
