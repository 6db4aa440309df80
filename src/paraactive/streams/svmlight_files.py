"""svmlight text, also called libsvm: a label and index:value pairs on each line. It is read whole, and held sparse."""

from __future__ import annotations

import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraactive.errors import InputError
from paraactive.streams.locations import cannot_read, missing_file, open_binary, suffix_of

SUFFIXES = (".svm", ".libsvm", ".svmlight")


def is_svmlight(path: str | Path) -> bool:
    """True by its name; of .txt by its first line.

    >>> is_svmlight("a9a.libsvm"), is_svmlight("rows.npz")
    (True, False)
    """
    return suffix_of(path) in SUFFIXES or (suffix_of(path) == ".txt" and _first_line_fits(Path(path)))


def read_svmlight(path: Path, width: int | None = None) -> tuple[Any, NDArray[Any]]:
    """The rows, as scipy's CSR, and their labels. Indices count from 1, as the format has it; a 0 is refused.

    A file does not say from where it counts. If that were guessed file by file, a test set without the first feature
    would be read one column beside the rows that the model was trained on.
    """
    # It takes long to load, and most streams do not need it.
    from sklearn.datasets import load_svmlight_file

    remedy = "give lines as `label index:value index:value`, in the order of the indices"
    try:
        rows, labels = load_svmlight_file(str(path), dtype=np.float32, zero_based=False)  # pyright: ignore[reportArgumentType]
    except FileNotFoundError:
        raise missing_file(path) from None
    except (OSError, ValueError, OverflowError, EOFError, zlib.error) as error:
        if "Invalid index 0 " in str(error):
            raise _from_zero(path) from None
        raise cannot_read(path, error, remedy) from None
    if rows.shape[0] == 0 or (rows.nnz == 0 and width is None):
        lacks = "features" if rows.shape[0] else "rows"
        raise InputError(f"{path} has no {lacks}", why="there is nothing to learn from", remedy=remedy)
    width = rows.shape[1] if width is None else max(width, rows.shape[1])
    rows.resize(rows.shape[0], width)  # A line does not say how many zeros follow.
    return rows, labels


def _from_zero(path: Path) -> InputError:
    return InputError(
        f"{path} has the index 0",
        why="svmlight counts from 1, and a file without a 0 would be read one column beside this one",
        remedy="write it with indices from 1, as scikit-learn does with zero_based=False",
    )


def _first_line_fits(path: Path) -> bool:
    try:
        with open_binary(str(path)) as file:
            lines = (line.partition(b"#")[0].strip() for line in file.read(1 << 16).splitlines())
            # A row of zeros is a label alone, which says nothing.
            first = next((line for line in lines if len(line.split()) > 1), b"")
    except (OSError, InputError):
        return False
    return re.fullmatch(rb"\S+(\s+(qid:)?\d+:\S+)+", first) is not None
