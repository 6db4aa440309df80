"""svmlight (libsvm) text: a label and index:value pairs on each line. Files are read into memory as sparse rows."""

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
    """Return whether a file is svmlight text, by its suffix or, for .txt, by its first line.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    bool
        True for svmlight text.

    Examples
    --------
    >>> is_svmlight("a9a.libsvm"), is_svmlight("rows.npz")
    (True, False)
    """
    return suffix_of(path) in SUFFIXES or (suffix_of(path) == ".txt" and _first_line_fits(Path(path)))


def read_svmlight(path: Path, width: int | None = None) -> tuple[Any, NDArray[Any]]:
    """Read svmlight text. Indices must start at 1, as the format requires.

    A file does not state whether its indices start at 0 or 1. Guessing for each file would shift the features of a test
    set that lacks the first feature.

    Parameters
    ----------
    path : Path
        The file.
    width : int, optional
        Smallest number of features of the result. Default: the largest index.

    Returns
    -------
    x : scipy.sparse.csr_matrix
        Rows in float32.
    y : ndarray
        Labels.

    Raises
    ------
    InputError
        If the file is missing, damaged or empty, or has the index 0.
    """
    # Imported here, because the import is slow and most streams do not need it.
    from sklearn.datasets import load_svmlight_file

    remedy = "write lines as `label index:value index:value`, in the order of the indices"
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
    rows.resize(rows.shape[0], width)  # Trailing zeros are not in the file.
    return rows, labels


def _from_zero(path: Path) -> InputError:
    return InputError(
        f"{path} has the index 0",
        why="svmlight indices start at 1, and files without the index 0 are read that way",
        remedy="write indices from 1, as scikit-learn does with zero_based=False",
    )


def _first_line_fits(path: Path) -> bool:
    try:
        with open_binary(str(path)) as file:
            lines = (line.partition(b"#")[0].strip() for line in file.read(1 << 16).splitlines())
            # A row of zeros is only a label, which other formats have too.
            first = next((line for line in lines if len(line.split()) > 1), b"")
    except (OSError, InputError):
        return False
    return re.fullmatch(rb"\S+(\s+(qid:)?\d+:\S+)+", first) is not None
