"""Labels as they travel: -1 and +1 for two classes, 0 to C-1 for more; and what a score says of them.

With two classes a score is one number, positive for +1. With more it is a row of C numbers, and the largest wins.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paraactive.errors import InputError
from paraactive.examples import Doubles, Labels
from paraactive.validation import whole

UNKNOWN = -128
"""The label of an example whose label nobody has told yet."""
MOST_CLASSES = 127


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
    if not 2 <= whole("classes", classes) <= MOST_CLASSES:
        raise InputError(
            f"classes is {classes}", why="a classifier tells two apart, or more", remedy=f"give 2 to {MOST_CLASSES}"
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
