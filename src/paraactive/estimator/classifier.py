"""ParaActiveClassifier: the front door for users of scikit-learn."""

from __future__ import annotations

import copy
import logging
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from paraactive.basics.compiled import notify_on_compile
from paraactive.basics.part_spec import PartSpec
from paraactive.basics.registry import LEARNERS
from paraactive.basics.validation import whole
from paraactive.data.examples import Examples
from paraactive.errors import InputError, counted
from paraactive.estimator.best_model import BestModel
from paraactive.estimator.inputs import (
    ClassWeight,
    MatrixLike,
    checked_labeled,
    checked_rows,
    checked_weights,
    validation_examples,
    validation_fraction,
)
from paraactive.estimator.parameters import HasNestedParameters, NamedRule
from paraactive.estimator.prediction import PredictsFromScores
from paraactive.estimator.rows import Rows
from paraactive.estimator.rule_choice import RuleChoice
from paraactive.learners import Guarded, LaSVM, Learner
from paraactive.learners.rows import learn
from paraactive.report import page_of, run_record_of, write_page
from paraactive.rules import Rule
from paraactive.runs import arguments
from paraactive.runs.run import Run
from paraactive.runs.spec import DataSpec
from paraactive.runs.train import train
from paraactive.sifting import parts
from paraactive.sifting.cascade import ProxyPolicy
from paraactive.sifting.select import choose, take_all
from paraactive.streams import Arrays

_LEAST_WARMSTART = 1000
"""Fewest rows to learn before sifting begins: with fewer rows sifting saves nothing."""
_LEAST_BATCH = 64
_HELD_OUT = 0.1
"""Fraction of the rows to hold out for early_stopping if `validation` is not given."""
_ENTRY = np.dtype([("index", np.int64), ("p", np.float64)])
_LOG = logging.getLogger("paraactive")


class ParaActiveClassifier(ClassifierMixin, HasNestedParameters, PredictsFromScores):
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
        learner: Learner | BaseEstimator | str | None = None,
        *,
        rule: Rule | NamedRule | str = "auto",
        nodes: int = 1,
        engine: str | None = None,
        schedule: str = "synchronous",
        batch: int | None = None,
        warmstart: int | None = None,
        epochs: int = 1,
        floor: float | None = 0.05,
        class_weight: ClassWeight = None,
        validation: tuple[MatrixLike, ArrayLike] | float | None = None,
        early_stopping: int = 0,
        random_state: int | np.random.RandomState | None = None,
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

    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> ParaActiveClassifier:
        """Learn from these rows, and forget what was learned before.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), optional
            Their weights. Default: 1.

        Returns
        -------
        ParaActiveClassifier
            The fitted estimator.
        """
        self._seed = self._new_seed()
        whole("early_stopping", self.early_stopping, 0)
        rows = self._checked(X, y, sample_weight, None, first=True)
        rows, test = self._held_out(rows)
        with notify_on_compile(_log_compiling):
            self._fit(rows.merged_duplicates(), test)
        return self

    def _fit(self, rows: Rows, test: Examples | None) -> None:
        self._begin(rows)
        passes = whole("epochs", self.epochs, 1)
        stream = Arrays(rows.x, rows.number, weight=rows.weight, seed=self._seed, passes=passes)
        total = len(rows.number) * passes
        warmstart = min(self._warmstart(total), total)
        choice = RuleChoice(self.rule, self.floor)
        self.rule_ = choice.for_fit(self.learner_, stream, warmstart, total)
        nodes = arguments.count_cores() if self.nodes == -1 else whole("nodes", self.nodes, 1)
        best = BestModel(self.early_stopping) if self.early_stopping else None
        self.run_: Run = train(
            self.learner_, stream, rule=choice.with_floor(self.rule_), nodes=nodes, schedule=self.schedule,
            engine=self.engine or ("threads" if nodes == 1 else None), batch=max(self._batch(total - warmstart), nodes),
            warmstart=warmstart, seed=self._seed, test=test, stop=best,
        )  # fmt: skip
        self.learner_, self.n_seen_ = self.run_.learner, self.run_.seen
        if best:
            best.restore(self.run_)
        self._record_selected(rows.row[self.run_.learned.key], self.run_.learned.p)
        self._print_summary()

    def report(self, out: str | Path) -> Path:
        """Write an HTML page about `fit`: error on held-out rows, sampling rate, times, weights.

        Parameters
        ----------
        out : path
            The page.

        Returns
        -------
        Path
            The page.
        """
        check_is_fitted(self, "run_")
        spec = self.run_.spec  # The run knows the classes by number only, and the arrays by a fingerprint.
        data = DataSpec(PartSpec("arrays", {}), spec.data.width, tuple(str(each) for each in self.classes_))
        spec = replace(spec, data=data, rule=parts.describe_rule(self.rule_))
        return write_page(page_of([run_record_of(self.run_, Path(out).stem, spec)]), out)

    def partial_fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> ParaActiveClassifier:
        """Sift these rows with the present model, in batches, and learn the selected rows. This uses one node.

        Up to `warmstart` rows are learned before sifting begins.

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
        ParaActiveClassifier
            The estimator.
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
                why="how often each class occurs is not known yet",
                remedy="give a weight for each class, as class_weight={'spam': 5}",
            )
        before = 0 if first else self._rows_given
        rows = self._checked(X, y, sample_weight, classes, first)
        if first:
            self._seed = self._new_seed()
            self._begin(rows)
            self.n_seen_ = 0
            self._record_selected([], [])
        # Rows are counted over all calls, also those without weight, so that no key is used twice.
        fresh = rows.examples(len(self.classes_), before)
        with notify_on_compile(_log_compiling):
            while len(fresh):
                fresh = self._learn_some(fresh)
        return self

    def _learn_some(self, fresh: Examples) -> Examples:
        """Sift and learn one batch of these examples. Returns the rest."""
        missing = self._warmstart(0) - self.n_seen_
        size = missing if missing > 0 else self._batch(arguments.BATCH * 8)
        now, rest = fresh.take(slice(0, size)), fresh.take(slice(size, None))
        seen, version = np.full(len(now), self.n_seen_), self.n_selected_
        if missing > 0:
            selected = take_all(now, seen, version)
        else:
            choice = RuleChoice(self.rule, self.floor)
            if not hasattr(self, "rule_"):
                self.rule_ = choice.for_rows(self.learner_, now, self.n_seen_)
            rule = choice.with_floor(self.rule_)
            selected = choose(self.learner_, rule, self._seed, now, seen, version, self._proxy_policy).selected
        if len(selected):
            learn(self.learner_, selected)
        self.learner_.end_round()
        self.n_seen_ += len(now)
        self._record_selected(
            np.append(self.selected_["index"], selected.examples.index), np.append(self.selected_["p"], selected.p)
        )
        return rest

    def _print_summary(self) -> None:
        if self.verbose:
            print(
                f"{self.rule_}: learned {self.n_selected_:,} of {self.n_seen_:,} rows seen "
                f"({self.sampling_rate_:.1%}), {self.run_.warmstart:,} of them before sifting began"
            )

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn that sparse rows are accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _new_learner(self) -> Learner:
        """An untrained learner, which may be trained."""
        if self.learner is None or self.learner == "svm":
            return LaSVM(gap=0.2)
        if isinstance(self.learner, str):
            return LEARNERS.find(self.learner)()
        return arguments.as_learner(copy.deepcopy(self.learner))

    # Before learning ---------------------------------------------------------------------------------------------

    def _checked(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None, classes: ArrayLike | None, first: bool
    ) -> Rows:
        """The rows that count. The first rows set `classes_` and the features."""
        x, labels = checked_labeled(self, X, y, first=first)
        weight = checked_weights(sample_weight, len(labels))
        if first:
            self.classes_ = np.unique(labels[weight > 0] if classes is None else np.asarray(classes))
            self._rows_given = 0
        rows = checked_rows(x, labels, weight, self.classes_, self.class_weight)
        self._rows_given += len(labels)
        return rows

    def _held_out(self, rows: Rows) -> tuple[Rows, Examples | None]:
        """The rows to learn, and the rows to evaluate the model on."""
        validation = _HELD_OUT if self.validation is None and self.early_stopping else self.validation
        if validation is None:
            return rows, None
        if isinstance(validation, tuple | list):
            return rows, validation_examples(self, validation, self.classes_)
        held_out = rows.held_out(validation_fraction(validation), self._seed)
        if self.verbose:
            why = "early_stopping" if self.validation is None else "validation"
            print(f"held out {held_out.sum():,} of {counted(len(held_out), 'row')} to evaluate the model, for {why}")
        return rows.take(np.flatnonzero(~held_out)), rows.take(np.flatnonzero(held_out)).examples(len(self.classes_))

    def _begin(self, rows: Rows) -> None:
        """Make a new learner for these classes."""
        learner = self._new_learner()
        inner = learner.learner if isinstance(learner, Guarded) else learner
        if isinstance(inner, LaSVM) and inner.gamma == "scale":
            inner.gamma = rows.scale()  # Of all rows, not only of the first 64.
        parts.expect_classes(learner, len(self.classes_))
        self.learner_: Learner = learner
        self._proxy_policy = ProxyPolicy()

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

    def _record_selected(self, index: ArrayLike, p: ArrayLike) -> None:
        """Set the attributes about the rows that were learned so far."""
        self.n_selected_ = len(np.asarray(p))
        self.selected_ = np.zeros(self.n_selected_, _ENTRY)
        self.selected_["index"], self.selected_["p"] = index, p
        self.sampling_rate_ = self.n_selected_ / self.n_seen_ if self.n_seen_ else 0.0


def _log_compiling() -> None:
    # Not printed, and not a Python warning: output that programs parse stays the same, and no run fails by it.
    _LOG.warning("paraactive compiles its loops, once on this machine: this takes up to half a minute")
