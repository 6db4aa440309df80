"""ParaActiveSVC: the same constructor, methods and attributes as scikit-learn's SVC, trained by sifting."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from paraactive.basics.validation import one_of
from paraactive.data.examples import Doubles, Ints, SparseRows
from paraactive.errors import InputError
from paraactive.estimator.calibrating import Sigmoids, fit_with_probabilities
from paraactive.estimator.classifier import ParaActiveClassifier
from paraactive.estimator.inputs import ClassWeight, MatrixLike
from paraactive.learners import LaSVM

_KERNELS = ("rbf", "linear", "poly")
_SHAPES = ("ovr", "ovo")
_OF_FIT = ("classes_", "n_features_in_", "feature_names_in_")


def _has_partial_fit(svc: ParaActiveSVC) -> bool:
    if svc.probability:
        raise AttributeError(
            "partial_fit is not available with probability=True, because the probabilities would not follow the model. "
            "Give probability=False, and calibrate at the end:\n"
            "    CalibratedClassifierCV(FrozenEstimator(svc)).fit(X_held_out, y_held_out)"
        )
    return True


class ParaActiveSVC(ClassifierMixin, BaseEstimator):
    """Support vector classifier with the interface of scikit-learn's `SVC`. It learns only from the informative rows.

    As with `SVC`, features are used as they are: scale them first, for example with `StandardScaler`. With more than
    two classes there is one machine for each class, against the rest; `SVC` has one for each pair of classes.

    Parameters
    ----------
    C : float, default=1.0
        Regularization parameter.
    kernel : {"rbf", "linear", "poly"}, default="rbf"
        Kernel. The kernels "sigmoid" and "precomputed" and functions are not supported.
    degree : int, default=3
        Degree of the poly kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        Kernel coefficient: "scale" is 1 / (n_features * X.var()), "auto" is 1 / n_features.
    coef0 : float, default=0.0
        Constant term of the poly kernel.
    probability : bool, default=False
        Whether to offer `predict_proba`. Up to 20 000 rows, it takes five more fits, for cross-validation, as in `SVC`.
        With more rows, 2000 of them are not learned, and the probabilities are fitted to their scores.
    tol : float, default=0.001
        Tolerance: smaller violations of the optimality conditions are ignored.
    cache_size : float, default=1000
        Memory for cached kernel values, in MB.
    class_weight : dict or "balanced", optional
        Weight of each class, by label. "balanced": inversely proportional to how often the class occurs.
    verbose : bool, default=False
        Whether to print a summary of each fit.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        What `decision_function` returns for more than two classes: one score for each class, or the differences of the
        scores for each pair of classes.
    random_state : int, RandomState or None, default=None
        Seed of the order of the rows and of the selection.
    n_jobs : int, optional
        Number of threads that score rows in `fit`. -1 means one for each core. The model does not depend on it.
        Default: 1.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    support_ : array of int, shape (n_SV,)
        Rows of X that are support vectors, class by class. Rows of later calls of `partial_fit` are counted on.
    support_vectors_ : array or sparse matrix of shape (n_SV, n_features)
        The support vectors, rounded to float32.
    n_support_ : array of int, shape (n_classes,)
        Number of support vectors of each class.
    dual_coef_ : array of shape (1, n_SV), or (n_classes, n_SV) for more than two classes
        Coefficient of each support vector in each machine. `SVC` has n_classes - 1 rows instead.
    intercept_ : array of shape (1,), or (n_classes,) for more than two classes
        Constant of each machine.
    coef_ : array of shape (1, n_features), or (n_classes, n_features)
        Weights of the features. Only for the linear kernel.
    n_features_in_, feature_names_in_ : int and array of str
        Number of features, and their names if X has names.
    classifier_ : ParaActiveClassifier
        The classifier inside. `classifier_.estimated_error_`, `classifier_.run_.verdict` and `classifier_.report(...)`
        say how the fit went.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(6000, noise=0.15, random_state=0)
    >>> svc = ParaActiveSVC(C=1, random_state=0).fit(X[:5000], y[:5000])
    >>> print(f"{svc.score(X[5000:], y[5000:]):.2f} from {svc.classifier_.sampling_rate_:.0%} of the rows")
    0.99 from 25% of the rows
    """

    classes_: NDArray[np.generic]

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: str = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        probability: bool = False,
        tol: float = 1e-3,
        cache_size: float = 1000.0,
        class_weight: ClassWeight = None,
        verbose: bool = False,
        decision_function_shape: str = "ovr",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.decision_function_shape = decision_function_shape
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn that sparse rows are accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # Learning ----------------------------------------------------------------------------------------------------

    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> ParaActiveSVC:
        """Learn from these rows, and forget what was learned before.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), optional
            Their weights: C is multiplied by them. Default: 1.

        Returns
        -------
        ParaActiveSVC
            The fitted estimator.
        """
        classifier, self._sigmoids = self._new_classifier(), None
        if self.probability:
            self._sigmoids = fit_with_probabilities(classifier, X, y, sample_weight)
        else:
            classifier.fit(X, y, sample_weight)
        return self._adopt(classifier, X)

    @cast(Any, available_if)(_has_partial_fit)
    def partial_fit(
        self, X: MatrixLike, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> ParaActiveSVC:
        """Learn from more rows. Not available with probability=True, because probabilities would not follow the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like, optional
            All labels that will occur. It is needed in the first call.
        sample_weight : array-like of shape (n_samples,), optional
            Their weights. Default: 1.

        Returns
        -------
        ParaActiveSVC
            The estimator.
        """
        self._sigmoids: Sigmoids | None = None
        classifier = self.classifier_ if hasattr(self, "classifier_") else self._new_classifier()
        return self._adopt(classifier.partial_fit(X, y, classes, sample_weight), X)

    def _new_classifier(self) -> ParaActiveClassifier:
        if not isinstance(self.kernel, str) or self.kernel not in _KERNELS:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError(
                f"kernel is {self.kernel!r}",
                why=f"ParaActiveSVC has the kernels {', '.join(_KERNELS)}",
                remedy="use one of these, or scikit-learn's SVC",
            )
        one_of("decision_function_shape", self.decision_function_shape, _SHAPES)
        learner = LaSVM(
            C=self.C, kernel=self.kernel, gamma=None if self.gamma == "auto" else self.gamma, degree=self.degree,
            coef0=self.coef0, tau=self.tol, gap=0.2, cache_size=self.cache_size,
        )  # fmt: skip
        return ParaActiveClassifier(
            learner, nodes=1 if self.n_jobs is None else self.n_jobs, scale=False, class_weight=self.class_weight,
            random_state=self.random_state, verbose=int(self.verbose),
        )  # fmt: skip

    def _adopt(self, classifier: ParaActiveClassifier, X: MatrixLike) -> ParaActiveSVC:
        self.classifier_, self._is_sparse = classifier, bool(sparse.issparse(X))
        for name in _OF_FIT:
            if hasattr(classifier, name):
                setattr(self, name, getattr(classifier, name))
            elif name in vars(self):
                delattr(self, name)  # Of another fit, whose X had names.
        return self

    # Predicting --------------------------------------------------------------------------------------------------

    def decision_function(self, X: MatrixLike) -> Doubles:
        """Scores of rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_classes * (n_classes - 1) / 2)
            With two classes, one score for each row, above 0 for the second class. Otherwise as
            `decision_function_shape` says.
        """
        score = self._fitted().decision_function(X)
        if score.ndim == 1 or self.decision_function_shape == "ovr":
            return score
        pairs = combinations(range(len(self.classes_)), 2)
        return np.column_stack([score[:, first] - score[:, second] for first, second in pairs])

    def predict(self, X: MatrixLike) -> NDArray[np.generic]:
        """Labels of rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples,)
            The labels.
        """
        return self._fitted().predict(X)

    @property
    def predict_proba(self) -> Callable[[MatrixLike], Doubles]:
        """Function of X that returns the probability of each class. It exists with probability=True."""
        if not self.probability:
            raise AttributeError("predict_proba is not available with probability=False")
        return self._predict_proba

    @property
    def predict_log_proba(self) -> Callable[[MatrixLike], Doubles]:
        """Function of X that returns the logarithm of the probability of each class; see `predict_proba`."""
        probabilities = self.predict_proba
        return lambda X: np.log(probabilities(X))

    def _predict_proba(self, X: MatrixLike) -> Doubles:
        classifier = self._fitted()
        if self._sigmoids is None:
            raise InputError(
                "there are no probabilities",
                why="probability was False when the model was fitted",
                remedy="fit it with probability=True",
            )
        return self._sigmoids.probabilities(classifier.decision_function(X))

    def _fitted(self) -> ParaActiveClassifier:
        check_is_fitted(self, "classifier_")
        return self.classifier_

    # The model ---------------------------------------------------------------------------------------------------

    @property
    def support_(self) -> NDArray[np.intp]:
        """Rows of X that are support vectors."""
        _, order = self._classes_of_vectors()
        keys = _keys_of(self._svm())[order]
        learned = self.classifier_.selected_["index"]
        known = learned.copy()  # The key of an example that came by `partial_fit` is its row.
        if hasattr(self.classifier_, "run_"):
            first: Ints = self.classifier_.run_.learned.key
            known[: len(first)] = first
        place = np.argsort(known, kind="stable")
        return learned[place[np.searchsorted(known, keys, sorter=place)]].astype(np.intp)

    @property
    def support_vectors_(self) -> Any:
        """The support vectors."""
        _, order = self._classes_of_vectors()
        vectors = self._svm().support_vectors
        if isinstance(vectors, SparseRows):
            shape = (len(vectors), vectors.width)
            return sparse.csr_matrix((vectors.data, vectors.indices, vectors.indptr), shape)[order]
        found = self.classifier_.in_original_units(vectors)[order]
        return sparse.csr_matrix(found) if self._is_sparse else found

    @property
    def n_support_(self) -> NDArray[np.int32]:
        """Number of support vectors of each class."""
        number, _ = self._classes_of_vectors()
        return np.bincount(number, minlength=len(self.classes_)).astype(np.int32)

    @property
    def dual_coef_(self) -> Doubles:
        """Coefficients of the support vectors."""
        _, order = self._classes_of_vectors()
        return np.atleast_2d(self._svm().dual_coefficients)[:, order]

    @property
    def intercept_(self) -> Doubles:
        """Constant of each machine."""
        svm = self._svm()
        if self.kernel != "linear" or not svm.vectors:
            return np.atleast_1d(np.asarray(svm.bias))
        # The learner takes rows relative to their center, which changes the constant of the linear kernel.
        _, order = self._classes_of_vectors()
        score = svm.score(svm.support_vectors[order[:1]]).reshape(-1)
        return score - (_dense(self.support_vectors_[:1]) @ self.coef_.T)[0]

    @property
    def coef_(self) -> Doubles:
        """Weights of the features, for the linear kernel."""
        if self.kernel != "linear":
            raise AttributeError("coef_ is only available with kernel='linear'")
        return np.asarray(self.dual_coef_ @ _dense(self.support_vectors_), np.float64)

    def _svm(self) -> LaSVM:
        return cast(LaSVM, self._fitted().learner_)

    def _classes_of_vectors(self) -> tuple[Ints, NDArray[np.intp]]:
        """The number of the class of each support vector, and their order, class by class."""
        number = _numbers_of(self._svm())
        return number, np.lexsort((_keys_of(self._svm()), number))


def _keys_of(svm: LaSVM) -> Ints:
    return np.zeros(0, np.int64) if svm.dual is None else svm.dual.keys[: svm.vectors]


def _numbers_of(svm: LaSVM) -> Ints:
    """The number of the class of each support vector: only in the machine of its class it may have a positive alpha."""
    if svm.dual is None:
        return np.zeros(0, np.int64)
    is_own = svm.dual.upper[:, : svm.vectors] > 0
    return is_own[0].astype(np.int64) if len(is_own) == 1 else is_own.argmax(axis=0).astype(np.int64)


def _dense(rows: Any) -> Doubles:
    return np.asarray(rows.toarray() if sparse.issparse(rows) else rows, np.float64)
