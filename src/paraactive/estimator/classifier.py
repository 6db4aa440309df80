"""ParaActiveClassifier: the front door for users of scikit-learn."""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,  # pyright: ignore[reportPrivateUsage, reportAttributeAccessIssue]
    _num_samples,  # pyright: ignore[reportPrivateUsage, reportAttributeAccessIssue]
    check_is_fitted,
    validate_data,
)

from paraactive.basics.compiled import notify_on_compile
from paraactive.basics.registry import LEARNERS, PartSpec
from paraactive.basics.state import State
from paraactive.basics.validation import fraction, one_of, positive, whole
from paraactive.data.examples import Doubles, Examples, Features
from paraactive.data.labels import decide, probabilities
from paraactive.errors import InputError, counted, quoted_names
from paraactive.estimator.rows import Rows
from paraactive.learners import Guarded, LaSVM, Learner
from paraactive.learners.base import capabilities_of
from paraactive.learners.rows import learn, scores
from paraactive.report import page_of, story_of, write_page
from paraactive.rules import Rule, floored
from paraactive.runs import arguments
from paraactive.runs.calibration import MarginRule, calibrated, fitted, uniform_at, uniform_like
from paraactive.runs.run import Run
from paraactive.runs.spec import DataSpec
from paraactive.runs.train import train
from paraactive.sifting import parts
from paraactive.sifting.cascade import Economy
from paraactive.sifting.select import choose, take_all
from paraactive.streams import Arrays
from paraactive.streams.label_checks import check_classes
from paraactive.streams.sparse import is_sparse, sparse_rows

_LEAST_WARMSTART = 1000
"""Rows that are learnt before sifting begins: with fewer there is nothing to be saved."""
_LEAST_BATCH = 64
_HELD_OUT = 0.1
"""The part of the rows that is held out for early_stopping, if validation says nothing."""
_ENTRY = np.dtype([("index", np.int64), ("p", np.float64)])
_LOG = logging.getLogger("paraactive")


@dataclass(frozen=True)
class NamedRule:
    """A rule by its name, or "auto", with some of its parameters: what rule="margin" becomes by `set_params`."""

    name: str
    parameters: dict[str, Any] = field(default_factory=dict[str, Any])

    def describe(self) -> dict[str, Any]:
        """The parameters that were set."""
        return self.parameters

    def changed(self, given: dict[str, Any]) -> NamedRule:
        """The same rule with these parameters; an error if a rule of this name has no such parameter."""
        if self.name != "auto":
            _changed(arguments.find_rule(self.name, LaSVM()), given)
        return NamedRule(self.name, self.parameters | given)

    def rule_for(self, learner: Learner) -> Rule:
        """The rule itself."""
        return _changed(arguments.find_rule(None if self.name == "auto" else self.name, learner), self.parameters)


class ParaActiveClassifier(ClassifierMixin, BaseEstimator):
    """Classifier that scores all rows in parallel and learns only from the informative few.

    Parameters
    ----------
    learner : learner, scikit-learn classifier or {"svm", "network"}, optional
        The model to train, for example `LaSVM(C=10, gamma=0.1)`, or any scikit-learn classifier with `partial_fit`. It
        is copied and never changed. Its parameters can be set as `learner__C`. Default: `LaSVM(gap=0.2)`.
    rule : Rule or str, default="auto"
        Sets the probability p with which each row is selected. "auto" takes the rule that suits the learner. If the
        rule is given by name, its eta is fitted to the scale of the scores (see `rule_`). "passive" learns every row.
        "uniform" is a baseline: it selects every row with the same p, at the rate that the default rule would have.
        Parameters of a rule can be set as `rule__eta`; eta is then fixed.
    nodes : int, default=1
        Number of nodes that sift in parallel; -1 means one for each core.
    engine : str, optional
        Where the nodes run, as in `train`. Default: threads if there is one node or the learner releases the GIL,
        otherwise processes.
    schedule : str, default="synchronous"
        Order of sifting and learning, as in `train`.
    batch : int, optional
        Number of rows in a round. Default: 4096, or an eighth of the rows to sift.
    warmstart : int, optional
        Number of rows to learn before sifting begins. Default: a fifth of the rows, at least 1000 and at most 4096. So
        a few hundred rows are all learned.
    epochs : int, default=1
        Number of passes over the rows.
    floor : float or None, default=0.05
        Lower bound on p, so that no weight is larger than 1/floor. One row with a large weight can spoil a model of a
        few thousand rows. With millions of rows a smaller floor is enough. None: no bound.
    class_weight : dict or "balanced", optional
        Weight of each class, by its label; classes that are not listed have weight 1. "balanced" does not work with
        `partial_fit`.
    validation : tuple of (X, y) or float, optional
        Rows on which mistakes are counted after rounds, or the fraction of the rows to hold out for this. See
        `run_.evaluations`.
    early_stopping : int, default=0
        Number of evaluations without fewer mistakes after which to stop and keep the best model; 0 turns it off.
        Without `validation`, a tenth of the rows of each class is held out for this, and is not learned. `run_` and
        `selected_` describe the whole run.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the rows and of the coins.
    verbose : int, default=0
        1 prints the rule, the number of rows held out, and the number of rows learned. Whatever its value, the logger
        "paraactive" says (on standard error, by default) when loops are compiled, which takes up to half a minute. They
        are compiled once on a machine, and later processes find them on disk.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_
        As in all scikit-learn classifiers.
    learner_ : Learner
        The trained learner.
    rule_ : Rule
        The rule as it was used, with its eta.
    n_seen_ : int
        Number of rows seen; each pass counts.
    n_selected_ : int
        Number of rows learned.
    sampling_rate_ : float
        `n_selected_ / n_seen_`.
    selected_ : structured array
        The rows that were learned, in order, with the fields `index` (row of X) and `p`. Rows of the warmstart have
        p = 1. After `partial_fit`, rows are counted over all calls.
    run_ : Run
        The run behind `fit`, with times and evaluations.

    Notes
    -----
    Up to 10 000 rows, equal rows are merged into one row with their total weight, and the order of the rows does not
    matter. Sparse rows stay sparse if the learner accepts them, as our learners and SGDClassifier do; otherwise they
    are made dense, a few at a time.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(6000, noise=0.2, random_state=0)
    >>> clf = ParaActiveClassifier(LaSVM(C=1, gamma=1.0, gap=0.2), nodes=2, random_state=0).fit(X[:5000], y[:5000])
    >>> print(f"learned {clf.sampling_rate_:.1f} of the rows; accuracy {clf.score(X[5000:], y[5000:]):.2f}")
    learned 0.3 of the rows; accuracy 0.98
    """

    def __init__(
        self,
        learner: Any = None,
        *,
        rule: Any = "auto",
        nodes: int = 1,
        engine: str | None = None,
        schedule: str = "synchronous",
        batch: int | None = None,
        warmstart: int | None = None,
        epochs: int = 1,
        floor: float | None = 0.05,
        class_weight: Any = None,
        validation: Any = None,
        early_stopping: int = 0,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.learner = learner
        self.rule = rule
        self.nodes = nodes
        self.engine = engine
        self.schedule = schedule
        self.batch = batch
        self.warmstart = warmstart
        self.epochs = epochs
        self.floor = floor
        self.class_weight = class_weight
        self.validation = validation
        self.early_stopping = early_stopping
        self.random_state = random_state
        self.verbose = verbose

    # Learning ----------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> ParaActiveClassifier:
        """Learn from these rows, and forget what was learnt before."""
        self._seed = self._new_seed()
        whole("early_stopping", self.early_stopping, 0)
        rows = self._checked(X, y, sample_weight, None, first=True)
        self._rows_given = _num_samples(X)
        rows, test = self._held_out(rows)
        with notify_on_compile(_say_compiling):
            self._fit(rows.taken_together(), test)
        return self

    def _fit(self, rows: Rows, test: Examples | None) -> None:
        self._begin(rows)
        passes = whole("epochs", self.epochs, 1)
        stream = Arrays(rows.x, rows.number, weight=rows.weight, seed=self._seed, passes=passes)
        total = len(rows.number) * passes
        warmstart = min(self._warmstart(total), total)
        self.rule_, guessed = self._find_rule()
        if guessed:
            self.rule_ = calibrated(guessed, self.learner_, stream.read(0, warmstart), warmstart)
        elif self.rule == "uniform":
            self.rule_ = self._baseline(stream, warmstart, total)
        nodes = arguments.count_cores() if self.nodes == -1 else whole("nodes", self.nodes, 1)
        best = _Best(self.early_stopping) if self.early_stopping else None
        self.run_: Run = train(
            self.learner_, stream, rule=self._floored(), nodes=nodes, schedule=self.schedule,
            engine=self.engine or ("threads" if nodes == 1 else None), batch=max(self._batch(total - warmstart), nodes),
            warmstart=warmstart, seed=self._seed, test=test, stop=best,
        )  # fmt: skip
        self.learner_, self.n_seen_ = self.run_.learner, self.run_.seen
        if best:
            best.restore(self.run_)
        self._note(rows.row[self.run_.learned.key], self.run_.learned.p)
        self._say()

    def _baseline(self, stream: Arrays, warmstart: int, total: int) -> Rule:
        """Uniform, at the rate of the rule that "auto" would be."""
        usual = arguments.find_rule(None, self.learner_)
        if isinstance(usual, MarginRule):
            usual = calibrated(type(usual), self.learner_, stream.read(0, warmstart), warmstart)
        return uniform_like(self._with_floor(usual), self.learner_, stream, warmstart, total)

    def _baseline_on(self, fresh: Examples) -> Rule:
        """The same in partial_fit, where the number of rows is not known: at the rate on the first rows to sift."""
        usual, score = arguments.find_rule(None, self.learner_), scores(self.learner_, fresh.x)
        if isinstance(usual, MarginRule):
            usual = fitted(type(usual), score, fresh.y, self.n_seen_)
        return uniform_at(self._with_floor(usual), score, fresh.y, np.array([self.n_seen_]))

    def report(self, out: str | Path) -> Path:
        """One HTML page of what `fit` did: error of rows held out, sampling rate, times, weights. Returns its path."""
        check_is_fitted(self, "run_")
        spec = self.run_.spec  # The run knows the classes by number only, and the arrays by a fingerprint.
        data = DataSpec(PartSpec("arrays", {}), spec.data.width, tuple(str(each) for each in self.classes_))
        spec = replace(spec, data=data, rule=parts.describe_rule(self.rule_))
        return write_page(page_of([story_of(self.run_, Path(out).stem, spec)]), out)

    def partial_fit(
        self, X: Any, y: Any, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> ParaActiveClassifier:
        """Sift these rows with the model as it is, in batches, and learn those that pass; here, on one node.

        `classes`, all labels there will be, is needed in the first call. Up to `warmstart` rows are learnt first.
        """
        first = not hasattr(self, "learner_")
        if first and classes is None:
            raise InputError(
                "classes is not given",
                why="the first rows need not have all classes",
                remedy="give all labels in the first call, as classes=np.unique(y)",
            )
        if isinstance(self.class_weight, str):
            raise InputError(
                f"class_weight is {self.class_weight!r} in partial_fit",
                why="nobody knows yet how often the classes come",
                remedy="give a weight for each class, as class_weight={'spam': 5}",
            )
        rows = self._checked(X, y, sample_weight, classes, first)
        if first:
            self._seed = self._new_seed()
            self._begin(rows)
            self.n_seen_ = self._rows_given = 0
            self._note([], [])
        # Rows are counted over all calls, also those that were held out or have no weight: a key is never used twice.
        fresh = rows.examples(len(self.classes_), self._rows_given)
        self._rows_given += _num_samples(X)
        with notify_on_compile(_say_compiling):
            while len(fresh):
                fresh = self._learn_some(fresh)
        return self

    def _learn_some(self, fresh: Examples) -> Examples:
        """Learn from a batch of these. Returns the rest."""
        missing = self._warmstart(0) - self.n_seen_
        size = missing if missing > 0 else self._batch(arguments.BATCH * 8)
        now, rest = fresh.take(slice(0, size)), fresh.take(slice(size, None))
        seen, version = np.full(len(now), self.n_seen_), self.n_selected_
        if missing > 0:
            selected = take_all(now, seen, version)
        else:
            if not hasattr(self, "rule_"):
                self.rule_, guessed = self._find_rule()
                if guessed:
                    self.rule_ = fitted(guessed, scores(self.learner_, now.x), now.y, self.n_seen_)
                elif self.rule == "uniform":
                    self.rule_ = self._baseline_on(now)
            rule = self._floored()
            selected = choose(self.learner_, rule, self._seed, now, seen, version, self._economy).selected
        if len(selected):
            learn(self.learner_, selected)
        self.learner_.end_round()
        self.n_seen_ += len(now)
        self._note(
            np.append(self.selected_["index"], selected.examples.index), np.append(self.selected_["p"], selected.p)
        )
        return rest

    def _say(self) -> None:
        if self.verbose:
            print(
                f"{self.rule_}: learnt {self.n_selected_:,} of {self.n_seen_:,} rows seen ({self.sampling_rate_:.1%}), "
                f"{self.run_.warmstart:,} of them before sifting began"
            )

    # Using it ----------------------------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> Doubles:
        """The scores: of two classes (n,), above 0 for the second; of more (n, classes)."""
        check_is_fitted(self)
        x: Any = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float32, order="C")
        return scores(self.learner_, _features(x))

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each row."""
        score = self.decision_function(X)
        return self.classes_[decide(score)]

    @property
    def predict_proba(self) -> Callable[[Any], Doubles]:
        """A function of X that returns the probability of each class, if the learner's scores are log-odds.

        Those of the network are. For others there is none, as for scikit-learn's SVC.
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

    def _predict_proba(self, X: Any) -> Doubles:
        return probabilities(self.decision_function(X))

    def __sklearn_tags__(self) -> Any:
        """For scikit-learn: sparse rows are taken."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # Parameters --------------------------------------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters, and if `deep` those of the learner and the rule, as learner__C and rule__eta."""
        params: dict[str, Any] = super().get_params(deep)
        for name in ("learner", "rule") if deep else ():
            inner = getattr(self, name)
            if not hasattr(inner, "get_params"):
                params |= {f"{name}__{key}": value for key, value in _described(inner).items()}
        return params

    def set_params(self, **params: Any) -> ParaActiveClassifier:
        """Set parameters; those of the learner and of the rule, as learner__C and rule__eta, make new ones."""
        own = {name: value for name, value in params.items() if not name.startswith(("learner__", "rule__"))}
        super().set_params(**own)
        for part in ("learner", "rule"):
            given = {name.removeprefix(f"{part}__"): params[name] for name in params if name.startswith(f"{part}__")}
            if given and hasattr(getattr(self, part), "get_params"):
                getattr(self, part).set_params(**given)
            elif given:
                setattr(self, part, self._with_parameters(part, given))
        return self

    def _with_parameters(self, part: str, given: dict[str, Any]) -> Any:
        if part == "learner":
            return _changed(self._new_learner(), given)
        rule = NamedRule(self.rule) if isinstance(self.rule, str) else self.rule
        return rule.changed(given) if isinstance(rule, NamedRule) else _changed(rule, given)

    def _new_learner(self) -> Any:
        """A learner that knows nothing, and may be trained."""
        if self.learner is None or self.learner == "svm":
            return LaSVM(gap=0.2)
        if isinstance(self.learner, str):
            return LEARNERS.find(self.learner)()
        return arguments.as_learner(copy.deepcopy(self.learner))

    # Before learning ---------------------------------------------------------------------------------------------

    def _checked(self, X: Any, y: Any, sample_weight: Any, classes: Any, first: bool) -> Rows:
        """The rows that count, by scikit-learn's rules. The `first` ones settle `classes_` and the features."""
        x: Any
        x, y = validate_data(self, X, y, reset=first, accept_sparse="csr", dtype=np.float32, order="C")
        check_classification_targets(y)
        weight: Doubles = _check_sample_weight(sample_weight, x, dtype=np.float64, ensure_non_negative=True)
        if first:
            self.classes_ = np.unique(y[weight > 0] if classes is None else np.asarray(classes))
        known = np.isin(y, self.classes_)
        if not known[weight > 0].all():
            raise InputError(
                f"y has the label {y[~known][0]!r}",
                why=f"the classes are {quoted_names([str(name) for name in self.classes_])}",
                remedy="give all labels in the first call of partial_fit, as classes=",
            )
        kept = np.flatnonzero(known & (weight > 0))
        number = np.searchsorted(self.classes_, y[kept])
        check_classes([str(label) for label in self.classes_])
        weight = weight[kept] * self._class_weights(y[kept])[number]
        return Rows(_features(x)[kept], number, weight, kept)

    def _class_weights(self, y: Any) -> Doubles:
        if self.class_weight is None:
            return np.ones(len(self.classes_))
        if isinstance(self.class_weight, str):
            return compute_class_weight(self.class_weight, classes=self.classes_, y=y)
        named = {label: weight for label, weight in self.class_weight.items() if label in self.classes_}
        if len(named) != len(self.class_weight):
            unknown = [str(label) for label in self.class_weight if label not in named]
            raise InputError(
                f"class_weight has the class {quoted_names(unknown)}",
                why=f"the classes are {quoted_names([str(name) for name in self.classes_])}",
                remedy="name each class by its label",
            )
        return np.array([positive("class_weight", named.get(label, 1.0)) for label in self.classes_.tolist()])

    def _held_out(self, rows: Rows) -> tuple[Rows, Examples | None]:
        """The rows to learn, and those to try the model on."""
        validation = _HELD_OUT if self.validation is None and self.early_stopping else self.validation
        if validation is None:
            return rows, None
        if isinstance(validation, tuple | list):
            if len(cast("tuple[Any, ...]", validation)) != 2:
                raise InputError("validation has more than X and y", why="it is both", remedy="give (X, y)")
            x: Any
            x, y = cast("tuple[Any, Any]", validation)
            x, y = validate_data(self, x, y, reset=False, accept_sparse="csr", dtype=np.float32, order="C")
            if not np.isin(y, self.classes_).all():
                raise InputError("validation has unknown labels", why="y has not", remedy="give labels that y has")
            number: Any = np.searchsorted(self.classes_, y)
            return rows, Rows(_features(x), number, np.ones(len(y)), np.arange(len(y))).examples(len(self.classes_))
        part = fraction("validation", validation) if np.isscalar(validation) else 1.0
        if part == 1.0:
            raise InputError(
                "validation is not a part of the rows",
                why="it is held out, and the others are learnt",
                remedy="give a number above 0 and below 1, or (X, y)",
            )
        tried = rows.held_out(part, self._seed)
        if self.verbose:
            why = "early_stopping" if self.validation is None else "validation"
            print(f"held out {tried.sum():,} of {counted(len(tried), 'row')} to try the model on, for {why}")
        return rows.take(np.flatnonzero(~tried)), rows.take(np.flatnonzero(tried)).examples(len(self.classes_))

    def _begin(self, rows: Rows) -> None:
        """A new learner, told what it is to tell apart."""
        learner = self._new_learner()
        inner = learner.learner if isinstance(learner, Guarded) else learner
        if isinstance(inner, LaSVM) and inner.gamma == "scale":
            inner.gamma = rows.scale()  # of all rows, not only of the first
        parts.expect_classes(learner, len(self.classes_))
        self.learner_: Learner = learner
        self._economy = Economy()

    def _new_seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _warmstart(self, total: int) -> int:
        if self.warmstart is not None:
            return whole("warmstart", self.warmstart, 0)
        return min(max(total // 5, _LEAST_WARMSTART), arguments.BATCH)

    def _batch(self, rows: int) -> int:
        if self.batch is not None:
            return whole("batch", self.batch, 1)
        return max(_LEAST_BATCH, min(rows // 8, arguments.BATCH))

    def _find_rule(self) -> tuple[Rule, type[MarginRule] | None]:
        """The rule, and its class if its eta is to be found."""
        if isinstance(self.rule, NamedRule):
            return self.rule.rule_for(self.learner_), None
        by_name = isinstance(self.rule, str)
        found = arguments.find_rule(None if by_name and self.rule == "auto" else self.rule, self.learner_)
        return found, type(found) if by_name and isinstance(found, MarginRule) else None

    def _floored(self) -> Rule:
        return self._with_floor(self.rule_)

    def _with_floor(self, rule: Rule) -> Rule:
        return rule if self.floor is None else floored(rule, self.floor)

    def _note(self, index: Any, p: Any) -> None:
        """What was learnt so far."""
        self.selected_ = np.zeros(len(p), _ENTRY)
        self.selected_["index"], self.selected_["p"] = index, p
        self.n_selected_ = len(p)
        self.sampling_rate_ = len(p) / self.n_seen_ if self.n_seen_ else 0.0


class _Best:
    """Keeps the best model so far, and stops a run when it was not bettered for so many trials in a row."""

    def __init__(self, patience: int) -> None:
        self._patience, self._tried = patience, 0
        self._mistakes: int | None = None
        self._state: State = {}
        self._since = 0

    def __call__(self, run: Run) -> bool:
        """After each round; there need not have been a trial."""
        for tried in run.evaluations[self._tried :]:
            better = self._mistakes is None or tried.mistakes < self._mistakes
            self._since = 0 if better else self._since + 1
            if better:
                self._mistakes, self._state = tried.mistakes, run.learner.save()
        self._tried = len(run.evaluations)
        return self._since >= self._patience

    def restore(self, run: Run) -> None:
        """Give the learner of the run the best model, if it is not the last."""
        if self._mistakes is not None and run.evaluations[-1].mistakes > self._mistakes:
            run.learner.load(self._state)


def _say_compiling() -> None:
    # Neither printed nor a Python warning: what others parse stays as it is, and nobody's run fails by it.
    _LOG.warning("paraactive compiles its loops, once on this machine: this takes up to half a minute")


def _features(x: Any) -> Features:
    return sparse_rows(x) if is_sparse(x) else x


def _described(part: Any) -> dict[str, Any]:
    return part.describe() if hasattr(part, "describe") and not isinstance(part, type) else {}


def _changed(part: Any, given: dict[str, Any]) -> Any:
    """Another part of its kind, with these parameters."""
    known = _described(part)
    for name in given:
        one_of(f"{type(part).__name__} parameter", name, known)
    return type(part)(**known | given)
