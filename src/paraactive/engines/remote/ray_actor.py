"""The node's side of the ray engine: a node as a Ray actor."""

from __future__ import annotations

import copy
import pickle
import queue
import threading
from contextlib import suppress

from paraactive.engines.remote.host import Host, portable
from paraactive.engines.remote.letters import Letter
from paraactive.engines.remote.messages import Failed, FromNode, ToNode
from paraactive.engines.remote.ray_api import ObjectRef, import_ray
from paraactive.errors import ClusterError
from paraactive.sifting.node import Node

_SECONDS_OF_A_TAKE = 1.0
"""Seconds that a `take` waits for a letter."""


class NodeActor:
    """A node as a Ray actor: a host in its own thread, and calls that deliver and fetch its letters.

    Letters are pickled here, because arrays that Ray unpickles are read-only.

    Parameters
    ----------
    blueprint : list of ObjectRef
        One reference to the untrained node. Inside of a list Ray does not resolve the reference, so an error is raised
        here and can be sent to the driver.
    number : int
        Number of the node.
    """

    def __init__(self, blueprint: list[ObjectRef], number: int) -> None:
        self._outbox: queue.SimpleQueue[Letter[FromNode]] = queue.SimpleQueue()
        self._host: Host | None = None
        try:
            node = _open(blueprint[0])
            # A learner and a rule need their own arrays. All nodes of a machine share those of the stream.
            node = Node(
                copy.deepcopy(node.learner), copy.deepcopy(node.rule), node.stream, node.seed, number, node.sampling
            )
            self._host = Host(node, self._outbox.put)
        except BaseException as error:
            self._outbox.put(Letter(0, Failed(portable(error))))
        else:
            threading.Thread(target=self._host.serve, daemon=True, name=f"node {number}").start()

    def put(self, letter: bytes) -> None:
        """Deliver a letter to the host. Calls may overtake each other.

        Parameters
        ----------
        letter : bytes
            The pickled letter.
        """
        if self._host:
            self._host.deliver(pickle.loads(letter))

    def take(self) -> list[bytes]:
        """Return the letters that the host has written since the last call. Wait a second for the first one."""
        letters: list[bytes] = []
        with suppress(queue.Empty):
            letter = self._outbox.get(timeout=_SECONDS_OF_A_TAKE)
            while True:
                letters.append(pickled(letter))
                letter = self._outbox.get_nowait()
        return letters


def _open(blueprint: ObjectRef) -> Node:
    ray = import_ray()
    try:
        node = ray.get(blueprint)
    except ray.exceptions.RaySystemError as error:  # Ray raises it for objects that cannot be unpickled.
        raise not_startable(str(error)) from None
    assert isinstance(node, Node)
    return node


def not_startable(text: str) -> ClusterError:
    """Return the error for a machine that cannot start a node.

    Parameters
    ----------
    text : str
        What Ray reports. Its last line is the reason.

    Returns
    -------
    ClusterError
        The error.
    """
    return ClusterError(
        "a machine of the cluster cannot start a node",
        why=text.strip().rpartition("\n")[2],
        remedy="install the same paraactive, and all that your learner, rule and stream need, on every machine",
    )


def pickled(letter: Letter[FromNode] | Letter[ToNode]) -> bytes:
    """Return a letter as bytes.

    Parameters
    ----------
    letter : Letter of FromNode or Letter of ToNode
        The letter.
    """
    return pickle.dumps(letter, protocol=pickle.HIGHEST_PROTOCOL)
