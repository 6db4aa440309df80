"""Checks of a user's arrays: features must be finite numbers, weights must be positive.

Each error states how many values are wrong and where the first one is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paraactive.data.examples import Doubles, Features, Floats, SparseRows
from paraactive.data.precision import lossy_columns
from paraactive.errors import InputError, counted
from paraactive.streams.label_checks import plain_array
from paraactive.streams.sparse import is_sparse, sparse_rows

# Number of values checked at once, which bounds temporary memory.
_BLOCK = 1 << 24
_EXACT = 1 << 24
"""Up to this number, float32 holds all integers."""


def features(
    x: ArrayLike | SparseRows, rows: int, *, may_miss: bool = False, check_precision: bool = False
) -> Features:
    """Return features as float32 rows. Sparse rows stay sparse, and mapped float32 data stays mapped.

    Parameters
    ----------
    x : array-like or sparse matrix, shape (n, features)
        Features.
    rows : int
        Expected number of rows.
    may_miss : bool, default=False
        Whether features may be missing (NaN).
    check_precision : bool, default=False
        Whether columns are refused if float32 cannot hold their differences.

    Returns
    -------
    ndarray of float32 or SparseRows
        The features.

    Raises
    ------
    InputError
        If x is not a non-empty two-dimensional array of finite numbers with that many rows.

    Examples
    --------
    >>> features([[1, 2], [3, 4]], rows=2).dtype.name
    'float32'
    """
    given = _given(x)
    if not isinstance(given, SparseRows) and given.dtype.kind not in "biuf":
        raise InputError(
            f"x is of type {given.dtype}", why="features must be real numbers", remedy="give an array of numbers"
        )
    if len(given.shape) != 2:
        raise InputError(
            f"x has {counted(len(given.shape), 'dimension')}, shape {given.shape}",
            why="it must have a row for each example and a column for each feature",
            remedy="reshape it, as x.reshape(len(x), -1)",
        )
    if len(given) != rows:
        raise InputError(
            f"x has {counted(len(given), 'row')} and y has {counted(rows, 'label')}",
            why="each example must have one label",
            remedy="give as many labels as rows",
        )
    if 0 in given.shape:
        raise InputError(
            f"x is empty, shape {given.shape}",
            why="there is nothing to learn from",
            remedy="give at least one row and one column",
        )
    if isinstance(given, SparseRows):
        return given
    if check_precision and given.dtype.itemsize > 4:
        _check_precision(given)
    return _as_float32(given, may_miss)


def features_alone(x: ArrayLike | SparseRows, *, may_miss: bool = False, check_precision: bool = False) -> Features:
    """Return features without labels as float32 rows (see `features`).

    Parameters
    ----------
    x : array-like or sparse matrix, shape (n, features)
        Features.
    may_miss, check_precision : bool, default=False
        See `features`.

    Returns
    -------
    ndarray of float32 or SparseRows
        The features.
    """
    given = _given(x)
    rows = given.shape[0] if given.shape else 1
    return features(given, rows, may_miss=may_miss, check_precision=check_precision)


def _given(x: ArrayLike | SparseRows) -> NDArray[Any] | SparseRows:
    if is_sparse(x):
        return sparse_rows(x)
    return x if isinstance(x, SparseRows) else plain_array("x", x)


def _check_precision(given: NDArray[Any]) -> None:
    """Raise InputError if rounding to float32 loses the differences in a column, or changes integers."""
    low = np.fmin.reduce([np.fmin.reduce(block) for _, block in blocks(given)]).astype(np.float64)
    high = np.fmax.reduce([np.fmax.reduce(block) for _, block in blocks(given)]).astype(np.float64)
    lossy = np.flatnonzero(np.isfinite(low) & np.isfinite(high) & lossy_columns(low, high))
    if len(lossy):
        column = int(lossy[0])
        raise InputError(
            f"column {column} of x has numbers from {low[column]:.17g} to {high[column]:.17g}",
            why="features are held in float32, which cannot tell such large numbers with small differences apart",
            remedy=f"subtract {low[column]:.3g} from the column first; ParaActiveClassifier does this by itself",
        )
    if given.dtype.kind in "iu" and max(-low.min(), high.max()) > _EXACT:
        _check_integers(given)


def _check_integers(given: NDArray[Any]) -> None:
    for start, block in blocks(given):
        changed = block.astype(np.float32).astype(np.float64) != block
        if changed.any():
            row, column = divmod(int(changed.argmax()), given.shape[1])
            raise InputError(
                f"x has the integer {block[row, column]} at row {start + row}, column {column}",
                why=f"features are held in float32, which cannot hold all integers above {_EXACT}",
                remedy="give smaller numbers if they are identifiers, or x.astype(float) if they are amounts",
            )


def _as_float32(given: NDArray[Any], may_miss: bool) -> Floats:
    # Overflow is reported below. Rows of a memory map are copied when they are read.
    with np.errstate(over="ignore"):
        x = given if given.dtype == np.float32 and _is_mapped(given) else np.ascontiguousarray(given, np.float32)
    if all(np.isfinite(block).all() for _, block in blocks(x)):
        return x
    if may_miss and not any(np.isinf(block).any() for _, block in blocks(x)):
        return x
    raise _not_finite(given) or _overflow(given, x)


def _is_mapped(given: NDArray[Any]) -> bool:
    """Return whether an array is a view of a memory map with contiguous rows."""
    base: object = given
    while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
        base = cast("NDArray[np.generic]", base).base
    return isinstance(base, np.memmap) and given.strides[1] == given.itemsize


def _not_finite(given: NDArray[Any]) -> InputError | None:
    count, row, column = _flaws(given)
    if count == 0:
        return None
    return InputError(
        f"{count} of the features {'is' if count == 1 else 'are'} NaN or infinite, "
        f"the first {given[row, column]} at row {row}, column {column}",
        why="a score needs finite numbers",
        remedy="remove those rows or fill in the values",
    )


def _overflow(given: NDArray[Any], x: Floats) -> InputError:
    count, row, column = _flaws(x)
    return InputError(
        f"{count} of the features {'does' if count == 1 else 'do'} not fit, "
        f"the first {given[row, column]:g} at row {row}, column {column}",
        why="features are held in float32, which ends at 3.4e38",
        remedy="scale that column down",
    )


def _flaws(x: NDArray[Any]) -> tuple[int, int, int]:
    """Return the number of values that are not finite, and the row and column of the first."""
    count, place = 0, -1
    for start, block in blocks(x):
        flawed = ~np.isfinite(block)
        if place < 0 and flawed.any():
            place = start * x.shape[1] + int(flawed.argmax())
        count += int(flawed.sum())
    return count, place // x.shape[1], place % x.shape[1]


def blocks(x: NDArray[Any]) -> Iterator[tuple[int, NDArray[Any]]]:
    """Iterate over the rows in blocks.

    Parameters
    ----------
    x : ndarray of shape (n, features)
        Rows.

    Yields
    ------
    start : int
        Number of the first row of the block.
    block : ndarray
        Rows of the block.
    """
    step = max(1, _BLOCK // x.shape[1])
    for start in range(0, len(x), step):
        yield start, x[start : start + step]


class Digest(Protocol):
    """The part of hashlib's objects that this module uses."""

    def update(self, data: memoryview, /) -> None:
        """Add bytes.

        Parameters
        ----------
        data : memoryview
            The bytes.
        """
        ...


def hash_features(digest: Digest, x: Features) -> None:
    """Add features to a digest. Sparse rows have another digest than equal dense rows.

    Parameters
    ----------
    digest : hashlib object
        Digest to update.
    x : ndarray or SparseRows
        Features.
    """
    if isinstance(x, SparseRows):
        for array, kind in ((x.data, "<f4"), (x.indices, "<i4"), (x.indptr, "<i8")):
            digest.update(np.ascontiguousarray(array, kind).data)
        return
    for _, block in blocks(x):
        digest.update(np.ascontiguousarray(block, "<f4").data)


def check_width(x: Features, width: int) -> None:
    """Check the number of features.

    Parameters
    ----------
    x : ndarray or SparseRows
        Features.
    width : int
        Expected number of features.

    Raises
    ------
    InputError
        If it differs.
    """
    if x.shape[1] != width:
        raise InputError(
            f"the rows have {counted(x.shape[1], 'feature')}, and those of the stream have {width}",
            why="a model needs the features that it was trained on",
            remedy=f"give the same {counted(width, 'column')}",
        )


def example_weights(weight: ArrayLike, rows: int) -> Doubles:
    """Return the weights of examples.

    Parameters
    ----------
    weight : array-like of shape (n,)
        Weights.
    rows : int
        Expected number of weights.

    Returns
    -------
    ndarray of float64
        The weights.

    Raises
    ------
    InputError
        If there is not one finite positive number for each row.
    """
    weights = plain_array("weight", weight)
    if weights.shape != (rows,) or weights.dtype.kind not in "biuf" or not np.all((weights > 0) & np.isfinite(weights)):
        raise InputError(
            f"weight has shape {weights.shape}, or values that are not above 0",
            why="each example needs a positive weight",
            remedy="give one finite number above 0 for each row; leave out rows of weight 0",
        )
    return weights.astype(np.float64)
