"""Read, compare and write the hashes of `seals` in the tables of a run file."""

from __future__ import annotations

import json
import sqlite3
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import astuple

from paraactive.data.events import Round
from paraactive.data.examples import Place
from paraactive.runs.runfile import seals
from paraactive.runs.runfile.seals import Link
from paraactive.runs.runfile.stored import SQLValue, StoredEntries

ROUND = "number, seen, version, selected, fetch_seconds, sift_seconds, update_seconds, elapsed, scored, lowered, nodes"
"""The columns of a round that its hash covers."""
_PARTS = ("configuration", "answers")


def round_row(ended: Round) -> list[SQLValue]:
    """Convert a round to its row: plain numbers, whose hash is the same when they are read again.

    Parameters
    ----------
    ended : Round
        The round.

    Returns
    -------
    list of SQLValue
        The values of the columns `ROUND`.
    """
    counts = [int(each) for each in (ended.number, ended.seen, ended.version, ended.selected)]
    seconds = [float(each) for each in (ended.fetch_seconds, ended.sift_seconds, ended.update_seconds)]
    nodes = json.dumps([list(astuple(each)) for each in ended.nodes])
    return [*counts, *seconds, json.dumps(ended.elapsed), int(ended.scored), int(ended.lowered), nodes]


def read_links(connection: sqlite3.Connection, has_hashes: bool, rounds: int, seen: int) -> list[Link]:
    """Read the chain. A round may end with a tile or without one.

    Parameters
    ----------
    connection : sqlite3.Connection
        Connection to the run file.
    has_hashes : bool
        Whether the format of the file has hashes.
    rounds : int
        Number of rounds to read.
    seen : int
        Number of examples seen up to the last tile to read.

    Returns
    -------
    list of Link
        The links in their order.
    """
    known = "hash" if has_hashes else "NULL"
    ended = connection.execute(f"SELECT {ROUND}, {known} FROM rounds ORDER BY number").fetchall()
    statement = f"SELECT first, last, seen, version, {known} FROM tiles ORDER BY number"
    tiles = deque(connection.execute(statement).fetchall())
    found: list[Link] = []
    for number, (*header, sealed) in enumerate(ended[:rounds]):
        while tiles and tiles[0][2] <= header[1]:
            *tile, of_tile = tiles.popleft()
            found.append(Link(tile, tile[3], number, False, of_tile))
        found.append(Link(header, header[2], number + 1, True, sealed))
    later = [(tile, sealed) for *tile, sealed in tiles if tile[2] <= seen]
    return found + [Link(tile, tile[3], rounds, False, sealed) for tile, sealed in later]


def seal(connection: sqlite3.Connection, part: str) -> None:
    """Write the hash of a part as it now is, in the open transaction.

    Parameters
    ----------
    connection : sqlite3.Connection
        Connection to the run file.
    part : {"configuration", "answers"}
        The part. "answers" covers the questions too.
    """
    connection.execute("INSERT OR REPLACE INTO seals VALUES (?, ?)", (part, _hash_of(connection, part)))


def replace_rows(connection: sqlite3.Connection, table: str, rows: Sequence[tuple[SQLValue, ...]]) -> None:
    """Write rows by their position, and update the hash of questions and answers, in the open transaction.

    Parameters
    ----------
    connection : sqlite3.Connection
        Connection to the run file.
    table : {"questions", "answers"}
        The table.
    rows : sequence of tuple
        The rows. The first value of each is its position.
    """
    (known,) = connection.execute("SELECT hash FROM seals WHERE part = 'answers'").fetchone() or (seals.NO_ROWS,)
    statement = f"SELECT * FROM {table} WHERE position = ?"
    before = [old for row in rows for old in connection.execute(statement, row[:1])]
    known = seals.hash_with_rows(known, table, rows, removed=before)
    places = ", ".join("?" * len(rows[0])) if rows else ""
    connection.executemany(f"INSERT OR REPLACE INTO {table} VALUES ({places})", rows)
    connection.execute("INSERT OR REPLACE INTO seals VALUES ('answers', ?)", (known,))


def find_broken_seal(connection: sqlite3.Connection) -> str | None:
    """Compare the hashes of the configuration and of the answers.

    Parameters
    ----------
    connection : sqlite3.Connection
        Connection to the run file.

    Returns
    -------
    str or None
        The part whose hash does not match. None if all match.
    """
    known = {"answers": seals.NO_ROWS} | dict(connection.execute("SELECT part, hash FROM seals"))
    return next((part for part in _PARTS if known.get(part) != _hash_of(connection, part)), None)


def _hash_of(connection: sqlite3.Connection, part: str) -> bytes:
    if part == "configuration":
        rows = connection.execute("SELECT name, value FROM configuration ORDER BY name").fetchall()
        return seals.hash_of_values(part, rows)
    total = seals.NO_ROWS
    for table in ("answers", "questions"):
        total = seals.hash_with_rows(total, table, connection.execute(f"SELECT * FROM {table}").fetchall())
    return total


def seal_all(connection: sqlite3.Connection, links: list[Link], read: Callable[[int, int], StoredEntries]) -> None:
    """Write the hashes of everything in the file, in the open transaction.

    Parameters
    ----------
    connection : sqlite3.Connection
        Connection to the run file.
    links : list of Link
        The chain, whose hashes are ignored.
    read : callable
        Returns the entries first <= sequence < last.
    """
    for part in _PARTS:
        seal(connection, part)
    statement = "SELECT version, rounds, digest, state FROM snapshots"
    snapshots = [
        (seals.hash_of_snapshot(Place(version, rounds), digest, state), version)
        for version, rounds, digest, state in connection.execute(statement)
    ]
    connection.executemany("UPDATE snapshots SET hash = ? WHERE version = ?", snapshots)
    sealed, version = seals.GENESIS, 0
    rounds: list[tuple[bytes, SQLValue]] = []
    tiles: list[tuple[bytes, SQLValue]] = []
    for link in links:
        sealed, version = seals.hash_of_link(sealed, link.header, read(version, link.version)), link.version
        if link.ends_round:
            rounds.append((sealed, link.header[0]))
        else:
            tiles.append((sealed, link.header[2]))
    connection.executemany("UPDATE rounds SET hash = ? WHERE number = ?", rounds)
    connection.executemany("UPDATE tiles SET hash = ? WHERE seen = ?", tiles)
