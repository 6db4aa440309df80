"""Where a run file is: on a file system that is read-only, or gone while the run goes on; and what a crash costs."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from disk import sql
from making import two_moons
from paraactive import Arrays, LaSVM, Model, Oracle, replay, resume, train
from paraactive.cli import app
from paraactive.errors import InputError, RunFileError
from paraactive.events import Round
from paraactive.runfile import RunFile
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
    with RunFile.create(tmp_path / "live.db", {}) as file:
        file.end_round(Round(0, 5, 0, 0, 0, 0, 0))
        file.secure()
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


@pytest.mark.parametrize(
    ("loss", "said"),
    [
        (_removed, "run.db was removed"),
        (_replaced, "another run.db was put in its place"),
        (_truncated, "run.db was cut short"),
        (_without_journal, "run.db-wal was removed"),
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
        a_run(path, observers=[lose])


# Which crash -----------------------------------------------------------------------------------------------------


def _traced(file: RunFile) -> list[str]:
    said: list[str] = []
    file._database.set_trace_callback(said.append)
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
    with RunFile.create(tmp_path / "run.db", {}, durability=durability) as file:
        said = _traced(file)
        file.remember(np.array([3]), [1])
        file.remember(np.array([4]), [None])
        file.configure(nodes=3)
    assert _safety_of(said, "INSERT OR REPLACE INTO answers") == ["FULL", "FULL"]
    after = [each for each in said if each.startswith("PRAGMA synchronous")][-1]
    assert after.endswith({"process": "NORMAL", "power": "FULL"}[durability])


@pytest.mark.parametrize(("durability", "setting"), [("process", 1), ("power", 2)])
def test_the_durability_that_is_asked_for_is_what_sqlite_is_told_also_after_a_resume(
    durability: str, setting: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings: list[int] = []
    end_round = RunFile.end_round

    def spy(file: RunFile, ended: Round) -> Round:
        settings.append(file._database.execute("PRAGMA synchronous").fetchone()[0])
        return end_round(file, ended)

    monkeypatch.setattr(RunFile, "end_round", spy)
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
        raise RunFileError(f"cannot write {path}", why="disk is full", remedy="make room")

    with monkeypatch.context() as patched:
        patched.setattr(RunFile, "configure", full)
        with pytest.raises(RunFileError, match="disk is full"):
            a_run(path, overwrite=True)
    assert Model.load(path).learner.digest() == digest
    assert [each.name for each in tmp_path.iterdir()] == ["run.db"]
    a_run(path, overwrite=True, examples=300)
    assert replay(path).seen == 300
    assert [each.name for each in tmp_path.iterdir()] == ["run.db"]
