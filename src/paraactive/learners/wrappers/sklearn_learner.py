"""SklearnLearner: any scikit-learn classifier that learns bit by bit, with weights. scikit-learn is imported on use."""

from __future__ import annotations

import copy
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paraactive.basics.state import State, digest
from paraactive.basics.threads import one_blas_thread
from paraactive.basics.validation import one_of, whole
from paraactive.data.examples import Doubles, Features, Selected, SparseRows
from paraactive.data.labels import score_shape
from paraactive.errors import InputError
from paraactive.learners.rows import check_features, check_rows
from paraactive.learners.wrappers.foreign import told
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
from paraactive.learners.wrappers.tiles import TILE, Tiles

_SCORES = ("auto", "decision_function", "predict_proba")
_LEAST = float(np.log(np.finfo(np.float64).tiny))
"""The logarithm of a probability that is 0, or that the estimator cannot tell."""
_MADE_ANEW = {"_loss_function_"}
"""Attributes that partial_fit makes each time, of types that are no numbers."""
_NOT_ONE_BY_ONE = {
    "MLPClassifier": "it divides by the sum of the weights of a call, so that weights 1/p would have no effect",
    "GaussianNB": "it smooths by the variance within a call, which is 0 then",
}
_GROWS = {"CategoricalNB"}
"""Those that make their arrays larger as they learn."""
_FITTED = "fitted."


class SklearnLearner:
    """A scikit-learn classifier as a learner: one whose `partial_fit` takes `sample_weight`.

    Such are SGDClassifier, Perceptron, the naive Bayes classifiers and MLPClassifier.

    Parameters
    ----------
    estimator : the classifier, not fitted. It is cloned, and stays as it is; the clone, which learns, is the attribute
        `estimator`. If its random_state is None, the clone's is 0, so that replicas learn the same. It may also be
        what `describe` gives of one.
    classes : how many; None until a run tells.
    scores : "decision_function", or "predict_proba" for log-odds (two classes) or logarithms of probabilities, not
        below log of the smallest float64; "auto" is the first that the estimator has.
    minibatch : examples of the log that one call of partial_fit gets; fewer, if a round ends with a rest.
        SGDClassifier and Perceptron take a step for each example of a call, and the others add up, so that more are
        only faster. MLPClassifier takes one step for all and divides by the sum of their weights, which count only
        within a minibatch: it needs more than 1. So does GaussianNB, which smooths by the variance within a call.
    tile : rows of one call of decision_function or predict_proba, always so many, filled up with zeros: then scores
        do not depend on the other rows (see `learners.tiles`). 1 costs about 0.2 ms for each row, 64 hardly more.

    The estimator is handed float64. Its fitted attributes are saved as plain arrays, without pickle. If it takes sparse
    rows, those of a sparse stream are handed to it as scipy's CSR. Beware: on sparse rows SGDClassifier and Perceptron
    move the intercept by a hundredth of what they do on dense ones.

    >>> import numpy as np
    >>> from sklearn.linear_model import SGDClassifier
    >>> from paraactive import Arrays, train
    >>> from paraactive.learners import SklearnLearner
    >>> x = np.random.default_rng(0).normal(size=(4000, 5))
    >>> y = x @ [1, -2, 0.5, 0, 1] > 0
    >>> learner = SklearnLearner(SGDClassifier(loss="log_loss"))
    >>> run = train(learner, Arrays(x, y), rule="gradient", warmstart=200, batch=400)
    >>> print(f"sampling rate {run.sampling_rate:.1f}, error below 2%: {np.mean((learner.score(x) > 0) != y) < 0.02}")
    sampling rate 0.1, error below 2%: True
    """

    def __init__(
        self,
        estimator: Any,
        classes: int | None = None,
        scores: str = "auto",
        minibatch: int = 1,
        tile: int = TILE,
    ) -> None:
        self.classes = None if classes is None else whole("classes", classes, 2)
        self.minibatch, self.tile = whole("minibatch", minibatch, 1), whole("tile", tile, 1)
        self.scores = one_of("kind of scores", scores, _SCORES)
        self._new = _checked(built(estimator) if isinstance(estimator, Mapping) else estimator, self.minibatch)
        self._reads_probability = _reads_probability(self._new, scores)
        self.estimator = copy.deepcopy(self._new)
        self.sparse = bool(import_module("sklearn.utils").get_tags(self._new).input_tags.sparse)
        """True if the estimator takes sparse rows."""
        self._gather, self._tiles = Minibatches(self.minibatch), Tiles(self.tile)
        self._width: int | None = None

    def __repr__(self) -> str:
        names = ("classes", "scores", "minibatch", "tile")
        return f"SklearnLearner({self._new!r}, {', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    @property
    def log_odds(self) -> bool:
        """True if scores are logarithms of probabilities, or come of the logistic loss of two classes.

        Of more classes the logistic loss has one model for each against the rest: their scores are no log-odds.
        """
        return self._reads_probability or (self._classes == 2 and getattr(self._new, "loss", None) == "log_loss")

    def _description(self) -> Callable[[], dict[str, Any]]:
        """Gives the constructor's parameters. Only an estimator of scikit-learn's, with plain ones, has `describe`."""
        estimator = described(self._new)
        names = ("classes", "scores", "minibatch", "tile")
        return lambda: {"estimator": estimator} | {name: getattr(self, name) for name in names}

    # A property, so that a learner that cannot be described does not have it; types know only the contract's method.
    if TYPE_CHECKING:

        def describe(self) -> dict[str, Any]: ...
    else:
        describe = property(_description)

    # Scoring -----------------------------------------------------------------------------------------------------

    def score(self, x: ArrayLike | SparseRows) -> Doubles:
        """What the estimator says of each row; 0 before its first partial_fit."""
        given, shape = x if isinstance(x, SparseRows) else np.asarray(x), score_shape(0, self._classes)
        if self._width is None:
            return np.zeros((len(given), *shape[1:]))
        rows = self._checked_rows(given, self._width)
        with _as_on_a_node():
            return self._tiles.score(self._score_tile, rows, shape[1:])

    def _score_tile(self, tile: Any) -> Doubles:
        rows, name = _as_given(tile), type(self.estimator).__name__
        remedy = "change its parameters, or the features; or load a state that it saved"
        # Classes that were not met yet have no variance, or probability 0.
        with np.errstate(all="ignore"), told(f"{name} gives no scores of these rows", remedy=remedy):
            if self._reads_probability:
                return self._from_probability(rows)
            score = np.asarray(self.estimator.decision_function(rows), np.float64)
        return self._shaped(score, score_shape(len(tile), self._classes))

    def _from_probability(self, rows: Any) -> Doubles:
        if hasattr(self.estimator, "predict_log_proba"):
            logs = np.asarray(self.estimator.predict_log_proba(rows), np.float64)
        else:
            logs = np.log(np.asarray(self.estimator.predict_proba(rows), np.float64))
        logs = self._shaped(logs, (rows.shape[0], self._classes))
        logs = np.clip(np.where(np.isnan(logs), _LEAST, logs), _LEAST, 0.0)
        return logs[:, 1] - logs[:, 0] if self._classes == 2 else logs

    def _shaped(self, found: Doubles, wanted: tuple[int, ...]) -> Doubles:
        if found.shape == wanted:
            return found
        raise InputError(
            f"{type(self.estimator).__name__} gave scores of shape {found.shape}",
            why=f"those of {wanted[0]} rows and {self._classes} classes have shape {wanted}",
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
        """One partial_fit for each minibatch that is whole."""
        with _as_on_a_node():
            for minibatch in self._gather.add(selected):
                self._learn(minibatch)

    def end_round(self) -> None:
        """One partial_fit for the examples that wait, if any do."""
        if self._gather.waiting:
            with _as_on_a_node():
                self._learn(self._gather.rest())

    def _learn(self, batch: Minibatch) -> None:
        first = self._width is None
        rows = self._checked_rows(batch.x, batch.x.shape[1] if self._width is None else self._width)
        labels = {"classes": self._labels()} if first else {}
        fact = f"{type(self.estimator).__name__} does not learn from these examples"
        remedy = "change its parameters, or the features, so that its partial_fit takes them"
        with np.errstate(all="ignore"), told(fact, remedy=remedy):
            self.estimator.partial_fit(_as_given(rows), batch.y.astype(np.int64), sample_weight=batch.weight, **labels)
        self._width = rows.shape[1]
        if hasattr(self.estimator, "loss_curve_"):
            # One number more with each step, in every snapshot; only the last is ever read.
            del self.estimator.loss_curve_[:-1]
        if first:
            self.save()  # An estimator whose state cannot be saved should say so now.

    # State -------------------------------------------------------------------------------------------------------

    def save(self) -> State:
        """The fitted attributes, and the examples that wait; nothing before the first."""
        state = self._gather.save()
        if self._width is None:
            return state
        fixed = self._fixed()
        fitted = {name: value for name, value in vars(self.estimator).items() if name not in fixed}
        arrays = to_state({"width": self._width, "attributes": fitted}, take_apart)
        return state | {_FITTED + name: array for name, array in arrays.items()}

    def load(self, state: State) -> None:
        """Become the learner that was saved."""
        arrays = {name.removeprefix(_FITTED): array for name, array in state.items() if name.startswith(_FITTED)}
        estimator, width = copy.deepcopy(self._new), None
        if arrays:
            with told("the saved state is not one of this estimator", remedy=REMEDY):
                fitted = from_state(arrays, put_together)
                width = whole("width", fitted["width"], 1)
                set_attributes(estimator, fitted["attributes"], self._fixed())
                self._compare(estimator, width)
        self._gather.load(state)
        self.estimator, self._width = estimator, width

    def _fixed(self) -> frozenset[str]:
        """What is no part of a state: parameters, and the text that some estimators add to them when they are made."""
        text = (name for name, value in vars(self._new).items() if isinstance(value, str))
        return frozenset({*self._new.get_params(deep=False), *text, *_MADE_ANEW})

    def _compare(self, estimator: Any, width: int) -> None:
        """With one that has just begun: where all arrays have fixed shapes, loops trust them, and read beyond them."""
        if not is_known(estimator) or type(estimator).__name__ in _GROWS:
            return
        begun, labels = copy.deepcopy(self._new), self._labels()
        rows = max(len(labels), self.minibatch)
        with _as_on_a_node(), np.errstate(all="ignore"):
            begun.partial_fit(np.zeros((rows, width)), np.resize(labels, rows), classes=labels)
        found, wanted = _shapes(vars(estimator)), _shapes(vars(begun))
        for name in wanted.keys() - self._fixed():
            if found.get(name) != wanted[name]:
                raise ValueError(f"{name} should have {wanted[name]}, and has {found.get(name)}")

    def digest(self) -> str:
        """Equal digests, equal models."""
        return digest(self.save())


# The estimator that was given ------------------------------------------------------------------------------------


def _checked(estimator: Any, minibatch: int) -> Any:
    """A clone of it, seeded, or an error if it cannot be a learner."""
    base = import_module("sklearn.base")
    if isinstance(estimator, type) or not isinstance(estimator, base.BaseEstimator):
        raise InputError(
            f"the estimator is {estimator!r}",
            why="it must be an object of a scikit-learn classifier",
            remedy="give one, as SklearnLearner(SGDClassifier())",
        )
    name = type(estimator).__name__
    if not base.is_classifier(estimator):
        raise InputError(f"{name} is no classifier", why="a score says which class", remedy="give a classifier")
    takes = signature(estimator.partial_fit).parameters if hasattr(estimator, "partial_fit") else None
    if takes is None or "sample_weight" not in takes:
        raise InputError(
            f"{name} has no partial_fit" if takes is None else f"partial_fit of {name} takes no sample_weight",
            why="a learner learns bit by bit" if takes is None else "each example counts with weight 1/p",
            remedy="give an estimator that does, as SGDClassifier, GaussianNB or MLPClassifier",
        )
    if minibatch == 1 and name in _NOT_ONE_BY_ONE:
        raise InputError(
            f"{name} is given examples one by one",
            why=_NOT_ONE_BY_ONE[name],
            remedy="give a minibatch, as minibatch=32",
        )
    # A class without constraints says nothing of its parameters.
    if hasattr(estimator, "_parameter_constraints"):
        with told(f"{name} does not take its parameters", remedy="give others"):
            estimator._validate_params()
    return _seeded(base.clone(estimator))


def _seeded(estimator: Any) -> Any:
    """With a seed wherever it has none, that of another within it included."""
    for name, value in estimator.get_params().items():
        if name == "random_state" or name.endswith("__random_state"):
            if value is None:
                estimator.set_params(**{name: 0})
            elif not isinstance(value, int | np.integer):
                raise InputError(
                    f"{name} is {value!r}",
                    why="replicas begin alike, and it changes as it is used",
                    remedy=f"give a whole number, as {name}=1",
                )
    return estimator


def _reads_probability(estimator: Any, scores: str) -> bool:
    has = [name for name in _SCORES[1:] if hasattr(estimator, name)]
    if not has or scores not in ("auto", *has):
        raise InputError(
            f"{type(estimator).__name__} has no {' or '.join(_SCORES[1:]) if scores == 'auto' else scores}",
            why="scores are read there",
            remedy=f"give scores={has[0]!r}" if has else "give an estimator that has",
        )
    return (has[0] if scores == "auto" else scores) == "predict_proba"


def _shapes(value: Any) -> Any:
    """Type and shape of each array within."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape
    if isinstance(value, list | tuple):
        return [_shapes(each) for each in value]
    if isinstance(value, dict):
        return {name: _shapes(each) for name, each in value.items()}
    return _shapes(vars(value)) if hasattr(value, "__dict__") else None


def _as_given(rows: Features) -> Any:
    """Rows in float64, as scikit-learn takes them; it counts sparse ones in int32."""
    if not isinstance(rows, SparseRows):
        return rows.astype(np.float64)
    parts = rows.data.astype(np.float64), rows.indices, rows.indptr.astype(np.int32)
    return import_module("scipy.sparse").csr_array(parts, shape=rows.shape)


# How it is called --------------------------------------------------------------------------------------------------


@contextmanager
def _as_on_a_node() -> Generator[None]:
    """One thread of BLAS, as its bits may depend on their number; and no checks of what was checked before."""
    import_module("scipy.linalg")  # It has a BLAS of its own, which would otherwise be loaded too late to be limited.
    config = import_module("sklearn").config_context(assume_finite=True, skip_parameter_validation=True)
    with one_blas_thread(), config:
        yield
