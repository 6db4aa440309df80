"""SklearnLearner: any scikit-learn classifier with a weighted partial_fit. scikit-learn is imported on use."""

from __future__ import annotations

import copy
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paraactive.basics.state import State, digest
from paraactive.basics.threads import one_blas_thread
from paraactive.basics.validation import one_of, whole
from paraactive.data.examples import Doubles, Features, Selected, SparseRows
from paraactive.data.labels import score_shape
from paraactive.errors import InputError
from paraactive.learners.rows import check_features, check_rows
from paraactive.learners.wrappers.fixed_batches import DEFAULT_ROWS, FixedBatches
from paraactive.learners.wrappers.foreign import reraise_as_input_error
from paraactive.learners.wrappers.minibatches import Minibatch, Minibatches
from paraactive.learners.wrappers.nested import REMEDY, from_state, to_state
from paraactive.learners.wrappers.sklearn_classes import (
    built,
    described,
    is_known,
    put_together,
    set_attributes,
    take_apart,
)
from paraactive.learners.wrappers.sklearn_steps import divides_by_weight, in_small_steps, takes_steps, why_passive

if TYPE_CHECKING:
    from scipy.sparse import csr_array
    from sklearn.base import BaseEstimator

_Rows: TypeAlias = "Doubles | csr_array"
"""Rows as scikit-learn takes them."""
_SCORES = ("auto", "decision_function", "predict_proba")
_LOWEST_LOG = float(np.log(np.finfo(np.float64).tiny))
"""The logarithm that stands for a probability of 0 or NaN."""
_NOT_SAVED = {"_loss_function_"}
"""Attributes that partial_fit makes in each call, of types that are no numbers."""
_NOT_ONE_BY_ONE = {
    "MLPClassifier": "it divides by the sum of the weights of a call, so that weights 1/p would have no effect",
    "GaussianNB": "it smooths by the variance within a call, which is 0 then",
}
_GROWS = {"CategoricalNB"}
"""Estimators whose arrays grow as they learn."""
_FITTED = "fitted."


class SklearnLearner:
    """A scikit-learn classifier as a learner: any classifier whose `partial_fit` has `sample_weight`.

    These are SGDClassifier, Perceptron, the naive Bayes classifiers and MLPClassifier. The estimator gets float64. Its
    fitted attributes are saved as plain arrays, without pickle. If it accepts sparse rows, it gets the rows of a sparse
    stream as a CSR matrix of scipy. On sparse rows, SGDClassifier and Perceptron move the intercept by a hundredth of
    what they do on dense rows.

    Parameters
    ----------
    estimator : sklearn.base.BaseEstimator or dict
        The classifier, not fitted, or its description. It is cloned and stays unchanged; the clone, which learns, is
        the attribute `estimator`. If random_state is None, the clone has 0, so that all replicas learn the same.
    classes : int, optional
        Number of classes. Default: the number of classes of the stream, or 2 without a stream.
    scores : {"auto", "decision_function", "predict_proba"}, default="auto"
        Method of the estimator that returns the scores. "predict_proba" gives log-odds for two classes and logarithms
        of probabilities for more, not below the logarithm of the smallest float64. "auto" is the first of the two that
        the estimator has.
    minibatch : int, default=1
        Number of examples in each call of partial_fit; the last call of a round may have fewer. SGDClassifier and
        Perceptron take steps of weight 1 or less, as many as the weight of each example, and naive Bayes adds up, so
        larger calls are only faster. MLPClassifier takes one step for all examples of a call and divides by the sum of
        their weights: it needs more than 1, and a call ends as soon as its weights sum up to this number, so that it
        takes as many steps as without sifting. GaussianNB smooths by the variance within a call: it needs more than 1,
        too.
    tile : int, default=64
        Number of rows in each call of decision_function or predict_proba. Each call has exactly this number of rows,
        padded with zeros, so that scores do not depend on the other rows (see `fixed_batches`). A call costs about
        0.2 ms with 1 row, and hardly more with 64.

    Attributes
    ----------
    sparse : bool
        Whether the estimator accepts sparse rows.
    why_passive : str or None
        Why the default rule learns every example with this estimator; None if it sifts.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import SGDClassifier
    >>> from paraactive import Arrays, train
    >>> from paraactive.learners import SklearnLearner
    >>> x = np.random.default_rng(0).normal(size=(4000, 5))
    >>> y = x @ [1, -2, 0.5, 0, 1] > 0
    >>> learner = SklearnLearner(SGDClassifier(loss="log_loss", average=True))
    >>> run = train(learner, Arrays(x, y), rule="gradient", warmstart=200, batch=400)
    >>> print(f"sampling rate {run.sampling_rate:.1f}, error below 2%: {np.mean((learner.score(x) > 0) != y) < 0.02}")
    sampling rate 0.1, error below 2%: True
    """

    def __init__(
        self,
        estimator: object,
        classes: int | None = None,
        scores: str = "auto",
        minibatch: int = 1,
        tile: int = DEFAULT_ROWS,
    ) -> None:
        self.classes = None if classes is None else whole("classes", classes, 2)
        self.minibatch, self.tile = whole("minibatch", minibatch, 1), whole("tile", tile, 1)
        self.scores = one_of("kind of scores", scores, _SCORES)
        self._new = _checked(built(estimator) if isinstance(estimator, Mapping) else estimator, self.minibatch)
        self._reads_probability = _reads_probability(self._new, scores)
        self.estimator = copy.deepcopy(self._new)
        self.sparse = bool(import_module("sklearn.utils").get_tags(self._new).input_tags.sparse)
        self.why_passive = why_passive(self._new)
        self._gather = Minibatches(self.minibatch, by_weight=divides_by_weight(self._new))
        self._batches = FixedBatches(self.tile)
        self._width: int | None = None

    def __repr__(self) -> str:
        names = ("classes", "scores", "minibatch", "tile")
        return f"SklearnLearner({self._new!r}, {', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    @property
    def log_odds(self) -> bool:
        """Whether scores are logarithms of probabilities, or those of the logistic loss with two classes.

        With more classes, the logistic loss has one model for each class against the rest, whose scores are not
        log-odds.
        """
        return self._reads_probability or (self._classes == 2 and getattr(self._new, "loss", None) == "log_loss")

    @property
    def sifts(self) -> bool:
        """Whether sifting suits the estimator; if not, `why_passive` says why."""
        return self.why_passive is None

    @property
    def one_against_rest(self) -> bool:
        """Whether the estimator has one linear model for each class, if there are more than two classes."""
        return takes_steps(self._new)

    def _description(self) -> Callable[[], dict[str, Any]]:
        """Return `describe`, which exists only for an estimator of scikit-learn with plain parameters."""
        estimator = described(self._new)
        names = ("classes", "scores", "minibatch", "tile")
        return lambda: {"estimator": estimator} | {name: getattr(self, name) for name in names}

    # A property, so that a learner that cannot be described does not have it.
    if TYPE_CHECKING:

        def describe(self) -> dict[str, Any]: ...
    else:
        describe = property(_description)

    # Scoring -----------------------------------------------------------------------------------------------------

    def score(self, x: ArrayLike | SparseRows) -> Doubles:
        """Return the estimator's score of each row.

        Parameters
        ----------
        x : array-like or SparseRows
            Rows of features.

        Returns
        -------
        ndarray of float64, shape (n,) or (n, classes)
            The scores; 0 before the first partial_fit.
        """
        given, shape = x if isinstance(x, SparseRows) else np.asarray(x), score_shape(0, self._classes)
        if self._width is None:
            return np.zeros((len(given), *shape[1:]))
        rows = self._checked_rows(given, self._width)
        with _one_thread_unchecked():
            return self._batches.score(self._score_batch, rows, shape[1:])

    def _score_batch(self, batch: Features) -> Doubles:
        rows, name = _as_sklearn_rows(batch), type(self.estimator).__name__
        remedy = "change its parameters or the features, or load a state that it saved"
        # Classes without examples have no variance, or probability 0.
        with np.errstate(all="ignore"), reraise_as_input_error(f"{name} cannot score these rows", remedy):
            if self._reads_probability:
                return self._from_probability(rows, len(batch))
            score = np.asarray(self.estimator.decision_function(rows), np.float64)
        return self._shaped(score, score_shape(len(batch), self._classes))

    def _from_probability(self, rows: _Rows, count: int) -> Doubles:
        if hasattr(self.estimator, "predict_log_proba"):
            logs = np.asarray(self.estimator.predict_log_proba(rows), np.float64)
        else:
            logs = np.log(np.asarray(self.estimator.predict_proba(rows), np.float64))
        logs = self._shaped(logs, (count, self._classes))
        logs = np.clip(np.where(np.isnan(logs), _LOWEST_LOG, logs), _LOWEST_LOG, 0.0)
        return logs[:, 1] - logs[:, 0] if self._classes == 2 else logs

    def _shaped(self, found: Doubles, wanted: tuple[int, ...]) -> Doubles:
        if found.shape == wanted:
            return found
        raise InputError(
            f"{type(self.estimator).__name__} gave scores of shape {found.shape}",
            why=f"scores of {wanted[0]} rows and {self._classes} classes have shape {wanted}",
            remedy="use an estimator with one score for each class",
        )

    def _checked_rows(self, x: Features, width: int) -> Features:
        return check_features(x, width) if self.sparse else check_rows(x, width)

    @property
    def _classes(self) -> int:
        return self.classes or 2

    def _labels(self) -> NDArray[np.int64]:
        return np.array([-1, 1]) if self._classes == 2 else np.arange(self._classes)

    # Learning ----------------------------------------------------------------------------------------------------

    def update(self, selected: Selected) -> None:
        """See `Learner.update`. Calls partial_fit for each complete minibatch."""
        with _one_thread_unchecked():
            for minibatch in self._gather.add(selected):
                self._learn(minibatch)

    def end_round(self) -> None:
        """Call partial_fit for the waiting examples, if any."""
        if self._gather.waiting:
            with _one_thread_unchecked():
                self._learn(self._gather.rest())

    def _learn(self, batch: Minibatch) -> None:
        batch = in_small_steps(batch) if takes_steps(self._new) else batch
        first = self._width is None
        rows = self._checked_rows(batch.x, batch.x.shape[1] if self._width is None else self._width)
        labels = {"classes": self._labels()} if first else {}
        fact = f"{type(self.estimator).__name__} cannot learn these examples"
        remedy = "change its parameters or the features, so that its partial_fit accepts them"
        with np.errstate(all="ignore"), reraise_as_input_error(fact, remedy):
            self.estimator.partial_fit(
                _as_sklearn_rows(rows), batch.y.astype(np.int64), sample_weight=batch.weight, **labels
            )
        self._width = rows.shape[1]
        if hasattr(self.estimator, "loss_curve_"):
            # It grows by one number in each step, in every snapshot; only the last number is read.
            del self.estimator.loss_curve_[:-1]
        if first:
            self.save()  # If the state cannot be saved, the error should come now.

    # State -------------------------------------------------------------------------------------------------------

    def save(self) -> State:
        """Return the fitted attributes and the waiting examples; nothing before the first example."""
        state = self._gather.save()
        if self._width is None:
            return state
        fixed = self._fixed()
        fitted = {name: value for name, value in vars(self.estimator).items() if name not in fixed}
        arrays = to_state({"width": self._width, "attributes": fitted}, take_apart)
        return state | {_FITTED + name: array for name, array in arrays.items()}

    def load(self, state: State) -> None:
        """See `Learner.load`."""
        arrays = {name.removeprefix(_FITTED): array for name, array in state.items() if name.startswith(_FITTED)}
        estimator, width = copy.deepcopy(self._new), None
        if arrays:
            with reraise_as_input_error("the saved state is not one of this estimator", REMEDY):
                fitted = from_state(arrays, put_together)
                width = whole("width", fitted["width"], 1)
                set_attributes(estimator, fitted["attributes"], self._fixed())
                self._compare(estimator, width)
        self._gather.load(state)
        self.estimator, self._width = estimator, width

    def _fixed(self) -> frozenset[str]:
        """Return the attributes that are not part of a state: parameters, and texts that some constructors add."""
        text = (name for name, value in vars(self._new).items() if isinstance(value, str))
        return frozenset({*self._new.get_params(deep=False), *text, *_NOT_SAVED})

    def _compare(self, estimator: BaseEstimator, width: int) -> None:
        """Compare the shapes of all arrays with those of a new estimator, because compiled loops do not check them."""
        if not is_known(estimator) or type(estimator).__name__ in _GROWS:
            return
        fresh, labels = copy.deepcopy(self._new), self._labels()
        rows = max(len(labels), self.minibatch)
        with _one_thread_unchecked(), np.errstate(all="ignore"):
            fresh.partial_fit(np.zeros((rows, width)), np.resize(labels, rows), classes=labels)
        found, wanted = _shapes(vars(estimator)), _shapes(vars(fresh))
        for name in wanted.keys() - self._fixed():
            if found.get(name) != wanted[name]:
                raise ValueError(f"{name} should have {wanted[name]}, and has {found.get(name)}")

    def digest(self) -> str:
        """Return a digest of the state: equal digests mean equal models."""
        return digest(self.save())


# The estimator that was given ------------------------------------------------------------------------------------


def _checked(estimator: Any, minibatch: int) -> Any:
    """Return a seeded clone of an estimator, or raise an error if it cannot be a learner."""
    base = import_module("sklearn.base")
    if isinstance(estimator, type) or not isinstance(estimator, base.BaseEstimator):
        raise InputError(
            f"the estimator is {estimator!r}",
            why="it must be an object of a scikit-learn classifier",
            remedy="give one, such as SklearnLearner(SGDClassifier())",
        )
    name = type(estimator).__name__
    if not base.is_classifier(estimator):
        raise InputError(f"{name} is not a classifier", why="a learner scores classes", remedy="give a classifier")
    takes = signature(estimator.partial_fit).parameters if hasattr(estimator, "partial_fit") else None
    if takes is None or "sample_weight" not in takes:
        raise InputError(
            f"{name} has no partial_fit" if takes is None else f"partial_fit of {name} has no sample_weight",
            why="a learner learns a few examples at a time" if takes is None else "each example has its weight 1/p",
            remedy="give an estimator that has both, such as SGDClassifier, GaussianNB or MLPClassifier",
        )
    if minibatch == 1 and name in _NOT_ONE_BY_ONE:
        raise InputError(
            f"minibatch is 1 with {name}",
            why=_NOT_ONE_BY_ONE[name],
            remedy="give a larger minibatch, such as minibatch=32",
        )
    # Classes without constraints do not check their parameters.
    if hasattr(estimator, "_parameter_constraints"):
        with reraise_as_input_error(f"{name} does not accept its parameters", "give other parameters"):
            estimator._validate_params()
    return _seeded(base.clone(estimator))


def _seeded(estimator: Any) -> Any:
    """Set each random_state that is None to 0, also in estimators inside."""
    for name, value in estimator.get_params().items():
        if name == "random_state" or name.endswith("__random_state"):
            if value is None:
                estimator.set_params(**{name: 0})
            elif not isinstance(value, int | np.integer):
                raise InputError(
                    f"{name} is {value!r}",
                    why="all replicas must begin alike, and a generator changes as it is used",
                    remedy=f"give an integer, such as {name}=1",
                )
    return estimator


def _reads_probability(estimator: Any, scores: str) -> bool:
    has = [name for name in _SCORES[1:] if hasattr(estimator, name)]
    if not has or scores not in ("auto", *has):
        raise InputError(
            f"{type(estimator).__name__} has no {' or '.join(_SCORES[1:]) if scores == 'auto' else scores}",
            why="the scores come from this method",
            remedy=f"give scores={has[0]!r}" if has else "give an estimator that has it",
        )
    return (has[0] if scores == "auto" else scores) == "predict_proba"


def _shapes(value: object) -> Any:
    """Return the type and shape of each array in a nested value."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape
    if isinstance(value, list | tuple):
        return [_shapes(each) for each in value]
    if isinstance(value, dict):
        return {name: _shapes(each) for name, each in value.items()}
    return _shapes(vars(value)) if hasattr(value, "__dict__") else None


def _as_sklearn_rows(rows: Features) -> _Rows:
    """Return rows in float64 for scikit-learn, whose sparse rows have int32 pointers."""
    if not isinstance(rows, SparseRows):
        return rows.astype(np.float64)
    parts = rows.data.astype(np.float64), rows.indices, rows.indptr.astype(np.int32)
    return import_module("scipy.sparse").csr_array(parts, shape=rows.shape)


# How it is called --------------------------------------------------------------------------------------------------


@contextmanager
def _one_thread_unchecked() -> Generator[None]:
    """Hold BLAS to one thread, because its bits may depend on their number, and skip checks that were done before."""
    import_module("scipy.linalg")  # It has its own BLAS, which must be loaded before the limit is set.
    config = import_module("sklearn").config_context(assume_finite=True, skip_parameter_validation=True)
    with one_blas_thread(), config:
        yield
