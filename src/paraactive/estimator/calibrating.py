"""Probabilities from scores that are margins, by Platt's method: a sigmoid of the score of each class.

The sigmoids are fitted to scores of rows that the model had not learned. Few rows are learned five times more, each
time without a fifth of them, as in scikit-learn's SVC. Of many rows, some are held out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.utils import check_array, check_random_state, column_or_1d

from paraactive.data.examples import Doubles
from paraactive.errors import InputError
from paraactive.estimator.classifier import ParaActiveClassifier
from paraactive.estimator.inputs import MatrixLike, checked_weights

CROSS_VALIDATED_ROWS = 20_000
"""Up to this number of rows, none is held out."""
HELD_OUT_ROWS = 2000
_FOLDS = 5
_MOST_STEPS = 100
_SMALLEST_STEP = 1e-10


@dataclass(frozen=True)
class Sigmoids:
    """The probability of each class, from scores.

    Parameters
    ----------
    slope, offset : array of float64
        One for each class; only one if there are two classes.
    """

    slope: Doubles
    offset: Doubles

    def probabilities(self, score: Doubles) -> Doubles:
        """Probability of each class.

        Parameters
        ----------
        score : array of shape (n,) or (n, classes)
            Scores of rows.

        Returns
        -------
        array of shape (n, classes)
            Each row sums to 1.
        """
        found = expit(score.reshape(len(score), -1) * self.slope + self.offset)
        if score.ndim == 1:
            return np.hstack([1.0 - found, found])
        found = np.maximum(found, np.finfo(np.float64).tiny)  # All may be 0.
        return found / found.sum(axis=1, keepdims=True)


def fit_with_probabilities(
    classifier: ParaActiveClassifier, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None
) -> Sigmoids:
    """Fit a classifier, and the sigmoids that turn its scores into probabilities.

    Parameters
    ----------
    classifier : ParaActiveClassifier
        The classifier. It is fitted here.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Their labels.
    sample_weight : array-like of shape (n_samples,) or None
        Their weights.

    Returns
    -------
    Sigmoids
        How scores become probabilities. An InputError is raised if a class has only one row.
    """
    seed = int(check_random_state(classifier.random_state).randint(2**31 - 1))
    given = np.asarray(y)
    if given.ndim == 1 and len(given) > CROSS_VALIDATED_ROWS:
        return _with_held_out_rows(classifier, X, given, sample_weight, seed)
    classifier.fit(X, y, sample_weight)  # First, because it checks everything.
    rows: Any = cast(Any, check_array)(X, accept_sparse="csr", dtype=None)
    labels, weight = column_or_1d(y), checked_weights(sample_weight, rows.shape[0])
    counted = np.flatnonzero(weight > 0)
    rows, labels, weight = rows[counted], labels[counted], weight[counted]
    score = _cross_validated(classifier, rows, labels, weight, seed)
    return fit_sigmoids(score, np.searchsorted(classifier.classes_, labels), weight)


def _cross_validated(classifier: ParaActiveClassifier, x: Any, y: Any, weight: Doubles, seed: int) -> Doubles:
    """Scores of all rows, each by a model that has not learned it."""
    folds = min(_FOLDS, int(np.unique(y, return_counts=True)[1].min()))
    if folds < 2:
        raise InputError(
            "probability is True, and a class has only one row",
            why="probabilities are fitted to rows that were not learned",
            remedy="give each class at least two rows, or probability=False",
        )
    count = len(classifier.classes_)
    score = np.zeros((len(y), count) if count > 2 else len(y))
    for learned, others in StratifiedKFold(folds, shuffle=True, random_state=seed).split(np.zeros(len(y)), y):
        part = cast(ParaActiveClassifier, clone(classifier))
        part.fit(x[learned], y[learned], weight[learned])
        score[others] = part.decision_function(x[others])
    return score


def _with_held_out_rows(
    classifier: ParaActiveClassifier, X: Any, y: NDArray[Any], sample_weight: ArrayLike | None, seed: int
) -> Sigmoids:
    weight = checked_weights(sample_weight, len(y)).copy()
    few = np.unique(y, return_counts=True)[1].min() < 2
    _, some, _, held_out = train_test_split(
        X, np.arange(len(y)), test_size=HELD_OUT_ROWS, random_state=seed, stratify=None if few else y
    )
    learned = np.where(np.isin(np.arange(len(y)), held_out), 0.0, weight)
    classifier.fit(X, y, learned)  # Rows without weight are not learned, and all rows keep their numbers.
    score = classifier.decision_function(some)
    return fit_sigmoids(score, np.searchsorted(classifier.classes_, y[held_out]), weight[held_out])


def fit_sigmoids(score: Doubles, number: NDArray[np.intp], weight: Doubles) -> Sigmoids:
    """Fit a sigmoid to the scores of each class, against all other classes.

    Parameters
    ----------
    score : array of shape (n,) or (n, classes)
        Scores of rows that the model has not learned.
    number : array of int, shape (n,)
        Their classes.
    weight : array of shape (n,)
        Their weights.

    Returns
    -------
    Sigmoids
        The sigmoids.
    """
    if score.ndim == 1:
        fitted = [_fit_sigmoid(score, number == 1, weight)]
    else:
        fitted = [_fit_sigmoid(score[:, each], number == each, weight) for each in range(score.shape[1])]
    slope, offset = np.array(fitted).T
    return Sigmoids(slope, offset)


def _fit_sigmoid(score: Doubles, is_own: NDArray[np.bool_], weight: Doubles) -> tuple[float, float]:
    """Slope a and offset b of the sigmoid with the least log loss, by Newton's method.

    The targets are Platt's (1999): a little inside of 0 and 1, so that the slope stays finite if the classes are
    separated.
    """
    own, other = weight[is_own].sum(), weight[~is_own].sum()
    target = np.where(is_own, (own + 1.0) / (own + 2.0), 1.0 / (other + 2.0))
    unit = max(float(np.std(score)), np.finfo(np.float64).tiny)
    inputs = np.column_stack([score / unit, np.ones(len(score))])
    at = np.array([0.0, np.log((own + 1.0) / (other + 1.0))])

    def loss(at: Doubles) -> float:
        z = inputs @ at
        return float(weight @ (np.logaddexp(0.0, z) - target * z))

    for _ in range(_MOST_STEPS):
        p = expit(inputs @ at)
        gradient = inputs.T @ (weight * (p - target))
        hessian = (inputs * (weight * p * (1.0 - p))[:, None]).T @ inputs + 1e-12 * np.eye(2)
        step, length, before = np.linalg.solve(hessian, gradient), 1.0, loss(at)
        while length > _SMALLEST_STEP and loss(at - length * step) > before:
            length /= 2.0
        if length <= _SMALLEST_STEP or np.abs(step).max() < _SMALLEST_STEP:
            break
        at = at - length * step
    return float(at[0]) / unit, float(at[1])
