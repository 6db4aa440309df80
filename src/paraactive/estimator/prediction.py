"""How a fitted estimator is used: scores, labels and probabilities of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from paraactive.data.examples import Doubles, Features
from paraactive.data.labels import probabilities
from paraactive.estimator.inputs import MatrixLike
from paraactive.learners import Learner
from paraactive.learners.base import capabilities_of
from paraactive.learners.deciding import classes_of, scores_of
from paraactive.runs.arguments import count_cores


class PredictsFromScores(BaseEstimator):
    """A classifier whose predictions follow from the scores of its learner."""

    nodes: int
    engine: str | None
    learner_: Learner
    classes_: NDArray[np.generic]

    if TYPE_CHECKING:

        def _new_learner(self) -> Learner: ...

        def _features(self, X: MatrixLike) -> Features: ...

    def decision_function(self, X: MatrixLike) -> Doubles:
        """Scores of rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_classes)
            With two classes, one score for each row, above 0 for the second class.
        """
        check_is_fitted(self)
        return scores_of(self.learner_, self._features(X), self._threads())

    def predict(self, X: MatrixLike) -> NDArray[np.generic]:
        """Labels of rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples,)
            The labels. An SVM with many features computes the exact score only of those rows whose label a cheap score
            leaves open; see `LaSVM(cascade=...)`.
        """
        check_is_fitted(self)
        return self.classes_[classes_of(self.learner_, self._features(X), self._threads())]

    def _threads(self) -> int:
        cores = count_cores()
        return 1 if self.engine == "simulated" else cores if self.nodes == -1 else min(self.nodes, cores)

    @property
    def predict_proba(self) -> Callable[[MatrixLike], Doubles]:
        """Function of X that returns the probability of each class.

        It exists if the learner's scores are log-odds, as those of the network. For other learners there is none, as
        for scikit-learn's SVC.
        """
        # A property and not `available_if` of scikit-learn, which would hide this message behind its own.
        learner = self.learner_ if hasattr(self, "learner_") else self._new_learner()
        if not capabilities_of(learner).log_odds:
            raise AttributeError(
                f"{type(self).__name__} has no predict_proba with {type(learner).__name__}, whose scores are margins "
                "and not probabilities. To have probabilities, calibrate it:\n"
                "    from sklearn.calibration import CalibratedClassifierCV\n"
                "    CalibratedClassifierCV(clf).fit(X, y).predict_proba(X)"
            )
        return self._predict_proba

    def _predict_proba(self, X: MatrixLike) -> Doubles:
        return probabilities(self.decision_function(X))
