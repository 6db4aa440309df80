"""Labels as they travel: -1 and +1 for two classes, 0 to C-1 for more; and what a score says of them.

With two classes a score is one number, positive for +1. With more it is a row of C numbers, and the largest wins.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paraactive.basics.validation import whole
from paraactive.data.examples import Doubles, Labels
from paraactive.errors import InputError

UNKNOWN = -128
"""The label of an example whose label nobody has told yet."""
MAX_CLASSES = 127
STR = "str"
"""The type of labels that are text, and of those that nobody has said the type of."""
_NUMBERS = frozenset(
    [*(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)), "float16", "float32", "float64"]
)


def type_of_labels(values: Iterable[Any]) -> str:
    """The type of a user's labels, by numpy's name for it: bool, one of whole or real numbers, or "str" for all else.

    >>> type_of_labels([3, 5]), type_of_labels(np.array([0.5, 1], np.float32)), type_of_labels(["ham", 5])
    ('int64', 'float32', 'str')
    """
    given = values if isinstance(values, np.ndarray) else np.array([*values], object)
    if given.dtype.kind == "O":
        plain = given.tolist()
        truths = sum(isinstance(value, bool | np.bool_) for value in plain)
        # numpy would make numbers of truth values, and text of numbers, that are among others.
        given = np.asarray(plain) if truths in (0, len(plain)) and not _has_text(plain) else given
    if given.dtype.kind == "f" and given.dtype.itemsize > 8:
        return "float64"
    return given.dtype.name if given.dtype.name == "bool" or given.dtype.name in _NUMBERS else STR


def _has_text(values: Sequence[Any]) -> bool:
    return any(isinstance(value, str | bytes) for value in values)


def typed_labels(names: Sequence[str], label_type: str) -> NDArray[Any]:
    """The labels that have these names, as an array of their type.

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
        why = "it is not a type of labels"
    except (ValueError, OverflowError) as error:
        why = str(error)
    raise InputError(
        f"label_type is {label_type!r} for the classes {', '.join(map(repr, names[:5]))}",
        why=why,
        remedy='give "str", "bool", or the numpy name of a type of numbers, such as "int64"',
    )


def fitting_type(names: Sequence[str], label_type: str) -> str:
    """The type, if all of these names are labels of it; otherwise "str".

    >>> fitting_type(("0", "1"), "int64"), fitting_type(("0", "unknown"), "int64")
    ('int64', 'str')
    """
    try:
        typed_labels(names, label_type)
    except InputError:
        return STR
    return label_type


def labels_of(numbers: ArrayLike, classes: int) -> Labels:
    """The labels of classes that are given by their numbers, 0 to `classes` - 1.

    >>> labels_of([0, 1, 1], classes=2).tolist(), labels_of([0, 1, 2], classes=3).tolist()
    ([-1, 1, 1], [0, 1, 2])
    """
    numbers = np.asarray(numbers)
    return (2 * numbers - 1 if classes == 2 else numbers).astype(np.int8)


def numbers_of(y: Labels, classes: int) -> NDArray[np.intp]:
    """The numbers of the classes that the labels mean.

    >>> numbers_of(np.array([-1, 1], np.int8), classes=2).tolist()
    [0, 1]
    """
    return ((y > 0) if classes == 2 else y).astype(np.intp)


def decide(score: Doubles) -> NDArray[np.intp]:
    """The number of the class that each score speaks for; 0 of two classes if it is 0, the first of those that tie.

    >>> decide(np.array([-0.5, 2.0])).tolist(), decide(np.array([[0.1, 0.7, 0.2]])).tolist()
    ([0, 1], [1])
    """
    return (score > 0).astype(np.intp) if score.ndim == 1 else score.argmax(axis=1)


def signed_margin(score: Doubles, y: Labels) -> Doubles:
    """How far it is on the right side: y f of two classes, that of the label minus the best other one of more.

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
    """The probability of each class, (n, classes), where scores are log-odds: the logistic function, or softmax.

    >>> probabilities(np.array([0.0, 2.0])).round(2).tolist()
    [[0.5, 0.5], [0.12, 0.88]]
    """
    rows = np.column_stack([np.zeros(len(score)), score]) if score.ndim == 1 else score
    odds = np.exp(rows - rows.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)


def are_labels(y: Labels, classes: int) -> NDArray[np.bool_]:
    """Which of them are labels of that many classes."""
    return np.abs(y) == 1 if classes == 2 else (y >= 0) & (y < classes)


def check_count(classes: Any) -> int:
    """How many classes there are, as a learner is told."""
    if not 2 <= whole("classes", classes) <= MAX_CLASSES:
        raise InputError(
            f"classes is {classes}", why="a classifier tells two apart, or more", remedy=f"give 2 to {MAX_CLASSES}"
        )
    return int(classes)


def check_labels(y: Labels, classes: int) -> None:
    """An error if some are not labels of that many classes."""
    bad = y[~are_labels(y, classes)]
    if len(bad):
        known = "-1 and +1" if classes == 2 else f"0 to {classes - 1}"
        raise InputError(
            f"an example has the label {bad[0]}",
            why=f"the labels of {classes} classes are {known}",
            remedy="give every example one of them, as Arrays does for any labels",
        )


def score_shape(rows: int, classes: int) -> tuple[int, ...]:
    """Of the scores of so many rows."""
    return (rows,) if classes == 2 else (rows, classes)
