"""The state of a learner as named arrays: to bytes and back without pickle, and its digest."""

from __future__ import annotations

import hashlib
import io
import zipfile
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from paraactive.errors import InputError

State: TypeAlias = dict[str, NDArray[Any]]


def pack(state: State) -> bytes:
    """The state as bytes of numpy's npz format."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **state)
    return buffer.getvalue()


def unpack(data: bytes) -> State:
    """The state that `pack` made these bytes of. Never unpickles.

    >>> import numpy as np
    >>> unpack(pack({"alpha": np.arange(3)}))["alpha"].tolist()
    [0, 1, 2]
    """
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(
            "the saved state of the learner cannot be read",
            why=f"its bytes are damaged ({error})",
            remedy="use an older snapshot or replay the log",
        ) from error


def digest(state: State) -> str:
    """SHA-256 over names, types, shapes and bytes: equal digests mean equal models, bit for bit."""
    total = hashlib.sha256()
    for name in sorted(state):
        array = np.ascontiguousarray(state[name])
        total.update(f"{name}|{array.dtype.str}|{array.shape}|".encode())
        total.update(array.tobytes())
    return total.hexdigest()
