"""ParaActiveClassifier: the front door for users of scikit-learn."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from paraactive.basics.compiled import notify_on_compile
from paraactive.basics.part_spec import PartSpec
from paraactive.basics.registry import LEARNERS
from paraactive.basics.validation import whole
from paraactive.data.examples import Examples
from paraactive.errors import InputError
from paraactive.estimator.best_model import BestModel
from paraactive.estimator.inputs import ClassWeight, MatrixLike
from paraactive.estimator.online import OnlineSifter
from paraactive.estimator.parameters import HasNestedParameters, NamedRule
from paraactive.estimator.prediction import PredictsFromScores
from paraactive.estimator.preparation import PreparesRows, prepared
from paraactive.estimator.rows import Rows
from paraactive.estimator.rule_choice import RuleChoice
from paraactive.estimator.summary import announce, log_compiling
from paraactive.estimator.tuned import tuned
from paraactive.learners import LaSVM, Learner
from paraactive.report import page_of, run_record_of, write_page
from paraactive.rules import Rule
from paraactive.runs import arguments
from paraactive.runs.run import Run
from paraactive.runs.sampling_defaults import row_size
from paraactive.runs.spec import DataSpec
from paraactive.runs.train import train
from paraactive.runs.verdict import estimated_error
from paraactive.sifting import parts
from paraactive.streams import Arrays

_LEAST_BATCH = 64
_LEAST_PART = 0.9
"""If merging equal rows leaves a smaller part of them, the error is not estimated."""
_ENTRY = np.dtype([("index", np.int64), ("p", np.float64)])


class ParaActiveClassifier(ClassifierMixin, HasNestedParameters, PreparesRows, PredictsFromScores):
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
        Number of nodes that sift in parallel, and of threads that predict; -1 means one for each core.
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
    floor : float, "auto" or None, default="auto"
        Lower bound on p, so that no weight is larger than 1/floor. "auto": 1/sqrt(n), where n is the number of rows
        seen; one row then never has more than the part 1/sqrt(n) of the weight of all. None: no bound.
    select : float, int, str or None, default="auto"
        Number of rows to select: a rate below 1, a total, or a limit that grows, such as "50*n**0.5"; see `train`.
        "auto" keeps the time to learn nearly linear in the number of rows. None: no limit. `partial_fit` has no total.
    finish : bool or "auto", default="auto"
        Whether `fit` ends with optimizing the SVM on all rows learned. "auto": if that is cheap; see `train`.
    tune : bool or "auto", default="auto"
        Whether to choose C and gamma of the SVM first, or a network if no learner is given, on at most 6000 rows of the
        warmstart, of which each candidate learns at most 2000; see `runs.tuning`. `tuned_` says what was chosen. Other
        learners are not changed. "auto" does so for C and gamma if no learner is given and there are at least 10 000
        different rows to learn, because it then takes less time than the fit, and changes them only if others are
        clearly better.
    class_weight : dict or "balanced", optional
        Weight of each class, by its label; classes that are not listed have weight 1. "balanced" does not work with
        `partial_fit`.
    scale : bool or "auto", default="auto"
        Whether to standardize the columns of X: subtract the mean and divide by the standard deviation, both computed
        in float64. `fit` computes them over its rows, `partial_fit` over the first rows that it gets, at least 20.
        "auto" standardizes dense X, unless it has 64 or more columns in one common range, which are probably pixels.
    missing : {"mean"}, optional
        Replace missing values (NaN) by the mean of the column. Default: missing values are an error.
    encode : {"onehot"}, optional
        Replace each text column of X by one feature for each of its values, at most 100. A value that `fit` did not see
        is 0 in all of them. Default: text columns are an error.
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
    tuned_ : Tuned
        What `fit` has chosen and tried, if it tuned.
    estimated_error_ : float or None
        Error of the latest models, as estimated from the scores of rows before they were learned, without test rows.
        After `fit`, `run_.estimates` has its confidence interval. None if nothing is known yet.
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
        floor: float | str | None = "auto",
        select: float | str | None = "auto",
        finish: bool | str = "auto",
        tune: bool | str = "auto",
        class_weight: ClassWeight = None,
        scale: bool | str = "auto",
        missing: str | None = None,
        encode: str | None = None,
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
        self.select = select
        self.finish = finish
        self.tune = tune
        self.class_weight = class_weight
        self.scale = scale
        self.missing = missing
        self.encode = encode
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
        learner = self._new_learner()
        rows = self._standardized(self._checked(X, y, sample_weight, None, first=True), learner)
        rows, test = self._held_out(rows)
        with notify_on_compile(log_compiling):
            self._fit(rows.merged_duplicates(), learner, test, len(rows.number))
        return self

    def _fit(self, rows: Rows, learner: Learner, test: Examples | None, unmerged: int) -> None:
        passes = whole("epochs", self.epochs, 1)
        stream = Arrays(rows.x, rows.number, weight=rows.weight, seed=self._seed, passes=passes)
        total = len(rows.number) * passes
        warmstart = min(self._warmstart(len(rows.number)), total)
        rows.set_gamma(learner)
        self._begin(rows, self._tuned(learner, stream, warmstart, len(rows.number)))
        choice = RuleChoice(self.rule, row_size(rows.x, self.learner_))
        self.rule_ = choice.for_fit(self.learner_, stream, warmstart, total)
        nodes = arguments.count_cores() if self.nodes == -1 else whole("nodes", self.nodes, 1)
        best = BestModel(self.early_stopping) if self.early_stopping else None
        self.run_: Run = train(
            self.learner_, stream, rule=self.rule_, nodes=nodes, schedule=self.schedule,
            engine=self.engine or ("threads" if nodes == 1 else None), batch=max(self._batch(total - warmstart), nodes),
            warmstart=warmstart, seed=self._seed, test=test, stop=best, finish=self.finish,
            floor="none" if self.floor is None else self.floor, select="none" if self.select is None else self.select,
        )  # fmt: skip
        spec = self.run_.spec  # The run knows the classes by number only, and the arrays by a fingerprint.
        data = DataSpec(PartSpec("arrays", {}), spec.data.width, tuple(str(each) for each in self.classes_))
        self.run_.spec = replace(spec, data=data)
        self.learner_, self.n_seen_ = self.run_.learner, self.run_.seen
        if len(rows.number) < _LEAST_PART * unmerged:  # A row is not scored before all of its copies are learned.
            self.run_.measured = None
        known, kept = self.run_.estimates, self.run_.kept_warmstart
        self.estimated_error_ = None if known is None else estimated_error(known, False, kept).value
        if best:
            best.restore(self.run_)
        self._record_selected(rows.row[self.run_.learned.key], self.run_.learned.p)
        announce(self.run_, str(self.rule_), bool(self.verbose))

    def _tuned(self, learner: Learner, stream: Arrays, warmstart: int, rows: int) -> Learner:
        found = tuned(self.tune, learner, self.learner is None, stream, warmstart, rows)
        if found is None:
            self.__dict__.pop("tuned_", None)  # That of an earlier fit.
            return learner
        self.tuned_ = found
        if self.verbose:
            print(found)
        return copy.deepcopy(found.learner)  # `train` trains this object, and `tuned_` says that its own is untrained.

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
        return write_page(page_of([run_record_of(self.run_, Path(out).stem, self.run_.spec)]), out)

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
            rows, learner = self._standardizing(rows, self._new_learner())
            self._begin(rows, learner)
            self.n_seen_ = 0
            self._record_selected([], [])
        else:
            rows = replace(rows, x=prepared(rows.x, self._scaling))
        # Rows are counted over all calls, also those without weight, so that no key is used twice.
        fresh = rows.examples(len(self.classes_), before)
        with notify_on_compile(log_compiling):
            while len(fresh):
                fresh = self._learn_some(fresh)
        return self

    def _learn_some(self, fresh: Examples) -> Examples:
        """Sift and learn one batch of these examples. Returns the rest."""
        missing = self._warmstart(0) - self.n_seen_
        size = missing if missing > 0 else self._batch(arguments.BATCH * 8)
        if not hasattr(self, "_sifter"):  # After `fit`, rows are sifted with its model.
            choice = RuleChoice(self.rule, row_size(fresh.x, self.learner_))
            self._sifter = OnlineSifter(
                self.learner_, choice, len(self.classes_), self._seed, self.floor, self.select,
                max(self._warmstart(0), self.n_seen_),
            )  # fmt: skip
            self._sifter.seen, self._sifter.version = self.n_seen_, self.n_selected_
        now, rest = fresh.take(slice(0, size)), fresh.take(slice(size, None))
        selected = self._sifter.learn(now, is_warmstart=missing > 0)
        self.n_seen_, self.estimated_error_ = self._sifter.seen, self._sifter.error
        if self._sifter.rule is not None:
            self.rule_ = self._sifter.rule
        self._record_selected(
            np.append(self.selected_["index"], selected.examples.index), np.append(self.selected_["p"], selected.p)
        )
        return rest

    def _new_learner(self) -> Learner:
        """An untrained learner, which may be trained."""
        if self.learner is None or self.learner == "svm":
            return LaSVM(gap=0.2)
        given = self.learner
        return LEARNERS.find(given)() if isinstance(given, str) else arguments.as_learner(copy.deepcopy(given))

    # Before learning ---------------------------------------------------------------------------------------------

    def _begin(self, rows: Rows, learner: Learner) -> None:
        """Set a new learner for these classes."""
        rows.set_gamma(learner)
        parts.expect_classes(learner, len(self.classes_))
        self.learner_: Learner = learner
        if hasattr(self, "_sifter"):
            del self._sifter

    def _new_seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _warmstart(self, total: int) -> int:
        given = self.warmstart
        return arguments.default_warmstart(total) if given is None else whole("warmstart", given, 0)

    def _batch(self, rows: int) -> int:
        usual = max(_LEAST_BATCH, min(rows // 8, arguments.BATCH))
        return usual if self.batch is None else whole("batch", self.batch, 1)

    def _record_selected(self, index: ArrayLike, p: ArrayLike) -> None:
        """Set the attributes about the rows that were learned so far."""
        self.n_selected_ = len(np.asarray(p))
        self.selected_ = np.zeros(self.n_selected_, _ENTRY)
        self.selected_["index"], self.selected_["p"] = index, p
        self.sampling_rate_ = self.n_selected_ / self.n_seen_ if self.n_seen_ else 0.0
