"""Labels inside the package, -1 and +1 for two classes and 0 to classes - 1 for more, and functions of scores.

With two classes a score is one number, positive for +1. With more classes it is one number per class, and the largest
decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paraactive.basics.validation import whole
from paraactive.data.examples import Doubles, Labels
from paraactive.errors import InputError

# The label of an example that has no label yet.
UNKNOWN = -128
MAX_CLASSES = 127
# The type of text labels, and of labels of unknown type.
STR = "str"
_NUMBERS = frozenset(
    [*(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)), "float16", "float32", "float64"]
)


def type_of_labels(values: Iterable[object]) -> str:
    """Return the type of a user's labels.

    Parameters
    ----------
    values : iterable
        Labels as the user gave them.

    Returns
    -------
    str
        "bool", numpy's name of a number type such as "int64", or "str" for all other labels.

    Examples
    --------
    >>> type_of_labels([3, 5]), type_of_labels(np.array([0.5, 1], np.float32)), type_of_labels(["ham", 5])
    ('int64', 'float32', 'str')
    """
    given = values if isinstance(values, np.ndarray) else np.array([*values], object)
    if given.dtype.kind == "O":
        plain = given.tolist()
        truths = sum(isinstance(value, bool | np.bool_) for value in plain)
        # In mixed lists numpy would convert truth values to numbers, and numbers to text.
        given = np.asarray(plain) if truths in (0, len(plain)) and not _has_text(plain) else given
    if given.dtype.kind == "f" and given.dtype.itemsize > 8:
        return "float64"
    return given.dtype.name if given.dtype.name == "bool" or given.dtype.name in _NUMBERS else STR


def _has_text(values: Sequence[object]) -> bool:
    return any(isinstance(value, str | bytes) for value in values)


def typed_labels(names: Sequence[str], label_type: str) -> NDArray[Any]:
    """Return the labels that have the given names.

    Parameters
    ----------
    names : sequence of str
        Names of labels.
    label_type : str
        Type of the labels, as `type_of_labels` returns it.

    Returns
    -------
    ndarray
        Labels of that type.

    Raises
    ------
    InputError
        If the type is unknown, or a name is not a label of this type.

    Examples
    --------
    >>> typed_labels(("-1", "1"), "int64").tolist(), typed_labels(("False", "True"), "bool").tolist()
    ([-1, 1], [False, True])
    """
    if label_type == STR:
        return np.array(names, np.str_)
    try:
        if label_type == "bool":
            return np.array([("False", "True").index(name) for name in names], np.bool_)
        if label_type in _NUMBERS:
            read = float if label_type.startswith("float") else int
            return np.array([read(name) for name in names], label_type)
        why = "labels cannot have this type"
    except (ValueError, OverflowError) as error:
        why = str(error)
    raise InputError(
        f"label_type is {label_type!r} for the classes {', '.join(map(repr, names[:5]))}",
        why=why,
        remedy='give "str", "bool", or the numpy name of a type of numbers, such as "int64"',
    )


def fitting_type(names: Sequence[str], label_type: str) -> str:
    """Return the type if all names are labels of it, otherwise "str".

    Parameters
    ----------
    names : sequence of str
        Names of labels.
    label_type : str
        Type to try.

    Returns
    -------
    str
        `label_type` or "str".

    Examples
    --------
    >>> fitting_type(("0", "1"), "int64"), fitting_type(("0", "unknown"), "int64")
    ('int64', 'str')
    """
    try:
        typed_labels(names, label_type)
    except InputError:
        return STR
    return label_type


def labels_of(numbers: ArrayLike, classes: int) -> Labels:
    """Return the labels of classes.

    Parameters
    ----------
    numbers : array-like
        Class numbers, 0 to classes - 1.
    classes : int
        Number of classes.

    Returns
    -------
    ndarray of int8
        -1 and +1 for two classes, otherwise the class numbers.

    Examples
    --------
    >>> labels_of([0, 1, 1], classes=2).tolist(), labels_of([0, 1, 2], classes=3).tolist()
    ([-1, 1, 1], [0, 1, 2])
    """
    numbers = np.asarray(numbers)
    return (2 * numbers - 1 if classes == 2 else numbers).astype(np.int8)


def numbers_of(y: Labels, classes: int) -> NDArray[np.intp]:
    """Return the class numbers of labels.

    Parameters
    ----------
    y : ndarray of int8
        Labels.
    classes : int
        Number of classes.

    Returns
    -------
    ndarray of int
        Class numbers, 0 to classes - 1.

    Examples
    --------
    >>> numbers_of(np.array([-1, 1], np.int8), classes=2).tolist()
    [0, 1]
    """
    return ((y > 0) if classes == 2 else y).astype(np.intp)


def decide(score: Doubles) -> NDArray[np.intp]:
    """Return the predicted class of each score.

    Parameters
    ----------
    score : ndarray of shape (n,) or (n, classes)
        Scores of two classes, or one score per class.

    Returns
    -------
    ndarray of shape (n,)
        Class numbers. A score of 0 gives class 0; if several classes tie, the first one is returned.

    Examples
    --------
    >>> decide(np.array([-0.5, 2.0])).tolist(), decide(np.array([[0.1, 0.7, 0.2]])).tolist()
    ([0, 1], [1])
    """
    return (score > 0).astype(np.intp) if score.ndim == 1 else score.argmax(axis=1)


def signed_margin(score: Doubles, y: Labels) -> Doubles:
    """Return the margin by which each example is classified correctly.

    Parameters
    ----------
    score : ndarray of shape (n,) or (n, classes)
        Scores of two classes, or one score per class.
    y : ndarray of shape (n,)
        Labels.

    Returns
    -------
    ndarray of shape (n,)
        y f for two classes, otherwise the score of the label minus the best other score. Negative if misclassified.

    Examples
    --------
    >>> signed_margin(np.array([-2.0]), np.array([1])).tolist()
    [-2.0]
    >>> signed_margin(np.array([[0.0, 3.0, 1.0]]), np.array([2])).tolist()
    [-2.0]
    """
    if score.ndim == 1:
        return y * score
    rows = np.arange(len(score))
    own, others = score[rows, y], score.copy()
    others[rows, y] = -np.inf
    return own - others.max(axis=1)


def probabilities(score: Doubles) -> Doubles:
    """Return the probability of each class from scores that are log-odds.

    Parameters
    ----------
    score : ndarray of shape (n,) or (n, classes)
        Scores of two classes, or one score per class.

    Returns
    -------
    ndarray of shape (n, classes)
        Logistic function of the scores, or their softmax.

    Examples
    --------
    >>> probabilities(np.array([0.0, 2.0])).round(2).tolist()
    [[0.5, 0.5], [0.12, 0.88]]
    """
    rows = np.column_stack([np.zeros(len(score)), score]) if score.ndim == 1 else score
    odds = np.exp(rows - rows.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)


def are_labels(y: Labels, classes: int) -> NDArray[np.bool_]:
    """Return which values are valid labels.

    Parameters
    ----------
    y : ndarray of int8
        Values to check.
    classes : int
        Number of classes.

    Returns
    -------
    ndarray of bool
        True for valid labels.
    """
    return np.abs(y) == 1 if classes == 2 else (y >= 0) & (y < classes)


def check_count(classes: object) -> int:
    """Return the number of classes as an int.

    Parameters
    ----------
    classes : int
        Value to check.

    Returns
    -------
    int
        Number of classes, 2 to 127.

    Raises
    ------
    InputError
        If the value is not a whole number in this range.
    """
    count = whole("classes", classes)
    if not 2 <= count <= MAX_CLASSES:
        raise InputError(
            f"classes is {classes}", why="a classifier has at least two classes", remedy=f"give 2 to {MAX_CLASSES}"
        )
    return count


def check_labels(y: Labels, classes: int) -> None:
    """Check that all values are valid labels.

    Parameters
    ----------
    y : ndarray of int8
        Values to check.
    classes : int
        Number of classes.

    Raises
    ------
    InputError
        If a value is not a label.
    """
    bad = y[~are_labels(y, classes)]
    if len(bad):
        known = "-1 and +1" if classes == 2 else f"0 to {classes - 1}"
        raise InputError(
            f"an example has the label {bad[0]}",
            why=f"the labels of {classes} classes are {known}",
            remedy="give every example one of these labels; Arrays converts any labels to them",
        )


def score_shape(rows: int, classes: int) -> tuple[int, ...]:
    """Return the shape of the scores.

    Parameters
    ----------
    rows : int
        Number of examples.
    classes : int
        Number of classes.

    Returns
    -------
    tuple of int
        (rows,) for two classes, otherwise (rows, classes).
    """
    return (rows,) if classes == 2 else (rows, classes)
