"""Features and labels of a numpy file. Pickled objects are refused, so no code of the file is executed.

Uncompressed arrays are mapped into memory, so that a node loads only the rows that it reads.
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np
from numpy.typing import NDArray

from paraactive.errors import InputError, quoted_names
from paraactive.streams.locations import is_gzip, open_binary

_ENCRYPTED = 1
# Offset, in the header of a zip member, of the lengths of its name and extra field. The data follow these two.
_NAME_LENGTHS = 26
_CHUNK = 1 << 20
# Arrays that scipy.sparse.save_npz writes.
_SCIPY = {"format", "shape", "data"}
# Exceptions that numpy and zipfile raise for damaged files.
_DAMAGED = (
    *(OSError, ValueError, TypeError, EOFError, OverflowError, MemoryError, BadZipFile, zlib.error, struct.error),
    *(SyntaxError, TokenError, RuntimeError, KeyError),  # From invalid headers and zip files.
)


def open_columns(path: Path) -> tuple[Any, NDArray[Any]]:
    """Return the features and labels of a numpy file.

    Parameters
    ----------
    path : Path
        An .npz file with arrays x and y, or an .npy file whose last column is the label.

    Returns
    -------
    x : ndarray or sparse matrix
        Features, mapped if possible.
    y : ndarray
        Labels.

    Raises
    ------
    InputError
        If the file cannot be read or lacks an array.
    """
    arrays = _open(path)
    if not isinstance(arrays, dict):
        return _last_column(path, arrays)
    return _member(path, arrays, "x"), _member(path, arrays, "y")


def open_features(path: Path, width: int | None) -> Any:
    """Return the features of a numpy file.

    Parameters
    ----------
    path : Path
        An .npz file with an array x, a file of scipy.sparse.save_npz, or an .npy file.
    width : int or None
        Expected number of features. An .npy file with one more column has the label in its last column.

    Returns
    -------
    ndarray or sparse matrix
        Features, mapped if possible.

    Raises
    ------
    InputError
        If the file cannot be read or has no array x.
    """
    arrays = _open(path)
    if isinstance(arrays, dict):
        return _member(path, arrays, "x")
    return arrays[:, :-1] if width is not None and arrays.ndim == 2 and arrays.shape[1] == width + 1 else arrays


def _open(path: Path) -> dict[str, Any] | NDArray[Any]:
    """Return the arrays of an .npz by their lowercase names, or the array of an .npy."""
    try:
        packed = is_gzip(path)
        with open_binary(str(path)) as file:
            head = file.read(6)
            if packed and head.startswith(b"PK"):
                raise ValueError("an .npz file cannot be read inside of a gzip file")
            if head.startswith(b"PK"):  # An .npz file is a zip file.
                file.seek(0)
                return _open_archive(path, file)
            if head != b"\x93NUMPY":
                raise ValueError("it is not a numpy file")  # numpy itself would suggest to unpickle it.
            if packed:
                file.seek(0)
                return np.load(file, allow_pickle=False)
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except InputError:
        raise
    except _DAMAGED as error:
        raise InputError(
            f"cannot read {path}",
            why=str(error).rstrip(".") or type(error).__name__,
            remedy="give a numpy file of plain numbers, .npz or .npy, as numpy.savez writes it",
        ) from None


def _open_archive(path: Path, file: IO[bytes]) -> dict[str, Any]:
    with np.load(file, allow_pickle=False) as archive, ZipFile(path) as members:
        known = {info.filename: info for info in members.infolist()}
        arrays: dict[str, Any] = {name: np.zeros(0) for name in archive.files}
        _check_unique(path, archive.files)
        for name in (name for name in archive.files if name.lower() in ("x", "y")):
            info = known.get(f"{name}.npy")
            mapped = None if info is None else _mapped(path, members, info)
            arrays[name.lower()] = archive[name] if mapped is None else mapped
        if arrays.keys() >= _SCIPY and "x" not in arrays:
            arrays["x"] = _sparse(path)
        return arrays


def _sparse(path: Path) -> Any:
    from scipy.sparse import load_npz  # Imported here, because the import is slow and most files do not need it.

    return load_npz(path)  # load_npz never unpickles.


def _check_unique(path: Path, names: list[str]) -> None:
    """Raise InputError if x or y exists both in lowercase and uppercase."""
    for name in ("x", "y"):
        if name in names and name.upper() in names:
            raise InputError(
                f"{path} has the arrays {name!r} and {name.upper()!r}",
                why="it is not clear which of the two to use",
                remedy="save it as numpy.savez(path, x=..., y=...)",
            )


def _mapped(path: Path, members: ZipFile, info: ZipInfo) -> NDArray[Any] | None:
    """Return an uncompressed array as a memory map of the file, or None if it must be read."""
    if info.compress_type != ZIP_STORED or info.flag_bits & _ENCRYPTED:
        return None
    with members.open(info) as member:
        version = np.lib.format.read_magic(member)
        reading = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        if version not in reading:
            return None
        shape, fortran, kind = reading[version](member)
        header = member.tell()
        while member.read(_CHUNK):  # Reading to the end checks the checksum of the zip file, which a map does not.
            pass
    size = int(np.prod(shape, dtype=object)) * kind.itemsize
    if kind.hasobject or size == 0 or header + size > info.file_size:
        return None
    with path.open("rb") as file:
        file.seek(info.header_offset + _NAME_LENGTHS)
        name, extra = struct.unpack("<HH", file.read(4))
    start = info.header_offset + _NAME_LENGTHS + 4 + name + extra + header
    return np.memmap(path, kind, "r", start, shape, order="F" if fortran else "C")


def _member(path: Path, arrays: dict[str, Any], name: str) -> Any:
    if name not in arrays:
        raise InputError(
            f"{path} has the arrays {quoted_names(list(arrays)) or '(none)'}",
            why="the features must be named x and the labels y",
            remedy="save it as numpy.savez(path, x=..., y=...)",
        )
    return arrays[name]


def _last_column(path: Path, table: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    if table.ndim != 2 or table.shape[1] < 2:
        raise InputError(
            f"{path} has an array of shape {table.shape}",
            why="it must have two dimensions, with the label in the last column",
            remedy="save numpy.column_stack([x, y]), or x and y in a .npz",
        )
    return table[:, :-1], np.asarray(table[:, -1])
