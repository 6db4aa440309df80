"""A run on disk: one SQLite file with the configuration, the log, snapshots and events. It is the durable log.

Crash recovery is SQLite's: whole rounds are committed together, so after a crash the file ends with a whole round,
and the run goes on from there. In the asynchronous schedule it is whole tiles. No pickle: states are npz bytes,
everything else numbers and JSON. Hashes (`seals`) show damage: what a model is made of is compared when it is read.
"""

from __future__ import annotations

import json
import sqlite3
import time
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext, suppress
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from paraactive.basics.state import State, pack, unpack
from paraactive.basics.validation import one_of, whole
from paraactive.data.events import Event, NodeTimes, Round
from paraactive.data.examples import Entries, Examples, Features, Ints, Place, Selected, Stretch, Tile
from paraactive.data.labels import labels_of
from paraactive.errors import InputError, RunFileLockedError, RunFileWarning
from paraactive.learners.base import Learner
from paraactive.runs.runfile import connection, seals
from paraactive.runs.runfile.chain import ROUND, find_broken_seal, read_links, replace_rows, round_row, seal, seal_all
from paraactive.runs.runfile.features import Blobs, Bytes, dense_rows, sparse_rows, to_blobs
from paraactive.runs.runfile.journal import Journal, read_journal
from paraactive.runs.runfile.lock import RunLock
from paraactive.runs.runfile.place import FilePlace
from paraactive.runs.runfile.seals import ChainCheck, Link, Stored, check_nothing
from paraactive.schedules.base import Plan
from paraactive.sifting.log import Learnt, Question, joined
from paraactive.sifting.node import as_on_a_node, relearn
from paraactive.streams.base import Stream

_COMMIT_SECONDS = 0.5
_SNAPSHOTS_KEPT = 2
_ENTRY = "position, key, y, p, seen, version, importance, x, columns"


class RunFile:
    """An open run file; a `Log` for schedules, and an observer of events.

    Get one by `RunFile.create` (a new run), `RunFile.resume` (to write on) or `RunFile.read` (only to look).
    """

    def __init__(self, path: Path, database: sqlite3.Connection, lock: RunLock | None) -> None:
        self.path = path
        self._database, self._lock = database, lock
        self._place = FilePlace(path)
        self._durability = "process"
        self._committed = self.last_snapshot_at = time.monotonic()
        self._keeps_x = True
        self._stream: Stream | None = None
        self._pending: list[tuple[Selected, Blobs, Blobs]] = []
        """Entries that are not yet part of a link of the chain."""
        self._answers: dict[int, int | None] | None = None
        self._questions: dict[int, tuple[str, int, int]] | None = None
        """Those without an answer. Both are read when they are first asked for: only this run writes them."""
        if lock:
            self._place.check()
        with self._guarded("read"):
            self.has_hashes = connection.has_hashes(database)
        self._check_whole()
        self.delays = self._count_delays()

    # Opening and closing -----------------------------------------------------------------------------------------

    @classmethod
    def create(
        cls, path: Path | str, configuration: dict[str, Any], *, overwrite: bool = False, durability: str = "process"
    ) -> RunFile:
        """A new run file with this configuration. A file that is there is kept, unless told to overwrite."""
        path = Path(path)
        connection.check_not_folder(path)
        with ExitStack() as undo:
            lock = RunLock(path)
            undo.callback(lock.release)
            connection.check_room(path, overwrite)
            with connection.replaced_by_new(path) as database:
                _configure(database, configuration)
            file = cls(path, undo.enter_context(closing(connection.connect(path, "rw"))), lock)
            file.survive(durability)
            undo.pop_all()
            return file

    @staticmethod
    def check_room(path: Path | str, overwrite: bool) -> None:
        """An error if `create` would not do it."""
        path = Path(path)
        connection.check_not_folder(path)
        RunLock(path).release()
        connection.check_room(path, overwrite)

    @classmethod
    def resume(cls, path: Path | str) -> RunFile:
        """The run file, to write on. An error if a live run holds it, or if its log is damaged anywhere.

        A file of the older format, without hashes, is given them as it is.
        """
        file = cls._open(Path(path), locked=True)
        try:
            if file.has_hashes:
                file.check_log()
            else:
                file._upgrade()
        except BaseException:
            file._abandon()
            raise
        return file

    @classmethod
    def read(cls, path: Path | str, *, thorough: bool = True) -> RunFile:
        """The run file, only to look; a live run may go on writing it.

        Not thorough: it is not read through for damage, for who looks often.
        """
        return cls._open(Path(path), locked=False, thorough=thorough)

    @classmethod
    def _open(cls, path: Path, *, locked: bool, thorough: bool = True) -> RunFile:
        connection.check_there(path)
        with ExitStack() as undo:
            lock = RunLock(path) if locked else None
            if lock:
                undo.callback(lock.release)
            journal = read_journal(path) if thorough else None
            opened = undo.enter_context(closing(connection.open_checked(path, to_write=locked, thorough=thorough)))
            opened.execute("BEGIN")  # All checks see one state of the file, also while a live run writes.
            file = cls(path, opened, lock)
            if journal:
                file._check_for_damage(journal)
            opened.rollback()
            undo.pop_all()
            return file

    @contextmanager
    def one_state(self) -> Generator[RunFile]:
        """What is read in the block is of one state of the file, whatever a live run writes meanwhile.

        The run cannot put its journal into the file meanwhile: keep the block short.
        """
        if self._lock or self._database.in_transaction:
            yield self
            return
        with self._guarded("read"):
            self._database.execute("BEGIN")
        try:
            self._check_whole()
            yield self
        finally:
            self._database.rollback()

    def _check_for_damage(self, journal: Journal) -> None:
        """Compare the hashes of the small parts; say so if there are none, or if SQLite ignores damaged commits."""
        if self.has_hashes:
            self._check_seals()
        else:
            warnings.warn(
                f"{self.path} has no hashes: an older version of paraactive wrote it, so damage to its log may go "
                "unnoticed; 'paraactive resume' adds them",
                RunFileWarning,
                stacklevel=4,
            )
        if journal.unread():
            warnings.warn(
                f"the journal {journal.path.name} is damaged: the last commits in it cannot be read, so {self.path} is "
                "read as it was before them; resume the run to learn them again",
                RunFileWarning,
                stacklevel=4,
            )

    def close(self) -> None:
        """Commit what is whole and let go of the file."""
        try:
            self._commit()
            if self._lock:
                self._place.check()
            self._empty_journal()
        finally:
            self._let_go()

    def _abandon(self) -> None:
        """Close it after a failure. Half a round may be pending; the last whole round is on disk."""
        try:
            if self._database.in_transaction:
                self._database.rollback()
            self._empty_journal()
        finally:
            self._let_go()

    def _empty_journal(self) -> None:
        """Put the journal into the file. A reader cannot do that, and one that is open now may prevent it."""
        if self._lock:
            with suppress(sqlite3.OperationalError):
                self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _let_go(self) -> None:
        self._database.close()
        if self._lock:
            self._lock.release()
        else:
            connection.tidy(self.path)

    def __enter__(self) -> RunFile:
        return self

    def __exit__(self, *failure: object) -> None:
        if failure[0] is None:
            self.close()
        else:
            self._abandon()

    # Configuration -----------------------------------------------------------------------------------------------

    @property
    def configuration(self) -> dict[str, Any]:
        """Everything that makes the run what it is."""
        with self._guarded("read"):
            rows = self._database.execute("SELECT name, value FROM configuration ORDER BY rowid").fetchall()
            return {name: json.loads(value) for name, value in rows}

    def configure(self, **values: Any) -> None:
        """Set these."""
        with self._guarded("write"):
            _configure(self._database, values)
            self._commit()

    def survive(self, durability: str) -> None:
        """Which crash a commit survives: "process" (this program is killed) or "power" (the machine loses power)."""
        self._durability = one_of("durability", durability, connection.DURABILITIES)
        self._commit()
        with self._guarded("write"):
            connection.set_durability(self._database, self._durability)

    @property
    def wanted_nodes(self) -> int:
        """How many nodes the run is to have; somebody else may have changed it while it goes on."""
        with self._guarded("read"):
            return int(json.loads(self._one("SELECT value FROM configuration WHERE name = 'nodes'")[0]))

    @staticmethod
    def want_nodes(path: Path | str, nodes: int) -> None:
        """Tell the live run that writes this file how many nodes it is to have from its next round on."""
        path = Path(path)
        connection.check_there(path)
        try:
            RunLock(path).release()
        except RunFileLockedError:
            pass
        else:
            raise InputError(
                f"no run is writing {path}",
                why="only a run that goes on has nodes",
                remedy=f"go on with it, as 'paraactive resume {path} --nodes {nodes}'",
            )
        with closing(connection.open_checked(path)) as database, connection.translated(path, "write"), database:
            known = {name: json.loads(value) for name, value in database.execute("SELECT * FROM configuration")}
            if known["schedule"] != "asynchronous":
                raise InputError(
                    f"the run in {path} is {known['schedule']}",
                    why="nodes come and go only in the asynchronous schedule",
                    remedy=f"stop it, and 'paraactive resume {path} --nodes {nodes}'",
                )
            Plan(known["examples"], known["batch"], known["warmstart"], nodes, delay=known["delay"])
            database.execute("UPDATE configuration SET value = ? WHERE name = 'nodes'", (json.dumps(nodes),))
            seal(database, "configuration")

    def use_stream(self, stream: Stream) -> None:
        """The stream of the run. If it can make features again, the entries do without them."""
        self._stream, self._keeps_x = stream, not stream.regenerates

    # The log -----------------------------------------------------------------------------------------------------

    def append(self, selected: Selected) -> Entries:
        """Give these their places and write them; they are durable from the next commit on."""
        entries = Entries(self.version, selected)
        examples = selected.examples
        values, columns = to_blobs(examples.x) if self._keeps_x else ([None] * len(entries), [None] * len(entries))
        rows = zip(
            entries.sequence.tolist(), examples.index.tolist(), examples.key.tolist(), examples.y.tolist(),
            selected.p.tolist(), selected.seen.tolist(), selected.version.tolist(), examples.importance.tolist(),
            values, columns, strict=True,
        )  # fmt: skip
        with self._guarded("write"):
            self._database.executemany("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        self.version = entries.last
        self._pending.append((selected, values, columns))
        if self.rounds:
            self.delays.update(entries.entry_lag.tolist())
        return entries

    def end_round(self, ended: Round) -> Round:
        """What was appended since the last call is one round, and may be committed."""
        row = round_row(ended)
        with self._guarded("write"):
            self._database.execute(
                f"INSERT INTO rounds ({ROUND}, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*row, self._extend_chain(row)),
            )
        self.rounds, self.seen, self.round_version = self.rounds + 1, ended.seen, ended.version
        if time.monotonic() - self._committed > _COMMIT_SECONDS:
            self._commit()
        return ended

    def accept(self, tile: Tile, selected: Selected, ended: Round | None) -> Entries:
        """See `Log.accept`: all of it is committed."""
        entries = self.append(selected)
        self.seen += tile.last - tile.first
        row = [*map(int, tile), self.seen, self.version]
        with self._guarded("write"):
            self._database.execute(
                "INSERT INTO tiles (first, last, seen, version, hash) VALUES (?, ?, ?, ?, ?)",
                (*row, self._extend_chain(row)),
            )
        if ended:
            self.end_round(ended)
        self._commit()
        return entries

    def accepted(self) -> list[Tile]:
        """See `Log.accepted`."""
        with self._guarded("read"):
            return joined(Tile(*row) for row in self._database.execute("SELECT first, last FROM tiles"))

    def unlearnt(self, place: Place) -> list[Stretch]:
        """See `Log.unlearnt`."""
        return list(self.stretches(place, self._stream))

    def stretches(self, place: Place, stream: Stream | None, rounds: int | None = None) -> Iterator[Stretch]:
        """The log from a place on, round by round, up to this many rounds in all; then what comes after the last."""
        version, check = place.version, self._chain_check(place)
        for ended in self.ended_rounds(place.rounds):
            if ended.number >= (self.rounds if rounds is None else min(rounds, self.rounds)):
                break
            stored = self._stored(version, ended.version)
            check(stored, ended.number)
            yield Stretch(Entries(version, self._selected(stored, stream)), ended.number, ended.seen)
            version = ended.version
        if version < self.version and rounds is None:
            stored = self._stored(version, self.version)
            check(stored, None)
            entries = Entries(version, self._selected(stored, stream))
            yield Stretch(entries, self.rounds, self.seen, ends_round=False)

    def drop_short_round(self, plan: Plan, per_round: int | None = None) -> None:
        """Forget the last round if it was cut short by the end of the run, so that a longer run is as if never ended.

        What was learnt in it is learnt again, in the whole round. A round that ended because it had asked for
        `per_round` labels is whole.
        """
        rounds = list(self.ended_rounds())
        if not rounds:
            return
        before = rounds[-2] if len(rounds) > 1 else None
        whole = plan.warmstart if before is None else before.seen + plan.batch
        if rounds[-1].seen >= whole:
            return
        if before and per_round and self._answered_between(before.seen, rounds[-1].seen) >= per_round:
            return
        self._go_back(rounds[-1].number)

    def correct(self, position: int, y: int | None) -> None:
        """Change the label that an oracle told for this position; None skips it.

        If it was learned, the log keeps its selection, with the label changed, and the models after it are forgotten.
        If it was skipped before, or is skipped now, the log ends before the round that saw it.
        """
        rounds = list(self.ended_rounds())
        number = next((ended.number for ended in rounds if ended.seen > position), None)
        with self._guarded("write"), self._surviving_power_loss():
            replace_rows(self._database, "answers", [(position, y)])
            if number is not None:
                changed = 0
                if y is not None:
                    statement = "UPDATE entries SET y = ? WHERE position = ?"
                    changed = self._database.execute(statement, (y, position)).rowcount
                self._forget_models(rounds, number)
                if changed:
                    seal_all(self._database, self._links(), self._stored)
                else:
                    self._forget_rounds(rounds, number)
        self._answers = self._questions = None
        self._check_whole()

    def _go_back(self, number: int) -> None:
        """Forget the rounds from this number on."""
        rounds = list(self.ended_rounds())
        with self._guarded("write"):
            self._forget_models(rounds, number)
            self._forget_rounds(rounds, number)
        self._commit()
        self._check_whole()

    def _forget_rounds(self, rounds: list[Round], number: int) -> None:
        version = rounds[number - 1].version if number else 0
        self._database.execute("DELETE FROM entries WHERE sequence >= ?", (version,))
        self._database.execute("DELETE FROM rounds WHERE number >= ?", (number,))

    def _forget_models(self, rounds: list[Round], number: int) -> None:
        """Those after so many rounds, and what was said of them: a replay would compare with it."""
        self._database.execute("DELETE FROM snapshots WHERE rounds > ?", (number,))
        self._database.execute(
            "DELETE FROM events WHERE kind IN ('SnapshotTaken', 'Evaluated', 'RunEnded') "
            "AND json_extract(payload, '$.seen') > ?",
            (rounds[number - 1].seen if number else 0,),
        )

    def ended_rounds(self, first: int = 0) -> Iterator[Round]:
        """The rounds from number `first` on."""
        with self._guarded("read"):
            rows = self._database.execute(f"SELECT {ROUND} FROM rounds WHERE number >= ? ORDER BY number", (first,))
            for *numbers, elapsed, scored, lowered, nodes in rows.fetchall():
                seconds = {int(k): each for k, each in json.loads(elapsed).items()}
                times = tuple(NodeTimes(*each) for each in json.loads(nodes))
                yield Round(*numbers, elapsed=seconds, scored=scored, lowered=lowered, nodes=times)

    def tiles_sifted(self) -> list[tuple[int, int | None]]:
        """Of each tile: examples seen after it, and those behind the model that sifted it; None if nobody knows."""
        with self._guarded("read"):
            return self._database.execute(
                "WITH tile AS (SELECT number, seen, version, "
                "lag(version, 1, (SELECT version FROM rounds WHERE number = 0)) OVER (ORDER BY number) AS before "
                "FROM tiles) "
                "SELECT seen, (SELECT min(seen) FROM entries WHERE sequence >= before AND sequence < tile.version) "
                "FROM tile ORDER BY number"
            ).fetchall()

    def learnt(self) -> Learnt:
        """See `Log.learnt`."""
        with self._guarded("read"):
            rows = self._database.execute("SELECT key, p, importance FROM entries ORDER BY sequence").fetchall()
        key, p, importance = zip(*rows, strict=True) if rows else ((), (), ())
        p = np.array(p, np.float64)
        return Learnt(np.array(key, np.int64), p, np.array(importance, np.float64) / p)

    def heaviest(self, count: int = 10) -> list[dict[str, Any]]:
        """The entries that were learnt with the largest weights, the heaviest first; all of them but the features."""
        names = ("sequence", "position", "key", "y", "p", "weight")
        learner = self.configuration.get("learner", {})
        cap, by_class = learner.get("cap"), learner.get("class_weight") or []
        labels = labels_of(np.arange(len(by_class)), len(by_class)).tolist()
        bound: list[Any] = [each for pair in zip(labels, by_class, strict=True) for each in pair]
        weight = "importance / p" + " * iif(y = ?, ?, 1)" * len(by_class)
        if cap is not None:
            weight, bound = f"min({weight}, ?)", [*bound, cap]
        with self._guarded("read"):
            rows = self._database.execute(
                f"SELECT sequence, position, key, y, p, {weight} AS weight FROM entries "
                "ORDER BY weight DESC, sequence LIMIT ?",
                (*bound, whole("count", count, 0)),
            ).fetchall()
        return [dict(zip(names, row, strict=True)) for row in rows]

    def positions(self) -> list[int]:
        """Of all entries, in order."""
        with self._guarded("read"):
            return [
                position for (position,) in self._database.execute("SELECT position FROM entries ORDER BY sequence")
            ]

    # What an oracle was asked and said ---------------------------------------------------------------------------

    def answers(self) -> dict[int, int | None]:
        """See `oracle.Answers`."""
        if self._answers is None:
            with self._guarded("read"):
                self._answers = dict(self._database.execute("SELECT position, y FROM answers"))
        return self._answers

    def questions(self) -> list[Question]:
        """See `oracle.Answers`."""
        if not self.has_hashes:
            return []
        if self._questions is None:
            with self._guarded("read"):
                rows = self._database.execute(
                    "SELECT batch, position, key FROM questions WHERE position NOT IN (SELECT position FROM answers) "
                    "ORDER BY position"
                )
                self._questions = {row[1]: row for row in rows}
        return Question.grouped(self._questions.values())

    def asked(self) -> dict[int, int]:
        """The row of the user's data for each position that was ever asked for, answered or not."""
        with self._guarded("read"):
            return dict(self._database.execute("SELECT position, key FROM questions")) if self.has_hashes else {}

    def ask(self, question: Question) -> None:
        """See `oracle.Answers`: it is on disk before anybody is asked, and survives a loss of power."""
        rows = list(zip(question.position.tolist(), question.key.tolist(), strict=True))
        with self._guarded("write"), self._surviving_power_loss():
            replace_rows(self._database, "questions", [(*row, question.batch) for row in rows])
        if self._questions is not None:
            self._questions.update({position: (question.batch, position, key) for position, key in rows})

    def remember(self, index: Ints, y: Sequence[int | None]) -> None:
        """See `oracle.Answers`: they are on disk, whatever becomes of the round, and survive a loss of power."""
        rows = list(zip(index.tolist(), y, strict=True))
        with self._guarded("write"), self._surviving_power_loss():
            replace_rows(self._database, "answers", rows)
        self.answers().update(rows)
        for position, _ in rows:
            (self._questions or {}).pop(position, None)

    def secure(self) -> None:
        """See `oracle.Answers`."""
        self._commit()

    @contextmanager
    def _surviving_power_loss(self) -> Generator[None]:
        """What is written in the block is committed together, and on the disk after it."""
        self._commit()
        connection.set_durability(self._database, "power")
        try:
            yield
            self._commit()
        finally:
            if self._database.in_transaction:
                self._database.rollback()
            connection.set_durability(self._database, self._durability)

    def _answered_between(self, first: int, last: int) -> int:
        with self._guarded("read"):
            return self._one("SELECT count(*) FROM answers WHERE position >= ? AND position < ?", first, last)[0]

    # Entries -----------------------------------------------------------------------------------------------------

    @property
    def needs_stream(self) -> bool:
        """True if entries lie in the file without their features, for the stream to make again."""
        with self._guarded("read"):
            row = self._database.execute("SELECT x IS NULL FROM entries LIMIT 1").fetchone()
        return row is not None and bool(row[0])

    def entries(self, first: int, last: int, stream: Stream | None) -> Entries:
        """The entries first <= sequence < last; the stream makes the features that the file does not hold."""
        return Entries(first, self._selected(self._stored(first, last), stream))

    def _stored(self, first: int, last: int) -> Stored:
        with self._guarded("read"):
            rows = self._database.execute(
                f"SELECT {_ENTRY} FROM entries WHERE sequence >= ? AND sequence < ? ORDER BY sequence", (first, last)
            ).fetchall()
            if len(rows) != last - first:
                raise connection.damaged(
                    self.path, f"{last - first - len(rows)} of the entries {first} to {last - 1} are not there"
                )
            return Stored.of_rows(rows)

    def _selected(self, stored: Stored, stream: Stream | None) -> Selected:
        if not len(stored.position):
            return Selected.empty(0)
        features = self._features(stored.position, stored.values, stored.columns, stream)
        examples = Examples(features, stored.y, stored.position, stored.key, stored.importance)
        return Selected(examples, stored.p, stored.seen, stored.version)

    def _features(self, index: Ints, values: Bytes, columns: Bytes, stream: Stream | None) -> Features:
        """Of one reading all are made by the stream, all are dense or all are sparse."""
        if stream is not None and values.is_null:
            made = stream.at(index).x
            if len(made) != len(index):
                raise InputError(
                    f"the stream gave {len(made)} rows for {len(index)} positions",
                    why="each position is one example",
                    remedy="correct its method at; paraactive.checks.check_stream tries it",
                )
            return made
        return dense_rows(values) if columns.is_null else sparse_rows(values, columns, self.configuration["width"])

    # Snapshots and events ----------------------------------------------------------------------------------------

    def snapshot(self, place: Place, state: State, digest: str) -> None:
        """Keep the whole model as it is at this place of the log; the oldest snapshots go."""
        packed = pack(state)
        with self._guarded("write"):
            self._database.execute(
                "INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?)",
                (*place, digest, packed, seals.of_snapshot(place, digest, packed)),
            )
            self._database.execute(
                "DELETE FROM snapshots WHERE version NOT IN (SELECT version FROM snapshots ORDER BY version DESC "
                f"LIMIT {_SNAPSHOTS_KEPT})"
            )
        self._commit()
        self.last_snapshot_at = time.monotonic()

    def snapshots(self, rounds: int | None = None) -> Iterator[tuple[Place, str, State]]:
        """(place, digest, state) of the whole snapshots after at most so many rounds, the newest first.

        A damaged one is left out, with a warning: the log has all that it had.
        """
        columns = "version, rounds, digest, state" + (", hash" if self.has_hashes else "")
        with self._guarded("read"):
            rows = self._database.execute(
                f"SELECT {columns} FROM snapshots WHERE rounds <= ? ORDER BY version DESC",
                (self.rounds if rounds is None else rounds,),
            ).fetchall()
        for version, ended, digest, packed, *known in rows:
            place = Place(version, ended)
            if known and known[0] != seals.of_snapshot(place, digest, packed):
                self._warn_of_snapshot(place, "its hash does not match")
                continue
            try:
                state = unpack(packed)
            except InputError as error:
                self._warn_of_snapshot(place, error.why)
                continue
            yield place, digest, state

    def _warn_of_snapshot(self, place: Place, why: str) -> None:
        warnings.warn(
            f"the snapshot in {self.path} after {place.version} entries is damaged ({why}); it is not used, and the "
            "model is rebuilt from the log",
            RunFileWarning,
            stacklevel=4,
        )

    def snapshot_sizes(self) -> list[tuple[int, int]]:
        """(entries, bytes) of the snapshots that are kept, oldest first."""
        with self._guarded("read"):
            return self._database.execute("SELECT version, length(state) FROM snapshots ORDER BY version").fetchall()

    def load_snapshot(self, learner: Learner, rounds: int | None = None) -> Place:
        """Give a new learner the newest snapshot after at most so many rounds. Returns its place in the log.

        The learner's digest must be the one that was written down.
        """
        for place, digest, state in self.snapshots(rounds):
            learner.load(state)
            if learner.digest() != digest:
                raise connection.damaged(
                    self.path, f"its snapshot after {place.version} entries gives another model than the run had"
                )
            return place
        return Place(0, 0)

    def learn_on(self, learner: Learner, place: Place, stream: Stream | None, rounds: int | None = None) -> Place:
        """Let a learner at this place learn the log from there, up to so many rounds. Returns where it then is."""
        with as_on_a_node():
            for stretch in self.stretches(place, stream, rounds):
                relearn(learner, stretch)
                place = stretch.ends
        return place

    def observe(self, event: Event) -> None:
        """Write an event down. Rounds have a table of their own."""
        if isinstance(event, Round):
            return
        with self._guarded("write"):
            self._database.execute(
                "INSERT INTO events (time, kind, payload) VALUES (?, ?, ?)",
                (time.time(), type(event).__name__, json.dumps(asdict(event))),
            )

    def events(self, kind: str) -> list[dict[str, Any]]:
        """The events of one kind, oldest first."""
        with self._guarded("read"):
            rows = self._database.execute("SELECT payload FROM events WHERE kind = ? ORDER BY id", (kind,)).fetchall()
            return [json.loads(payload) for (payload,) in rows]

    # Hashes ------------------------------------------------------------------------------------------------------

    def check_log(self) -> None:
        """Compare the hashes of the whole log with what is in the file; an error if something was changed."""
        check, version = self._chain_check(Place(0, 0)), 0
        for ended in self.ended_rounds():
            check(self._stored(version, ended.version), ended.number)
            version = ended.version
        check(self._stored(version, self.version), None)

    def _extend_chain(self, header: list[Any]) -> bytes:
        """A link with all entries that no other link has."""
        stored = Stored.of_rows([])
        if len(self._pending) == 1:
            stored = Stored.of(*self._pending[0])
        elif self._pending:
            selected, values, columns = zip(*self._pending, strict=True)
            stored = Stored.of(Selected.concatenate(selected), [*chain(*values)], [*chain(*columns)])
        self._hash, self._pending = seals.extended(self._hash, header, stored), []
        return self._hash

    def _chain_check(self, place: Place) -> Callable[[Stored, int | None], None]:
        return ChainCheck(self.path, self._links(), place).follow if self.has_hashes else check_nothing

    def _links(self) -> list[Link]:
        with self._guarded("read"):
            return read_links(self._database, self.has_hashes, self.rounds, self.seen)

    def _check_seals(self) -> None:
        """The configuration and the answers are what was written."""
        with self._guarded("read"):
            part = find_broken_seal(self._database)
        if part:
            raise connection.damaged(self.path, f"the hash of its {part} does not match")

    def _upgrade(self) -> None:
        """Give a file of the older format its hashes, for what is in it now."""
        links = self._links()
        with self._guarded("write"):
            connection.upgrade(self._database)
            seal_all(self._database, links, self._stored)
        self.has_hashes = True
        self._commit()
        self._check_whole()

    # SQLite ------------------------------------------------------------------------------------------------------

    def _commit(self) -> None:
        if self._database.in_transaction:
            with self._guarded("write"):
                self._place.check()
                self._database.commit()
        self._committed = time.monotonic()

    def _check_whole(self) -> None:
        """The log has no gap and ends where its last round ends."""
        with self._guarded("read"):
            count, self.version, tiled, tiles_seen, self.round_version, self.rounds, last, seen = self._one(
                "SELECT (SELECT count(*) FROM entries), (SELECT coalesce(max(sequence) + 1, 0) FROM entries), "
                "(SELECT coalesce(max(version), 0) FROM tiles), (SELECT coalesce(max(seen), 0) FROM tiles), "
                "coalesce(max(version), 0), count(*), coalesce(max(number) + 1, 0), coalesce(max(seen), 0) FROM rounds"
            )
            taken, after = self._one("SELECT coalesce(max(version), 0), coalesce(max(rounds), 0) FROM snapshots")
        self.seen, ended = max(seen, tiles_seen), max(self.round_version, tiled)
        if count != self.version:
            raise connection.damaged(self.path, f"it misses {self.version - count} of its {self.version} entries")
        if self.version != ended:
            raise connection.damaged(self.path, f"it has {count} entries where its rounds say {ended}")
        if last != self.rounds:
            raise connection.damaged(self.path, f"it has {self.rounds} rounds where the last is number {last - 1}")
        if taken > self.version or after > self.rounds:
            raise connection.damaged(self.path, f"it has a snapshot after {taken} entries, beyond the end of its log")
        links = self._links() if self._lock else []  # Only who writes goes on with the chain.
        self._hash = (links[-1].hash or b"") if links else seals.GENESIS

    def _one(self, statement: str, *values: Any) -> tuple[Any, ...]:
        return self._database.execute(statement, values).fetchone()

    def _count_delays(self) -> Counter[int]:
        """The delays of all entries after the warmstart."""
        with self._guarded("read"):
            rows = self._database.execute(
                "SELECT sequence - version, count(*) FROM entries "
                "WHERE sequence >= (SELECT version FROM rounds WHERE number = 0) GROUP BY sequence - version"
            )
            return Counter(dict(rows))

    def understood(self) -> AbstractContextManager[None]:
        """A context in which what the file says is used: what makes no sense is an error about the file."""
        return connection.understood(self.path)

    @contextmanager
    def _guarded(self, doing: str) -> Generator[None]:
        with connection.translated(self.path, doing), self.understood() if doing == "read" else nullcontext():
            yield


def _configure(database: sqlite3.Connection, values: dict[str, Any]) -> None:
    rows = [(name, json.dumps(value, default=_plain)) for name, value in values.items()]
    database.executemany("INSERT OR REPLACE INTO configuration VALUES (?, ?)", rows)
    seal(database, "configuration")


def _plain(value: Any) -> Any:
    """A numpy number as a plain one, for JSON."""
    return value.item()
