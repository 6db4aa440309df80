"""Checks of a user's labels: one label for each example, of 2 to 127 classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsFloat, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paraactive.data.examples import Labels
from paraactive.data.labels import MAX_CLASSES, labels_of
from paraactive.errors import InputError, counted, quoted_names


def plain_array(name: str, given: ArrayLike) -> NDArray[Any]:
    """Return a user's values as an array.

    Parameters
    ----------
    name : str
        Name of the parameter, for the error message.
    given : array-like
        The values.

    Returns
    -------
    ndarray
        The array.

    Raises
    ------
    InputError
        If the rows have different lengths.
    """
    try:
        return np.asarray(given)
    except ValueError as error:
        raise InputError(
            f"{name} is not an array", why=str(error).rstrip("."), remedy="give rows of one length"
        ) from None


def label_column(y: ArrayLike) -> NDArray[Any]:
    """Return labels as an array.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels.

    Returns
    -------
    ndarray of shape (n,)
        The labels.

    Raises
    ------
    InputError
        If y is empty or has another shape.
    """
    labels = plain_array("y", y)
    if labels.ndim != 1:
        raise InputError(
            f"y has shape {labels.shape}",
            why="each example must have one label",
            remedy="give one column, as y.ravel(), or y.argmax(axis=1) for one-hot labels",
        )
    if len(labels) == 0:
        raise InputError("y is empty", why="there is nothing to learn from", remedy="give at least one of each class")
    return labels


def class_values(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the different labels in sorted order, and the class number of each row.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Labels.

    Returns
    -------
    values : ndarray
        The different labels.
    number : ndarray of int, shape (n,)
        Class number of each row.

    Raises
    ------
    InputError
        If labels are missing, cannot be sorted, or have fewer than 2 or more than 127 classes.

    Examples
    --------
    >>> values, number = class_values(np.array([7, 5, 7]))
    >>> values.tolist(), number.tolist()
    ([5, 7], [1, 0, 1])
    """
    values, number = _unique(labels)
    check_classes([label_name(value) for value in values])
    return values, number


def check_classes(names: list[str]) -> None:
    """Check the number of classes.

    Parameters
    ----------
    names : list of str
        Names of the classes.

    Raises
    ------
    InputError
        If there are fewer than 2 or more than 127.
    """
    if not 2 <= len(names) <= MAX_CLASSES:
        raise InputError(
            f"y has {counted(len(names), 'class', 'classes')}, {quoted_names(names)}",
            why=f"a classifier needs 2 to {MAX_CLASSES} classes",
            remedy="give examples of at least two classes" if len(names) < 2 else "merge classes into groups",
        )


def checked_class_names(classes: Sequence[object]) -> tuple[str, ...]:
    """Return the names of classes that a user lists.

    Parameters
    ----------
    classes : sequence
        Labels.

    Returns
    -------
    tuple of str
        Their names.

    Raises
    ------
    InputError
        If a name appears twice, or the sequence is a single text.

    Examples
    --------
    >>> checked_class_names(["ham", 5.0])
    ('ham', '5')
    """
    names = tuple(label_name(name) for name in classes)
    if isinstance(classes, str) or len(set(names)) != len(names):
        raise InputError(
            f"classes is {classes!r}", why="it must be a list of different names", remedy='give them as ("ham", "spam")'
        )
    check_classes(list(names))
    return names


def _unique(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    try:
        values, inverse = np.unique(labels, return_inverse=True)
    except TypeError as error:
        if any(value is None for value in labels):
            raise _missing(None) from None
        raise InputError("the labels cannot be sorted", why=str(error), remedy="give labels of one type") from None
    missing = [value for value in values if value is None or value != value]
    if missing:
        raise _missing(missing[0])
    return values, inverse


def _missing(label: object) -> InputError:
    return InputError(
        f"y has missing labels ({label})",
        why="each example must have one label",
        remedy="remove the rows without a label",
    )


def named_labels(labels: NDArray[Any], classes: tuple[str, ...]) -> Labels:
    """Return the user's labels as internal labels, -1 and +1 or 0, 1, 2 and so on.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        The user's labels.
    classes : tuple of str
        Names of the classes in their order.

    Returns
    -------
    ndarray of int8
        Labels.

    Raises
    ------
    InputError
        If a label is not among the classes.

    Examples
    --------
    >>> named_labels(np.array([7.0, 5.0]), ("5", "7")).tolist(), named_labels(np.array([7]), ("5", "7", "8")).tolist()
    ([1, -1], [1])
    """
    values, inverse = _unique(labels)
    names = [label_name(value) for value in values]
    unknown = [name for name in names if name not in classes]
    if unknown:
        raise InputError(
            f"unknown label {quoted_names(unknown)}",
            why=f"the stream has the classes {quoted_names(list(classes))}",
            remedy="remove those rows, or name the labels as in the stream",
        )
    return labels_of([classes.index(name) for name in names], len(classes))[inverse]


def label_name(value: object) -> str:
    """Return the name of a label. 5, 5.0 and "5" have the same name.

    Parameters
    ----------
    value : object
        A label.

    Returns
    -------
    str
        Its name.

    Examples
    --------
    >>> label_name(5.0), label_name(True), label_name("spam"), label_name(b"ham")
    ('5', 'True', 'spam', 'ham')
    """
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")  # Different labels that are not UTF-8 keep different names.
    if isinstance(value, float) or getattr(value, "dtype", np.dtype(object)).kind == "f":
        number = float(cast(SupportsFloat, value))
        return str(int(number)) if number.is_integer() else str(value)
    return str(value)
