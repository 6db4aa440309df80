"""Arrays in memory that processes share: written once, without a name, so that nothing is left when all have ended.

An object is pickled without its large arrays, which are written to one anonymous file instead. A process that inherits
the descriptor of this file maps it: the arrays exist once, however many nodes read them.
"""

from __future__ import annotations

import io
import mmap
import os
import pickle
import tempfile
import weakref
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

_SHARED_BYTES = 1 << 16
"""Smallest size of an array that is shared instead of copied."""
_ALIGNMENT = 64

_Array: TypeAlias = NDArray[np.generic]
_Location: TypeAlias = tuple[int, np.dtype[np.generic], tuple[int, ...]]
"""Where an array lies in the file: its offset, dtype and shape."""


class SharedPickle:
    """A pickled object whose large arrays are in shared memory. It is closed by `close`, or when it is deleted.

    Parameters
    ----------
    thing : object
        The object to pickle.

    Attributes
    ----------
    data : bytes
        The pickle without the large arrays.
    descriptor : int
        File descriptor of the memory.
    size : int
        Size of the memory in bytes.
    """

    def __init__(self, thing: object) -> None:
        self.descriptor = _anonymous_file()
        self._closing = weakref.finalize(self, os.close, self.descriptor)
        buffer = io.BytesIO()
        pickler = _Pickler(buffer, self.descriptor)
        pickler.dump(thing)
        self.data, self.size = buffer.getvalue(), pickler.size

    def close(self) -> None:
        """Release the memory. Processes that have mapped it keep it."""
        self._closing()


def load_shared(data: bytes, descriptor: int, size: int) -> object:
    """Return the object of a `SharedPickle` in another process. Its large arrays are read-only.

    Parameters
    ----------
    data : bytes
        The pickle.
    descriptor : int
        File descriptor of the memory.
    size : int
        Size of the memory in bytes.

    Returns
    -------
    object
        The object.
    """
    memory = mmap.mmap(descriptor, size, prot=mmap.PROT_READ) if size else None
    return _Unpickler(io.BytesIO(data), memory).load()


class _Pickler(pickle.Pickler):
    def __init__(self, buffer: io.BytesIO, descriptor: int) -> None:
        super().__init__(buffer, protocol=5)
        self._descriptor, self.size = descriptor, 0
        self._known: dict[int, _Location] = {}
        self._kept: list[_Array] = []

    def persistent_id(self, obj: object) -> _Location | None:
        if not isinstance(obj, np.ndarray):
            return None
        given = cast(_Array, obj)
        # Subclasses of arrays may have more to pickle than their numbers.
        if type(given) not in (np.ndarray, np.memmap) or given.nbytes < _SHARED_BYTES or given.dtype.hasobject:
            return None
        if id(given) not in self._known:
            array = np.ascontiguousarray(given)
            _write(self._descriptor, array, self.size)
            self._known[id(given)] = (self.size, array.dtype, array.shape)
            self._kept.append(given)  # Its id must not be reused.
            self.size += -(-array.nbytes // _ALIGNMENT) * _ALIGNMENT
            os.ftruncate(self._descriptor, self.size)
        return self._known[id(given)]


class _Unpickler(pickle.Unpickler):
    def __init__(self, buffer: io.BytesIO, memory: mmap.mmap | None) -> None:
        super().__init__(buffer)
        self._memory = memory

    def persistent_load(self, pid: _Location) -> _Array:
        offset, dtype, shape = pid
        assert self._memory is not None
        count = int(np.prod(shape))
        return np.frombuffer(self._memory, dtype, count, offset).reshape(shape)


def _write(descriptor: int, array: _Array, offset: int) -> None:
    view = array.reshape(-1).view(np.uint8).data  # Some dtypes, such as dates, have no buffer.
    while len(view):
        written = os.pwrite(descriptor, view[: 1 << 26], offset)
        view, offset = view[written:], offset + written


def _anonymous_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("paraactive")
    with tempfile.TemporaryFile() as file:  # On other systems than Linux: a file whose name is removed.
        return os.dup(file.fileno())
