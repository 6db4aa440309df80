"""Where a run file is: on a file system that is read-only, or gone while the run goes on; and what a crash costs."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from disk import forked, sql
from making import run_spec, two_moons
from paraactive import Arrays, LaSVM, Model, Oracle, replay, resume, train
from paraactive.cli import app
from paraactive.data.events import Round
from paraactive.errors import InputError, RunFileError, RunFileWarning
from paraactive.runs.runfile import RunFile, configuration, creation
from paraactive.runs.runfile.log_writer import LogWriter
from paraactive.streams import Unlabelled

X, Y = two_moons(600, noise=0.15, seed=0)
NAMES = np.where(Y > 0, "up", "down")


def a_run(path: Path, **options: Any) -> None:
    train(LaSVM(gamma=2.0), Arrays(X, NAMES), warmstart=100, batch=50, nodes=1, out=path, **options)


# Read-only -------------------------------------------------------------------------------------------------------


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Callable[[], Path]]:
    """Makes the folder `disk` one that nothing can be written to, also for root."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted: list[Path] = []

    def seal() -> Path:
        if os.geteuid():
            folder.chmod(0o555)
        else:
            subprocess.run(["mount", "--bind", folder, folder], check=True)
            mounted.append(folder)
            subprocess.run(["mount", "-o", "remount,bind,ro", folder], check=True)
        return folder

    yield seal
    for each in mounted:
        subprocess.run(["umount", each], check=True)
    folder.chmod(0o755)


def test_a_finished_run_on_a_read_only_file_system_can_be_read(
    tmp_path: Path, read_only: Callable[[], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    a_run(tmp_path / "disk" / "run.db")
    path = read_only() / "run.db"
    with pytest.raises(OSError, match=r"[Rr]ead-only|[Pp]ermission"):
        (path.parent / "more").write_text("")
    assert replay(path).learner.digest() == Model.load(path).learner.digest()
    np.savez(tmp_path / "test.npz", x=X, y=NAMES)
    assert app.run(["replay", str(path)]) == 0
    assert app.run(["evaluate", str(path), str(tmp_path / "test.npz")]) == 0
    assert app.run(["report", str(path), "--out", str(tmp_path / "run.html")]) == 0
    assert app.run(["heaviest", str(path)]) == 0
    assert capsys.readouterr().err == ""
    assert (tmp_path / "run.html").stat().st_size > 10_000


def test_a_run_that_did_not_end_there_says_what_to_copy(tmp_path: Path, read_only: Callable[[], Path]) -> None:
    path = tmp_path / "disk" / "run.db"
    with RunFile.create(tmp_path / "live.db", run_spec()) as file:
        file.writer.end_round(Round(0, 5, 0, 0, 0, 0, 0))
        file.database.commit()
        for suffix in ("", "-wal"):
            shutil.copy(f"{tmp_path / 'live.db'}{suffix}", f"{path}{suffix}")
    read_only()
    with pytest.raises(RunFileError, match=r"part of it is in run\.db-wal.*copy run\.db and run\.db-wal"):
        RunFile.read(path)


# Gone while the run goes on --------------------------------------------------------------------------------------


def _removed(path: Path) -> None:
    path.unlink()


def _replaced(path: Path) -> None:
    other = path.with_name("other")
    shutil.copy(path, other)
    os.replace(other, path)


def _truncated(path: Path) -> None:
    os.truncate(path, 0)


def _without_journal(path: Path) -> None:
    path.with_name(path.name + "-wal").unlink()


def _short_journal(path: Path) -> None:
    os.truncate(path.with_name(path.name + "-wal"), 5000)


@pytest.mark.parametrize(
    ("loss", "said"),
    [
        (_removed, "run.db was removed"),
        (_replaced, "another run.db was put in its place"),
        (_truncated, "run.db was cut short"),
        (_without_journal, "run.db-wal was removed"),
        (_short_journal, "run.db-wal was cut short"),
    ],
)
def test_a_run_whose_file_is_lost_ends_with_an_error_that_says_so(
    loss: Callable[[Path], None], said: str, tmp_path: Path
) -> None:
    path = tmp_path / "run.db"

    def lose(event: object) -> None:
        if isinstance(event, Round) and event.number == 3:
            loss(path)

    with pytest.raises(RunFileError, match=said):
        a_run(path, observers=[lose], snapshot_seconds=0)  # Each round is committed.


# Which crash -----------------------------------------------------------------------------------------------------


def _traced(file: RunFile) -> list[str]:
    said: list[str] = []
    file.database.connection.set_trace_callback(said.append)
    return said


def _safety_of(said: list[str], statement: str) -> list[str]:
    """SQLite's setting whenever such a statement was committed."""
    setting, pending, found = "NORMAL", False, list[str]()
    for each in said:
        if each.startswith("PRAGMA synchronous = "):
            setting = each.rpartition(" ")[2]
        pending = pending or each.startswith(statement)
        if each.startswith("COMMIT") and pending:
            found.append(setting)
            pending = False
    return found


@pytest.mark.parametrize("durability", ["process", "power"])
def test_questions_and_answers_always_survive_a_loss_of_power(durability: str, tmp_path: Path) -> None:
    with RunFile.create(tmp_path / "run.db", run_spec(durability=durability)) as file:
        said = _traced(file)
        file.questions.record_answers(np.array([3]), [1])
        file.questions.record_answers(np.array([4]), [None])
        file.write_spec(run_spec(nodes=3))
    assert _safety_of(said, "INSERT OR REPLACE INTO answers") == ["FULL", "FULL"]
    after = [each for each in said if each.startswith("PRAGMA synchronous")][-1]
    assert after.endswith({"process": "NORMAL", "power": "FULL"}[durability])


@pytest.mark.parametrize(("durability", "setting"), [("process", 1), ("power", 2)])
def test_the_durability_that_is_asked_for_is_what_sqlite_is_told_also_after_a_resume(
    durability: str, setting: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings: list[int] = []
    end_round = LogWriter.end_round

    def spy(writer: LogWriter, ended: Round) -> Round:
        settings.append(writer._database.fetch_one("PRAGMA synchronous")[0])
        return end_round(writer, ended)

    monkeypatch.setattr(LogWriter, "end_round", spy)
    a_run(tmp_path / "run.db", durability=durability, examples=300)
    resume(tmp_path / "run.db", stream=Arrays(X, NAMES), examples=600)
    assert len(settings) >= 11
    assert set(settings) == {setting}


def test_an_unknown_durability_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no durability 'nuclear'.*process, power"):
        a_run(tmp_path / "run.db", durability="nuclear")
    assert not (tmp_path / "run.db").exists()


def test_answers_that_were_changed_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    stream = Unlabelled(X, ("down", "up"))
    train(
        LaSVM(gamma=2.0), stream, warmstart=50, batch=50, nodes=1, out=path,
        oracle=Oracle(lambda rows, _: NAMES[rows], budget=80),
    )  # fmt: skip
    sql(path, "UPDATE answers SET y = -y WHERE position = 7")
    with pytest.raises(RunFileError, match="the hash of its answers does not match"):
        resume(path, stream=stream, oracle=Oracle(lambda rows, _: NAMES[rows]))


def test_a_run_file_that_cannot_be_replaced_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.db"
    a_run(path)
    digest = Model.load(path).learner.digest()

    def full(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(configuration, "seal", full)
        with pytest.raises(RunFileError, match=r"cannot write .*run\.db: database or disk is full"):
            a_run(path, overwrite=True)
    assert Model.load(path).learner.digest() == digest
    assert [each.name for each in tmp_path.iterdir()] == ["run.db"]
    a_run(path, overwrite=True, examples=300)
    assert replay(path).seen == 300
    assert [each.name for each in tmp_path.iterdir()] == ["run.db"]


def test_a_run_file_that_is_being_replaced_when_the_program_dies_is_there_whole(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    a_run(path)
    digest = Model.load(path).learner.digest()
    for moment in ("_empty_journal", "_remove"):

        def die(*_: object, **__: object) -> None:
            os.kill(os.getpid(), signal.SIGKILL)

        def replace(moment: str = moment) -> None:
            setattr(creation, moment, die)
            a_run(path, overwrite=True)

        child = forked(replace)
        child.join()
        assert child.exitcode == -signal.SIGKILL
        assert Model.load(path).learner.digest() == digest
    a_run(path, overwrite=True, examples=300)
    assert [each.name for each in tmp_path.iterdir()] == ["run.db"]


def test_a_link_to_a_run_file_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link, path = tmp_path / "run.db", tmp_path / "there" / "run.db"
    a_run(path)
    link.symlink_to(path)
    a_run(link, overwrite=True, examples=300)
    assert link.is_symlink()
    assert replay(path).seen == 300


def test_a_durability_that_is_given_to_resume_is_remembered(tmp_path: Path) -> None:
    a_run(tmp_path / "run.db", examples=300)
    resume(tmp_path / "run.db", stream=Arrays(X, NAMES), examples=400, durability="power")
    with RunFile.read(tmp_path / "run.db") as run:
        assert run.spec.recording.durability == "power"


# The journal -----------------------------------------------------------------------------------------------------


def test_damage_to_the_journal_of_a_killed_run_is_said(tmp_path: Path) -> None:
    live, path = tmp_path / "live.db", tmp_path / "run.db"

    def copy(_: object) -> None:
        if live.exists():
            for suffix in ("", "-wal"):
                shutil.copy(f"{live}{suffix}", f"{path}{suffix}")

    a_run(live, snapshot_seconds=0, observers=[copy])
    data = Path(f"{path}-wal").read_bytes()
    whole = _seen(path, data)
    shorter = 0
    for where in [*range(8, 32), *range(40, len(data), len(data) // 60)]:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", RunFileWarning)
            seen = _seen(path, data[:where] + bytes([data[where] ^ 1]) + data[where + 1 :])
        if seen is not None and seen != whole:
            shorter += 1
            assert any("the journal run.db-wal is damaged" in str(each.message) for each in said), where
    assert shorter > 20


def _seen(path: Path, journal: bytes) -> int | None:
    """Examples seen, by a copy of the file with this journal; None if it is refused."""
    folder = path.parent / "copy"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    copy = Path(shutil.copy(path, folder))
    Path(f"{copy}-wal").write_bytes(journal)
    try:
        with RunFile.read(copy) as run:
            return run.seen
    except RunFileError:
        return None
