"""The transport of the processes engine: k nodes as processes of this machine, each with a replica and one core.

A process is started anew, not forked. So it is safe beside threads, and the user's script needs no
`if __name__ == "__main__"`. The process ends when its pipe to the driver is closed, in whatever way the driver died.
"""

from __future__ import annotations

import json
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Pipe

from paraactive.basics.threads import ONE_THREAD_ENVIRONMENT
from paraactive.engines.remote.host import Host, portable
from paraactive.engines.remote.letters import Letter
from paraactive.engines.remote.memory import SharedPickle, load_shared
from paraactive.engines.remote.messages import Failed, FromNode, Gone, ToNode
from paraactive.engines.remote.scripts import read_script, script_of
from paraactive.errors import InputError
from paraactive.sifting.node import Node

_SECONDS_TO_STOP = 3.0
_MAIN = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from paraactive.engines.remote.processes import serve_node
serve_node(*map(int, sys.argv[2:]))
"""


@dataclass
class _Child:
    """The process of a node, seen from the driver."""

    process: subprocess.Popen[bytes]
    pipe: Connection
    outbox: queue.SimpleQueue[Letter[ToNode] | None] = field(default_factory=queue.SimpleQueue["Letter[ToNode] | None"])
    threads: list[threading.Thread] = field(default_factory=list[threading.Thread])


class Processes:
    """A `Transport` with one process and one pipe for each node.

    Two threads for each node read and write its pipe, so that the driver does not wait for pipes.

    Parameters
    ----------
    node : Node
        The untrained node that each process gets.

    Raises
    ------
    InputError
        If the node cannot be pickled, or its parts are defined where another process cannot find them.
    """

    def __init__(self, node: Node) -> None:
        self._blueprint = _pickled(node)
        self._script = script_of(self._blueprint.data)
        self._children: dict[int, _Child] = {}
        self._inbox: queue.SimpleQueue[tuple[int, _Child, Letter[FromNode] | Gone]] = queue.SimpleQueue()

    def start(self, number: int) -> None:
        """See `Transport.start`."""
        ours, theirs = Pipe()
        inherited = (theirs.fileno(), self._blueprint.descriptor)
        with theirs:
            process = subprocess.Popen(
                [
                    sys.executable,
                    "-c",
                    _MAIN,
                    json.dumps(sys.path),
                    *map(str, (*inherited, self._blueprint.size, number)),
                ],
                pass_fds=inherited,
                env=os.environ | ONE_THREAD_ENVIRONMENT,
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C interrupts the driver only, which then stops its nodes.
            )
        child = self._children[number] = _Child(process, ours)
        for work in (self._read, self._write):
            thread = threading.Thread(target=work, args=(number, child), daemon=True, name=f"{work.__name__} {number}")
            child.threads.append(thread)
            thread.start()

    def _read(self, number: int, child: _Child) -> None:
        try:
            while True:
                self._inbox.put((number, child, child.pipe.recv()))
        except (EOFError, OSError):
            why = _exit_of(child.process.wait())
        except Exception as error:  # The classes of the user may raise any error when they are unpickled here.
            child.process.kill()
            why = f"its message cannot be read: {error}"
        self._inbox.put((number, child, Gone(why)))

    def _write(self, number: int, child: _Child) -> None:  # noqa: ARG002
        try:
            child.pipe.send(self._script)
            child.pipe.send_bytes(self._blueprint.data)
            while (letter := child.outbox.get()) is not None:
                child.pipe.send(letter)
        except (OSError, ValueError):
            pass  # The process has ended. The reader reports it.

    def send(self, number: int, letter: Letter[ToNode]) -> None:
        """See `Transport.send`."""
        if number in self._children:
            self._children[number].outbox.put(letter)

    def receive(self, timeout: float | None) -> tuple[int, Letter[FromNode] | Gone] | None:
        """See `Transport.receive`."""
        try:
            number, child, letter = self._inbox.get(timeout=timeout)
        except queue.Empty:
            return None
        if self._children.get(number) is not child:
            return None  # The process was ended, or is gone and was replaced.
        if isinstance(letter, Gone):
            self._let_go(self._children.pop(number))
        return number, letter

    def process_id(self, number: int) -> int:
        """Return the process id of a node.

        Parameters
        ----------
        number : int
            Number of the node.
        """
        return self._children[number].process.pid

    def end(self, number: int) -> None:
        """See `Transport.end`."""
        child = self._children.pop(number, None)
        if child:
            child.process.kill()
            self._let_go(child)

    def close(self) -> None:
        """See `Transport.close`. Processes that do not end some seconds after `Stop` are killed."""
        end = time.monotonic() + _SECONDS_TO_STOP
        for child in self._children.values():
            try:
                child.process.wait(max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                child.process.kill()  # This also ends a process that was suspended by SIGSTOP.
        for child in self._children.values():
            self._let_go(child)
        self._children = {}
        self._blueprint.close()

    def _let_go(self, child: _Child) -> None:
        try:
            child.process.wait(_SECONDS_TO_STOP)
        except subprocess.TimeoutExpired:
            return  # The system holds the process, for example on a hanging disk, and ends it as soon as it can.
        child.outbox.put(None)
        for thread in child.threads:
            if thread is not threading.current_thread():
                thread.join()
        child.pipe.close()


def serve_node(pipe: int, memory: int, size: int, number: int) -> None:
    """Run a node in this process until it is stopped.

    Parameters
    ----------
    pipe : int
        File descriptor of the pipe to the driver.
    memory : int
        File descriptor of the shared memory with the large arrays of the node.
    size : int
        Size of the shared memory in bytes.
    number : int
        Number of the node.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    connection = Connection(pipe)

    def post(letter: Letter[FromNode]) -> None:
        with suppress(OSError):  # The driver is dead, as `listen` will notice.
            connection.send(letter)

    try:
        script, data = connection.recv(), connection.recv_bytes()
    except EOFError:
        os._exit(1)
    try:
        if script:
            read_script(*script)
        node = load_shared(data, memory, size)
        assert isinstance(node, Node)
    except BaseException as error:
        post(Letter(0, Failed(portable(error))))
        os._exit(1)
    os.close(memory)
    node.number = number
    host = Host(node, post)

    def listen() -> None:
        try:
            while True:
                host.deliver(connection.recv())
        except (EOFError, OSError):
            os._exit(1)  # The driver is dead.

    threading.Thread(target=listen, daemon=True).start()
    host.serve()
    os._exit(0)  # Without waiting for the listener.


def _exit_of(code: int) -> str:
    return f"ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"


def _pickled(node: Node) -> SharedPickle:
    """Pickle a node, or raise an error if it cannot be sent."""
    try:
        return SharedPickle(node)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(
            "the learner, the rule or the stream cannot be sent to another process",
            why=str(error),
            remedy="use engine 'threads', or classes of a module without open files, locks or lambdas in them",
        ) from error
