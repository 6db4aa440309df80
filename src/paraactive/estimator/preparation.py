"""What is done with the columns of X before learning and predicting: checked, standardized, and rounded to float32."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from paraactive.basics.validation import one_of
from paraactive.data.examples import Doubles, Examples, Features, Floats, SparseRows
from paraactive.data.precision import lossy_columns
from paraactive.errors import InputError, counted
from paraactive.estimator.encoding import TextEncoder, encoder_for
from paraactive.estimator.inputs import (
    ClassWeight,
    MatrixLike,
    checked_features,
    checked_labeled,
    checked_rows,
    checked_weights,
    validation_examples,
    validation_fraction,
)
from paraactive.estimator.rows import Rows
from paraactive.learners import Learner, Standardized
from paraactive.learners.scaling import ColumnScaling
from paraactive.learners.standardized import MEAN, is_standardized
from paraactive.sifting.scaling import AUTO, checked_scale, suits_standardizing

_HELD_OUT = 0.1
"""Fraction of the rows to hold out for early_stopping if `validation` is not given."""


class PreparesRows(BaseEstimator):
    """An estimator that standardizes the columns of X. The means and deviations are those of the first rows."""

    scale: bool | str
    missing: str | None
    encode: str | None
    class_weight: ClassWeight
    validation: tuple[MatrixLike, ArrayLike] | float | None
    early_stopping: int
    verbose: int
    classes_: NDArray[np.generic]
    _scaling: ColumnScaling | None
    _encoder: TextEncoder | None
    _seed: int

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn that sparse rows are accepted, and whether features may be missing."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing is not None
        return tags

    def _checked(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None, classes: ArrayLike | None, first: bool
    ) -> Rows:
        """The rows that count, as they are in X. The first rows set `classes_` and the features."""
        if self.missing is not None:
            one_of("way to fill in missing values", self.missing, (MEAN,))
        if first:
            self._encoder = encoder_for(X, self.encode)
        x, labels = checked_labeled(self, X, y, first=first)
        x = self._without_missing(x)
        weight = checked_weights(sample_weight, len(labels))
        if first:
            self.classes_ = np.unique(labels[weight > 0] if classes is None else np.asarray(classes))
            self._rows_given = 0
        rows = checked_rows(x, labels, weight, self.classes_, self.class_weight)
        self._rows_given += len(labels)
        return rows

    def _standardized(self, rows: Rows, learner: Learner) -> Rows:
        """Set means and deviations of the columns to those of these rows, and apply them."""
        wanted = self._wants_scaling(rows.x, learner)
        self._scaling = _scaling_of(rows.x, rows.weight, wanted, self.missing is not None)
        return replace(rows, x=prepared(rows.x, self._scaling))

    def _standardizing(self, rows: Rows, learner: Learner) -> tuple[Rows, Learner]:
        """The rows, and a learner that finds means and deviations itself: the first rows may be few."""
        wanted = self._wants_scaling(rows.x, learner)
        self._scaling = _scaling_of(rows.x, rows.weight, False, False)
        if wanted or (self.missing is not None and not is_standardized(learner)):
            learner = Standardized(learner, scale=wanted, missing=self.missing)
        return replace(rows, x=prepared(rows.x, self._scaling)), learner

    def _wants_scaling(self, x: Features, learner: Learner) -> bool:
        scale = checked_scale(self.scale)
        if scale is True and isinstance(x, SparseRows):
            raise InputError(
                "scale is True, and X is sparse",
                why="subtracting the mean would make it dense",
                remedy="scale X yourself, as with MaxAbsScaler, and leave scale out",
            )
        if is_standardized(learner):
            return False
        return suits_standardizing(x) if scale == AUTO else bool(scale)

    def _features(self, X: MatrixLike) -> Features:
        """The rows of `predict`, as the learner gets them."""
        return prepared(self._without_missing(checked_features(self, X)), self._scaling)

    def in_original_units(self, rows: Floats) -> Doubles:
        """Rows in the units of X.

        Parameters
        ----------
        rows : ndarray of float32
            Rows as the learner gets them, such as its support vectors.

        Returns
        -------
        ndarray of float64
            The rows as they are in X, up to the rounding of float32.
        """
        found = rows.astype(np.float64)
        return found if self._scaling is None else found * self._scaling.scale + self._scaling.center

    def _without_missing(self, x: Features) -> Features:
        """The rows. If values are missing, an InputError is raised, or a missing text is 0 in all of its columns."""
        if isinstance(x, SparseRows) or not np.isnan(np.sum(x)):
            return x
        flawed, texts = np.isnan(x), None if self._encoder is None else self._encoder.texts
        if self.missing is None:
            raise missing_values(*self._count_missing(flawed))
        return x if texts is None else np.where(flawed & texts, 0.0, x)  # pyright: ignore[reportReturnType]

    def _count_missing(self, flawed: NDArray[np.bool_]) -> tuple[list[str], NDArray[np.int64]]:
        """Names of the columns of X, and the number of missing values in each."""
        if self._encoder is not None:
            first = np.cumsum([0, *(1 if own is None else max(len(own), 1) for own in self._encoder.values)])[:-1]
            flawed = flawed[:, first]
        named = getattr(self, "feature_names_in_", None)
        names = [str(each) for each in (range(flawed.shape[1]) if named is None else named)]
        return names, flawed.sum(axis=0)

    def _held_out(self, rows: Rows) -> tuple[Rows, Examples | None]:
        """The rows to learn, and the rows to evaluate the model on."""
        validation = _HELD_OUT if self.validation is None and self.early_stopping else self.validation
        if validation is None:
            return rows, None
        if isinstance(validation, tuple | list):
            test = validation_examples(self, validation, self.classes_)
            return rows, replace(test, x=prepared(self._without_missing(test.x), self._scaling))
        held_out = rows.held_out(validation_fraction(validation), self._seed)
        if self.verbose:
            why = "early_stopping" if self.validation is None else "validation"
            print(f"held out {held_out.sum():,} of {counted(len(held_out), 'row')} to evaluate the model, for {why}")
        return rows.take(np.flatnonzero(~held_out)), rows.take(np.flatnonzero(held_out)).examples(len(self.classes_))


def _scaling_of(x: Features, weight: Doubles, scale: bool, fills: bool) -> ColumnScaling | None:
    """How the columns are centered and scaled; None if they are only rounded to float32."""
    if isinstance(x, SparseRows):
        return None
    if scale or fills:
        return ColumnScaling.of(x, weight, scale=scale)
    if x.dtype == np.float32 or not lossy_columns(np.fmin.reduce(x), np.fmax.reduce(x)).any():  # pyright: ignore[reportUnnecessaryComparison]
        return None
    return ColumnScaling.of(x, weight, scale=False)


def prepared(x: Features, scaling: ColumnScaling | None) -> Features:
    """Return rows as a learner gets them.

    Parameters
    ----------
    x : ndarray or SparseRows
        Rows of X, of float32 or float64.
    scaling : ColumnScaling or None
        How the columns are centered and scaled.

    Returns
    -------
    ndarray of float32 or SparseRows
        The rows. An InputError is raised for numbers that float32 cannot hold.
    """
    if isinstance(x, SparseRows):
        return x
    given = cast("NDArray[Any]", x)
    if scaling is not None:
        rows: Floats = scaling.apply(given)
    elif given.dtype == np.float32:
        return x
    else:
        with np.errstate(over="ignore"):
            rows = given.astype(np.float32)
    if np.isinf(rows).any():
        raise InputError(
            "X has numbers that are too large",
            why="features are held in float32, which ends at 3.4e38",
            remedy="scale that column down",
        )
    return rows


def missing_values(names: list[str], counts: NDArray[np.int64]) -> InputError:
    """The error for missing values in X.

    Parameters
    ----------
    names : list of str
        Names or numbers of all columns.
    counts : ndarray of int
        Number of missing values in each column.

    Returns
    -------
    InputError
        It lists the columns and their counts.
    """
    flawed = np.flatnonzero(counts)
    listing = ", ".join(f"{names[place]!r} ({counts[place]})" for place in flawed[:5].tolist())
    return InputError(
        f"Input X contains NaN, in {counted(len(flawed), 'column')}: {listing}{', ...' if len(flawed) > 5 else ''}",
        why="a score needs finite numbers",
        remedy='replace them by the mean of the column with missing="mean", fill them in, or leave the columns out',
    )
