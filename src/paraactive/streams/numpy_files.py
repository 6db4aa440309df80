"""Features and labels out of a numpy file. Nothing in the file is ever executed: pickled objects are refused."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from paraactive.errors import InputError
from paraactive.streams.columns import some


def open_columns(path: Path) -> tuple[NDArray[Any], NDArray[Any]]:
    """X and y of a numpy file: .npz with arrays x and y, or .npy whose last column is the label."""
    try:
        with path.open("rb") as file:
            head = file.read(6)
            if head.startswith(b"PK"):  # an .npz is a zip file
                return _members(path, file)
            if head != b"\x93NUMPY":
                raise ValueError("it is no numpy file")  # numpy itself would advise to unpickle it
        # A memory map: only the float32 copy of a big .npy is ever in memory.
        return _last_column(path, np.load(path, mmap_mode="r", allow_pickle=False))
    except FileNotFoundError:
        raise InputError(f"no file {path}", why="nothing is there", remedy="check the path") from None
    except InputError:
        raise
    except (OSError, ValueError, EOFError, BadZipFile, zlib.error) as error:
        raise InputError(
            f"cannot read {path}",
            why=str(error).rstrip("."),
            remedy="give a numpy file of plain numbers, .npz or .npy, as numpy.savez writes it",
        ) from None


def _members(path: Path, file: BinaryIO) -> tuple[NDArray[Any], NDArray[Any]]:
    file.seek(0)
    with np.load(file, allow_pickle=False) as archive:
        names: dict[str, str] = {name.lower(): name for name in archive.files}
        if not {"x", "y"} <= names.keys():
            raise InputError(
                f"{path} has the arrays {some(list(archive.files)) or 'of no name at all'}",
                why="features are looked for under x and labels under y",
                remedy="save it as numpy.savez(path, x=..., y=...)",
            )
        return archive[names["x"]], archive[names["y"]]


def _last_column(path: Path, table: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    if table.ndim != 2 or table.shape[1] < 2:
        raise InputError(
            f"{path} has an array of shape {table.shape}",
            why="it needs two dimensions, the last column being the label",
            remedy="save numpy.column_stack([x, y]), or x and y in a .npz",
        )
    return table[:, :-1], np.asarray(table[:, -1])
