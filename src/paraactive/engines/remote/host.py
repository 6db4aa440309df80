"""The node's side: a node in its own process or actor. It handles the messages of the driver in order."""

from __future__ import annotations

import pickle
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace

from paraactive.basics.threads import one_core
from paraactive.data.examples import Stretch
from paraactive.engines.remote.letters import Incoming, Letter, Outgoing
from paraactive.engines.remote.messages import (
    Check,
    Digest,
    Done,
    Failed,
    Fresh,
    FromNode,
    Learn,
    Load,
    Ready,
    Stop,
    ToNode,
)
from paraactive.errors import NodesLostError
from paraactive.schedules.asynchronous import step
from paraactive.schedules.engine import Published
from paraactive.sifting.node import Node, Sifted
from paraactive.sifting.parts import warm_up


class Host:
    """Serves one node until it receives `Stop`. It computes on one core.

    Parameters
    ----------
    node : Node
        The untrained node.
    post : callable
        Called with each letter to the driver.
    """

    def __init__(self, node: Node, post: Callable[[Letter[FromNode]], None]) -> None:
        self._node, self._post = node, post
        self._incoming, self._outgoing = Incoming[ToNode](), Outgoing[FromNode]()
        self._inbox: queue.SimpleQueue[ToNode] = queue.SimpleQueue()
        self._delivering = threading.Lock()
        self._waiting: deque[ToNode] = deque()  # Taken from the inbox, and not yet handled.
        self._arrivals: deque[float] = deque()  # Times at which the tiles that are not yet sifted arrived.
        self._update_seconds = 0.0  # Seconds of learning since the last answer.

    def deliver(self, letter: Letter[ToNode]) -> None:
        """Accept a letter of the driver. Any thread may call this, with letters in any order.

        Parameters
        ----------
        letter : Letter of ToNode
            The letter.
        """
        with self._delivering:  # Without the lock, two threads might swap messages that were just put into order.
            for message in self._incoming.accept(letter):
                if isinstance(message, Fresh):
                    self._arrivals.append(time.perf_counter())
                self._inbox.put(message)

    def serve(self) -> None:
        """Handle messages until `Stop`, or until an error occurs, which is sent to the driver."""
        try:
            with one_core():
                warm_up(self._node, self._node.stream.length)
                self._send(Ready())
                while self._handle(self._next()):
                    pass
        except BaseException as error:
            self._send(Failed(portable(error)))

    def _send(self, message: FromNode) -> None:
        self._post(self._outgoing.letter(message))

    def _next(self) -> ToNode:
        return self._waiting.popleft() if self._waiting else self._inbox.get()

    def _handle(self, message: ToNode) -> bool:
        """Handle a message. Returns False at the end."""
        match message:
            case Learn(stretches):
                for stretch in stretches:
                    self._update_seconds += self._node.learn(stretch)
            case Load(replica):
                start = time.perf_counter()
                replica.load_into(self._node)
                self._update_seconds += time.perf_counter() - start
            case Check():
                self._send(Digest(self._node.learner.digest()))
            case Fresh(tile, part, seen):
                queued = time.perf_counter() - self._arrivals.popleft()
                if seen is None:
                    published = step(self._node, self._stretches_that_wait(), tile)
                else:
                    published = Published(self._node.number, tile, self._node.sift(*tile, seen), seen)
                    published = replace(published, sifted=replace(published.sifted, queued_seconds=queued))
                self._send(Done(part, replace(published, sifted=self._with_learning(published.sifted))))
            case Stop():
                return False
        return True

    def _with_learning(self, sifted: Sifted) -> Sifted:
        """Add the seconds that the node spent on learning since its last answer."""
        before, self._update_seconds = self._update_seconds, 0.0
        return replace(sifted, update_seconds=before + (sifted.update_seconds or 0.0))

    def _stretches_that_wait(self) -> Iterator[Stretch]:
        """Return all stretches that wait, also those behind other tiles, up to the next check or whole model.

        The queue Q_S has priority. A check asks for the model at its own place in the order of messages.
        """
        while not self._inbox.empty():
            self._waiting.append(self._inbox.get())
        later: deque[ToNode] = deque()
        while self._waiting and isinstance(self._waiting[0], Fresh | Learn):
            message = self._waiting.popleft()
            if isinstance(message, Learn):
                yield from message.stretches
            else:
                later.append(message)
        self._waiting.extendleft(reversed(later))


def portable(error: BaseException) -> BaseException:
    """Return an error that can be sent to another process.

    Parameters
    ----------
    error : BaseException
        Any error.

    Returns
    -------
    BaseException
        The error itself if it can be pickled, otherwise a `NodesLostError` with its text.
    """
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return NodesLostError(
            f"a node failed with {type(error).__name__}",
            why=str(error) or "the error has no text",
            remedy="see its traceback",
        )
    return error
