"""gzip files: decompressed once in each process, into a file without a name, so that they can be read at any place."""

from __future__ import annotations

import gzip
import io
import mmap
import shutil
import tempfile
import zlib
from collections.abc import Callable
from typing import IO, Any

from paraactive.errors import InputError
from paraactive.streams.lru_cache import LRUCache

_CACHE_BYTES = 16 << 30
"""Decompressed bytes on disk that a process keeps; at least two files, however large."""


def open_decompressed(path: str, mark: str, open_stored: Callable[[str], IO[bytes]]) -> IO[bytes]:
    """What is inside of a gzip file; `mark` tells the file from another of the same name."""
    return io.BufferedReader(_Reader(_DECOMPRESSED.get((path, mark), lambda: _decompress(path, open_stored))))


def _decompress(path: str, open_stored: Callable[[str], IO[bytes]]) -> mmap.mmap | bytes:
    try:
        with open_stored(path) as stored, gzip.open(stored) as inside, tempfile.TemporaryFile() as file:
            shutil.copyfileobj(inside, file, 1 << 20)
            file.flush()
            # An empty file cannot be mapped. The map keeps the file when it has been closed.
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if file.tell() else b""
    except (OSError, EOFError, zlib.error) as error:
        words = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise InputError(
            f"cannot decompress {path}",
            why=words.rstrip("."),
            remedy="check that the file is whole, and that the folder for temporary files has room for its contents",
        ) from None


_DECOMPRESSED: LRUCache[mmap.mmap | bytes] = LRUCache(_CACHE_BYTES, len)


class _Reader(io.RawIOBase):
    """A place of its own in bytes that are shared with other readers."""

    def __init__(self, data: mmap.mmap | bytes) -> None:
        self._data, self._place = data, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: len(self._data)}[whence]
        self._place = max(0, start + offset)
        return self._place

    def readinto(self, buffer: Any, /) -> int:
        found = self._data[self._place : self._place + len(buffer)]
        buffer[: len(found)] = found
        self._place += len(found)
        return len(found)
