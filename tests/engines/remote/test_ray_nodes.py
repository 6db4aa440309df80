from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paraactive
from disk import seen_in, wait_until
from paraactive import Arrays, Digits, LaSVM, resume
from paraactive.data.events import Event, NodeJoined, NodeLost
from paraactive.data.examples import Doubles, Selected, Tile
from paraactive.engines import RayNodes, Remote, Simulated, blueprint
from paraactive.engines.remote.letters import Letter
from paraactive.engines.remote.messages import Fresh, Gone, Ready, ToNode
from paraactive.engines.remote.ray_nodes import _reason_of
from paraactive.errors import ClusterError, InputError, MissingExtraError, NodeWarning
from paraactive.learners import Learner
from paraactive.rules import SignedMargin
from paraactive.schedules import SCHEDULES, Engine, Plan
from paraactive.sifting.log import MemoryLog
from paraactive.sifting.node import Node
from paraactive.streams import Stream

ray: Any = import_module("ray")

_MACHINE = {"node_ip_address": "127.0.0.1", "num_cpus": 1, "object_store_memory": 80 << 20}


@pytest.fixture
def joined(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The cluster, with this program connected to it, as a user's may be."""
    monkeypatch.setattr(ray._private.ray_constants, "ENABLE_RAY_CLUSTER", False)
    ray.init(cluster.address, logging_level="ERROR", log_to_driver=False)
    yield cluster
    assert ray.is_initialized(), "a connection that was there before stays"
    ray.shutdown()


def _actors(cluster: Any, *states: str) -> list[dict[str, Any]]:
    table = cluster.global_state.actor_table(None).values()
    return [actor for actor in table if actor["ActorClassName"] == "NodeActor" and actor["State"] in states]


def _alive(cluster: Any) -> list[dict[str, Any]]:
    return _actors(cluster, "DEPENDENCIES_UNREADY", "PENDING_CREATION", "ALIVE", "RESTARTING")


@dataclass
class _Run:
    """A run by hand, with its log and what was said of its nodes."""

    plan: Plan
    learner: Learner = field(default_factory=lambda: LaSVM(gamma=0.012, gap=0.2))
    stream: Stream = field(default_factory=Digits)
    log: MemoryLog = field(default_factory=lambda: MemoryLog(keep=True))
    events: list[Event] = field(default_factory=list[Event])

    def __post_init__(self) -> None:
        self.node = Node(self.learner, SignedMargin(0.05), self.stream, seed=4)

    def simulated(self) -> Engine:
        return Simulated(self.node, self.plan.nodes)

    def on_ray(self, address: str | None = None, patience: float = 5.0) -> Remote:
        self.transport = RayNodes(blueprint(self.node), address, self.plan.nodes)
        return Remote(
            self.transport, self.node, self.plan.nodes, delay=self.plan.longest_delay, observe=self.events.append,
            patience=patience,
        )  # fmt: skip

    def go(self, engine: Engine, schedule: str, before_the_end: Callable[[], None] = lambda: None) -> dict[int, str]:
        try:
            for _ in SCHEDULES[schedule](engine, self.log, self.plan):
                pass
            before_the_end()
            return engine.finish()
        finally:
            engine.close()

    def selected(self) -> Selected:
        return Selected.concatenate([entries.selected for entries in self.log.entries])

    def joined(self, node: int) -> int:
        return sum(isinstance(event, NodeJoined) and event.node == node for event in self.events)

    def lost(self) -> list[int]:
        return [event.node for event in self.events if isinstance(event, NodeLost)]

    def when_sifting(self, node: int, position: int, action: Callable[[], None]) -> None:
        """Once, when the node has been given a tile from there on."""
        send, waiting = self.transport.send, [action]

        def watched(number: int, letter: Letter[ToNode]) -> None:
            send(number, letter)
            message = letter.message
            if waiting and number == node and isinstance(message, Fresh) and message.tile.first >= position:
                waiting.pop()()

        self.transport.send = watched


def _assert_same_log(one: _Run, other: _Run) -> None:
    a, b = one.selected(), other.selected()
    assert len(a) > 600
    for name in ("p", "seen", "version"):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name
    assert np.array_equal(a.examples.index, b.examples.index)
    assert np.array_equal(a.examples.x, b.examples.x)
    assert one.learner.digest() == other.learner.digest()


@pytest.mark.usefixtures("joined")
def test_the_log_and_all_models_are_those_of_the_simulated_engine() -> None:
    plan = Plan(2500, 400, 300, nodes=3)
    one, other = _Run(plan), _Run(plan)
    one.go(one.simulated(), "synchronous")
    digests = other.go(other.on_ray(), "synchronous")
    _assert_same_log(one, other)
    assert digests == dict.fromkeys(range(3), one.learner.digest())
    assert other.lost() == []


def test_asynchronous_replicas_agree_and_every_position_is_sifted_once(joined: Any) -> None:
    run = _Run(Plan(3000, 600, 300, nodes=3))
    digests = run.go(run.on_ray(), "asynchronous")
    assert digests == dict.fromkeys(range(3), run.learner.digest())
    assert run.log.accepted() == [Tile(300, 3000)]
    index = run.selected().examples.index
    assert len(set(index.tolist())) == len(index)


def test_a_node_that_is_killed_is_replaced_and_the_log_is_the_same(joined: Any) -> None:
    plan = Plan(2500, 400, 300, nodes=3)
    one, other = _Run(plan), _Run(plan)
    one.go(one.simulated(), "synchronous")
    engine = other.on_ray()
    other.when_sifting(1, 1000, lambda: ray.kill(other.transport._actors[1].handle))
    digests = other.go(
        engine, "synchronous", lambda: wait_until(lambda: bool(engine._receive(0.1)) or other.joined(1) == 2)
    )
    _assert_same_log(one, other)
    assert other.lost() == [1]
    assert digests == dict.fromkeys(range(3), one.learner.digest())


def _process_of(cluster: Any, run: _Run, node: int) -> int:
    """The process of a node's actor."""
    actor = _actor_id(run, node)
    (found,) = [each["Pid"] for each in _actors(cluster, "ALIVE") if each["ActorID"] == actor]
    return found


def _actor_id(run: _Run, node: int) -> str:
    handle: Any = run.transport._actors[node].handle
    return handle._actor_id.hex()


def test_a_node_whose_process_dies_is_lost_for_a_reason_in_plain_words(joined: Any) -> None:
    run = _Run(Plan(2500, 400, 300, nodes=2))
    engine = run.on_ray()
    run.when_sifting(1, 1000, lambda: os.kill(_process_of(joined, run, 1), signal.SIGKILL))
    run.go(engine, "synchronous")
    assert [event for event in run.events if isinstance(event, NodeLost)] == [NodeLost(1, "its process died")]


@pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])
def test_a_node_whose_process_is_stopped_holds_back_no_run(joined: Any, schedule: str) -> None:
    plan = Plan(2500, 400, 300, nodes=2)
    one, other = _Run(plan), _Run(plan)
    engine = other.on_ray(patience=1.0)
    stopped: list[int] = []

    def stop() -> None:
        stopped.append(_process_of(joined, other, 1))
        os.kill(stopped[0], signal.SIGSTOP)

    other.when_sifting(1, 300, stop)
    try:
        with pytest.warns(NodeWarning) as warned:
            digests = other.go(engine, schedule)
    finally:
        with suppress(ProcessLookupError):  # Ray has ended it.
            os.kill(stopped[0], signal.SIGCONT)
    assert "node 1 has not answered for 1 s; other nodes sift its portion" in str(warned[0].message)
    assert other.lost() == [1]
    assert digests == {0: other.learner.digest()}
    if schedule == "asynchronous":
        assert other.log.accepted() == [Tile(300, 2500)]
    else:
        one.go(one.simulated(), schedule)
        _assert_same_log(one, other)


def test_an_error_of_the_learner_reaches_the_driver(joined: Any) -> None:
    class Broken(LaSVM):
        def score(self, x: object) -> Doubles:  # pyright: ignore[reportIncompatibleMethodOverride]
            raise InputError("broken", why="on purpose", remedy="none")

    run = _Run(Plan(1000, 300, 300, nodes=1), learner=Broken(gamma=0.012))
    with pytest.raises(InputError, match="broken: on purpose"):
        run.go(run.on_ray(), "synchronous")


def test_a_blueprint_that_cannot_be_opened_on_a_machine_is_an_error(joined: Any) -> None:
    class Absent(Arrays):
        def __setstate__(self, state: object) -> None:
            raise ModuleNotFoundError("No module named 'only_here'")

    stream = Absent(np.zeros((400, 2), np.float32), np.resize([-1, 1], 400))
    run = _Run(Plan(400, 100, 100, nodes=1), stream=stream)
    with pytest.raises(ClusterError, match=r"No module named 'only_here'.*on every machine"):
        run.go(run.on_ray(), "synchronous")


def test_what_cannot_be_sent_is_an_error_of_the_user(joined: Any) -> None:
    class Locked(LaSVM):
        lock: object = None

    learner = Locked(gamma=0.012)
    learner.lock = threading.Lock()
    with pytest.raises(InputError, match="cannot be sent to another machine"):
        _Run(Plan(400, 100, 100, nodes=1), learner=learner).on_ray()


def test_nodes_are_spread_over_the_machines_one_too_many_waits_and_none_is_left(joined: Any) -> None:
    transport = RayNodes(_Run(Plan(3000, 600, 300, nodes=4)).node, None)
    for number in range(4):
        transport.start(number)
    try:
        ready = dict(received for _ in range(3) if (received := transport.receive(60)))
        assert list(ready.values()) == [Letter(0, Ready())] * 3
        machines = {actor["Address"]["NodeID"] for actor in _actors(joined, "ALIVE")}
        assert machines == {machine["NodeID"] for machine in ray.nodes() if machine["Alive"]}
        assert transport.receive(0.1) is None
        _assert_ctrl_c_is_heard(transport)
        (waiting,) = {*range(4)} - {*ready}
        transport.end(min(ready))
        assert transport.receive(60) == (waiting, Letter(0, Ready()))
        ray.kill(transport._actors[waiting].handle)
        assert transport.receive(60) == (waiting, Gone("it was ended by 'ray.kill'"))
    finally:
        transport.close()
    wait_until(lambda: not _alive(joined))


def _assert_ctrl_c_is_heard(transport: RayNodes) -> None:
    timer = threading.Timer(0.1, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        transport.receive(None)
    timer.join()


_SCRIPT = """
import json, sys
from paraactive import Digits, LaSVM
from paraactive.engines import RayNodes, Remote, blueprint
from paraactive.sifting.log import MemoryLog
from paraactive.sifting.node import Node
from paraactive.rules import SignedMargin
from paraactive.schedules import Plan, synchronous

class Own(LaSVM):
    "Known to this script alone."

def run(address):
    plan = Plan(1000, 400, 300, nodes=1)
    node = Node(Own(gamma=0.012), SignedMargin(0.05), Digits(), seed=4)
    engine = Remote(RayNodes(blueprint(node), address), node, 1)
    import ray
    try:
        for _ in synchronous(engine, MemoryLog(), plan):
            pass
        print("running", flush=True)
        sys.stdin.readline()
        digests, machines = engine.finish(), [machine["NodeManagerAddress"] for machine in ray.nodes()]
    finally:
        engine.close()
    print(json.dumps([digests, node.learner.digest(), machines, ray.is_initialized()]), flush=True)

for address in sys.argv[1:]:
    run(address if ":" in address else None)
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.py"
    path.write_text(_SCRIPT)
    return path


def _environment(home: Path) -> dict[str, str]:
    """As on a machine that knows nothing of Ray. Ray writes a token into the user's home."""
    return {name: value for name, value in os.environ.items() if not name.startswith("RAY_")} | {"HOME": str(home)}


def test_a_cluster_of_ones_own_is_hidden_and_gone_when_another_is_joined(
    cluster: Any, script: Path, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, str(script), "own", cluster.address],
        env=_environment(tmp_path),
        input="\n\n",
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    said = done.stdout.splitlines()
    assert said[0::2] == ["running"] * 2  # And not a word of Ray's.
    for line, count in zip(said[1::2], (1, 3), strict=True):
        digests, digest, machines, connected = json.loads(line)
        assert digests == {"0": digest}
        assert machines == ["127.0.0.1"] * count
        assert not connected


def test_when_the_driver_is_killed_ray_ends_its_nodes(cluster: Any, script: Path, tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, str(script), cluster.address],
        env=_environment(tmp_path),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as driver:
        assert driver.stdout
        try:  # It waits for a line that does not come.
            assert driver.stdout.readline() == "running\n"
            assert len(_actors(cluster, "ALIVE")) == 1
        finally:
            driver.kill()
    wait_until(lambda: not _alive(cluster))


def test_without_ray_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'paraactive\[ray\]'"):
        RayNodes(_Run(Plan(400, 100, 100, nodes=1)).node, None)


def test_a_machine_that_is_lost_takes_no_run_with_it(joined: Any) -> None:
    fourth = joined.add_node(**_MACHINE)
    run = _Run(Plan(4000, 600, 300, nodes=4))
    engine = run.on_ray()
    started = engine.begin_asynchronous()
    there = {actor["ActorID"] for actor in _actors(joined, "ALIVE") if actor["Address"]["NodeID"] == fourth.node_id}
    (lost,) = [number for number in started if _actor_id(run, number) in there]
    run.when_sifting(lost, 1500, lambda: joined.remove_node(fourth))
    digests = run.go(engine, "asynchronous")
    assert [event for event in run.events if isinstance(event, NodeLost)] == [NodeLost(lost, "its machine is gone")]
    assert digests == dict.fromkeys(sorted({*range(4)} - {lost}), run.learner.digest())
    assert run.log.accepted() == [Tile(300, 4000)]
    index = run.selected().examples.index
    assert len(set(index.tolist())) == len(index)


_LOST = ray.exceptions.ObjectReconstructionFailedError.REASON_MESSAGES


@pytest.mark.parametrize(
    "error",
    [
        ray.exceptions.ObjectLostError("00" * 28, None, ""),
        *(ray.exceptions.ObjectReconstructionFailedError("00" * 28, reason) for reason in _LOST),
    ],
)
def test_an_answer_that_is_lost_with_the_memory_of_its_machine_says_that_the_machine_is_gone(error: Exception) -> None:
    assert _reason_of(error) == "its machine is gone"


# Without a head ------------------------------------------------------------------------------------------------------

_ENDING = """
import os, signal, sys
import paraactive
from paraactive.cli import main
from paraactive.data.events import RunEnded

train, (head, sent), sys.argv[1:] = paraactive.train, map(int, sys.argv[1:3]), sys.argv[3:]

def watched(*parts, observers, **options):
    lose_head = lambda event: isinstance(event, RunEnded) and os.kill(head, sent)
    return train(*parts, observers=[*observers, lose_head], **options)

paraactive.train = watched
main()
"""
"""Our command line, with something that happens to the head as soon as the run has ended."""


@dataclass
class _Head:
    """A cluster of its own, of one machine, whose head can be lost."""

    address: str
    process: int
    """The head itself."""
    machine: int
    """Ray's process for the machine."""


@pytest.fixture
def head(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Head]:
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setenv("PYTHONPATH", str(Path(paraactive.__file__).parent.parent))
    machine = _MACHINE | {"num_cpus": 2, "include_dashboard": False}
    found = import_module("ray.cluster_utils").Cluster(initialize_head=True, head_node_args=machine)
    node = found.head_node
    process, machine = (node.all_processes[kind][0].process.pid for kind in ("gcs_server", "raylet"))
    yield _Head(found.address, process, machine)
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)  # One that is stopped would be asked in vain to end.
    node.kill_all_processes(check_alive=False, allow_graceful=False)


def _assert_no_word_of_rays(said: str) -> None:
    for word in ("gcs", "rpc", "Actor", "Error", "Traceback", "ray.io"):
        assert word not in said, said
    assert not re.search("[0-9a-f]{20}", said), said


@contextmanager
def _running(head: _Head, folder: Path) -> Generator[tuple[Path, subprocess.Popen[str]]]:
    """Our command line in the middle of a run that is too long to end by itself."""
    out = folder / "run.db"
    command = [
        sys.executable, "-m", "paraactive", "train", "digits-31v57", "--engine", "ray", "--address", head.address,
        "--nodes", "2", "--batch", "500", "--warmstart", "500", "--examples", "10000000", "--out", str(out),
    ]  # fmt: skip
    environment = _environment(folder) | {"PARAACTIVE_RAY_HEAD_SECONDS": "8"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        wait_until(lambda: seen_in(out) > 1000 or run.poll() is not None)
        try:
            yield out, run
        finally:
            run.kill()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_a_lost_head_is_one_line_with_the_command_to_resume(head: _Head, how: signal.Signals, tmp_path: Path) -> None:
    with _running(head, tmp_path) as (out, run):
        os.kill(head.process, how)
        said, errors = run.communicate(timeout=120)
    assert (run.returncode, said) == (2, ""), errors
    *_, warning, error = errors.splitlines()
    assert re.search(r"warning: the head of the Ray cluster has not answered for \d+ s", warning), errors
    assert "error: the head of the Ray cluster is lost: it has not answered for 8 s" in error
    assert error.endswith(f"paraactive resume {out}.")
    _assert_no_word_of_rays(errors)
    seen = seen_in(out)
    assert resume(out, engine="threads", stop=lambda _: True).seen > seen


def test_a_run_whose_own_machine_loses_ray_can_be_resumed(head: _Head, tmp_path: Path) -> None:
    with _running(head, tmp_path) as (out, run):
        os.kill(head.machine, signal.SIGKILL)
        said, errors = run.communicate(timeout=120)
    # Ray may end the driver, with exit code 1 and without a word, before the driver can say it.
    assert run.returncode in (1, 2), errors
    assert said == ""
    if run.returncode == 2:
        error = errors.splitlines()[-1]
        assert error.startswith("paraactive: error: the Ray cluster has given up this machine:"), errors
        assert error.endswith(f"paraactive resume {out}.")
    _assert_no_word_of_rays(errors)
    seen = seen_in(out)
    assert seen > 1000
    assert resume(out, engine="threads", stop=lambda _: True).seen > seen


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_a_head_that_is_lost_after_the_run_takes_no_summary_with_it(
    head: _Head, how: signal.Signals, tmp_path: Path
) -> None:
    out, script = tmp_path / "run.db", tmp_path / "ending.py"
    script.write_text(_ENDING)
    done = subprocess.run(
        [
            sys.executable, str(script), str(head.process), str(int(how)), "train", "digits-31v57", "--engine", "ray",
            "--address", head.address, "--nodes", "1", "--batch", "500", "--warmstart", "500", "--examples", "2000",
            "--out", str(out),
        ],
        env=_environment(tmp_path), capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert f"The run file is {out}." in done.stdout
    assert "2,000" in done.stdout
    _assert_no_word_of_rays(done.stderr)
    assert seen_in(out) == 2000
