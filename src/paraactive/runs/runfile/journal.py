"""SQLite's journal beside a run file: find out whether SQLite reads all commits in it.

SQLite reads a journal up to its first damaged frame, because a loss of power leaves a damaged frame at the end. It
ignores the commits behind that frame silently. The layout of a journal is documented at sqlite.org/walformat.html.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple

import numpy as np

_HEADER, _FRAME_HEADER = 32, 24
_MAX_RESTARTS = 1 << 24
"""Largest number of times that SQLite may have restarted a journal."""


class Journal(NamedTuple):
    """A journal as it was before the run file was opened.

    Parameters
    ----------
    path : Path
        The journal.
    header : bytes
        Its header.
    frames : int
        Number of frames up to the last commit, or up to the last piece that is not a frame.
    """

    path: Path
    header: bytes
    frames: int

    def unread(self) -> int:
        """Count the frames that SQLite ignores while a connection reads the file.

        Returns
        -------
        int
            Number of frames. 0 if SQLite has restarted the journal since.
        """
        if not self.frames:
            return 0
        index = self.path.with_name(self.path.name.removesuffix("wal") + "shm")
        try:
            with self.path.open("rb") as journal:
                header = journal.read(_HEADER)
            known = _first_bytes(index, 24)
        except OSError:
            return 0
        if len(known) < 24 or header != self.header:
            return 0
        return max(0, self.frames - int(np.frombuffer(known[16:20], np.uint32)[0]))


def _first_bytes(index: Path, count: int) -> bytes:
    """Return the first bytes of SQLite's index of the journal, while this process has the run file open.

    Another process reads them. SQLite's locks on the index belong to this process, and closing any handle of the index
    would drop them. The next process that opens the run file would then take the index for a leftover and cut it short,
    and this process would die of a bus error.
    """
    command = ["head", "-c", str(count), str(index)]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False).stdout


def read_journal(database: Path) -> Journal:
    """Read the journal of a run file.

    Parameters
    ----------
    database : Path
        The run file.

    Returns
    -------
    Journal
        The journal. It has no frames if the file does not exist.
    """
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
    # SQLite adds 1 to the first salt each time it restarts the journal. A piece with any other salt is not a frame.
    first = np.ascontiguousarray(salts[:, :4]).view(">u4")[:, 0].astype(np.int64)
    age = (int.from_bytes(data[16:20].tobytes()) - first) % (1 << 32)
    is_older = (age > 0) & (age < _MAX_RESTARTS)
    found = np.flatnonzero((ours & is_commit) | ~(ours | is_older))
    return int(found[-1]) + 1 if len(found) else 0


def _page_size(field: bytes, database: Path) -> int:
    """Return the page size in the journal, or if that is damaged, the one in the run file."""
    size = int.from_bytes(field)
    if size in [1 << bits for bits in range(9, 17)]:
        return size
    with database.open("rb") as file:
        size = int.from_bytes(file.read(18)[16:])
    return 1 << 16 if size == 1 else size or 4096
