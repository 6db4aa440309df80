"""Damaged model files and run files, made from a seed, and what must come of reading them.

Reading ends in the model that was written, or in one of our errors: never in another model, another exception or a
hang. The tests try a sample. All of it: `python tests/damage.py --cases 3000`.
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import sqlite3
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from making import two_moons
from paraactive import Arrays, Digits, LaSVM, Model, Network, Oracle, replay, resume, train
from paraactive.data.examples import SparseRows
from paraactive.errors import ParaActiveError, RunFileWarning
from paraactive.learners import Learner
from paraactive.runs.runfile import RunFile
from paraactive.streams import Stream, Unlabelled

X, Y = two_moons(500, noise=0.2, seed=0)
NAMES = np.where(Y > 0, "upper", "lower")
_PATIENCE = 60
"""Seconds after which reading a file of this size is a hang."""


class Subject:
    """A file, and the model that reading it must give."""

    def __init__(self, name: str, path: Path, stream: Stream | None = None, oracle: Oracle | None = None) -> None:
        self.name, self.path, self.stream, self.oracle = name, path, stream, oracle
        self.journal = path.with_name(path.name + "-wal")
        self.expected = self.load(path)
        self.earlier: set[str] = set()
        """The models of earlier commits: SQLite reads a journal up to its damage, and we say so."""

    def ways(self) -> dict[str, Callable[[Path], str]]:
        """How it is read. Each way tells what the model is known by."""
        if self.path.suffix == ".model":
            return {"load": self.load}
        return {"load": self.load, "replay": self.replay, "resume": self.resume}

    def load(self, path: Path) -> str:
        model = Model.load(path)
        return _known_by(model.learner, model.classes)

    def replay(self, path: Path) -> str:
        with RunFile.read(path) as file:
            classes = file.spec.data.classes
        return _known_by(replay(path).learner, classes)

    def resume(self, path: Path) -> str:
        run = resume(path, stream=self.stream, oracle=self.oracle)
        with RunFile.read(path) as file:
            return _known_by(run.learner, file.spec.data.classes)


def _known_by(learner: Learner, classes: tuple[str, ...]) -> str:
    return f"{learner.digest()} {classes}"


def subjects(folder: Path) -> list[Subject]:
    """Files of all kinds: ended, killed before the first snapshot, and with a journal beside them."""
    streams: dict[str, Stream] = {
        "svm": Arrays(X, NAMES),
        "sparse": Arrays(SparseRows.of(np.where(np.abs(X) < 0.3, 0, X).astype(np.float32)), NAMES),
        "network": Arrays(X, NAMES),
        "digits": Digits(),
        "asynchronous": Arrays(X, NAMES),
    }
    found: list[Subject] = []
    for name, stream in streams.items():
        learner: Learner = Network(hidden=8) if name == "network" else LaSVM(gamma=1.0, gap=0.2)
        schedule = "asynchronous" if name == "asynchronous" else "synchronous"
        ended, killed = folder / f"{name}.db", folder / f"{name}-killed.db"
        sizes: dict[str, Any] = {"warmstart": 60, "batch": 60, "nodes": 1, "schedule": schedule, "examples": 300}
        train(learner, stream, out=ended, **sizes)
        shutil.copy(ended, killed)
        with closing(sqlite3.connect(killed)) as database, database:
            database.execute("DELETE FROM snapshots")
        found += [Subject(name, ended, stream), Subject(f"{name}, killed", killed, stream)]
        Model.load(ended).save(folder / f"{name}.model")
        found.append(Subject(f"{name} model", folder / f"{name}.model"))
    found += [_answered(folder), _with_journal(folder)]
    return found


def _answered(folder: Path) -> Subject:
    path, stream, oracle = folder / "oracle.db", Unlabelled(X, ("lower", "upper")), Oracle(_true, budget=90)
    train(LaSVM(gamma=1.0, gap=0.2), stream, warmstart=50, batch=50, nodes=1, out=path, oracle=oracle)
    return Subject("oracle", path, stream, oracle)


def _true(rows: Any, _: Any) -> Any:
    return NAMES[rows]


def _with_journal(folder: Path) -> Subject:
    """A copy of a run file and its journal, as they are when a run is killed."""
    path, live = folder / "journal.db", folder / "live.db"
    stream = Arrays(X, NAMES)

    earlier = {_known_by(LaSVM(gamma=1.0, classes=2), tuple(stream.classes))}

    def copy(_: object) -> None:
        if live.exists():
            for suffix in ("", "-wal"):
                shutil.copy(f"{live}{suffix}", f"{path}{suffix}")
            with suppress(ParaActiveError):  # At the very beginning nothing is learned yet.
                earlier.add(_known_by(Model.load(live).learner, tuple(stream.classes)))

    train(LaSVM(gamma=1.0), stream, warmstart=60, batch=60, nodes=1, out=live, snapshot_seconds=0, observers=[copy])
    subject = Subject("journal", _settled(path, folder), stream)
    subject.path, subject.journal = path, path.with_name(path.name + "-wal")
    subject.earlier = earlier
    subject.ways = lambda: {"load": subject.load, "replay": subject.replay}
    return subject


def _settled(path: Path, folder: Path) -> Path:
    """Another copy, which may be opened: that puts the journal into the file."""
    other = folder / "settled.db"
    for suffix in ("", "-wal"):
        shutil.copy(f"{path}{suffix}", f"{other}{suffix}")
    return other


def spoiled(data: bytes, chance: random.Random) -> bytes:
    """The bytes with one kind of damage that disks, networks and people do."""
    where, size = chance.randrange(len(data)), chance.choice([1, 1, 1, 2, 4, 16, 512])
    other = chance.randrange(len(data))
    return chance.choice(
        [
            lambda: _put(data, where, bytes([data[where] ^ 1 << chance.randrange(8)])),
            lambda: _put(data, where, chance.randbytes(size)),
            lambda: _put(data, where, bytes(size)),
            lambda: _put(data, where, b"\xff" * size),
            lambda: _put(data, where, data[other : other + size]),
            lambda: data[:where],
            lambda: data[:where] + data[where + size :],
            lambda: data[:where] + chance.randbytes(size) + data[where:],
        ]
    )()


def _put(data: bytes, where: int, part: bytes) -> bytes:
    return data[:where] + part[: len(data) - where] + data[where + len(part) :]


def change_a_cell(path: Path, chance: random.Random) -> None:
    """Change one value of one row of one table, as a program would that opens the file by mistake."""
    with closing(sqlite3.connect(path)) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        table = chance.choice(tables)
        columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
        column = chance.choice(columns)
        rows = database.execute(f"SELECT rowid, {column} FROM {table}").fetchall()
        if not rows:
            return
        row, value = chance.choice(rows)
        try:
            with database:
                statement = f"UPDATE {table} SET {column} = ? WHERE rowid = ?"
                database.execute(statement, (_another(value, chance), row))
        except sqlite3.IntegrityError:
            pass  # SQLite itself does not let it in.


def _another(value: Any, chance: random.Random) -> Any:
    if isinstance(value, bytes):
        return spoiled(value or b"\0", chance)
    if isinstance(value, str):
        return spoiled(value.encode() or b"0", chance).decode(errors="replace")
    if isinstance(value, int | float):
        return chance.choice([value + 1, -value, value * 2, 0, 2**62])
    return chance.choice([0, "0", b""])


@contextmanager
def _in_time() -> Generator[None]:
    def late(*_: object) -> None:
        raise TimeoutError(f"nothing came of it in {_PATIENCE} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(_PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def try_case(subject: Subject, number: int, folder: Path) -> Counter[str]:
    """Damage a copy of the file by this number, read it in all ways, and count what came of it."""
    outcomes: Counter[str] = Counter()
    for way, read in subject.ways().items():
        chance = random.Random(f"{subject.name} {number}")
        copy = folder / subject.path.name
        for suffix in ("", "-wal", "-shm", ".lock"):
            copy.with_name(copy.name + suffix).unlink(missing_ok=True)
        shutil.copy(subject.path, copy)
        if subject.journal.exists():
            shutil.copy(subject.journal, copy.with_name(subject.journal.name))
        is_cut = False
        if copy.suffix == ".db" and not subject.journal.exists() and chance.random() < 0.4:
            change_a_cell(copy, chance)
        else:
            journal = subject.journal.exists() and chance.random() < 0.7
            target = copy.with_name(subject.journal.name) if journal else copy
            whole = target.read_bytes()
            target.write_bytes(spoiled(whole, chance))
            # A journal that is cut off is that of a run killed earlier.
            is_cut = journal and whole.startswith(target.read_bytes())
        outcomes[_outcome(way, read, copy, subject, is_cut)] += 1
    return outcomes


def _outcome(way: str, read: Callable[[Path], str], path: Path, subject: Subject, is_cut: bool) -> str:
    try:
        with warnings.catch_warnings(record=True) as said, _in_time():
            warnings.simplefilter("always", RunFileWarning)
            found = read(path)
        if found == subject.expected:
            return f"{way}: the right model"
        if found in subject.earlier and (is_cut or any("journal" in str(each.message) for each in said)):
            return f"{way}: that of an earlier commit, with a warning"
        return f"WRONG MODEL by {way}"
    except ParaActiveError as error:
        return f"{way}: an error of ours" if "\n" not in str(error) else f"TWO LINES by {way}: {error}"
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        where = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__.upper()} by {way}: {error} ({Path(where.filename).name}:{where.lineno})"


def bad(outcomes: Counter[str]) -> list[str]:
    """Those that must not be."""
    return [each for each in outcomes if not each.endswith(("the right model", "an error of ours", "with a warning"))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=3000, help="of models, and again of run files")
    options = parser.parse_args()
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "copies").mkdir()
        every = subjects(folder)
        for kind, chosen in (
            ("models", [each for each in every if each.path.suffix == ".model"]),
            ("run files", [each for each in every if each.path.suffix != ".model"]),
        ):
            total: Counter[str] = Counter()
            for number in range(options.cases):
                subject = chosen[number % len(chosen)]
                outcomes = try_case(subject, number, folder / "copies")
                for each in bad(outcomes):
                    print(f"{subject.name}, case {number}: {each}", flush=True)
                total += outcomes
            wrong = sum(total[each] for each in bad(total))
            print(f"{options.cases} damaged {kind}, {wrong} bad outcomes, {time.monotonic() - start:.0f} s")
            for outcome, count in total.most_common():
                print(f"  {count:6} {outcome}", flush=True)


if __name__ == "__main__":
    main()
