"""The transport of the ray engine: k nodes as actors of a Ray cluster, each with a replica and one core.

Ray finds our classes by name: the same version of paraactive must be installed on every machine of the cluster. Classes
that are defined in the user's script or notebook are sent with the node. When the driver dies, Ray ends its actors.
"""

from __future__ import annotations

import os
import pickle
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from typing import cast

from paraactive.engines.remote.letters import Letter
from paraactive.engines.remote.messages import FromNode, Gone, ToNode
from paraactive.engines.remote.ray_actor import NodeActor, not_startable, pickled
from paraactive.engines.remote.ray_api import ActorHandle, ObjectRef, Ray, import_ray
from paraactive.engines.remote.ray_cluster import connect, set_mode
from paraactive.engines.remote.ray_head import HeadWatch, shut_down
from paraactive.engines.remote.ray_probe import MODE
from paraactive.errors import ClusterLostError, InputError
from paraactive.sifting.node import Node

_SECONDS_TO_STOP = 3.0
_SECONDS_TO_END = 10.0
_SECONDS_OF_A_LOOK = 0.5
"""Seconds that the driver spends inside Ray at once, so that Ctrl-C is handled."""


@dataclass(eq=False)
class _Actor:
    """The actor of a node, seen from the driver."""

    number: int
    handle: ActorHandle
    taking: ObjectRef = None  # The call that fetches the next letters. There is always one.
    heard: bool = False


class RayNodes:
    """A `Transport` with one actor for each node. Only `receive` and `close` wait for calls to actors.

    A program that is connected to Ray already stays connected, during the run and after it.

    Parameters
    ----------
    node : Node
        The untrained node that each actor gets.
    address : str, optional
        Address of the cluster, as HOST:PORT, or "auto" on a machine of the cluster. None: start a cluster on this
        machine, which other machines cannot reach.
    nodes : int, optional
        Least number of nodes for which a new cluster has room. Default: 1.

    Raises
    ------
    ClusterError
        If the cluster cannot be joined or started.
    InputError
        If the node cannot be pickled.
    MissingExtraError
        If Ray is not installed.
    """

    def __init__(self, node: Node, address: str | None, nodes: int = 1) -> None:
        self._ray = import_ray()
        self._connects = not self._ray.is_initialized()
        self._actors: dict[int, _Actor] = {}
        # All calls that have not ended: for each actor one `take`, and each `put` that may not have arrived.
        self._calls: dict[ObjectRef, _Actor] = {}
        self._arrived: deque[tuple[_Actor, Letter[FromNode] | Gone]] = deque()
        self._mode = os.environ.get(MODE)
        self._head: HeadWatch | None = None
        try:
            if self._connects:
                connect(self._ray, address, nodes)
            self._head = HeadWatch(self._ray.get_runtime_context().gcs_address)
            self._blueprint = [_put(self._ray, node)]
        except BaseException:
            self._leave()
            raise
        self._kind = self._ray.remote(NodeActor).options(
            num_cpus=1,
            scheduling_strategy="SPREAD",
            max_restarts=0,  # An actor that Ray restarts would lack the letters so far. The driver starts a new one.
            max_task_retries=0,
            max_concurrency=4,  # One `take` that waits, and room for each `put`.
        )

    def start(self, number: int) -> None:
        """See `Transport.start`. If no machine has a free core, the node waits for one."""
        actor = self._actors[number] = _Actor(number, self._kind.remote(self._blueprint, number))
        self._take(actor)

    def _take(self, actor: _Actor) -> None:
        actor.taking = actor.handle.take.remote()
        self._calls[actor.taking] = actor

    def send(self, number: int, letter: Letter[ToNode]) -> None:
        """See `Transport.send`."""
        actor = self._actors.get(number)
        if actor:
            self._calls[actor.handle.put.remote(pickled(letter))] = actor

    def receive(self, timeout: float | None) -> tuple[int, Letter[FromNode] | Gone] | None:
        """See `Transport.receive`.

        Raises
        ------
        ClusterLostError
            If the head of the cluster does not answer for a long time, or has given up this machine.
        """
        end = float("inf") if timeout is None else time.monotonic() + timeout
        while True:
            if self._head:
                self._head.check()
            if not self._arrived:
                self._look(min(max(0.0, end - time.monotonic()), _SECONDS_OF_A_LOOK))
            while self._arrived:
                actor, letter = self._arrived.popleft()
                if self._is_current(actor):
                    if isinstance(letter, Gone):
                        self.end(actor.number)
                    return actor.number, letter
            if time.monotonic() >= end:
                return None

    def _is_current(self, actor: _Actor) -> bool:
        """Return False for an actor that was ended, or is gone and was replaced."""
        return self._actors.get(actor.number) is actor

    def _look(self, seconds: float) -> None:
        """Wait for one call to end, and read its result."""
        if not self._calls:
            time.sleep(seconds)
            return
        done, _ = self._ray.wait(list(self._calls), num_returns=1, timeout=seconds)
        for call in done:
            actor = self._calls.pop(call)
            if not self._is_current(actor):
                continue
            try:
                letters = cast("list[bytes] | None", self._ray.get(call))
            except self._ray.exceptions.RayError as error:
                _raise_if_fatal(error)
                self._arrived.append((actor, Gone(_reason_of(error))))
                continue
            if call == actor.taking:
                actor.heard = actor.heard or bool(letters)
                self._arrived.extend((actor, pickle.loads(letter)) for letter in letters or ())
                self._take(actor)

    def end(self, number: int) -> None:
        """See `Transport.end`."""
        actor = self._actors.pop(number, None)
        if actor:
            self._ray.kill(actor.handle, no_restart=True)

    def close(self) -> None:
        """See `Transport.close`. Actors are killed some seconds after `Stop` was sent."""
        if not self._blueprint:
            return
        with suppress(self._ray.exceptions.RayError):  # The run has ended. An error of Ray must not hide its result.
            self._wait([call for call, to in self._calls.items() if to.heard and call != to.taking], _SECONDS_TO_STOP)
        for number in list(self._actors):
            with suppress(self._ray.exceptions.RayError):
                self.end(number)
        with suppress(self._ray.exceptions.RayError):
            self._wait(list(self._calls), _SECONDS_TO_END)  # A call fails when its actor is known to be dead.
        self._calls, self._blueprint = {}, []
        self._arrived.clear()
        self._leave()

    def _wait(self, calls: list[ObjectRef], seconds: float) -> None:
        """Wait for calls, if the head answers. Without a head no call is known to have failed."""
        if calls and self._head and self._head.answers:
            self._ray.wait(calls, num_returns=len(calls), timeout=seconds, fetch_local=False)

    def _leave(self) -> None:
        if self._head:
            self._head.close()
        if self._connects:
            shut_down(self._ray)
            set_mode(self._mode)


def _put(ray: Ray, node: Node) -> ObjectRef:
    """Put a node into the object store of the driver's machine, or raise an error if it cannot be sent."""
    try:
        return ray.put(node)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(
            "the learner, the rule or the stream cannot be sent to another machine",
            why=str(error).strip().partition("\n")[0],
            remedy="use engine 'threads', or classes without open files or locks in them",
        ) from error


def _raise_if_fatal(error: Exception) -> None:
    """Raise an error that would occur on every other node too. It ends the run."""
    if "failed to import on the worker" in str(error) or getattr(error, "actor_init_failed", False):
        raise not_startable(str(error)) from error
    if "owner has died" in str(error):
        raise ClusterLostError(
            "the Ray cluster has given up this machine",
            why="the head could not reach it for some time, or its Ray process died, and all nodes were ended",
            remedy="run 'ray start --address=HOST:PORT' here again and resume the run file",
        ) from error
    cause = getattr(error, "cause", None)
    if isinstance(cause, BaseException):
        raise cause from error


_REASONS = {
    "killed by `ray.kill`": "it was ended by 'ray.kill'",
    "low on memory": "its machine ran out of memory",
    "node has died": "its machine is gone",
    "lost due to node failure": "its machine is gone",  # An answer was lost with the memory of the machine.
    "cannot be reconstructed": "its machine is gone",
    "process has died": "its process died",
    "unavailable": "it cannot be reached",
    "nschedulable": "no machine can take it",
}
"""By a part of what Ray reports when an actor is lost: the reason in our words. The first that fits is taken."""


def _reason_of(error: Exception) -> str:
    text = str(error)
    return next((reason for part, reason in _REASONS.items() if part in text), "Ray has lost it")
