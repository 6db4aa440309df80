"""Predictions of a finite hypothesis class at points. True is label +1.

Predictions are computed in blocks of rows when they are needed, so that a million points and a thousand hypotheses fit
in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from paraactive.basics.validation import whole
from paraactive.errors import InputError, counted

Bools: TypeAlias = NDArray[np.bool_]
# Number of predictions that are computed at once.
_BLOCK_CELLS = 1 << 22


@dataclass(frozen=True)
class Predictions:
    """The predictions of hypotheses at points.

    Parameters
    ----------
    points : int
        Number of points, at least 1.
    hypotheses : int
        Number of hypotheses, at least 2.
    rows : callable
        rows(first, last) returns the predictions at the points first <= t < last: a boolean array with a row for each
        point and a column for each hypothesis.
    """

    points: int
    hypotheses: int
    rows: Callable[[int, int], Bools]

    def __post_init__(self) -> None:
        if self.hypotheses < 2:
            raise InputError(
                f"the class has {self.hypotheses} hypothes{'is' if self.hypotheses == 1 else 'es'}",
                why="learning chooses between two or more",
                remedy="give two hypotheses or more",
            )
        if not self.points:
            raise InputError("there are no points", why="an error is a mean over points", remedy="give one or more")

    def blocks(self) -> Iterator[tuple[slice, Bools]]:
        """Compute all predictions, block by block.

        Yields
        ------
        (slice, array of bool)
            The points of a block, and their rows.
        """
        step = max(1, _BLOCK_CELLS // self.hypotheses)
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
        """Count the mistakes of each hypothesis.

        Parameters
        ----------
        y : array_like
            Labels -1 and +1, or booleans, one for each point.

        Returns
        -------
        array of int64
            Number of mistakes of each hypothesis.
        """
        labels = as_labels(y, self.points)
        return np.sum([np.sum(rows != labels[where, None], axis=0) for where, rows in self.blocks()], axis=0)

    def of(self, hypothesis: int) -> Bools:
        """Return the predictions of one hypothesis at all points.

        Parameters
        ----------
        hypothesis : int
            Number of the hypothesis, from 0.

        Returns
        -------
        array of bool
            The predictions.
        """
        number = whole("hypothesis", hypothesis, 0)
        if number >= self.hypotheses:
            raise InputError(
                f"hypothesis is {number}",
                why=f"the class has {self.hypotheses}, counted from 0",
                remedy=f"give a number below {self.hypotheses}",
            )
        return np.concatenate([rows[:, number] for _, rows in self.blocks()])


def as_predictions(given: Predictions | ArrayLike) -> Predictions:
    """Return predictions, made from a matrix if necessary.

    Parameters
    ----------
    given : Predictions or array_like
        Predictions, or a matrix of -1 and +1 or booleans: a row for each point, a column for each hypothesis.

    Returns
    -------
    Predictions
        The predictions.

    Raises
    ------
    InputError
        If the matrix is not valid.

    Examples
    --------
    >>> as_predictions([[-1, 1, 1], [1, 1, -1]]).mistakes([1, -1]).tolist()
    [2, 1, 0]
    """
    if isinstance(given, Predictions):
        return given
    matrix = as_array("the predictions", given)
    if matrix.ndim != 2:
        raise InputError(
            f"the predictions have {counted(matrix.ndim, 'dimension')}",
            why="a matrix has a row for each point and a column for each hypothesis",
            remedy="give a matrix",
        )
    signs = as_bools("the predictions", matrix)
    return Predictions(*matrix.shape, rows=lambda first, last: signs[first:last])


def as_labels(y: ArrayLike, points: int) -> Bools:
    """Return labels as booleans.

    Parameters
    ----------
    y : array_like
        Labels -1 and +1, or booleans, one for each point.
    points : int
        Number of points.

    Returns
    -------
    array of bool
        True for label +1.

    Raises
    ------
    InputError
        If the labels are not valid.
    """
    labels = as_bools("the labels", np.asarray(y))
    if labels.shape != (points,):
        raise InputError(
            f"there are labels of shape {labels.shape} for {points} points",
            why="each point has one label",
            remedy="give as many labels as points",
        )
    return labels


def as_bools(what: str, array: NDArray[Any]) -> Bools:
    """Return signs as booleans.

    Parameters
    ----------
    what : str
        Name of the values in an error.
    array : array
        Values -1 and +1, or booleans.

    Returns
    -------
    array of bool
        True for +1.

    Raises
    ------
    InputError
        If a value is neither -1 nor +1.
    """
    if array.dtype == np.bool_:
        return array
    if array.dtype.kind not in "iuf" or not np.all(np.abs(array) == 1):
        raise InputError(
            f"{what} are not all -1 or +1", why="these are the two classes", remedy="give -1 and +1, or booleans"
        )
    return array > 0


def as_array(name: str, given: ArrayLike, dtype: DTypeLike | None = None) -> NDArray[Any]:
    """Return an argument as an array, or raise an error that names it.

    Parameters
    ----------
    name : str
        Name of the argument.
    given : array_like
        The argument.
    dtype : dtype, optional
        Type of the array. Default: that of the argument.

    Returns
    -------
    array
        The array.

    Raises
    ------
    InputError
        If the argument cannot be converted.
    """
    try:
        return np.asarray(given, dtype)
    except (ValueError, TypeError) as error:
        raise InputError(
            f"{name} cannot be made into an array", why=str(error).rstrip("."), remedy="give rows of one length"
        ) from None
