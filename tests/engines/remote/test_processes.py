"""Nodes as processes: they compute what the simulated engine computes, and nothing of them is left."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Generator
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from disk import forked, log_of, seen_in, sql, wait_until
from making import columns_of, two_moons
from paraactive import Arrays, Digits, LaSVM, Network, replay, resume, train
from paraactive.basics.coins import coins
from paraactive.cli import app
from paraactive.data.events import Event, NodeJoined, Round
from paraactive.data.examples import Selected
from paraactive.engines import ENGINES, Placement, Processes
from paraactive.errors import InputError, NodesLostError
from paraactive.learners import Learner
from paraactive.rules import Gradient, Rule, SignedMargin
from paraactive.runs.run import Run
from paraactive.schedules import SCHEDULES, Plan
from paraactive.sifting.log import MemoryLog
from paraactive.sifting.node import Node
from paraactive.streams import Stream
from strange import (
    Elsewhere,
    Failing,
    Measuring,
    Steady,
    Summing,
    TroubleError,
    is_running_node,
    library_threads,
    nodes_of,
    nothing_left,
)

X, Y = two_moons(10_000, noise=0.3, seed=0)
"""Large enough to be shared instead of copied."""
BATCH: dict[str, Any] = {"batch": 200, "warmstart": 200}


def moons(**options: Any) -> Arrays:
    return Arrays(X, Y, **options)


@pytest.fixture(autouse=True)
def nothing_is_left() -> Generator[None]:
    """After every test here, whether its run ended well or not: no process, no thread, no pipe, no memory."""
    with nothing_left():
        yield


# The same log --------------------------------------------------------------------------------------------------


def log_on(engine: str, kind: str, path: Path, schedule: str, updates: str, nodes: int) -> tuple[Selected, set[str]]:
    """The whole log, and the digests of all replicas."""
    parts: dict[str, tuple[Learner, Rule, Stream]] = {
        "svm": (LaSVM(gamma=0.012, gap=0.2), SignedMargin(), Digits()),
        "network": (Network(hidden=8), Gradient(), Arrays.load(path)),
    }
    learner, rule, stream = parts[kind]
    log, plan = MemoryLog(keep=True), Plan(1500, 250, 250, nodes)
    placement = Placement(engine, updates)
    host = ENGINES[engine](Node(learner, rule, stream, seed=4), plan, placement, lambda _: None)
    try:
        for _ in SCHEDULES[schedule](host, log, plan):
            pass
        digests = host.finish()
    finally:
        host.close()
    assert len(digests) == (nodes if engine == "processes" else 1)
    return Selected.concatenate([entries.selected for entries in log.entries]), {learner.digest(), *digests.values()}


@pytest.mark.parametrize(
    ("kind", "schedule", "updates", "nodes"),
    [
        ("svm", "synchronous", "auto", 1),
        ("network", "synchronous", "replicated", 3),
        ("svm", "synchronous", "central", 3),
    ],
)
def test_the_log_and_the_model_are_those_of_the_simulated_engine(
    kind: str, schedule: str, updates: str, nodes: int, tmp_path: Path
):
    path = tmp_path / "moons.npz"
    np.savez(path, x=X[:2000], y=Y[:2000])
    one, digests = log_on("processes", kind, path, schedule, updates, nodes)
    other, expected = log_on("simulated", kind, path, schedule, updates, nodes)
    assert columns_of(one) == columns_of(other)
    assert digests == expected
    assert len(digests) == 1
    assert 300 < len(one) < 1500


# One core for each node ----------------------------------------------------------------------------------------


class Watched:
    """A run of two nodes, and what could be seen of it from outside."""

    def __init__(self, folder: Path) -> None:
        library_threads()  # Loads what it asks.
        self.before = library_threads()
        self.during: list[dict[str, int]] = []
        self.maps: dict[int, str] = {}
        train(
            Measuring(folder), moons(), examples=1000, nodes=2, engine="processes", updates="replicated",
            observers=[self._look], **BATCH,
        )  # fmt: skip
        self.after = library_threads()
        self.on_nodes = {path.stem: path.read_text() for path in folder.iterdir()}

    def _look(self, event: Event) -> None:
        if isinstance(event, Round):
            self.during.append(library_threads())
            self.maps |= {node: Path(f"/proc/{node}/maps").read_text() for node in nodes_of(os.getpid())}


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Watched:
    return Watched(tmp_path_factory.mktemp("watched"))


def test_a_node_computes_with_one_thread(watched: Watched):
    doing = Counter(name.split("-")[0] for name in watched.on_nodes)
    assert doing == {"score": 2, "update": 2}
    for measured in watched.on_nodes.values():
        threads = re.findall(r": (\d+)", measured)
        assert len(threads) >= 2, "BLAS and numba"
        assert set(threads) == {"1"}


def test_the_driver_keeps_the_threads_of_its_libraries(watched: Watched):
    assert len(watched.during) == 5
    for measured in (*watched.during, watched.after):
        assert measured == watched.before


def test_all_replicas_are_equal_though_the_driver_has_more_threads_than_they(tmp_path: Path):
    learner = Summing(tmp_path)
    run = train(
        learner, moons(), rule=Steady(), examples=200, batch=20, warmstart=20, nodes=2, engine="processes",
        updates="replicated",
    )  # fmt: skip
    assert set(run.replicas.values()) == {learner.digest()}
    assert len(run.replicas) == 2


def test_nodes_map_the_arrays_of_the_stream_and_have_no_copy(watched: Watched):
    assert len(watched.maps) == 2
    for maps in watched.maps.values():
        (line,) = [line for line in maps.splitlines() if "memfd:paraactive" in line]
        span, access, *_ = line.split()
        first, last = (int(address, 16) for address in span.split("-"))
        assert X.nbytes <= last - first < X.nbytes + 2 * 4096
        assert access == "r--s", "to be read, and shared"


def test_a_stream_from_a_file_travels_as_its_path(tmp_path: Path):
    np.savez(tmp_path / "moons.npz", x=X, y=Y)
    for stream, travels in ((moons(), False), (Arrays.load(tmp_path / "moons.npz"), True)):
        transport = Processes(Node(Network(hidden=8), Gradient(), stream, seed=0))
        assert (transport._blueprint.size == 0) == travels
        assert (str(tmp_path / "moons.npz").encode() in transport._blueprint.data) == travels
        assert len(transport._blueprint.data) < len(Y) + 2000
        transport.close()


# What cannot be sent -------------------------------------------------------------------------------------------


def test_a_learner_that_cannot_be_pickled_is_refused_before_anything_is_started(tmp_path: Path):
    class Local(Elsewhere):
        """Nobody can import it."""

    holding = Elsewhere(tmp_path)
    holding.calls = {"score": threading.Lock()}  # pyright: ignore[reportAttributeAccessIssue]
    for learner, why in ((Local(tmp_path), "local object"), (holding, "cannot pickle '_thread.lock' object")):
        with pytest.raises(InputError, match=rf"cannot be sent to another process: .*{why}.*; use engine 'threads'"):
            train(learner, moons(), engine="processes", nodes=2)


def test_a_learner_of_a_notebook_is_refused_before_anything_is_started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    class Cell(Elsewhere):
        """As a notebook would define it."""

    Cell.__module__, Cell.__qualname__ = "__main__", "Cell"
    notebook = ModuleType("__main__")
    notebook.__dict__["Cell"] = Cell
    monkeypatch.setitem(sys.modules, "__main__", notebook)
    with pytest.raises(InputError, match=r"defined in a notebook or an interactive session: .*; put it into a module"):
        train(Cell(tmp_path), moons(), engine="processes", nodes=2)


# Scripts -------------------------------------------------------------------------------------------------------

DEFINED = """
import sys
import numpy as np
from paraactive import Arrays, Network, train

class OwnError(Exception):
    pass

class Own(Network):
    def score(self, x):
        if len(x) == 77:
            raise OwnError("77 of them")
        return super().score(x)

x = np.random.default_rng(0).normal(size=(1000, 2))
y = x[:, 0] > x[:, 1]

def main(batch):
    run = train(LEARNER(hidden=8), Arrays(x, y), examples=400, batch=batch, warmstart=100, nodes=1, engine="processes")
    print("seen", run.seen, len(run.replicas), list(run.replicas.values()) == [run.learner.digest()])
"""
GUARDED = """
if __name__ == "__main__":
    main(100)
    try:
        main(77)
    except OwnError as error:
        print("error:", error)
"""
SCRIPTS = {
    "guarded": DEFINED.replace("LEARNER", "Own") + GUARDED,
    "unguarded": DEFINED.replace("LEARNER", "Own") + "main(100)\n",
    "plain": DEFINED.replace("LEARNER", "Network") + "main(100)\n",
}


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, subprocess.CompletedProcess[str]]:
    """What came of each script; they run at the same time."""
    folder = tmp_path_factory.mktemp("scripts")
    (folder / "package").mkdir()
    (folder / "package" / "__init__.py").write_text("")
    (folder / "package" / "other.py").write_text("from paraactive import Network as Base\n")
    module = SCRIPTS["guarded"].replace("class Own(Network)", "from .other import Base\nclass Own(Base)")
    (folder / "package" / "module.py").write_text(module)
    for name, text in SCRIPTS.items():
        (folder / f"{name}.py").write_text(text)
    commands = {name: [f"{name}.py"] for name in SCRIPTS} | {"module": ["-m", "package.module"]}
    started = {
        name: subprocess.Popen(
            [sys.executable, *command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for name, command in commands.items()
    }
    said = {name: script.communicate(timeout=120) for name, script in started.items()}
    return {
        name: subprocess.CompletedProcess(script.args, script.returncode, *said[name])
        for name, script in started.items()
    }


@pytest.mark.parametrize("name", ["guarded", "module"])
def test_a_learner_and_its_errors_may_be_defined_in_a_script_that_guards_its_run(
    name: str, scripts: dict[str, subprocess.CompletedProcess[str]]
):
    assert scripts[name].stderr == ""
    assert scripts[name].stdout == "seen 400 1 True\nerror: 77 of them\n"


def test_a_script_that_defines_a_learner_and_does_not_guard_its_run_is_told_to(
    scripts: dict[str, subprocess.CompletedProcess[str]],
):
    ended = scripts["unguarded"]
    assert (ended.returncode, ended.stdout) == (1, "")
    said = ended.stderr.splitlines()[-1]
    assert "unguarded.py starts a run when a node reads it: a learner, rule or stream is defined in it" in said
    assert "put the run under 'if __name__ == \"__main__\":'" in said


def test_a_script_without_parts_of_its_own_needs_no_guard(scripts: dict[str, subprocess.CompletedProcess[str]]):
    assert (scripts["plain"].stderr, scripts["plain"].stdout) == ("", "seen 400 1 True\n")


# Errors and ends -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])
def test_an_error_of_a_node_is_the_callers(schedule: str, tmp_path: Path):
    with pytest.raises(TroubleError, match=r"^of a node$"):
        train(Failing(tmp_path), moons(), engine="processes", nodes=2, schedule=schedule, **BATCH)


def test_an_error_that_cannot_be_sent_comes_in_its_words(tmp_path: Path):
    with pytest.raises(NodesLostError, match=r"a node failed with TroubleError: <unlocked _thread.lock object"):
        train(Failing(tmp_path, "unsendable"), moons(), engine="processes", nodes=1, **BATCH)


def test_a_node_that_says_what_cannot_be_read_is_lost_and_nobody_waits_for_it(tmp_path: Path):
    said = r"started 3 times without success \(its message cannot be read: it is unreadable\)"
    with pytest.raises(NodesLostError, match=said):
        train(Failing(tmp_path, "unreadable"), moons(), engine="processes", nodes=1, **BATCH)


def test_ctrl_c_ends_the_nodes_and_says_how_to_go_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "run.db"
    command = "train digits-31v57 --engine processes --nodes 2 --examples 6144 --batch 128 --warmstart 512 --json"
    child = subprocess.Popen(
        [sys.executable, "-m", "paraactive", *command.split(), "--out", str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Where the tests run in the background, SIGINT is ignored, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    with child:
        wait_until(lambda: seen_in(path) > 512 or child.poll() is not None)
        nodes = nodes_of(child.pid)
        child.send_signal(signal.SIGINT)
        out, error = child.communicate()
    assert (child.returncode, out, len(nodes)) == (130, "", 2)
    assert not [node for node in nodes if is_running_node(node)]
    assert "Traceback" not in error
    told = re.search("Continue with: paraactive (resume .*)", error)
    assert told
    assert 512 < seen_in(path) < 6144
    assert app.run([*shlex.split(told[1]), "--json"]) == 0
    assert '"seen": 6144' in capsys.readouterr().out
    assert replay(path).seen == 6144


def test_a_stopped_node_is_one_line_on_the_command_line_and_an_event_in_the_run_file_and_in_its_report(tmp_path: Path):
    path, page = tmp_path / "run.db", tmp_path / "run.html"
    command = "train digits-31v57 --engine processes --nodes 2 --examples 6144 --batch 128 --warmstart 512 --json"
    child = subprocess.Popen(
        [sys.executable, "-m", "paraactive", *command.split(), "--out", str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with child:
        wait_until(lambda: seen_in(path) > 512 or child.poll() is not None)
        os.kill(min(nodes_of(child.pid)), signal.SIGSTOP)
        out, error = child.communicate(timeout=120)
    assert child.returncode == 0
    assert json.loads(out)["seen"] == 6144
    first, *_ = error.splitlines()
    said = r"paraactive: warning: node (\d) has not answered for \d+ s; other nodes sift its portion until it answers"
    told = re.fullmatch(said, first)
    assert told, error
    ((payload,),) = sql(path, "SELECT payload FROM events WHERE kind = 'NodeSilent'")
    assert json.loads(payload)["node"] == int(told[1])
    assert app.run(["report", str(path), "--out", str(page)]) == 0
    assert "node does not answer" in page.read_text()


def kill_driver_at(number: int, said: Path) -> Any:
    """An observer that writes down the nodes of its process and kills it, when that round has ended."""

    def observer(event: Event) -> None:
        if isinstance(event, Round) and event.number == number:
            said.write_text(" ".join(map(str, nodes_of(os.getpid()))))
            os.kill(os.getpid(), signal.SIGKILL)

    return observer


def of_coins(examples: int, seed: int = 0) -> list[int]:
    """What `Steady` selects after the warmstart of `BATCH`, and the warmstart."""
    tossed = np.arange(BATCH["warmstart"], examples)
    return [*range(BATCH["warmstart"]), *tossed[coins(seed, tossed) < Steady().rate].tolist()]


def check_asynchronous(run: Run, path: Path, examples: int) -> None:
    """Every position once, nothing selected lost or twice, and the log makes the model."""
    assert run.seen == examples
    positions = [position for (position,) in sql(path, "SELECT position FROM entries")]
    assert sorted(positions) == of_coins(examples)
    tiles = sorted(sql(path, "SELECT first, last FROM tiles"))
    assert [first for first, _ in tiles] == [BATCH["warmstart"], *(last for _, last in tiles[:-1])]
    assert tiles[-1][1] == examples
    assert replay(path).learner.digest() == run.learner.digest()
    assert set(run.replicas.values()) == {run.learner.digest()}


@pytest.mark.parametrize(("schedule", "number"), [("synchronous", 0), ("synchronous", 9), ("asynchronous", 9)])
def test_nodes_end_when_their_driver_is_killed_and_the_run_resumes(schedule: str, number: int, tmp_path: Path):
    path, said = tmp_path / "run.db", tmp_path / "nodes"
    rule = Steady() if schedule == "asynchronous" else Gradient()
    options: dict[str, Any] = {"examples": 4000, "rule": rule, "schedule": schedule, **BATCH}
    hosted: dict[str, Any] = {"engine": "processes", "nodes": 2, "out": path, "snapshot_seconds": 0.0}
    with nothing_left():
        killed = kill_driver_at(number, said)  # In round 0 the nodes are still starting.
        child = forked(lambda: train(Network(hidden=8), moons(), observers=[killed], **hosted, **options))
        child.join()
        assert child.exitcode == -signal.SIGKILL
        child.close()
        nodes = [int(node) for node in said.read_text().split()]
        assert len(nodes) == 2
        wait_until(lambda: not [node for node in nodes if is_running_node(node)])
    assert seen_in(path) < 4000
    run = resume(path, stream=moons(), rule=rule)
    assert run.engine == "processes"
    if schedule == "asynchronous":
        check_asynchronous(run, path, 4000)
    else:
        whole = train(Network(hidden=8), moons(), engine="simulated", out=tmp_path / "whole.db", **options)
        assert run.learner.digest() == whole.learner.digest()
        assert log_of(path) == log_of(tmp_path / "whole.db")


# Going on elsewhere --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])
def test_a_run_goes_on_on_other_engines_with_other_nodes(schedule: str, tmp_path: Path):
    path, rule = tmp_path / "run.db", Steady() if schedule == "asynchronous" else Gradient()
    options: dict[str, Any] = {"examples": 3000, "rule": rule, "schedule": schedule, **BATCH}
    train(Network(hidden=8), moons(), engine="threads", nodes=3, out=path, stop=lambda run: run.seen >= 1000, **options)
    resume(path, stream=moons(), rule=rule, engine="processes", nodes=2, stop=lambda run: run.seen >= 2000)
    assert 2000 <= seen_in(path) < 3000
    run = resume(path, stream=moons(), rule=rule, engine="simulated", nodes=5)
    if schedule == "asynchronous":
        check_asynchronous(run, path, 3000)
    else:
        whole = train(Network(hidden=8), moons(), engine="simulated", nodes=1, out=tmp_path / "whole.db", **options)
        assert run.learner.digest() == whole.learner.digest()
        assert log_of(path) == log_of(tmp_path / "whole.db")


def test_nodes_join_and_leave_while_an_asynchronous_run_goes_on(tmp_path: Path):
    path, joined, rounds = tmp_path / "run.db", Counter[int](), count()

    def observe(event: Event) -> None:
        if isinstance(event, NodeJoined):
            joined[event.node] += 1

    def resize(run: Run) -> int:
        """Three; when they are there, only one; and then two."""
        if not joined[2]:
            return 3
        return 1 if next(rounds) < 3 else 2

    run = train(
        Network(hidden=8), moons(passes=None), rule=Steady(), examples=10**7, nodes=1, engine="processes",
        schedule="asynchronous", out=path, observers=[observe], resize=resize, stop=lambda run: joined[1] == 2, **BATCH,
    )  # fmt: skip
    assert joined == {0: 1, 1: 2, 2: 1}
    assert run.replicas.keys() == {0, 1}
    assert set(run.replicas.values()) == {run.learner.digest()}
    assert replay(path).learner.digest() == run.learner.digest()
    told = [node for (node,) in sql(path, "SELECT payload ->> 'node' FROM events WHERE kind = 'NodeJoined'")]
    assert Counter(told) == joined
    positions = sql(path, "SELECT count(*), count(DISTINCT position) FROM entries")
    assert positions[0][0] == positions[0][1] > 400


def test_a_second_engine_can_run_beside_the_first(tmp_path: Path):
    """Two runs of one process do not hear of each other's nodes."""
    digests: list[str] = []

    def one() -> None:
        run = train(Network(hidden=8), moons(), examples=1000, nodes=1, engine="processes", **BATCH)
        digests.append(run.learner.digest())

    beside = threading.Thread(target=one)
    beside.start()
    one()
    beside.join()
    assert digests[0] == digests[1]
