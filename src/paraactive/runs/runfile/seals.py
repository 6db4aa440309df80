"""Hashes that show damage to a run file.

The log has a chain of hashes: each round, and each tile of an asynchronous run, stores the hash of the link before it,
of its own row and of the entries that came with it. The configuration, the answers of an oracle and every snapshot
have a hash of their own. Nothing here reads or writes the file.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paraactive.data.examples import Doubles, Ints, Labels, Place, Selected
from paraactive.runs.runfile.connection import damaged
from paraactive.runs.runfile.features import Blobs, Bytes

GENESIS = hashlib.sha256(b"paraactive log").digest()
"""The hash before the first link."""


class Stored(NamedTuple):
    """Entries as they lie in the run file, column by column."""

    position: Ints
    key: Ints
    y: Labels
    p: Doubles
    seen: Ints
    version: Ints
    importance: Doubles
    values: Bytes
    """The features; none where the stream can make them again."""
    columns: Bytes
    """The columns that sparse features stand in."""

    @staticmethod
    def of(selected: Selected, values: Blobs, columns: Blobs) -> Stored:
        """Entries that are about to be written."""
        examples = selected.examples
        return Stored(
            examples.index, examples.key, examples.y, selected.p, selected.seen, selected.version, examples.importance,
            Bytes.of(values), Bytes.of(columns),
        )  # fmt: skip

    @staticmethod
    def of_rows(rows: Sequence[tuple[Any, ...]]) -> Stored:
        """Entries that were read, a row each."""
        position, key, y, p, seen, version, importance, values, columns = zip(*rows, strict=True) if rows else [()] * 9
        return Stored(
            np.array(position, np.int64), np.array(key, np.int64), np.array(y, np.int8), np.array(p, np.float64),
            np.array(seen, np.int64), np.array(version, np.int64), np.array(importance, np.float64),
            Bytes.of(values), Bytes.of(columns),
        )  # fmt: skip

    def between(self, first: int, last: int) -> Stored:
        """Those first <= i < last."""
        numbers: list[Any] = [column[first:last] for column in self[:-2]]
        features: list[Any] = [self.values.between(first, last), self.columns.between(first, last)]
        return Stored(*numbers, *features)


class Link(NamedTuple):
    """A round or a tile, as the chain sees it."""

    header: list[Any]
    """Its row, without the hash."""
    version: int
    """Entries up to its end."""
    rounds: int
    """Rounds that have ended with it."""
    ends_round: bool
    hash: bytes | None


_KINDS = ("<i8", "<i8", "<i1", "<f8", "<i8", "<i8", "<f8")


def extended(previous: bytes, header: Sequence[Any], stored: Stored) -> bytes:
    """The hash of a link: of the one before it, of its row, and of its entries."""
    total = hashlib.sha256(previous)
    total.update(json.dumps(header).encode())
    for column, kind in zip(stored[:-2], _KINDS, strict=True):
        total.update(_bytes(column, kind))
    for part in (stored.values, stored.columns):
        # Features are most of a log. Their CRC shows accidents as well, at a fraction of the time.
        is_null = part.is_null and len(part.ends) > 0
        total.update(_bytes(part.ends, "<i8") + bytes([is_null]) + zlib.crc32(part.data).to_bytes(4))
    return total.digest()


def _bytes(column: NDArray[Any], kind: str) -> bytes:
    return np.ascontiguousarray(column, kind).tobytes()


def of_values(part: str, values: Any) -> bytes:
    """The hash of plain values."""
    return hashlib.sha256(json.dumps([part, values]).encode()).digest()


NO_ROWS = bytes(32)


def with_rows(known: bytes, table: str, rows: Sequence[tuple[Any, ...]], gone: Sequence[tuple[Any, ...]] = ()) -> bytes:
    """The hash of a set of rows, of which these come in and others go: a sum, so that no other row need be read."""
    total = int.from_bytes(known)
    for sign, some in ((1, rows), (-1, gone)):
        total += sign * sum(int.from_bytes(of_values(table, list(row))) for row in some)
    return (total % (1 << 256)).to_bytes(32)


def of_snapshot(place: Place, digest: str, state: bytes) -> bytes:
    """The hash of a snapshot: what it is, and where in the log it was taken."""
    total = hashlib.sha256(json.dumps([*place, digest]).encode())
    total.update(state)
    return total.digest()


class ChainCheck:
    """Follows the chain from a place of the log on, as entries are read, and compares."""

    def __init__(self, path: Path, links: Sequence[Link], place: Place) -> None:
        self._path, self._links = path, links
        self._next, self._hash, self._version = self._start(place)

    def _start(self, place: Place) -> tuple[int, bytes, int]:
        if place == Place(0, 0):
            return 0, GENESIS, 0
        for number, link in enumerate(self._links):
            if (link.version, link.rounds) == tuple(place):
                return number + 1, link.hash or b"", link.version
        raise damaged(self._path, f"its log has no place after {place.version} entries and {place.rounds} rounds")

    def follow(self, stored: Stored, to_round: int | None) -> None:
        """These entries come next, up to the end of that round; without one, up to the last link."""
        first, done = self._version, 0
        while self._next < len(self._links):
            link = self._links[self._next]
            self._next += 1
            last = link.version - first
            if not done <= last <= len(stored.position):
                break
            self._hash = extended(self._hash, link.header, stored.between(done, last))
            if self._hash != link.hash:
                raise damaged(
                    self._path,
                    f"the hash of its log does not match from entry {first + done} to {first + max(last, 1) - 1}",
                )
            done, self._version = last, link.version
            if link.ends_round and link.rounds - 1 == to_round:
                break
        if done != len(stored.position):
            raise damaged(self._path, f"its rounds and tiles do not cover the entries from {first + done} on")


def check_nothing(stored: Stored, to_round: int | None) -> None:
    """In place of `ChainCheck.follow`, for files without hashes."""
