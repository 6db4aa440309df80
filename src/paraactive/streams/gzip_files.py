"""Random access to gzip files. A process decompresses each file once, into an unnamed temporary file."""

from __future__ import annotations

import gzip
import io
import mmap
import shutil
import tempfile
import zlib
from collections.abc import Callable
from typing import IO, TYPE_CHECKING

from paraactive.errors import InputError
from paraactive.streams.lru_cache import LRUCache

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

# Maximum number of decompressed bytes on disk per process. At least two files are kept, whatever their size.
_CACHE_BYTES = 16 << 30


def open_decompressed(path: str, signature: str, open_stored: Callable[[str], IO[bytes]]) -> IO[bytes]:
    """Open the contents of a gzip file.

    Parameters
    ----------
    path : str
        The compressed file.
    signature : str
        Text that changes when the file is replaced (see `locations.file_signature`).
    open_stored : callable
        Function that opens the compressed bytes of a path.

    Returns
    -------
    BinaryIO
        Reader of the decompressed bytes, with `seek`.

    Raises
    ------
    InputError
        If the file cannot be decompressed.
    """
    return io.BufferedReader(_Reader(_DECOMPRESSED.get((path, signature), lambda: _decompress(path, open_stored))))


def _decompress(path: str, open_stored: Callable[[str], IO[bytes]]) -> mmap.mmap | bytes:
    try:
        with open_stored(path) as stored, gzip.open(stored) as inside, tempfile.TemporaryFile() as file:
            shutil.copyfileobj(inside, file, 1 << 20)
            file.flush()
            # An empty file cannot be mapped. The map keeps the contents after the file is closed.
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if file.tell() else b""
    except (OSError, EOFError, zlib.error) as error:
        words = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise InputError(
            f"cannot decompress {path}",
            why=words.rstrip("."),
            remedy="check that the file is complete, and that the folder for temporary files has enough space",
        ) from None


_DECOMPRESSED: LRUCache[mmap.mmap | bytes] = LRUCache(_CACHE_BYTES, len)


class _Reader(io.RawIOBase):
    """A reader with its own position in bytes that other readers share."""

    def __init__(self, data: mmap.mmap | bytes) -> None:
        self._data, self._position = data, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: len(self._data)}[whence]
        self._position = max(0, start + offset)
        return self._position

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer).cast("B")
        found = self._data[self._position : self._position + len(view)]
        view[: len(found)] = found
        self._position += len(found)
        return len(found)
