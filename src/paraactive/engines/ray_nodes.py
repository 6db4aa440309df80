"""The ray engine: k nodes as actors of a Ray cluster, each with a replica and one core, spread over its machines.

Ray finds our classes by their names: paraactive must be installed on every machine of the cluster, in the same version.
What is defined in the user's script or notebook travels with the blueprint. When the driver dies, Ray ends its actors.
"""

from __future__ import annotations

import copy
import logging
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from paraactive.basics.optional import require
from paraactive.engines.hosting import Host, portable
from paraactive.engines.letters import Letter
from paraactive.engines.messages import Failed, FromNode, Gone, ToNode
from paraactive.engines.ray_head import HeadWatch, patient_with_the_head, shut_down
from paraactive.errors import ClusterError, ClusterLostError, InputError
from paraactive.sifting.node import Node

_SECONDS_TO_STOP = 3.0
_SECONDS_TO_END = 10.0
_SECONDS_TO_JOIN = 12.0
_SECONDS_OF_A_TAKE = 1.0
"""That a node waits for something to say, before it is asked again."""
_SECONDS_OF_A_LOOK = 0.5
"""That the driver spends inside Ray at once, so that Ctrl-C is heard."""
_MODE = "RAY_AUTH_MODE"
_QUIET = {"logging_level": logging.ERROR, "log_to_driver": False}


def _ray() -> Any:
    return require("ray", extra="ray", what="engine 'ray'")


# The node's side -----------------------------------------------------------------------------------------------------


class NodeActor:
    """The life of a node as a Ray actor: a host in a thread of its own, and calls that bring and fetch its letters.

    Letters are pickled by us: arrays that Ray unpickles cannot be written.
    """

    def __init__(self, blueprint: list[Any], number: int) -> None:
        self._outbox: queue.SimpleQueue[Letter[FromNode]] = queue.SimpleQueue()
        self._host: Host | None = None
        try:
            node = _open(blueprint[0])
            # What learns needs arrays of its own. Those of the stream are shared by all nodes of a machine.
            node = Node(copy.deepcopy(node.learner), copy.deepcopy(node.rule), node.stream, node.seed, number)
            self._host = Host(node, self._outbox.put)
        except BaseException as error:
            self._outbox.put(Letter(0, Failed(portable(error))))
        else:
            threading.Thread(target=self._host.serve, daemon=True, name=f"node {number}").start()

    def put(self, letter: bytes) -> None:
        """One for the host. Calls may overtake each other."""
        if self._host:
            self._host.deliver(pickle.loads(letter))

    def take(self) -> list[bytes]:
        """What the host has said since; after a while without a word, nothing."""
        letters: list[bytes] = []
        with suppress(queue.Empty):
            letter = self._outbox.get(timeout=_SECONDS_OF_A_TAKE)
            while True:
                letters.append(_pickled(letter))
                letter = self._outbox.get_nowait()
        return letters


def _open(blueprint: Any) -> Node:
    ray = _ray()
    try:
        return ray.get(blueprint)
    except ray.exceptions.RaySystemError as error:  # Ray's name for what cannot be unpickled.
        raise _not_startable(str(error)) from None


def _not_startable(said: str) -> ClusterError:
    return ClusterError(
        "a machine of the cluster cannot start a node",
        why=said.strip().rpartition("\n")[2],
        remedy="install the same paraactive, and all that your learner, rule and stream need, on every machine",
    )


def _pickled(letter: Letter[Any]) -> bytes:
    return pickle.dumps(letter, protocol=pickle.HIGHEST_PROTOCOL)


# The driver's side ---------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Actor:
    """A node's actor, seen from the driver."""

    number: int
    handle: Any
    taking: Any = None
    """The call that fetches what it says next; there is always one."""
    heard: bool = False


class RayNodes:
    """A `Transport`: one actor for each node, and calls to them that nobody waits for but `receive`.

    With an address (HOST:PORT, or "auto" on a machine of the cluster) the driver joins that cluster; without one, it
    starts a cluster for at least so many nodes on this machine, which nobody else can reach. A program that is
    connected to Ray already stays so, before and after.
    """

    def __init__(self, node: Node, address: str | None, nodes: int = 1) -> None:
        self._ray = _ray()
        self._ours = not self._ray.is_initialized()
        self._actors: dict[int, _Actor] = {}
        self._calls: dict[Any, _Actor] = {}
        """All that is under way: for each actor a `take`, and each `put` that is not known to have arrived."""
        self._arrived: deque[tuple[_Actor, Letter[FromNode] | Gone]] = deque()
        self._mode = os.environ.get(_MODE)
        self._head: HeadWatch | None = None
        try:
            if self._ours:
                _connect(self._ray, address, nodes)
            self._head = HeadWatch(self._ray)
            # In a list, or Ray would open it before the actor is there to say what is wrong.
            self._blueprint = [_put(self._ray, node)]
        except BaseException:
            self._leave()
            raise
        self._kind = self._ray.remote(NodeActor).options(
            num_cpus=1,
            scheduling_strategy="SPREAD",
            max_restarts=0,  # Ray's new actor would not know what the old one was told. The driver starts one itself.
            max_task_retries=0,
            max_concurrency=4,  # One `take` that waits, and room for each `put` beside it.
        )

    def start(self, number: int) -> None:
        """See `Transport.start`. Where no machine has a core to spare, the node waits until one has."""
        actor = self._actors[number] = _Actor(number, self._kind.remote(self._blueprint, number))
        self._take(actor)

    def _take(self, actor: _Actor) -> None:
        actor.taking = actor.handle.take.remote()
        self._calls[actor.taking] = actor

    def send(self, number: int, letter: Letter[ToNode]) -> None:
        """See `Transport.send`."""
        actor = self._actors.get(number)
        if actor:
            self._calls[actor.handle.put.remote(_pickled(letter))] = actor

    def receive(self, timeout: float | None) -> tuple[int, Letter[FromNode] | Gone] | None:
        """See `Transport.receive`."""
        end = float("inf") if timeout is None else time.monotonic() + timeout
        while True:
            if self._head:
                self._head.check()
            if not self._arrived:
                self._look(min(max(0.0, end - time.monotonic()), _SECONDS_OF_A_LOOK))
            while self._arrived:
                actor, letter = self._arrived.popleft()
                if self._is_there(actor):
                    if isinstance(letter, Gone):
                        self.end(actor.number)
                    return actor.number, letter
            if time.monotonic() >= end:
                return None

    def _is_there(self, actor: _Actor) -> bool:
        """False for one that was ended, or is gone and has a successor."""
        return self._actors.get(actor.number) is actor

    def _look(self, seconds: float) -> None:
        """Wait so long for one call to be done, and see to it."""
        if not self._calls:
            time.sleep(seconds)
            return
        done, _ = self._ray.wait(list(self._calls), num_returns=1, timeout=seconds)
        for call in done:
            actor = self._calls.pop(call)
            if not self._is_there(actor):
                continue
            try:
                letters: list[bytes] | None = self._ray.get(call)
            except self._ray.exceptions.RayError as error:
                _raise_if_ours(error)
                self._arrived.append((actor, Gone(_reason(error))))
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
        """See `Transport.close`: some time for their `Stop` to arrive, then by force."""
        if not self._blueprint:
            return
        with suppress(self._ray.exceptions.RayError):  # The run has ended. What Ray says now must not hide its result.
            self._wait([call for call, to in self._calls.items() if to.heard and call != to.taking], _SECONDS_TO_STOP)
        for number in list(self._actors):
            with suppress(self._ray.exceptions.RayError):
                self.end(number)
        with suppress(self._ray.exceptions.RayError):
            self._wait(list(self._calls), _SECONDS_TO_END)  # A call fails when its actor is known to be dead.
        self._calls, self._blueprint = {}, []
        self._arrived.clear()
        self._leave()

    def _wait(self, calls: list[Any], seconds: float) -> None:
        """Wait for calls, if there is a head: without one, no call is known to have failed."""
        if calls and self._head and self._head.answers:
            self._ray.wait(calls, num_returns=len(calls), timeout=seconds, fetch_local=False)

    def _leave(self) -> None:
        if self._head:
            self._head.close()
        if self._ours:
            shut_down(self._ray)
            _set_mode(self._ray, self._mode)


def _put(ray: Any, node: Node) -> Any:
    """All that a node is made of, in the object store of the driver's machine; or an error if it cannot be sent."""
    try:
        return ray.put(node)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(
            "the learner, the rule or the stream cannot be sent to another machine",
            why=str(error).strip().partition("\n")[0],
            remedy="use engine 'threads', or classes without open files or locks in them",
        ) from error


def _raise_if_ours(error: Any) -> None:
    """An error that every node would make as well is the end of the run."""
    if "failed to import on the worker" in str(error) or getattr(error, "actor_init_failed", False):
        raise _not_startable(str(error)) from error
    if "owner has died" in str(error):
        raise ClusterLostError(
            "the Ray cluster has given up this machine",
            why="the head could not reach it for some time, or its Ray process died, and all nodes were ended",
            remedy="run 'ray start --address=HOST:PORT' here again and resume the run file",
        ) from error
    cause = getattr(error, "cause", None)
    if isinstance(cause, BaseException):
        raise cause from error


_ENDS = {
    "killed by `ray.kill`": "it was ended by 'ray.kill'",
    "low on memory": "its machine ran out of memory",
    "node has died": "its machine is gone",
    "process has died": "its process died",
    "unavailable": "it cannot be reached",
    "nschedulable": "no machine can take it",
}
"""What Ray says when an actor is lost, among ids and RPC codes, in our words. The first that fits is taken."""


def _reason(error: Any) -> str:
    said = str(error)
    return next((reason for words, reason in _ENDS.items() if words in said), "Ray has lost it")


# Coming to a cluster -------------------------------------------------------------------------------------------------

_PROBE = """
import logging, socket, sys, traceback
address, host, port = sys.argv[1:]
try:
    if host:
        socket.create_connection((host, int(port)), 3).close()
    import ray
    ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False)
except BaseException:
    print(traceback.format_exc())
    sys.exit(1)
"""
_PROBE_SETTINGS = {
    "RAY_gcs_rpc_server_connect_timeout_s": "1",
    "RAY_py_gcs_connect_timeout_s": "3",
    "RAY_gcs_server_port_wait_time_s": "1",
    "RAY_gcs_server_request_timeout_seconds": "4",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
}
"""Seconds, of which Ray's own add up to many minutes; and what `_undisturbed` does to addresses."""
_START = (
    "start one with 'ray start --head' and give the address that it prints, or give none to have one on this machine"
)
_REASONS = {
    "AuthenticationError": (
        "it wants a token, and was shown none or another",
        "set RAY_AUTH_MODE=token, with the cluster's token in ~/.ray/auth_token",
    ),
    "No node info found": (
        "this machine is not part of it",
        "run on a machine of the cluster, or make this one part of it with 'ray start --address=HOST:PORT'",
    ),
    "Version mismatch": ("it has another version of Ray or Python", "install the same versions on every machine"),
    "gaierror": ("its host is not known", "look for a slip in the name"),
    "Connection refused": ("nobody listens there", _START),
    "timed out": ("nobody answers there", _START),
    "GCS": ("something listens there, but it does not answer as Ray does", _START),
    "Could not find any running Ray": ("none is running", _START),
}
"""What Ray or the system says, in our words."""


def _connect(ray: Any, address: str | None, nodes: int) -> None:
    """Join the cluster, or start one."""
    if address is None:
        # "local", or Ray would join any cluster that it finds. Cores are only counted: one for each node, there or not.
        options = {"num_cpus": max(nodes, os.cpu_count() or 1), "include_dashboard": False}
        _init(ray, "local", _node_ip_address="127.0.0.1", **options)
    else:
        _set_mode(ray, _probe(address))
        _init(ray, address)


def _init(ray: Any, address: str, **options: Any) -> None:
    try:
        with _undisturbed(ray), patient_with_the_head():
            ray.init(address, **_QUIET, **options)
    except Exception as error:
        raise ClusterError(
            f"Ray could not be started or joined ({address})",
            why=str(error).strip().partition("\n")[0],
            remedy="look into /tmp/ray/session_latest/logs, or use engine 'processes'",
        ) from error


def _set_mode(ray: Any, mode: str | None) -> None:
    """Whether this program shows and wants tokens. Ray turns them on by itself, and never off; and it remembers both.

    A driver must be in the mode of its cluster. If only the driver wants tokens, the cluster takes it for dead.
    """
    os.environ.pop(_MODE, None)
    os.environ.update({_MODE: mode} if mode else {})
    tokens = getattr(ray._raylet, "AuthenticationTokenLoader", None)
    if tokens:  # Older Rays have none.
        ray._raylet.Config.initialize("")
        tokens.instance().reset_cache()


def _host_and_port(address: str) -> tuple[str, str]:
    """Both empty for "auto"."""
    if address == "auto":
        return "", ""
    if "://" in address:
        raise ClusterError(
            f"'{address}' is not an address that engine 'ray' can join",
            why="the driver takes part in the cluster, and is not a client of it",
            remedy="run on a machine of the cluster, and give HOST:PORT as 'ray start' prints it, or 'auto'",
        )
    host, _, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isdecimal() or not 0 < int(port) < 1 << 16:
        raise ClusterError(
            f"'{address}' is not the address of a Ray cluster",
            why="it is not HOST:PORT with a port between 1 and 65535",
            remedy="give it as 'ray start' prints it, like 10.0.0.1:6379, or 'auto' on a machine of the cluster",
        )
    return host, port


def _probe(address: str) -> str:
    """Find out whether the cluster can be joined, in which mode; or an error, soon.

    A cluster of this machine may be shown the user's token. At an address that was given, only who asks for that does.
    """
    host, port = _host_and_port(address)
    end = time.monotonic() + _SECONDS_TO_JOIN
    unasked = ["disabled", "token"] if address == "auto" else ["disabled"]
    said = ""
    for mode in [os.environ[_MODE]] if _MODE in os.environ else unasked:
        said = _try(address, host, port, mode, end - time.monotonic())
        if not said:
            return mode
        if "AuthenticationError" not in said:
            break
    raise _not_joined(address, said)


def _try(address: str, host: str, port: str, mode: str, seconds: float) -> str:
    """In a process of its own: Ray retries for minutes, writes to the terminal, and may end the process."""
    try:
        tried = subprocess.run(
            [sys.executable, "-c", _PROBE, address, host, port],
            env={**os.environ, **_PROBE_SETTINGS, _MODE: mode},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            timeout=max(0.0, seconds),
        )
    except subprocess.TimeoutExpired:
        return f"it did not answer for {_SECONDS_TO_JOIN:.0f} s"
    return tried.stdout or "it says nothing" if tried.returncode else ""


def _not_joined(address: str, said: str) -> ClusterError:
    known = [reason for words, reason in _REASONS.items() if words in said]
    why, remedy = known[0] if known else (said.strip().rpartition("\n")[2], _START)
    where = "on this machine (auto)" if address == "auto" else f"at {address}"
    return ClusterError(f"no Ray cluster could be joined {where}", why=why, remedy=remedy)


@contextmanager
def _undisturbed(ray: Any) -> Generator[None]:
    """Ray warns of its own future, and takes SIGTERM for itself: a handler that was there before is put back.

    Two of its habits cannot be turned off. It takes a loopback address for the machine's outer one, and so would listen
    to everybody; and it prints to standard output when an actor dies, which `Gone` says as well.
    """
    before = signal.getsignal(signal.SIGTERM)
    constants, messages = ray._private.ray_constants, ray._private.worker
    try:
        with (
            warnings.catch_warnings(),
            _replaced(constants, "ENABLE_RAY_CLUSTER", False),
            _replaced(messages, "listen_error_messages", _ignore),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        if callable(before) and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


def _ignore(*_: object) -> None:
    pass


@contextmanager
def _replaced(module: Any, name: str, value: Any) -> Generator[None]:
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)
