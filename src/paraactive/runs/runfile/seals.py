"""Hashes that show damage to a run file. This module computes and compares hashes; it does not read or write files.

The log has a chain of hashes: each round, and each tile of an asynchronous run, stores the hash of the link before it,
of its own row and of the entries that came with it. The configuration, the answers of an oracle and each snapshot have
hashes of their own.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paraactive.data.examples import Place
from paraactive.runs.runfile.errors import corruption
from paraactive.runs.runfile.stored import SQLValue, StoredEntries

GENESIS = hashlib.sha256(b"paraactive log").digest()
"""The hash before the first link."""
NO_ROWS = bytes(32)
"""The hash of an empty set of rows."""

_COLUMN_TYPES = ("<i8", "<i8", "<i1", "<f8", "<i8", "<i8", "<f8")


class Link(NamedTuple):
    """A round or a tile as a link of the chain.

    Parameters
    ----------
    header : list of SQLValue
        Its row, without the hash.
    version : int
        Number of entries up to its end.
    rounds : int
        Number of rounds that have ended with it.
    ends_round : bool
        Whether it is a round.
    hash : bytes or None
        Its hash. None in files without hashes.
    """

    header: list[SQLValue]
    version: int
    rounds: int
    ends_round: bool
    hash: bytes | None


def hash_of_link(previous: bytes, header: Sequence[SQLValue], stored: StoredEntries) -> bytes:
    """Compute the hash of a link.

    Parameters
    ----------
    previous : bytes
        Hash of the link before.
    header : sequence of SQLValue
        The row of the round or tile, without its hash.
    stored : StoredEntries
        The entries that came with it.

    Returns
    -------
    bytes
        SHA-256.
    """
    total = hashlib.sha256(previous)
    total.update(json.dumps(header).encode())
    for column, kind in zip(stored[:-3], _COLUMN_TYPES, strict=True):
        total.update(_bytes(column, kind))
    for part in (stored.values, stored.columns):
        # Features are most of a log. A CRC shows accidental damage to them in a fraction of the time.
        is_null = part.is_null and len(part.ends) > 0
        total.update(_bytes(part.ends, "<i8") + bytes([is_null]) + zlib.crc32(part.data).to_bytes(4))
    if len(stored.scores.data):  # Entries of format 5 have no scores, and keep their hashes.
        total.update(_bytes(stored.scores.ends, "<i8") + stored.scores.data)
    return total.digest()


def _bytes(column: NDArray[np.generic], kind: str) -> bytes:
    return np.ascontiguousarray(column, kind).tobytes()


def hash_of_values(part: str, values: object) -> bytes:
    """Compute the hash of plain values.

    Parameters
    ----------
    part : str
        Name of the table.
    values : object
        Numbers, texts and lists of them.

    Returns
    -------
    bytes
        SHA-256.
    """
    return hashlib.sha256(json.dumps([part, values]).encode()).digest()


def hash_with_rows(
    known: bytes, table: str, rows: Sequence[Sequence[SQLValue]], removed: Sequence[Sequence[SQLValue]] = ()
) -> bytes:
    """Update the hash of a set of rows. The hash is a sum over the rows, so the other rows need not be read.

    Parameters
    ----------
    known : bytes
        Hash of the set before.
    table : str
        Name of the table of these rows.
    rows : sequence of rows
        Rows that are added.
    removed : sequence of rows, optional
        Rows that are removed. Default: none.

    Returns
    -------
    bytes
        Hash of the set afterwards.
    """
    total = int.from_bytes(known)
    for sign, some in ((1, rows), (-1, removed)):
        total += sign * sum(int.from_bytes(hash_of_values(table, list(row))) for row in some)
    return (total % (1 << 256)).to_bytes(32)


def hash_of_snapshot(place: Place, digest: str, state: bytes) -> bytes:
    """Compute the hash of a snapshot.

    Parameters
    ----------
    place : Place
        Where in the log it was taken.
    digest : str
        Digest of the model.
    state : bytes
        The packed state.

    Returns
    -------
    bytes
        SHA-256.
    """
    total = hashlib.sha256(json.dumps([*place, digest]).encode())
    total.update(state)
    return total.digest()


class ChainCheck:
    """Compares entries, in the order in which they are read, with the chain.

    Parameters
    ----------
    path : Path
        The run file, for errors.
    links : sequence of Link
        The whole chain.
    place : Place
        Where in the log reading begins.
    """

    def __init__(self, path: Path, links: Sequence[Link], place: Place) -> None:
        self._path, self._links = path, links
        self._next, self._hash, self._version = self._start(place)

    def _start(self, place: Place) -> tuple[int, bytes, int]:
        if place == Place(0, 0):
            return 0, GENESIS, 0
        for number, link in enumerate(self._links):
            if (link.version, link.rounds) == tuple(place):
                return number + 1, link.hash or b"", link.version
        raise corruption(self._path, f"its log has no place after {place.version} entries and {place.rounds} rounds")

    def follow(self, stored: StoredEntries, to_round: int | None) -> None:
        """Compare the next entries.

        Parameters
        ----------
        stored : StoredEntries
            The entries.
        to_round : int or None
            Number of the round that ends with them. None: they end with the last link.

        Raises
        ------
        RunFileError
            If a hash does not match, or links are missing.
        """
        first, done = self._version, 0
        while self._next < len(self._links):
            link = self._links[self._next]
            self._next += 1
            last = link.version - first
            if not done <= last <= len(stored.position):
                break
            self._hash = hash_of_link(self._hash, link.header, stored.between(done, last))
            if self._hash != link.hash:
                raise corruption(
                    self._path,
                    f"the hash of its log does not match from entry {first + done} to {first + max(last, 1) - 1}",
                )
            done, self._version = last, link.version
            if link.ends_round and link.rounds - 1 == to_round:
                break
        if done != len(stored.position):
            raise corruption(self._path, f"its rounds and tiles do not cover the entries from {first + done} on")


def check_nothing(stored: StoredEntries, to_round: int | None) -> None:
    """See `ChainCheck.follow`. This function takes its place for files without hashes."""
