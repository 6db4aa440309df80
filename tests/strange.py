"""Parts that behave strangely on nodes, where nodes can import them; and a look at the processes that nodes are.

A folder is where they say what happened to them.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numba
import numpy as np
from numpy.typing import ArrayLike
from threadpoolctl import threadpool_info

from paraactive import LaSVM, Network
from paraactive.basics.state import State
from paraactive.data.examples import Doubles, Ints, Selected
from paraactive.errors import InputError

_PATIENCE = 60.0


@dataclass(frozen=True)
class Steady:
    """A rule that wants a score and does not look at it: what is selected is known before the run, whoever sifts it."""

    rate: float = 0.4
    needs_labels: ClassVar[Literal[False]] = False
    needs_scores: ClassVar[bool] = True

    def probability(self, score: Doubles, seen: Ints) -> Doubles:
        return np.full(len(score), self.rate)

    def describe(self) -> dict[str, Any]:
        return {"rate": self.rate}


class Elsewhere(Network):
    """A network that knows whether it is on a node, and what it is doing there for the how-manieth time."""

    def __init__(self, folder: Path) -> None:
        super().__init__(hidden=8)
        self.folder, self.driver, self.calls = folder, os.getpid(), {"score": 0, "update": 0}

    @property
    def on_node(self) -> bool:
        return os.getpid() != self.driver

    def score(self, x: ArrayLike) -> Doubles:
        self._count("score")
        return super().score(x)

    def update(self, selected: Selected) -> None:
        self._count("update")
        super().update(selected)

    def _count(self, doing: str) -> None:
        self.calls[doing] += 1
        self.happen(doing, self.calls[doing])

    def happen(self, doing: str, calls: int) -> None:
        """What is strange about it."""


class Stuck(Elsewhere):
    """On the first node that scores or updates for the so-manieth time it never comes back, until it is killed."""

    def __init__(self, folder: Path, doing: str, calls: int) -> None:
        super().__init__(folder)
        self.moment = doing, calls

    def happen(self, doing: str, calls: int) -> None:
        if self.on_node and (doing, calls) == self.moment and claim(self.folder / "stuck"):
            time.sleep(_PATIENCE)
            raise AssertionError("nobody killed it")


class Drifting(Elsewhere):
    """One bit of one replica flips, after the so-manieth update: of the driver's, or of the first node to be there."""

    def __init__(self, folder: Path, calls: int, on_driver: bool = False) -> None:
        super().__init__(folder)
        self.moment, self.on_driver = calls, on_driver

    def happen(self, doing: str, calls: int) -> None:
        here = self.on_node != self.on_driver
        if here and doing == "update" and calls >= self.moment and claim(self.folder / "drifted"):
            self._state["bias"].view(np.uint32)[0] ^= 1 << 20


class Forgetful(Elsewhere):
    """What it loads is not what was saved: on a node there is always a bit of another."""

    def load(self, state: State) -> None:
        super().load(state)
        if self.on_node and self._state:
            self._state["bias"].view(np.uint32)[0] ^= 1 << 20


class Doomed(Elsewhere):
    """It kills the process of every node that it comes to; but for one, if one may live."""

    def __init__(self, folder: Path, lives: bool) -> None:
        super().__init__(folder)
        self.lives = lives

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self.on_node and not (self.lives and (claim(self.folder / "alive") or self._is_the_one())):
            os._exit(3)

    def _is_the_one(self) -> bool:
        return claimed(self.folder / "alive") == os.getpid()


class Refusing(LaSVM):
    """An SVM that cannot score, wherever it is."""

    def score(self, x: ArrayLike) -> Doubles:
        raise InputError("no score today", why="on purpose", remedy="none")


class TroubleError(Exception):
    """An error of the tests' own."""


class UnreadableError(TroubleError):
    """One that can be sent everywhere but home."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _read_unless_at, self.args


def _read_unless_at(home: int) -> UnreadableError:
    if os.getpid() == home:
        raise ValueError("it is unreadable")
    return UnreadableError(home)


class Failing(Elsewhere):
    """Scoring is an error on nodes: one like any other, or one that cannot be sent, or not be read."""

    def __init__(self, folder: Path, kind: str = "plain") -> None:
        super().__init__(folder)
        self.kind = kind

    def happen(self, doing: str, calls: int) -> None:
        if self.on_node and doing == "score":
            if self.kind == "unreadable":
                raise UnreadableError(self.driver)
            raise TroubleError("of a node" if self.kind == "plain" else threading.Lock())


class Measuring(Elsewhere):
    """Writes down how many threads the libraries of a node have, where it scores and where it updates."""

    def happen(self, doing: str, calls: int) -> None:
        if self.on_node:
            (self.folder / f"{doing}-{os.getpid()}.json").write_text(json.dumps(library_threads()))


class Summing(Elsewhere):
    """Each example takes a sum so long that BLAS shares it out among its threads, and each number of them rounds it in
    another way.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._row = np.random.default_rng(0).normal(size=200_000)

    def update(self, selected: Selected) -> None:
        for row in range(len(selected)):
            super().update(selected.take(slice(row, row + 1)))
            own = self._state.setdefault("own", np.zeros(1))
            own[0] = (self._row @ (self._row * (1 + own[0]))) % 1

    def load(self, state: State) -> None:
        super().load(state)
        self._state |= {name: array.copy() for name, array in state.items() if name == "own"}


def claim(path: Path) -> bool:
    """True for the first process that claims it, ever; it says which."""
    try:
        path.symlink_to(str(os.getpid()))
    except FileExistsError:
        return False
    return True


def claimed(path: Path) -> int | None:
    """The process that claimed it, if one did."""
    return int(path.readlink().name) if path.is_symlink() else None


def library_threads() -> dict[str, int]:
    """Threads of each library of this process: those that it would use from here."""
    libraries = {library["filepath"]: library["num_threads"] for library in threadpool_info()}
    return {"numba": numba.get_num_threads(), **libraries}


# Processes -------------------------------------------------------------------------------------------------------


def children_of(parent: int) -> set[int]:
    """The processes that it started and has not waited for, ended or not."""
    return {process for process in map(int, filter(str.isdigit, os.listdir("/proc"))) if _parent_of(process) == parent}


def nodes_of(driver: int) -> set[int]:
    """The processes that are nodes of this one, and alive."""
    return set(filter(is_running_node, children_of(driver)))


def is_running_node(process: int) -> bool:
    """True if there is such a process, it is a node, and it has not ended."""
    try:
        return b"serve_node" in Path(f"/proc/{process}/cmdline").read_bytes()  # Empty of one that has ended.
    except (FileNotFoundError, ProcessLookupError):
        return False


def _parent_of(process: int) -> int | None:
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return None


@contextmanager
def nothing_left(seconds: int = 150) -> Generator[None]:
    """What is done in it leaves nothing behind, and does not take for ever."""

    def complain(*_: object) -> None:
        raise AssertionError(f"it is not done after {seconds} s")

    before, handler = _things(), signal.signal(signal.SIGALRM, complain)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, handler)
    # Semaphores of other programs appear among the named memory for a moment.
    end = time.monotonic() + 10.0
    while (left := _things() - before) and time.monotonic() < end:
        time.sleep(0.01)
    assert not left, left


def _things() -> set[str]:
    """All that a run could leave behind: processes, threads, pipes, anonymous files and named memory."""
    opened = {_link(entry.path) for entry in os.scandir("/proc/self/fd")}
    return {
        *(f"child {child}" for child in children_of(os.getpid())),
        *(f"thread {thread.name} {thread.ident}" for thread in threading.enumerate()),
        *(link for link in opened if link.startswith(("socket:", "pipe:", "/memfd:"))),
        # Without Ray's, whose tests may be running at the same time.
        *(f"memory {name}" for name in os.listdir("/dev/shm") if not name.startswith(("plasma", "ray"))),
    }


def _link(path: str) -> str:
    try:
        return os.readlink(path)
    except FileNotFoundError:
        return ""


class Background(threading.Thread):
    """An action beside the test; its error is the test's."""

    def __init__(self, action: Callable[[], object]) -> None:
        super().__init__(daemon=True)
        self._action, self._error = action, list[BaseException]()
        self.start()

    def run(self) -> None:
        try:
            self._action()
        except BaseException as error:
            self._error.append(error)

    def finish(self) -> None:
        self.join(_PATIENCE)
        assert not self.is_alive()
        for error in self._error:
            raise error
