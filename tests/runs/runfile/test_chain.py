from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from making import run_spec
from paraactive.data.events import NodeTimes, Round
from paraactive.data.examples import Place
from paraactive.runs.runfile import RunFile, seals
from paraactive.runs.runfile.chain import find_broken_seal, read_links, replace_rows, round_row, seal_all
from paraactive.runs.runfile.entries import EntryTable
from paraactive.runs.runfile.stored import StoredEntries
from runs.runfile.rounds import a_round, some_selected


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A closed run file of four rounds, with two snapshots."""
    path = tmp_path / "run.db"
    with RunFile.create(path, run_spec(seed=7)) as file:
        for number in range(4):
            a_round(file, some_selected(40, number))
            file.snapshots.save(Place(file.version, file.rounds), {"alpha": np.full(50, number)}, f"digest {number}")
    return path


def test_the_row_of_a_round_has_plain_numbers() -> None:
    times = (NodeTimes(0, 0.0, 1.5, 0.0, 0.0, wait=0.5),)
    ended = Round(np.int64(3), 7, 5, 2, np.float32(0.5), 1.0, 2.0, {1: 0.25}, 4, 1, times)  # pyright: ignore[reportArgumentType]
    assert round_row(ended) == [3, 7, 5, 2, 0.5, 1.0, 2.0, '{"1": 0.25}', 4, 1, "[[0, 0.0, 1.5, 0.0, 0.0, 0.5]]"]
    assert all(type(value) in (int, float, str) for value in round_row(ended))


def test_the_links_are_hashes_of_all_that_was_before(written: Path) -> None:
    with closing(sqlite3.connect(written)) as connection:
        links = read_links(connection, has_hashes=True, rounds=4, seen=400)
        rows = connection.execute(
            "SELECT position, key, y, p, seen, version, importance, x, columns, score FROM entries ORDER BY sequence"
        ).fetchall()
    assert [(link.version, link.rounds, link.ends_round) for link in links] == [
        (40, 1, True), (80, 2, True), (120, 3, True), (160, 4, True),
    ]  # fmt: skip
    sealed, stored = seals.GENESIS, StoredEntries.from_rows(rows)
    for number, link in enumerate(links):
        sealed = seals.hash_of_link(sealed, link.header, stored.between(40 * number, 40 * (number + 1)))
        assert sealed == link.hash


def test_the_hash_of_answers_follows_each_change_of_a_row(written: Path) -> None:
    with closing(sqlite3.connect(written)) as connection:
        replace_rows(connection, "answers", [(5, 1), (6, -1)])
        replace_rows(connection, "questions", [(5, 2, "a"), (6, 3, "a")])
        replace_rows(connection, "answers", [(5, -1)])
        assert connection.execute("SELECT position, y FROM answers").fetchall() == [(5, -1), (6, -1)]
        assert find_broken_seal(connection) is None
        connection.execute("UPDATE answers SET y = 1 WHERE position = 6")
        assert find_broken_seal(connection) == "answers"
        connection.execute("UPDATE configuration SET value = '9' WHERE name = 'seed'")
        assert find_broken_seal(connection) == "configuration"


def test_a_file_is_sealed_again_after_a_change(written: Path) -> None:
    with RunFile.resume(written) as file, file.database.writing():
        before = [link.hash for link in file._end.links()]
        file.database.execute("UPDATE entries SET y = -y WHERE sequence = 100")
        seal_all(file.database.connection, file._end.links(), EntryTable(file.database).stored)
        after = [link.hash for link in file._end.links()]
    assert after[:2] == before[:2]
    assert all(new != old for new, old in zip(after[2:], before[2:], strict=True))
    with RunFile.read(written) as file:
        file.log.check()
