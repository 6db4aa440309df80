"""Which files are opened, which are made anew, and what is said of the others."""

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
from making import run_spec, two_moons
from paraactive import Arrays, LaSVM, Model, replay, train
from paraactive.cli import app
from paraactive.data.events import Round
from paraactive.errors import RunFileError
from paraactive.runs.runfile import FORMAT, RunFile
from runs.runfile.refusals import foreign, refused, written_file

WAYS = [RunFile.read, RunFile.resume]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.db"


@pytest.fixture
def written(path: Path) -> Path:
    return written_file(path)


@pytest.mark.parametrize("way", WAYS)
def test_a_file_that_is_not_there_is_said_to_be_missing_and_not_made(way: Any, path: Path):
    refused(lambda: way(path), f"no run file {path}", "the file does not exist", "check the path")
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize("way", WAYS)
def test_a_folder_is_not_a_run_file(way: Any, tmp_path: Path):
    refused(lambda: way(tmp_path), "it is not a file")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("content", [b"seen,selected\n" * 500, b"SQLite format 3\0" + b"\0" * 2000])
def test_a_file_of_something_else_is_not_a_run_file_and_stays_as_it_is(way: Any, content: bytes, path: Path):
    path.write_bytes(content)
    refused(lambda: way(path), str(path), "not a")
    assert path.read_bytes() == content


@pytest.mark.parametrize("way", WAYS)
def test_the_sqlite_file_of_another_program_is_not_a_run_file(way: Any, path: Path):
    refused(lambda: way(foreign(path)), "is not a run file", "another program", "give a file that train wrote")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("version", [FORMAT + 1, 0, -3])
def test_a_run_file_of_another_format_names_both_formats(way: Any, version: int, written: Path):
    sql(written, f"PRAGMA user_version = {version}")
    refused(lambda: way(written), f"format {version}", f"reads the formats 4 to {FORMAT}", "the version of paraactive")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_truncated_run_file_is_damaged(way: Any, share: float, written: Path):
    os.truncate(written, int(written.stat().st_size * share))
    refused(lambda: way(written), "damaged", "restore a copy")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("place", [0.0, 0.3, 0.6, 0.9])
def test_a_flipped_region_is_noticed_when_the_file_is_opened(way: Any, place: float, written: Path):
    data = bytearray(written.read_bytes())
    first = int(len(data) * place) // 4096 * 4096  # the head of a page, where its structure is
    data[first : first + 200] = bytes(byte ^ 0xA5 for byte in data[first : first + 200])
    written.write_bytes(data)
    refused(lambda: way(written), "damaged", "restore a copy")


@pytest.mark.parametrize("way", WAYS)
def test_a_refused_file_is_let_go_of(way: Any, written: Path):
    sql(written, "PRAGMA user_version = 9")
    refused(lambda: way(written))
    sql(written, f"PRAGMA user_version = {FORMAT}")
    with way(written) as file:
        assert file.version == 3000
    assert not written.with_name("run.db.lock").exists()


def test_names_with_signs_that_mean_something_in_a_url_are_names(tmp_path: Path):
    path = tmp_path / "50% of [a] run?mode=memory#1.db"
    with RunFile.create(path, run_spec(seed=1)):
        pass
    assert path.stat().st_size > 0
    with RunFile.read(path) as file:
        assert file.spec == run_spec(seed=1)


X, Y = two_moons(600, noise=0.15, seed=0)
NAMES = np.where(Y > 0, "up", "down")


def a_run(path: Path, **options: Any) -> None:
    train(LaSVM(gamma=2.0), Arrays(X, NAMES), warmstart=100, batch=50, nodes=1, out=path, **options)


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
