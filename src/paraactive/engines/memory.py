"""Arrays in memory that processes share: written once, without a name, so that nothing is left when all have gone.

A pickle in which large arrays are left out, and lie in one anonymous file instead. Whoever inherits its descriptor maps
it: the arrays are there once, however many nodes read them.
"""

from __future__ import annotations

import io
import mmap
import os
import pickle
import tempfile
import weakref
from typing import Any

import numpy as np

_LARGE = 1 << 16
"""Bytes from which on an array is shared instead of copied."""
_ALIGNED = 64


class SharedPickle:
    """An object, pickled, with its large arrays in shared memory. Closed with `close`, or when nobody holds it."""

    def __init__(self, thing: object) -> None:
        self.descriptor = _anonymous_file()
        self._closing = weakref.finalize(self, os.close, self.descriptor)
        buffer = io.BytesIO()
        pickler = _Pickler(buffer, self.descriptor)
        pickler.dump(thing)
        self.data, self.size = buffer.getvalue(), pickler.size

    def close(self) -> None:
        """Let go of the memory; who has mapped it keeps it."""
        self._closing()


def load_shared(data: bytes, descriptor: int, size: int) -> Any:
    """The object, on the other side. Its large arrays cannot be written."""
    memory = mmap.mmap(descriptor, size, prot=mmap.PROT_READ) if size else None
    return _Unpickler(io.BytesIO(data), memory).load()


class _Pickler(pickle.Pickler):
    def __init__(self, buffer: io.BytesIO, descriptor: int) -> None:
        super().__init__(buffer, protocol=5)
        self._descriptor, self.size = descriptor, 0
        self._known: dict[int, tuple[Any, ...]] = {}
        self._kept: list[Any] = []

    def persistent_id(self, obj: Any) -> tuple[Any, ...] | None:
        if type(obj) not in (np.ndarray, np.memmap) or obj.nbytes < _LARGE or obj.dtype.hasobject:
            return None
        if id(obj) not in self._known:
            array = np.ascontiguousarray(obj)
            _write(self._descriptor, array, self.size)
            self._known[id(obj)] = (self.size, array.dtype, array.shape)
            self._kept.append(obj)  # Its id must stay its own.
            self.size += -(-array.nbytes // _ALIGNED) * _ALIGNED
            os.ftruncate(self._descriptor, self.size)
        return self._known[id(obj)]


class _Unpickler(pickle.Unpickler):
    def __init__(self, buffer: io.BytesIO, memory: mmap.mmap | None) -> None:
        super().__init__(buffer)
        self._memory = memory

    def persistent_load(self, pid: Any) -> Any:
        offset, kind, shape = pid
        assert self._memory is not None
        count = int(np.prod(shape))
        return np.frombuffer(self._memory, kind, count, offset).reshape(shape)


def _write(descriptor: int, array: np.ndarray[Any, Any], offset: int) -> None:
    view = array.reshape(-1).view(np.uint8).data  # Not all types of numbers have a buffer of their own.
    while len(view):
        written = os.pwrite(descriptor, view[: 1 << 26], offset)
        view, offset = view[written:], offset + written


def _anonymous_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("paraactive")
    with tempfile.TemporaryFile() as file:  # Not Linux: a file that has no name any more.
        return os.dup(file.fileno())
