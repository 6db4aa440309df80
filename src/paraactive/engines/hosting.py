"""A node in a place of its own, a process or an actor: it does what it is told, in order, and answers."""

from __future__ import annotations

import pickle
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace

import numba
from threadpoolctl import threadpool_limits

from paraactive.data.examples import Stretch
from paraactive.engines.letters import Incoming, Letter, Outgoing
from paraactive.engines.messages import Check, Digest, Done, Failed, Fresh, FromNode, News, Ready, Stop, ToNode
from paraactive.engines.shared import Model, SharedModel
from paraactive.errors import NodesLostError
from paraactive.schedules.asynchronous import step
from paraactive.schedules.base import Published
from paraactive.sifting.node import Node
from paraactive.sifting.parts import warm_up


class Host:
    """Serves one node until it is told to stop. It computes on one core, whatever the process could use otherwise."""

    def __init__(self, node: Node, post: Callable[[Letter[FromNode]], None]) -> None:
        self._shared, self._number, self._post = SharedModel(node), node.number, post
        self._incoming, self._outgoing, self._posting = Incoming[ToNode](), Outgoing[FromNode](), threading.Lock()
        self._inbox: queue.SimpleQueue[ToNode] = queue.SimpleQueue()
        self._delivering = threading.Lock()
        self._said: deque[ToNode] = deque()
        """Taken from the inbox, and not yet done."""
        self._arrivals: deque[float] = deque()
        """Of tiles that were not begun, in their order."""
        self._learning, self._counting = 0.0, threading.Lock()
        """Seconds since the last answer."""

    def deliver(self, letter: Letter[ToNode]) -> None:
        """A letter from the driver; on any thread, in any order."""
        with self._delivering:  # Two threads must not swap what they were told to put down in order.
            for message in self._incoming.accept(letter):
                if isinstance(message, Fresh):
                    self._arrivals.append(time.perf_counter())
                self._inbox.put(message)

    def _send(self, message: FromNode) -> None:
        with self._posting:
            self._post(self._outgoing.letter(message))

    def serve(self) -> None:
        """Until the end, or an error, which is sent."""
        try:
            with ExitStack() as stack:
                numba.set_num_threads(1)
                stack.enter_context(threadpool_limits(limits=1))
                # What numba is told holds for one thread.
                sifter = stack.enter_context(ThreadPoolExecutor(1, "sifter", numba.set_num_threads, (1,)))
                warm_up(self._shared.latest, self._shared.latest.stream.length)
                self._send(Ready())
                sifting: Future[None] | None = None
                while not isinstance(message := self._next(), Stop):
                    if isinstance(message, News):
                        self._learn(message)
                    elif isinstance(message, Check):
                        self._send(Digest(self._shared.latest.learner.digest()))
                    elif message.seen is None:
                        self._step(message)
                    else:
                        sifting = self._begin(message, message.seen, sifter, sifting)
        except BaseException as error:
            self._send(Failed(portable(error)))

    def _learn(self, news: News) -> None:
        if news.beside:
            self._shared.split()
        start = time.perf_counter()
        for item in news.items:
            self._shared.learn(item)
        with self._counting:
            self._learning += time.perf_counter() - start

    def _next(self) -> ToNode:
        return self._said.popleft() if self._said else self._inbox.get()

    # Round by round: sift beside, so that the node can learn meanwhile ---------------------------------------------

    def _begin(self, fresh: Fresh, seen: int, sifter: ThreadPoolExecutor, before: Future[None] | None) -> Future[None]:
        if not fresh.same_model:
            if before:
                before.result()
            self._shared.show()
        return sifter.submit(self._sift, fresh, seen, self._shared.enter())

    def _sift(self, fresh: Fresh, seen: int, front: Node) -> None:
        queued = time.perf_counter() - self._arrivals.popleft()
        try:
            sifted = front.seen_by(self._number).sift(*fresh.tile, seen)
            with self._counting:
                sifted = replace(sifted, update_seconds=self._learning, queued_seconds=queued)
                self._learning = 0.0
            said: FromNode = Done(fresh.part, Published(self._number, fresh.tile, sifted, seen))
        except BaseException as error:
            said = Failed(portable(error))
        self._shared.leave(front)  # First: it is answered with news, which need a copy as long as somebody reads.
        self._send(said)

    # Algorithm 2 ---------------------------------------------------------------------------------------------------

    def _step(self, fresh: Fresh) -> None:
        self._arrivals.popleft()
        published = step(self._shared.latest, self._waiting(), fresh.tile)
        # What was told in other ways than behind a tile, as whole models are, was learnt before.
        before, self._learning = self._learning, 0.0
        sifted = replace(published.sifted, update_seconds=before + (published.sifted.update_seconds or 0.0))
        self._send(Done(fresh.part, replace(published, sifted=sifted)))

    def _waiting(self) -> Iterator[Stretch]:
        """All news that wait, also behind other tiles; but not those behind a check, which is about the model there."""
        while not self._inbox.empty():
            self._said.append(self._inbox.get())
        later: deque[ToNode] = deque()
        while self._said and (isinstance(self._said[0], Fresh) or _is_stretches(self._said[0])):
            message = self._said.popleft()
            if isinstance(message, News):
                yield from (item for item in message.items if isinstance(item, Stretch))
            else:
                later.append(message)
        self._said.extendleft(reversed(later))


def _is_stretches(message: ToNode) -> bool:
    return isinstance(message, News) and not any(isinstance(item, Model) for item in message.items)


def portable(error: BaseException) -> BaseException:
    """The error itself if it can travel, otherwise its words."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return NodesLostError(
            f"a node failed with {type(error).__name__}",
            why=str(error) or "it says no more",
            remedy="see its traceback",
        )
    return error
