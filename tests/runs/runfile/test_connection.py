"""Which files are opened, which are made anew, and what is said of the others."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from disk import forked, sql
from paraactive.data.events import Round
from paraactive.data.examples import Examples, Selected
from paraactive.errors import ParaActiveError, RunFileError
from paraactive.runs.runfile import FORMAT, RunFile, connection

WAYS = [RunFile.read, RunFile.resume]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.db"


@pytest.fixture
def written(path: Path) -> Path:
    """A run file of some hundred kB."""
    count = 3000
    index = np.arange(count)
    x = np.random.default_rng(0).normal(size=(count, 30)).astype(np.float32)
    with RunFile.create(path, {"seed": 7}) as file:
        file.append(Selected(Examples(x, np.ones(count, np.int8), index), np.ones(count), index, index))
        file.end_round(Round(0, count, count, count, 0, 0, 0))
    return path


def foreign(path: Path) -> Path:
    """A SQLite file of another program."""
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE photos (name TEXT)")
    return path


def refused(action: Callable[[], object], *words: str) -> ParaActiveError:
    """The action ends in one clear line with these words, and the line is one line."""
    with pytest.raises(RunFileError) as caught:
        action()
    said = str(caught.value)
    assert "\n" not in said
    for word in words:
        assert word in said
    return caught.value


# Refused -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_a_file_that_is_not_there_is_said_to_be_missing_and_not_made(way: Any, path: Path):
    refused(lambda: way(path), f"no run file {path}", "nothing is there", "check the path")
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
    refused(lambda: way(written), f"format {version}", f"reads the formats 4 and {FORMAT}", "the version of paraactive")


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


# Made anew, or not ---------------------------------------------------------------------------------------------


def test_a_run_file_is_not_overwritten_unasked(written: Path):
    refused(lambda: RunFile.create(written, {}), "is there already", f"paraactive resume {written}", "--overwrite")
    with RunFile.read(written) as file:
        assert file.version == 3000


def test_a_run_file_is_overwritten_on_request_whatever_its_format(written: Path):
    sql(written, "PRAGMA user_version = 9")
    with RunFile.create(written, {"seed": 8}, overwrite=True) as file:
        assert (file.version, file.configuration) == (0, {"seed": 8})


@pytest.mark.parametrize("overwrite", [False, True])
def test_what_is_not_a_run_file_is_never_overwritten(overwrite: bool, tmp_path: Path):
    thesis = tmp_path / "thesis.txt"
    thesis.write_text("my only copy\n" * 1000)
    mark = tmp_path / "mark"
    mark.write_text("x")  # SQLite takes a file of one byte for an empty one.
    photos = foreign(tmp_path / "photos.db")
    for path in (thesis, mark, photos):
        before = path.read_bytes()
        refused(lambda path=path: RunFile.create(path, {}, overwrite=overwrite), str(path))
        assert path.read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"thesis.txt", "mark", "photos.db"}


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_folder_is_never_overwritten(overwrite: bool, tmp_path: Path):
    folder = tmp_path / "folder"
    folder.mkdir()
    refused(lambda: RunFile.create(folder, {}, overwrite=overwrite), "is not a file", "another --out")
    assert folder.is_dir()


def test_a_folder_that_is_not_there_is_not_made(tmp_path: Path):
    refused(lambda: RunFile.create(tmp_path / "no" / "run.db", {}), "no such file or directory", "folder that exists")
    assert list(tmp_path.iterdir()) == []


def test_an_empty_file_is_taken(path: Path):
    path.touch()
    refused(lambda: RunFile.resume(path), "holds no run", "stopped before it began")
    with RunFile.create(path, {"seed": 1}) as file:
        assert file.configuration == {"seed": 1}


def test_the_file_of_a_run_that_was_killed_before_it_began_is_taken(path: Path):
    def begin_and_die() -> None:
        connection.create(path)  # The tables are there, but not committed.
        os.kill(os.getpid(), signal.SIGKILL)

    child = forked(begin_and_die)
    child.join()
    assert path.stat().st_size > 0
    refused(lambda: RunFile.read(path), "holds no run")
    with RunFile.create(path, {"seed": 1}) as file:
        assert file.configuration == {"seed": 1}


def test_a_run_that_was_killed_right_after_it_began_is_not_taken_for_an_empty_one(path: Path):
    def begin_and_die() -> None:
        RunFile.create(path, {"seed": 1})
        os.kill(os.getpid(), signal.SIGKILL)

    forked(begin_and_die).join()
    refused(lambda: RunFile.create(path, {}), "is there already")
    with RunFile.resume(path) as file:
        assert (file.configuration, file.rounds) == ({"seed": 1}, 0)


def test_names_with_signs_that_mean_something_in_a_url_are_names(tmp_path: Path):
    path = tmp_path / "50% of [a] run?mode=memory#1.db"
    with RunFile.create(path, {"seed": 1}):
        pass
    assert path.stat().st_size > 0
    with RunFile.read(path) as file:
        assert file.configuration == {"seed": 1}
