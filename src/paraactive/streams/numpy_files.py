"""Features and labels out of a numpy file. Nothing in the file is ever executed: pickled objects are refused."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from paraactive.errors import InputError
from paraactive.streams.columns import some


def open_columns(path: Path) -> tuple[NDArray[Any], NDArray[Any]]:
    """X and y of a numpy file: .npz with arrays x and y, or .npy whose last column is the label."""
    arrays = _open(path)
    if not isinstance(arrays, dict):
        return _last_column(path, arrays)
    return _member(path, arrays, "x"), _member(path, arrays, "y")


def open_features(path: Path, width: int) -> NDArray[Any]:
    """X alone: of .npz the array x; of .npy all columns, without the last if there is one more than `width`."""
    arrays = _open(path)
    if isinstance(arrays, dict):
        return _member(path, arrays, "x")
    return arrays[:, :-1] if arrays.ndim == 2 and arrays.shape[1] == width + 1 else arrays


def _open(path: Path) -> dict[str, NDArray[Any]] | NDArray[Any]:
    """The arrays of an .npz by their names in small letters, or the one of an .npy."""
    try:
        with path.open("rb") as file:
            head = file.read(6)
            if head.startswith(b"PK"):  # an .npz is a zip file
                file.seek(0)
                with np.load(file, allow_pickle=False) as archive:
                    wanted = [name for name in archive.files if name.lower() in ("x", "y")]
                    return {name: np.zeros(0) for name in archive.files} | {n.lower(): archive[n] for n in wanted}
            if head != b"\x93NUMPY":
                raise ValueError("it is no numpy file")  # numpy itself would advise to unpickle it
        # A memory map: only the float32 copy of a big .npy is ever in memory.
        return np.load(path, mmap_mode="r", allow_pickle=False)
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


def _member(path: Path, arrays: dict[str, NDArray[Any]], name: str) -> NDArray[Any]:
    if name not in arrays:
        raise InputError(
            f"{path} has the arrays {some(list(arrays)) or 'of no name at all'}",
            why="features are looked for under x and labels under y",
            remedy="save it as numpy.savez(path, x=..., y=...)",
        )
    return arrays[name]


def _last_column(path: Path, table: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    if table.ndim != 2 or table.shape[1] < 2:
        raise InputError(
            f"{path} has an array of shape {table.shape}",
            why="it needs two dimensions, the last column being the label",
            remedy="save numpy.column_stack([x, y]), or x and y in a .npz",
        )
    return table[:, :-1], np.asarray(table[:, -1])
