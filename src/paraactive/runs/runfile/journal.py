"""SQLite's journal beside a run file: whether SQLite reads all commits in it.

SQLite takes a journal to end at its first damaged frame, because a loss of power leaves one like that. It ignores the
commits behind that frame without a word. The layout of a journal is documented at sqlite.org/walformat.html.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

_HEADER, _FRAME_HEADER = 32, 24
_MOST_USES = 1 << 24
"""Times that SQLite may have begun a journal anew."""


class Journal(NamedTuple):
    """A journal as it was before the run file was opened."""

    path: Path
    header: bytes
    frames: int
    """Up to its last commit, or the last that is no frame at all."""

    def unread(self) -> int:
        """How many of these frames SQLite ignores, while a connection reads; 0 if the journal was begun anew since."""
        index = self.path.with_name(self.path.name.removesuffix("wal") + "shm")
        try:
            with index.open("rb") as shared, self.path.open("rb") as journal:
                known, header = shared.read(24), journal.read(_HEADER)
        except OSError:
            return 0
        if len(known) < 24 or header != self.header:
            return 0
        return max(0, self.frames - int(np.frombuffer(known[16:20], np.uint32)[0]))


def read_journal(database: Path) -> Journal:
    """The journal of this file; without frames if there is none."""
    path = database.with_name(database.name + "-wal")
    try:
        data = np.fromfile(path, np.uint8)
    except OSError:
        data = np.zeros(0, np.uint8)
    return Journal(path, data[:_HEADER].tobytes(), _last_commit(data, database) if len(data) > _HEADER else 0)


def _last_commit(data: np.ndarray[tuple[int], np.dtype[np.uint8]], database: Path) -> int:
    size = _FRAME_HEADER + _page_size(data[8:12].tobytes(), database)
    count = (len(data) - _HEADER) // size
    if not count:
        return 0
    frames = data[_HEADER : _HEADER + count * size].reshape(count, size)[:, :_FRAME_HEADER]
    salts, is_commit = frames[:, 8:16], frames[:, 4:8].any(axis=1)
    ours = (salts == data[16:24]).all(axis=1) | (salts == salts[0]).all(axis=1)
    # Each time SQLite begins the journal anew it adds 1 to the first salt. What has another one is no frame.
    first = np.ascontiguousarray(salts[:, :4]).view(">u4")[:, 0].astype(np.int64)
    age = (int.from_bytes(data[16:20].tobytes()) - first) % (1 << 32)
    is_older = (age > 0) & (age < _MOST_USES)
    found = np.flatnonzero((ours & is_commit) | ~(ours | is_older))
    return int(found[-1]) + 1 if len(found) else 0


def _page_size(said: bytes, database: Path) -> int:
    """As the journal says, or if that makes no sense, as the file does."""
    size = int.from_bytes(said)
    if size in [1 << bits for bits in range(9, 17)]:
        return size
    with database.open("rb") as file:
        size = int.from_bytes(file.read(18)[16:])
    return 1 << 16 if size == 1 else size or 4096
