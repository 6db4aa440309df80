"""The state of a learner as named arrays: to bytes and back without pickle, and its digest."""

from __future__ import annotations

import hashlib
import io
import math
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
    """The state that `pack` made these bytes of. Never unpickles, and never takes more memory than the bytes do.

    >>> import numpy as np
    >>> unpack(pack({"alpha": np.arange(3)}))["alpha"].tolist()
    [0, 1, 2]
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            _check_members(members, len(data))
            return {each.filename.removesuffix(".npy"): _array(archive.read(each)) for each in members}
    except Exception as error:  # Damaged bytes make zipfile and numpy raise nearly anything.
        raise InputError(
            "the saved state of the learner cannot be read",
            why=f"its bytes are damaged ({str(error) or type(error).__name__})",
            remedy="use an older snapshot or replay the log",
        ) from error


def _check_members(members: list[zipfile.ZipInfo], size: int) -> None:
    """`pack` compresses nothing, so nothing can be larger than the whole."""
    if len({each.filename for each in members}) != len(members):
        raise ValueError("it has two members of one name")
    for each in members:
        if not each.filename.endswith(".npy") or each.compress_type != zipfile.ZIP_STORED or each.flag_bits & 1:
            raise ValueError("it has a member that is no plain array")
    if sum(each.file_size for each in members) > size:
        raise ValueError("its members are larger than the file")


def _array(member: bytes) -> NDArray[Any]:
    file = io.BytesIO(member)
    version = np.lib.format.read_magic(file)
    read_header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
    shape, fortran_order, kind = read_header(file)
    if kind.hasobject:
        raise ValueError("it holds Python objects")
    values = member[file.tell() :]
    if len(values) != math.prod(shape) * kind.itemsize:
        raise ValueError("an array has another size than it says")
    # A copy, because what learns writes to it.
    return np.frombuffer(values, kind).reshape(shape, order="F" if fortran_order else "C").copy(order="K")


def digest(state: State) -> str:
    """SHA-256 over names, types, shapes and bytes: equal digests mean equal models, bit for bit."""
    total = hashlib.sha256()
    for name in sorted(state):
        array = np.ascontiguousarray(state[name])
        total.update(f"{name}|{array.dtype.str}|{array.shape}|".encode())
        total.update(array.tobytes())
    return total.hexdigest()
