"""The threads engine: k nodes as threads of this process, side by side, on one shared model.

It pays for learners whose scoring releases the GIL, as ours does: no copy of the model, nothing to start, nothing to
send. Sifting never changes the model and nobody sifts while entries are applied, so one model serves all.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from paraactive.examples import Entries
from paraactive.node import Node, Sifted
from paraactive.schedules.base import portion


class Threads:
    """k sifting threads; the times are those of the threads, waiting for each other included."""

    def __init__(self, node: Node, nodes: int) -> None:
        self._updater = node
        self._nodes = [Node(node.learner, node.rule, node.stream, node.seed, number) for number in range(nodes)]
        self._threads = ThreadPoolExecutor(nodes, thread_name_prefix="node")

    def sift(self, first: int, last: int, seen: int) -> tuple[list[Sifted], dict[int, float]]:
        """Each node its portion; see `Engine.sift`."""
        sifting = [
            self._threads.submit(node.sift, *portion(first, last, node.number, len(self._nodes)), seen)
            for node in self._nodes_at_version()
        ]
        sifted = [node.result() for node in sifting]
        return sifted, {len(self._nodes): max(part.sift_seconds for part in sifted)}

    def _nodes_at_version(self) -> list[Node]:
        for node in self._nodes:
            node.version = self._updater.version
        return self._nodes

    def sift_first(self, first: int, last: int) -> Sifted:
        """See `Engine.sift_first`."""
        return self._updater.sift_first(first, last)

    def take(self, first: int, last: int) -> Sifted:
        """See `Engine.take`."""
        return self._updater.take(first, last)

    def apply(self, entries: Entries) -> float:
        """The shared model learns once, for all."""
        return self._updater.apply(entries)

    def end_round(self) -> float:
        """The shared model, once for all."""
        return self._updater.end_round()

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown(cancel_futures=True)
