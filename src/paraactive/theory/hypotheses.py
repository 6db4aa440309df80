"""Finite hypothesis classes: what each hypothesis predicts at each point. True is label +1.

A class is laid on points by `on(x)`, which gives `Predictions`: they are made in blocks of rows when they are needed,
so that a million points and a thousand hypotheses fit in memory. A matrix of predictions is a class of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paraactive.basics.validation import whole
from paraactive.data.examples import Doubles, Floats
from paraactive.errors import InputError, counted

Bools: TypeAlias = NDArray[np.bool_]
_CELLS = 1 << 22
"""Predictions made at once."""


@dataclass(frozen=True)
class Predictions:
    """What each of `hypotheses` says at each of `points`."""

    points: int
    hypotheses: int
    rows: Callable[[int, int], Bools]
    """rows(first, last): the predictions at these points, one point a row."""

    def __post_init__(self) -> None:
        if self.hypotheses < 2:
            raise InputError(
                f"the class has {self.hypotheses} hypothes{'is' if self.hypotheses == 1 else 'es'}",
                why="with fewer than two there is nothing to choose",
                remedy="give two hypotheses or more",
            )
        if not self.points:
            raise InputError("there are no points", why="errors are taken over points", remedy="give one or more")

    def blocks(self) -> Iterator[tuple[slice, Bools]]:
        """All of them, a block of rows after the other."""
        step = max(1, _CELLS // self.hypotheses)
        for first in range(0, self.points, step):
            last = min(first + step, self.points)
            rows = self.rows(first, last)
            if rows.shape != (last - first, self.hypotheses):
                raise InputError(
                    f"rows({first}, {last}) has shape {rows.shape}",
                    why=f"there are {self.hypotheses} hypotheses",
                    remedy="give a row for each point and a column for each hypothesis",
                )
            yield slice(first, last), rows

    def mistakes(self, y: ArrayLike) -> NDArray[np.int64]:
        """How many of the labels y each hypothesis gets wrong."""
        labels = as_labels(y, self.points)
        return np.sum([np.sum(rows != labels[where, None], axis=0) for where, rows in self.blocks()], axis=0)

    def of(self, hypothesis: int) -> Bools:
        """What one hypothesis says at all points."""
        number = whole("hypothesis", hypothesis, 0)
        if number >= self.hypotheses:
            raise InputError(
                f"hypothesis is {number}",
                why=f"the class has {self.hypotheses}, counted from 0",
                remedy=f"give a number below {self.hypotheses}",
            )
        return np.concatenate([rows[:, number] for _, rows in self.blocks()])


def as_predictions(given: Predictions | ArrayLike) -> Predictions:
    """Predictions as they are, or a matrix of them: a row for each point, a column for each hypothesis.

    >>> as_predictions([[-1, 1, 1], [1, 1, -1]]).mistakes([1, -1]).tolist()
    [2, 1, 0]
    """
    if isinstance(given, Predictions):
        return given
    matrix = _array("the predictions", given)
    if matrix.ndim != 2:
        raise InputError(
            f"the predictions have {counted(matrix.ndim, 'dimension')}",
            why="there is a row for each point and a column for each hypothesis",
            remedy="give a matrix",
        )
    signs = _as_bools("the predictions", matrix)
    return Predictions(*matrix.shape, rows=lambda first, last: signs[first:last])


def as_labels(y: ArrayLike, points: int) -> Bools:
    """Labels -1 and +1, or booleans, one for each point."""
    labels = _as_bools("the labels", np.asarray(y))
    if labels.shape != (points,):
        raise InputError(
            f"there are labels of shape {labels.shape} for {points} points",
            why="each point has one",
            remedy="give as many labels as points",
        )
    return labels


def _as_bools(what: str, array: NDArray[Any]) -> Bools:
    if array.dtype == np.bool_:
        return array
    if array.dtype.kind not in "iuf" or not np.all(np.abs(array) == 1):
        raise InputError(
            f"{what} are not all -1 or +1", why="these are the two classes", remedy="give -1 and +1, or booleans"
        )
    return array > 0


class Thresholds:
    """Thresholds on a line: hypothesis h says +1 where x > cut_h.

    >>> Thresholds([0.0, 0.5, 1.0]).on([0.2, 0.7]).rows(0, 2).tolist()
    [[True, False, False], [True, True, False]]
    """

    def __init__(self, cuts: ArrayLike) -> None:
        self.cuts = _finite("cuts", cuts, 1)

    def __len__(self) -> int:
        return len(self.cuts)

    def on(self, x: ArrayLike) -> Predictions:
        """The class on these numbers."""
        points = _finite("x", x, 1)
        return Predictions(len(points), len(self), lambda first, last: points[first:last, None] > self.cuts)


class Stumps:
    """Axis-aligned stumps: hypothesis h says sign_h where x[feature_h] > cut_h, and -sign_h elsewhere.

    >>> Stumps(features=[0, 1], cuts=[0.5, 0.5], signs=[1, -1]).on([[0.0, 0.0], [1.0, 1.0]]).rows(0, 2).tolist()
    [[False, True], [True, False]]
    """

    def __init__(self, features: ArrayLike, cuts: ArrayLike, signs: ArrayLike) -> None:
        self.features, self.cuts = np.asarray(features), _finite("cuts", cuts, 1)
        if self.features.dtype.kind not in "iu":
            raise InputError(
                f"features are {self.features.dtype}", why="they are numbers of columns", remedy="give whole numbers"
            )
        self.signs = _as_bools("the signs", np.asarray(signs))
        if not self.features.shape == self.cuts.shape == self.signs.shape:
            raise InputError(
                f"there are {self.features.size} features, {self.cuts.size} cuts and {self.signs.size} signs",
                why="a stump has one of each",
                remedy="give as many of each",
            )

    @classmethod
    def between(cls, x: ArrayLike, cuts: int) -> Stumps:
        """For each feature `cuts` cuts at its quantiles, in both directions.

        >>> len(Stumps.between([[0.0, 5.0], [1.0, 7.0], [2.0, 9.0]], cuts=4))
        16
        """
        points, count = _finite("x", x, 2), whole("cuts", cuts, 1)
        if not points.size:
            raise InputError("x is empty", why="cuts lie between points", remedy="give one row or more")
        at = np.quantile(points, (np.arange(count) + 0.5) / count, axis=0)  # (cuts, features)
        features = np.broadcast_to(np.arange(points.shape[1]), at.shape)
        once = np.ones(at.size, np.bool_)
        return cls(np.tile(features.ravel(), 2), np.tile(at.ravel(), 2), np.concatenate([once, ~once]))

    def __len__(self) -> int:
        return len(self.cuts)

    def on(self, x: ArrayLike) -> Predictions:
        """The class on these rows."""
        points = _finite("x", x, 2)
        if len(self) and not 0 <= self.features.min() <= self.features.max() < points.shape[1]:
            raise InputError(
                f"the stumps use features {self.features.min()} to {self.features.max()}",
                why=f"the rows have {points.shape[1]}, counted from 0",
                remedy="give rows that are wide enough",
            )
        return Predictions(
            len(points),
            len(self),
            lambda first, last: (points[first:last][:, self.features] > self.cuts) == self.signs,
        )


class Separators:
    """Linear separators from a list: hypothesis h says +1 where x . weights_h + bias_h > 0.

    >>> Separators([[1.0, 0.0], [0.0, 1.0]]).on([[1.0, -1.0]]).rows(0, 1).tolist()
    [[True, False]]
    """

    def __init__(self, weights: ArrayLike, bias: ArrayLike | float = 0.0) -> None:
        self.weights = _finite("weights", weights, 2)
        self.bias = _finite("bias", np.full(len(self.weights), bias) if np.ndim(bias) == 0 else bias, 1)
        if len(self.bias) != len(self.weights):
            raise InputError(
                f"there are {len(self.bias)} biases for {len(self.weights)} separators",
                why="each has one",
                remedy="give as many, or one number for all",
            )

    @classmethod
    def on_the_circle(cls, count: int) -> Separators:
        """Through the origin of the plane, in `count` directions at equal angles.

        >>> Separators.on_the_circle(4).weights.round(3).tolist()
        [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [-0.0, -1.0]]
        """
        angle = 2 * np.pi * np.arange(whole("count", count, 1)) / count
        return cls(np.column_stack([np.cos(angle), np.sin(angle)]))

    def __len__(self) -> int:
        return len(self.weights)

    def on(self, x: ArrayLike) -> Predictions:
        """The class on these rows."""
        points = _finite("x", x, 2)
        if points.shape[1] != self.weights.shape[1]:
            raise InputError(
                f"rows of {points.shape[1]} features",
                why=f"the separators have {self.weights.shape[1]} weights",
                remedy="give rows of that width",
            )
        return Predictions(
            len(points), len(self), lambda first, last: points[first:last] @ self.weights.T + self.bias > 0
        )


def _array(name: str, given: Any, dtype: Any = None) -> NDArray[Any]:
    try:
        return np.asarray(given, dtype)
    except (ValueError, TypeError) as error:
        raise InputError(
            f"{name} cannot be made into an array", why=str(error).rstrip("."), remedy="give rows of one length"
        ) from None


def _finite(name: str, given: ArrayLike, dimensions: int) -> Doubles | Floats:
    array = _array(name, given, np.float64)
    if array.ndim != dimensions or not np.isfinite(array).all():
        raise InputError(
            f"{name} has {counted(array.ndim, 'dimension')}"
            if array.ndim != dimensions
            else f"{name} is not finite throughout",
            why=f"it must be finite numbers in {counted(dimensions, 'dimension')}",
            remedy=f"give {name} as {'a list of numbers' if dimensions == 1 else 'rows of numbers'}",
        )
    return array
