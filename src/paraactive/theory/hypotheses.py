"""Finite hypothesis classes: thresholds, decision stumps and linear separators.

`on(x)` of a class returns its `Predictions` at points. A matrix of predictions can be used as a class, too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from paraactive.basics.validation import whole
from paraactive.data.examples import Doubles, Floats
from paraactive.errors import InputError, counted
from paraactive.theory.predictions import Predictions, as_array, as_bools


class Thresholds:
    """Thresholds on a line: hypothesis h predicts +1 where x > cut_h.

    Parameters
    ----------
    cuts : array_like of float
        The cuts.

    Examples
    --------
    >>> Thresholds([0.0, 0.5, 1.0]).on([0.2, 0.7]).rows(0, 2).tolist()
    [[True, False, False], [True, True, False]]
    """

    def __init__(self, cuts: ArrayLike) -> None:
        self.cuts = _finite("cuts", cuts, 1)

    def __len__(self) -> int:
        return len(self.cuts)

    def on(self, x: ArrayLike) -> Predictions:
        """Return the predictions at numbers.

        Parameters
        ----------
        x : array_like of float
            The numbers.

        Returns
        -------
        Predictions
            The predictions.
        """
        points = _finite("x", x, 1)
        return Predictions(len(points), len(self), lambda first, last: points[first:last, None] > self.cuts)


class Stumps:
    """Decision stumps: hypothesis h predicts sign_h where x[feature_h] > cut_h, and -sign_h elsewhere.

    Parameters
    ----------
    features : array_like of int
        Feature of each stump, counted from 0.
    cuts : array_like of float
        Cut of each stump.
    signs : array_like
        Sign of each stump: -1 and +1, or booleans.

    Examples
    --------
    >>> Stumps(features=[0, 1], cuts=[0.5, 0.5], signs=[1, -1]).on([[0.0, 0.0], [1.0, 1.0]]).rows(0, 2).tolist()
    [[False, True], [True, False]]
    """

    def __init__(self, features: ArrayLike, cuts: ArrayLike, signs: ArrayLike) -> None:
        self.features, self.cuts = np.asarray(features), _finite("cuts", cuts, 1)
        if self.features.dtype.kind not in "iu":
            raise InputError(
                f"features are {self.features.dtype}", why="they are numbers of features", remedy="give whole numbers"
            )
        self.signs = as_bools("the signs", np.asarray(signs))
        if not self.features.shape == self.cuts.shape == self.signs.shape:
            raise InputError(
                f"there are {self.features.size} features, {self.cuts.size} cuts and {self.signs.size} signs",
                why="a stump has one of each",
                remedy="give as many of each",
            )

    @classmethod
    def between(cls, x: ArrayLike, cuts: int) -> Stumps:
        """Make stumps at quantiles of each feature, in both directions.

        Parameters
        ----------
        x : array_like of float
            Rows of features.
        cuts : int
            Number of cuts for each feature, at least 1.

        Returns
        -------
        Stumps
            2 * cuts stumps for each feature.

        Examples
        --------
        >>> len(Stumps.between([[0.0, 5.0], [1.0, 7.0], [2.0, 9.0]], cuts=4))
        16
        """
        points, count = _finite("x", x, 2), whole("cuts", cuts, 1)
        if not points.size:
            raise InputError("x is empty", why="cuts are quantiles of the rows", remedy="give one row or more")
        at = np.quantile(points, (np.arange(count) + 0.5) / count, axis=0)  # (cuts, features)
        features = np.broadcast_to(np.arange(points.shape[1]), at.shape)
        once = np.ones(at.size, np.bool_)
        return cls(np.tile(features.ravel(), 2), np.tile(at.ravel(), 2), np.concatenate([once, ~once]))

    def __len__(self) -> int:
        return len(self.cuts)

    def on(self, x: ArrayLike) -> Predictions:
        """Return the predictions at rows.

        Parameters
        ----------
        x : array_like of float
            Rows of features.

        Returns
        -------
        Predictions
            The predictions.
        """
        points = _finite("x", x, 2)
        if len(self) and not 0 <= self.features.min() <= self.features.max() < points.shape[1]:
            raise InputError(
                f"the stumps use features {self.features.min()} to {self.features.max()}",
                why=f"the rows have {points.shape[1]} features, counted from 0",
                remedy="give rows with more features",
            )
        return Predictions(
            len(points),
            len(self),
            lambda first, last: (points[first:last][:, self.features] > self.cuts) == self.signs,
        )


class Separators:
    """Linear separators: hypothesis h predicts +1 where x . weights_h + bias_h > 0.

    Parameters
    ----------
    weights : array_like of float
        Weights of each separator, one row each.
    bias : float or array_like of float, optional
        Bias of each separator, or one number for all. Default: 0.

    Examples
    --------
    >>> Separators([[1.0, 0.0], [0.0, 1.0]]).on([[1.0, -1.0]]).rows(0, 1).tolist()
    [[True, False]]
    """

    def __init__(self, weights: ArrayLike, bias: ArrayLike | float = 0.0) -> None:
        self.weights = _finite("weights", weights, 2)
        self.bias = _finite("bias", np.full(len(self.weights), bias) if np.ndim(bias) == 0 else bias, 1)
        if len(self.bias) != len(self.weights):
            raise InputError(
                f"there are {len(self.bias)} biases for {len(self.weights)} separators",
                why="each separator has one",
                remedy="give one for each, or one number for all",
            )

    @classmethod
    def on_the_circle(cls, count: int) -> Separators:
        """Make separators through the origin of the plane, at equal angles.

        Parameters
        ----------
        count : int
            Number of separators, at least 1.

        Returns
        -------
        Separators
            The separators.

        Examples
        --------
        >>> Separators.on_the_circle(4).weights.round(3).tolist()
        [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [-0.0, -1.0]]
        """
        angle = 2 * np.pi * np.arange(whole("count", count, 1)) / count
        return cls(np.column_stack([np.cos(angle), np.sin(angle)]))

    def __len__(self) -> int:
        return len(self.weights)

    def on(self, x: ArrayLike) -> Predictions:
        """Return the predictions at rows.

        Parameters
        ----------
        x : array_like of float
            Rows of features.

        Returns
        -------
        Predictions
            The predictions.
        """
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


def _finite(name: str, given: ArrayLike, dimensions: int) -> Doubles | Floats:
    array = as_array(name, given, np.float64)
    if array.ndim != dimensions or not np.isfinite(array).all():
        raise InputError(
            f"{name} has {counted(array.ndim, 'dimension')}"
            if array.ndim != dimensions
            else f"{name} has a value that is not finite",
            why=f"finite numbers in {counted(dimensions, 'dimension')} are needed",
            remedy=f"give {name} as {'a list of numbers' if dimensions == 1 else 'rows of numbers'}",
        )
    return array
