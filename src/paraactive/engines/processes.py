"""The processes engine: k nodes as processes of this machine, each with a replica and one core.

A process is started afresh, not forked: so it is safe beside threads, and needs no `if __name__ == "__main__"` in the
user's script. It notices by its pipe when the driver dies, in whatever way, and ends.
"""

from __future__ import annotations

import json
import os
import pickle
import queue
import runpy
import signal
import subprocess
import sys
import threading
import time
import types
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Pipe

from paraactive.engines.hosting import Host, portable
from paraactive.engines.letters import Letter
from paraactive.engines.memory import SharedPickle, load_shared
from paraactive.engines.messages import Failed, FromNode, Gone, ToNode
from paraactive.errors import InputError
from paraactive.sifting.node import Node

_SECONDS_TO_STOP = 3.0
_IN_NODE = "PARAACTIVE_NODE"
"""Set while a node reads the user's script, to its path."""
_AS_READ = "__mp_main__"
"""What the script is called then: multiprocessing has taught people, and pickles in the driver, that name."""
_ONE_CORE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
"""For libraries too that a node loads only when it needs them."""
_MAIN = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from paraactive.engines.processes import serve_node
serve_node(*map(int, sys.argv[2:]))
"""


@dataclass
class _Child:
    """A node's process, seen from the driver."""

    process: subprocess.Popen[bytes]
    pipe: Connection
    outbox: queue.SimpleQueue[Letter[ToNode] | None] = field(default_factory=queue.SimpleQueue["Letter[ToNode] | None"])
    threads: list[threading.Thread] = field(default_factory=list[threading.Thread])


class Processes:
    """A `Transport`: one process and two pipes' ends for each node, and two threads so that nobody blocks."""

    def __init__(self, node: Node) -> None:
        self._blueprint = _pickled(node)
        self._script = _script_of(self._blueprint.data)
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
                env=os.environ | _ONE_CORE,
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for the driver, which tells its nodes.
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
            why = _last_words(child.process.wait())
        except Exception as error:  # Whatever an object of the user's own says to being unpickled here.
            child.process.kill()
            why = f"what it says cannot be understood: {error}"
        self._inbox.put((number, child, Gone(why)))

    def _write(self, number: int, child: _Child) -> None:  # noqa: ARG002
        try:
            child.pipe.send(self._script)
            child.pipe.send_bytes(self._blueprint.data)
            while (letter := child.outbox.get()) is not None:
                child.pipe.send(letter)
        except (OSError, ValueError):
            pass  # It is gone, as its reader will find.

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
            return None  # Of one that was ended, or is gone and has a successor.
        if isinstance(letter, Gone):
            self._let_go(self._children.pop(number))
        return number, letter

    def process_id(self, number: int) -> int:
        """Of the node's process."""
        return self._children[number].process.pid

    def end(self, number: int) -> None:
        """See `Transport.end`."""
        child = self._children.pop(number, None)
        if child:
            child.process.kill()
            self._let_go(child)

    def close(self) -> None:
        """See `Transport.close`: some time after their `Stop`, then by force."""
        end = time.monotonic() + _SECONDS_TO_STOP
        for child in self._children.values():
            try:
                child.process.wait(max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                child.process.kill()  # A process that is stopped, by SIGSTOP, ends too.
        for child in self._children.values():
            self._let_go(child)
        self._children = {}
        self._blueprint.close()

    def _let_go(self, child: _Child) -> None:
        try:
            child.process.wait(_SECONDS_TO_STOP)
        except subprocess.TimeoutExpired:
            return  # The system holds it, as on a disk that hangs; it ends by itself as soon as the system lets it.
        child.outbox.put(None)
        for thread in child.threads:
            if thread is not threading.current_thread():
                thread.join()
        child.pipe.close()


def serve_node(pipe: int, memory: int, size: int, number: int) -> None:
    """The life of a node's process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    connection = Connection(pipe)

    def post(letter: Letter[FromNode]) -> None:
        with suppress(OSError):  # A driver that is dead does not hear it; `listen` will notice.
            connection.send(letter)

    try:
        script, data = connection.recv(), connection.recv_bytes()
    except EOFError:
        os._exit(1)
    try:
        if script:
            _read_script(*script)
        node = load_shared(data, memory, size)
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
            os._exit(1)  # The driver is dead: nobody wants what this node is doing.

    threading.Thread(target=listen, daemon=True).start()
    host.serve()
    os._exit(0)  # Without waiting for the listener.


def _last_words(code: int) -> str:
    return f"ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"


def _pickled(node: Node) -> SharedPickle:
    """All that a node is made of, or an error if it cannot be sent."""
    try:
        return SharedPickle(node)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(
            "the learner, the rule or the stream cannot be sent to another process",
            why=str(error),
            remedy="use engine 'threads', or classes of a module without open files, locks or lambdas in them",
        ) from error


def _script_of(data: bytes) -> tuple[str | None, str] | None:
    """The user's script, if parts are defined in it: a node must read it to know them. Its name, if it is a module."""
    if b"__main__" not in data and _AS_READ.encode() not in data:
        return None
    main = sys.modules["__main__"]
    path = os.environ.get(_IN_NODE)
    if path is not None:
        raise InputError(
            f"{path} starts a run when a node reads it",
            why="a learner, rule or stream is defined in it, so each node must read it",
            remedy="put the run under 'if __name__ == \"__main__\":', or the class into a module of its own",
        )
    path = getattr(main, "__file__", None)
    if path is None:
        raise InputError(
            "a learner, rule or stream is defined in a notebook or an interactive session",
            why="another process cannot find its class there",
            remedy="put it into a module of its own and import it, or use engine 'threads'",
        )
    spec = getattr(main, "__spec__", None)
    return spec.name if spec else None, str(path)


def _read_script(name: str | None, path: str) -> None:
    """Make what the user's script defines known under the name that pickles use."""
    os.environ[_IN_NODE] = path
    module = types.ModuleType("__main__")
    read = runpy.run_module(name, run_name=_AS_READ) if name else runpy.run_path(path, run_name=_AS_READ)
    module.__dict__.update(read)
    sys.modules["__main__"] = sys.modules[_AS_READ] = module
