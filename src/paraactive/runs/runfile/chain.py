"""The hashes of `seals` in their tables: read, compared, and written to files that have none."""

from __future__ import annotations

import json
import sqlite3
from collections import deque
from collections.abc import Callable
from dataclasses import astuple
from typing import Any

from paraactive.data.events import Round
from paraactive.data.examples import Place
from paraactive.runs.runfile import seals
from paraactive.runs.runfile.seals import Link, Stored

ROUND = "number, seen, version, selected, fetch_seconds, sift_seconds, update_seconds, elapsed, scored, lowered, nodes"
"""The columns of a round that its hash covers."""
_PARTS = ("configuration", "answers")


def round_row(ended: Round) -> list[Any]:
    """A round as it lies in its table: plain numbers, so that a hash of them is the same when they are read."""
    counts = [int(each) for each in (ended.number, ended.seen, ended.version, ended.selected)]
    seconds = [float(each) for each in (ended.fetch_seconds, ended.sift_seconds, ended.update_seconds)]
    nodes = json.dumps([list(astuple(each)) for each in ended.nodes])
    return [*counts, *seconds, json.dumps(ended.elapsed), int(ended.scored), int(ended.lowered), nodes]


def read_links(database: sqlite3.Connection, has_hashes: bool, rounds: int, seen: int) -> list[Link]:
    """The chain, in its order, up to so many rounds and examples: a round ends with a tile or without one."""
    known = "hash" if has_hashes else "NULL"
    ended = database.execute(f"SELECT {ROUND}, {known} FROM rounds ORDER BY number").fetchall()
    tiles = deque(database.execute(f"SELECT first, last, seen, version, {known} FROM tiles ORDER BY number").fetchall())
    found: list[Link] = []
    for number, (*header, sealed) in enumerate(ended[:rounds]):
        while tiles and tiles[0][2] <= header[1]:
            *tile, of_tile = tiles.popleft()
            found.append(Link(tile, tile[3], number, False, of_tile))
        found.append(Link(header, header[2], number + 1, True, sealed))
    later = [(tile, sealed) for *tile, sealed in tiles if tile[2] <= seen]
    return found + [Link(tile, tile[3], rounds, False, sealed) for tile, sealed in later]


def seal(database: sqlite3.Connection, part: str) -> None:
    """Write down the hash of this part as it now is, in the same transaction."""
    database.execute("INSERT OR REPLACE INTO seals VALUES (?, ?)", (part, _hash_of(database, part)))


def replace_rows(database: sqlite3.Connection, table: str, rows: list[tuple[Any, ...]]) -> None:
    """Write rows of questions or answers, by their position, and bring the hash of both tables up to date."""
    (known,) = database.execute("SELECT hash FROM seals WHERE part = 'answers'").fetchone() or (seals.NO_ROWS,)
    statement = f"SELECT * FROM {table} WHERE position = ?"
    before = [old for row in rows for old in database.execute(statement, row[:1])]
    known = seals.with_rows(known, table, rows, gone=before)
    places = ", ".join("?" * len(rows[0])) if rows else ""
    database.executemany(f"INSERT OR REPLACE INTO {table} VALUES ({places})", rows)
    database.execute("INSERT OR REPLACE INTO seals VALUES ('answers', ?)", (known,))


def find_broken_seal(database: sqlite3.Connection) -> str | None:
    """The part whose hash does not match; None if all do."""
    known = {"answers": seals.NO_ROWS} | dict(database.execute("SELECT part, hash FROM seals"))
    return next((part for part in _PARTS if known.get(part) != _hash_of(database, part)), None)


def _hash_of(database: sqlite3.Connection, part: str) -> bytes:
    if part == "configuration":
        return seals.of_values(part, database.execute("SELECT name, value FROM configuration ORDER BY name").fetchall())
    total = seals.NO_ROWS
    for table in ("answers", "questions"):
        total = seals.with_rows(total, table, database.execute(f"SELECT * FROM {table}").fetchall())
    return total


def seal_all(database: sqlite3.Connection, links: list[Link], read: Callable[[int, int], Stored]) -> None:
    """Write the hashes of all that is in a file that has none; `read` gives its entries from one number to another."""
    for part in _PARTS:
        seal(database, part)
    for version, rounds, digest, state in database.execute(
        "SELECT version, rounds, digest, state FROM snapshots"
    ).fetchall():
        sealed = seals.of_snapshot(Place(version, rounds), digest, state)
        database.execute("UPDATE snapshots SET hash = ? WHERE version = ?", (sealed, version))
    sealed, version = seals.GENESIS, 0
    for link in links:
        sealed, version = seals.extended(sealed, link.header, read(version, link.version)), link.version
        table, column, place = ("rounds", "number", 0) if link.ends_round else ("tiles", "seen", 2)
        database.execute(f"UPDATE {table} SET hash = ? WHERE {column} = ?", (sealed, link.header[place]))
