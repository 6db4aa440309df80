"""The checks on a user's columns: features that are finite numbers, labels of two classes or more.

Each error says how many places are wrong and where the first is, so that it can be found in a large file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paraactive.data.examples import Doubles, Features, Floats, Labels, SparseRows
from paraactive.data.labels import MAX_CLASSES, labels_of
from paraactive.errors import InputError, counted, quoted_names
from paraactive.streams.sparse import is_sparse, sparse_rows

_BLOCK = 1 << 24
"""Numbers looked at in one go: what is temporary stays small beside the data."""


def features(x: ArrayLike | SparseRows, rows: int) -> Features:
    """X as a float32 array of that many rows, contiguous or mapped, or an error that says what is wrong with it.

    What is sparse stays so.

    >>> features([[1, 2], [3, 4]], rows=2).dtype.name
    'float32'
    """
    given = _given(x)
    if not isinstance(given, SparseRows) and given.dtype.kind not in "biuf":
        raise InputError(
            f"x is of type {given.dtype}", why="features are real numbers", remedy="give a dense array of numbers"
        )
    if len(given.shape) != 2:
        raise InputError(
            f"x has {counted(len(given.shape), 'dimension')}, shape {given.shape}",
            why="it needs a row for each example and a column for each feature",
            remedy="reshape it, as x.reshape(len(x), -1)",
        )
    if len(given) != rows:
        raise InputError(
            f"x has {counted(len(given), 'row')} and y has {counted(rows, 'label')}",
            why="each example has one label",
            remedy="give as many labels as rows",
        )
    if 0 in given.shape:
        raise InputError(
            f"x is empty, shape {given.shape}",
            why="there is nothing to learn from",
            remedy="give at least one row and one column",
        )
    return given if isinstance(given, SparseRows) else _as_float32(given)


def features_alone(x: ArrayLike | SparseRows) -> Features:
    """The same of rows that have no labels, however many."""
    given = _given(x)
    return features(given, given.shape[0] if given.shape else 1)


def _given(x: Any) -> Any:
    if is_sparse(x):
        return sparse_rows(x)
    return x if isinstance(x, SparseRows) else _array("x", x)


def _as_float32(given: NDArray[Any]) -> Floats:
    # An overflow is reported below in our words, not in numpy's. The rows of a map are gathered when they are read.
    with np.errstate(over="ignore"):
        x = given if given.dtype == np.float32 and _is_mapped(given) else np.ascontiguousarray(given, np.float32)
    if not all(np.isfinite(block).all() for _, block in blocks(x)):
        raise _not_finite(given) or _overflow(given, x)
    return x


def _is_mapped(given: NDArray[Any]) -> bool:
    """True for a view of a file whose rows lie one after the other."""
    base: Any = given
    while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
        base = base.base
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
    """How many numbers are not finite, and the row and the column of the first."""
    count, place = 0, -1
    for start, block in blocks(x):
        flawed = ~np.isfinite(block)
        if place < 0 and flawed.any():
            place = start * x.shape[1] + int(flawed.argmax())
        count += int(flawed.sum())
    return count, place // x.shape[1], place % x.shape[1]


def blocks(x: NDArray[Any]) -> Iterator[tuple[int, NDArray[Any]]]:
    """The rows of x, some at a time, each time with the number of the first."""
    step = max(1, _BLOCK // x.shape[1])
    for start in range(0, len(x), step):
        yield start, x[start : start + step]


def hash_features(digest: Any, x: Features) -> None:
    """Add them to a digest. Sparse rows have another one than dense: a learner may take them otherwise."""
    if isinstance(x, SparseRows):
        for array, kind in ((x.data, "<f4"), (x.indices, "<i4"), (x.indptr, "<i8")):
            digest.update(np.ascontiguousarray(array, kind).data)
        return
    for _, block in blocks(x):
        digest.update(np.ascontiguousarray(block, "<f4").data)


def check_width(x: Features, width: int) -> None:
    """An error if the rows are not of that width."""
    if x.shape[1] != width:
        raise InputError(
            f"the rows have {counted(x.shape[1], 'feature')}, and those of the stream {width}",
            why="a model scores only what it was trained on",
            remedy=f"give the same {counted(width, 'column')}",
        )


def label_column(y: ArrayLike) -> NDArray[Any]:
    """Y as an array of one dimension, not empty."""
    labels = _array("y", y)
    if labels.ndim != 1:
        raise InputError(
            f"y has shape {labels.shape}",
            why="each example has one label",
            remedy="give one column, as y.ravel(), or y.argmax(axis=1) for one-hot labels",
        )
    if len(labels) == 0:
        raise InputError("y is empty", why="there is nothing to learn from", remedy="give at least one of each class")
    return labels


def class_values(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The different labels, the smallest first, and for each row the number of its own.

    >>> values, number = class_values(np.array([7, 5, 7]))
    >>> values.tolist(), number.tolist()
    ([5, 7], [1, 0, 1])
    """
    values, number = _unique(labels)
    check_classes([label_name(value) for value in values])
    return values, number


def check_classes(names: list[str]) -> None:
    """An error if there are not as many different labels as can be told apart."""
    if not 2 <= len(names) <= MAX_CLASSES:
        raise InputError(
            f"y has {counted(len(names), 'class', 'classes')}, {quoted_names(names)}",
            why=f"two are told apart, or more, up to {MAX_CLASSES}",
            remedy="give examples of two classes at least" if len(names) < 2 else "make groups of them",
        )


def checked_class_names(classes: Sequence[Any]) -> tuple[str, ...]:
    """The names of classes that a user lists; an error if one is listed twice, or a text stands for the list.

    >>> checked_class_names(["ham", 5.0])
    ('ham', '5')
    """
    names = tuple(label_name(name) for name in classes)
    if isinstance(classes, str) or len(set(names)) != len(names):
        raise InputError(
            f"classes is {classes!r}", why="they are different names", remedy='give them as ("ham", "spam")'
        )
    check_classes(list(names))
    return names


def example_weights(weight: ArrayLike, rows: int) -> Doubles:
    """A positive weight for each example."""
    weights = _array("weight", weight)
    if weights.shape != (rows,) or weights.dtype.kind not in "biuf" or not np.all((weights > 0) & np.isfinite(weights)):
        raise InputError(
            f"weight has shape {weights.shape}, or values that are not above 0",
            why="each example counts for something",
            remedy="give one finite number above 0 for each row; leave out rows of weight 0",
        )
    return weights.astype(np.float64)


def _unique(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    try:
        values, inverse = np.unique(labels, return_inverse=True)
    except TypeError as error:
        if any(value is None for value in labels):
            raise _missing(None) from None
        raise InputError(
            "the labels are of types that have no order among them", why=str(error), remedy="give labels of one type"
        ) from None
    missing = [value for value in values if value is None or value != value]
    if missing:
        raise _missing(missing[0])
    return values, inverse


def _missing(label: Any) -> InputError:
    return InputError(
        f"y has missing labels ({label})", why="each example has one label", remedy="remove the rows without a label"
    )


def named_labels(labels: NDArray[Any], classes: tuple[str, ...]) -> Labels:
    """The labels, as they travel, of those of these names.

    >>> named_labels(np.array([7.0, 5.0]), ("5", "7")).tolist(), named_labels(np.array([7]), ("5", "7", "8")).tolist()
    ([1, -1], [1])
    """
    values, inverse = _unique(labels)
    names = [label_name(value) for value in values]
    unknown = [name for name in names if name not in classes]
    if unknown:
        raise InputError(
            f"unknown label {quoted_names(unknown)}",
            why=f"the stream has {quoted_names(list(classes))}",
            remedy="remove those rows, or name the labels as in the stream",
        )
    return labels_of([classes.index(name) for name in names], len(classes))[inverse]


def label_name(value: Any) -> str:
    """What a label is called: 5, 5.0 and "5" are one label, whatever file they come from.

    >>> label_name(5.0), label_name(True), label_name("spam"), label_name(b"ham")
    ('5', 'True', 'spam', 'ham')
    """
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")  # Two labels that are not UTF-8 stay two.
    number = isinstance(value, float) or getattr(value, "dtype", np.dtype(object)).kind == "f"
    return str(int(value)) if number and float(value).is_integer() else str(value)


def _array(name: str, given: ArrayLike) -> NDArray[Any]:
    try:
        return np.asarray(given)
    except ValueError as error:
        raise InputError(
            f"{name} is not an array", why=str(error).rstrip("."), remedy="give rows of one length"
        ) from None
