"""The state of a learner as named arrays: its conversion to bytes and back without pickle, and its digest."""

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
    """Return the state as bytes in numpy's npz format.

    Parameters
    ----------
    state : dict of ndarray
        Arrays by name.

    Returns
    -------
    bytes
        An uncompressed npz archive.
    """
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **state)
    return buffer.getvalue()


def unpack(data: bytes) -> State:
    """Return the state that `pack` wrote. It never unpickles, and never uses more memory than the bytes.

    Parameters
    ----------
    data : bytes
        Result of `pack`.

    Returns
    -------
    dict of ndarray
        Arrays by name.

    Raises
    ------
    InputError
        If the bytes are damaged.

    Examples
    --------
    >>> import numpy as np
    >>> unpack(pack({"alpha": np.arange(3)}))["alpha"].tolist()
    [0, 1, 2]
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            _check_members(members, len(data))
            return {each.filename.removesuffix(".npy"): _array(archive.read(each)) for each in members}
    except Exception as error:  # Damaged bytes make zipfile and numpy raise almost any exception.
        raise InputError(
            "the saved state of the learner cannot be read",
            why=f"its bytes are damaged ({str(error) or type(error).__name__})",
            remedy="use an older snapshot or replay the log",
        ) from error


def _check_members(members: list[zipfile.ZipInfo], size: int) -> None:
    """Raise ValueError if an archive is not one that `pack` writes, so that it cannot expand beyond its own size."""
    if len({each.filename for each in members}) != len(members):
        raise ValueError("two members have the same name")
    for each in members:
        if not each.filename.endswith(".npy") or each.compress_type != zipfile.ZIP_STORED or each.flag_bits & 1:
            raise ValueError("a member is not an uncompressed array")
    if sum(each.file_size for each in members) > size:
        raise ValueError("the members are larger than the file")


def _array(member: bytes) -> NDArray[Any]:
    file = io.BytesIO(member)
    version = np.lib.format.read_magic(file)
    read_header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
    shape, fortran_order, kind = read_header(file)
    if kind.hasobject:
        raise ValueError("an array holds Python objects")
    values = member[file.tell() :]
    if len(values) != math.prod(shape) * kind.itemsize:
        raise ValueError("the size of an array differs from its header")
    # A copy, because learners write to their arrays.
    return np.frombuffer(values, kind).reshape(shape, order="F" if fortran_order else "C").copy(order="K")


def digest(state: State) -> str:
    """Return the SHA-256 over names, types, shapes and bytes of the arrays.

    Parameters
    ----------
    state : dict of ndarray
        Arrays by name.

    Returns
    -------
    str
        Hexadecimal digest. Equal digests mean models that are equal bit for bit.
    """
    total = hashlib.sha256()
    for name in sorted(state):
        array = np.ascontiguousarray(state[name])
        total.update(f"{name}|{array.dtype.str}|{array.shape}|".encode())
        total.update(array.tobytes())
    return total.hexdigest()
