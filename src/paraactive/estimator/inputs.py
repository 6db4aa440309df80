"""What users give to `fit` and `partial_fit`, checked by scikit-learn's rules."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_X_y, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from paraactive.basics.validation import fraction, positive
from paraactive.data.examples import Doubles, Examples, Features
from paraactive.errors import InputError, quoted_names
from paraactive.estimator.encoding import TextEncoder
from paraactive.estimator.rows import Rows
from paraactive.streams.label_checks import check_classes
from paraactive.streams.sparse import is_sparse, sparse_rows


class SupportsCSR(Protocol):
    """A sparse matrix of scipy."""

    def tocsr(self) -> object:
        """The matrix in compressed sparse row format."""
        ...


MatrixLike: TypeAlias = "ArrayLike | SupportsCSR"
"""Rows of features: an array, a DataFrame, or a sparse matrix of scipy."""
Labels: TypeAlias = "NDArray[np.generic]"
ClassWeight: TypeAlias = "Mapping[Hashable, float] | str | None"
# scikit-learn has no type annotations, and pyright takes their default values for types.
_validate_data = cast("Callable[..., Any]", validate_data)
_HOW: dict[str, Any] = {
    "accept_sparse": "csr", "dtype": [np.float64, np.float32], "order": "C", "ensure_all_finite": "allow-nan",
}  # fmt: skip
"""Integers become float64, because float32 cannot hold large ones."""
_check_array = cast("Callable[..., Doubles]", check_array)
_check_both = cast("Callable[..., Any]", check_X_y)


def checked_features(estimator: BaseEstimator, X: MatrixLike) -> Features:
    """Check rows without labels.

    Parameters
    ----------
    estimator : BaseEstimator
        The fitted estimator, whose features the rows must have.
    X : array-like or sparse matrix
        The rows.

    Returns
    -------
    array or SparseRows
        Dense rows of float32 or float64, which may be missing (NaN), or sparse rows.
    """
    return _features(_validated(estimator, X, reset=False))


def checked_labeled(
    estimator: BaseEstimator, X: MatrixLike, y: ArrayLike, *, first: bool = False
) -> tuple[Features, Labels]:
    """Check rows with labels.

    Parameters
    ----------
    estimator : BaseEstimator
        The estimator.
    X : array-like or sparse matrix
        The rows.
    y : array-like
        Their labels.
    first : bool, default=False
        Whether the rows set the features of the estimator. Otherwise they must have these features.

    Returns
    -------
    tuple of (array or SparseRows, array)
        Rows as `checked_features` returns them, and labels.
    """
    x, labels = _validated(estimator, X, y, reset=first)
    check_classification_targets(labels)
    return _features(x), labels


def _validated(estimator: BaseEstimator, X: MatrixLike, *y: ArrayLike, reset: bool) -> Any:
    """What scikit-learn's `validate_data` returns, after text columns were encoded."""
    encoder: TextEncoder | None = getattr(estimator, "_encoder", None)
    if encoder is None:
        return _validate_data(estimator, X, *y, reset=reset, **_HOW)
    _validate_data(estimator, X, reset=reset, skip_check_array=True)  # Sets or compares the names of the columns.
    x = encoder.apply(X)
    return _check_both(x, *y, **_HOW) if y else _check_array(x, **_HOW)


def _features(x: object) -> Features:
    return sparse_rows(x) if is_sparse(x) else cast(Features, x)


def checked_weights(sample_weight: ArrayLike | None, rows: int) -> Doubles:
    """Check sample weights.

    Parameters
    ----------
    sample_weight : array-like, float or None
        One weight for each row, one for all, or None for 1.
    rows : int
        Number of rows.

    Returns
    -------
    array of float64
        One weight for each row. An InputError is raised for weights that are negative, all zero, or too few.
    """
    if sample_weight is None:
        return np.ones(rows)
    if isinstance(sample_weight, int | float | np.number):
        sample_weight = np.full(rows, sample_weight)
    weight = _check_array(sample_weight, ensure_2d=False, allow_nd=True, dtype=np.float64, input_name="sample_weight")
    if weight.ndim != 1 or len(weight) != rows:
        raise InputError(
            f"sample_weight has shape {weight.shape}",
            why="Sample weights must be 1D array or scalar, with one weight for each row",
            remedy=f"give {rows} weights",
        )
    if (weight < 0).any():
        raise InputError(
            "Negative values in data passed to sample_weight",
            why="a row cannot count less than nothing",
            remedy="give weights >= 0",
        )
    if not weight.any():
        raise InputError("all sample weights are zero", why="no row counts", remedy="give at least one weight above 0")
    return weight


def checked_rows(
    x: Features, y: Labels, weight: Doubles, classes: NDArray[np.generic], class_weight: ClassWeight
) -> Rows:
    """The rows that count: those with a known label and a weight above 0.

    Parameters
    ----------
    x : Features
        The rows.
    y : array
        Their labels.
    weight : array of float64
        Their weights.
    classes : array
        All labels, sorted. An InputError names a label that is not among them.
    class_weight : mapping, "balanced" or None
        Weight of each class.

    Returns
    -------
    Rows
        The rows with the numbers of their classes.
    """
    known = np.isin(y, classes)
    if not known[weight > 0].all():
        raise InputError(
            f"y has the label {y[~known][0]!r}",
            why=f"the classes are {quoted_names([str(name) for name in classes])}",
            remedy="give all labels in the first call of partial_fit, as classes=",
        )
    kept = np.flatnonzero(known & (weight > 0))
    number = np.searchsorted(classes, y[kept])
    check_classes([str(label) for label in classes])
    return Rows(x[kept], number, weight[kept] * _class_weights(class_weight, classes, y[kept])[number], kept)


def _class_weights(given: ClassWeight, classes: NDArray[np.generic], y: Labels) -> Doubles:
    if given is None:
        return np.ones(len(classes))
    if isinstance(given, str):
        return compute_class_weight(given, classes=classes, y=y)
    named = {label: weight for label, weight in given.items() if label in classes}
    if len(named) != len(given):
        unknown = [str(label) for label in given if label not in named]
        raise InputError(
            f"class_weight has the class {quoted_names(unknown)}",
            why=f"the classes are {quoted_names([str(name) for name in classes])}",
            remedy="name each class by its label",
        )
    return np.array([positive("class_weight", named.get(label, 1.0)) for label in classes.tolist()])


def validation_examples(
    estimator: BaseEstimator, validation: tuple[MatrixLike, ArrayLike], classes: NDArray[np.generic]
) -> Examples:
    """The test examples that a user gives as (X, y).

    Parameters
    ----------
    estimator : BaseEstimator
        The estimator.
    validation : tuple of (X, y)
        Rows and labels.
    classes : array
        All labels, sorted. An InputError is raised for other labels.

    Returns
    -------
    Examples
        The examples.
    """
    if len(validation) != 2:
        raise InputError("validation has more than X and y", why="it is both", remedy="give (X, y)")
    x, y = checked_labeled(estimator, *validation)
    if not np.isin(y, classes).all():
        raise InputError("validation has unknown labels", why="y has not", remedy="give labels that y has")
    number = np.searchsorted(classes, y)
    return Rows(x, number, np.ones(len(y)), np.arange(len(y))).examples(len(classes))


def validation_fraction(validation: object) -> float:
    """The fraction of the rows to hold out.

    Parameters
    ----------
    validation : object
        What the user gives. An InputError is raised if it is not a number above 0 and below 1.

    Returns
    -------
    float
        The fraction.
    """
    part = fraction("validation", validation) if np.isscalar(validation) else 1.0
    if part == 1.0:
        raise InputError(
            "validation is not a part of the rows",
            why="it is held out, and the other rows are learned",
            remedy="give a number above 0 and below 1, or (X, y)",
        )
    return part
