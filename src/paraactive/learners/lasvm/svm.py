"""LaSVM: an online kernel SVM with importance weights. `dual` has its state, `svm_loops` its compiled loops."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from paraactive.basics.state import State, digest
from paraactive.basics.validation import number, one_of, positive, truth, whole
from paraactive.data.examples import Doubles, Features, Selected, SparseRows
from paraactive.data.labels import check_count, check_labels
from paraactive.errors import InputError
from paraactive.learners.base import Proxy
from paraactive.learners.lasvm import kernels, scored_rows
from paraactive.learners.lasvm.dense_vectors import DenseVectors
from paraactive.learners.lasvm.dual import KERNELS, Dual, own_weight, sides_of
from paraactive.learners.lasvm.early import EarlyExamples
from paraactive.learners.lasvm.finishing import finish_on
from paraactive.learners.lasvm.projection import Projection
from paraactive.learners.lasvm.scale import check_norms, scale_of
from paraactive.learners.lasvm.sparse_vectors import SparseVectors
from paraactive.learners.lasvm.svm_loops import Batch
from paraactive.learners.rows import accepted_by

_CHUNK_ROWS, _PROXY_ROWS = 256, 1024
"""Rows whose kernel values, and whose proxy scores, are computed together. Only memory and time depend on them."""
_PARAMETERS = (
    "C", "kernel", "gamma", "degree", "coef0", "tau", "reprocess", "gap", "classes", "cache_size", "max_vectors",
    "cascade", "own_weight", "reprocess_all",
)  # fmt: skip


class LaSVM:
    """Kernel support vector machine that is trained online, with importance weights, in one pass.

    If the first rows that it learns are sparse, its support vectors are sparse: zeros then cost neither time nor
    memory. Sparse vectors have no proxy score and no center, so sparse rows should not lie far from the origin. If more
    than a tenth of the values of the first 64 rows is not 0, the vectors become dense, which is faster.

    Parameters
    ----------
    C : float, default=1.0
        Regularization parameter: the upper bound on the dual coefficient of an example of weight 1. An example of
        weight w has the bound C * w.
    kernel : {"rbf", "linear", "poly"}, default="rbf"
        Kernel of the SVM.
    gamma : float, "scale" or None, default="scale"
        Kernel coefficient of the rbf and poly kernels. "scale" means 1 / (number of features * variance of the
        features), as in scikit-learn, with the variance of the first 64 examples learned. None means
        1 / number of features.
    degree : int, default=3
        Degree of the poly kernel.
    coef0 : float, default=0.0
        Constant term of the poly kernel.
    tau : float, default=0.001
        Tolerance: smaller violations of the optimality conditions are ignored. In units of the score.
    reprocess : int, default=2
        Number of REPROCESS steps after each new example.
    gap : float, optional
        After each round, reprocess until the gap of the most violating pair is at most this, in units of the score.
        Default: no reprocessing after a round.
    classes : int, optional
        Number of classes. Default: the number of classes of the stream, or 2 without a stream. More than two classes
        have one machine each, against the rest; the machines share vectors and kernel values.
    cache_size : float, default=1000.0
        Memory for cached kernel values, in MB. Kernel values beyond it are computed again when they are needed. The
        model does not depend on it.
    max_vectors : int, optional
        Largest number of support vectors. Default: no limit. Beyond the limit, the vector with the smallest dual
        coefficients is merged into the nearest vector of its class.
    cascade : bool, default=True
        Offer a cheap proxy score, which rules out most examples in sifting, and decides most labels in predicting,
        without an exact score. Only for the rbf kernel and dense rows.
    own_weight : float or "auto", default="auto"
        More than two classes: factor of C for an example in the machine of its own class. All other classes are
        against it there, so 1 makes the machine ignore some of its few own examples. "auto" is sqrt(classes - 1).
    reprocess_all : bool, default=False
        More than two classes: after each example, take REPROCESS steps in all machines, not only in those that it
        changed. This is slower and no better; runs of paraactive 0.2 did it.

    Examples
    --------
    >>> import numpy as np
    >>> from paraactive import Digits, LaSVM, train
    >>> run = train(LaSVM(C=1, gamma=0.012, gap=0.2), Digits(), examples=8192)
    >>> test = Digits().test()
    >>> error = np.mean(np.sign(run.learner.score(test.x)) != test.y)
    >>> print(f"sampling rate {run.sampling_rate:.2f}, error below 3%: {error < 0.03}")
    sampling rate 0.11, error below 3%: True
    """

    releases_gil = True

    def __init__(
        self,
        C: float = 1.0,
        kernel: str = "rbf",
        gamma: float | str | None = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        tau: float = 1e-3,
        reprocess: int = 2,
        gap: float | None = None,
        classes: int | None = None,
        cache_size: float = 1000.0,
        max_vectors: int | None = None,
        cascade: bool = True,
        own_weight: float | str = "auto",
        reprocess_all: bool = False,
    ) -> None:
        self.C, self.kernel = positive("C", C), one_of("kernel", kernel, KERNELS)
        self.gamma = gamma if gamma is None or gamma == "scale" else positive("gamma", gamma)
        self.degree, self.coef0 = whole("degree", degree, 1), number("coef0", coef0)
        self.tau, self.reprocess = positive("tau", tau), whole("reprocess", reprocess, 1)
        self.gap, self.cache_size = None if gap is None else positive("gap", gap), positive("cache_size", cache_size)
        self.classes = None if classes is None else check_count(classes)
        self.max_vectors = None if max_vectors is None else whole("max_vectors", max_vectors, 2)
        self.cascade, self.reprocess_all = truth("cascade", cascade), truth("reprocess_all", reprocess_all)
        self.own_weight = "auto" if own_weight == "auto" else positive("own_weight", own_weight)
        self.dual: Dual | None = None
        """The dual problem with its vectors; None before the first update."""
        self._projection: Projection | None = None
        self._learned = 0
        self._scored: scored_rows.ScoredRows = {}
        self.known_scale: float | None = None
        """The value of gamma="scale", if a `Standardized` around this learner knows it from more than 64 examples."""

    def describe(self) -> dict[str, Any]:
        """Return the constructor's parameters."""
        return {name: getattr(self, name) for name in _PARAMETERS}

    def __repr__(self) -> str:
        return f"LaSVM({', '.join(f'{name}={value!r}' for name, value in self.describe().items())})"

    def __getstate__(self) -> dict[str, Any]:
        # A copy begins without kernel values of scored rows: other threads may add to them meanwhile.
        return self.__dict__ | {"_scored": {}}

    # Reading the model -------------------------------------------------------------------------------------------

    @property
    def sparse(self) -> bool:
        """Whether it accepts sparse rows: unless it has learned dense ones."""
        return self.dual is None or self.dual.live.sparse

    @property
    def vectors(self) -> int:
        """Number of support vectors."""
        return 0 if self.dual is None else self.dual.count

    @property
    def bias(self) -> float | Doubles:
        """The bias b; with more than two classes, that of each."""
        return self._per_class(np.zeros(self._machines) if self.dual is None else self.dual.bias.copy())

    @property
    def support_vectors(self) -> Features:
        """The support vectors, one a row, up to the rounding of float32; sparse if the learned rows are."""
        return np.zeros((0, 0), np.float32) if self.dual is None else self.dual.live.original()

    @property
    def dual_coefficients(self) -> Doubles:
        """Signed dual coefficients of the support vectors; with more than two classes, a row for each class."""
        alpha = np.zeros((self._machines, 0)) if self.dual is None else self.dual.alpha
        return self._per_class(alpha[:, : self.vectors].copy())

    def score(self, x: ArrayLike | SparseRows) -> Doubles:
        """Return f(x) = sum_s alpha_s K(s, x) + b for each row.

        Parameters
        ----------
        x : array-like or SparseRows
            Rows of features.

        Returns
        -------
        ndarray of float64, shape (n,) or (n, classes)
            One score for each row; with more than two classes, one for each class. 0 before the first update.
        """
        given: Features = x if isinstance(x, SparseRows) else np.asarray(x)
        out, dual = np.zeros((len(given), self._machines)), self.dual
        if dual is not None:
            rows = dual.live.relative(given)
            xx = dual.live.norms(rows)
            if self.proxy() is not None and scored_rows.fits(self._scored, len(rows), dual.live):
                values = scored_rows.score_and_keep(self._scored, rows, xx, dual.live, dual.kernel)
                kernels.sums_of_rows(values, dual.alpha, out)
            else:
                dual.live.kernel_sums(rows, xx, dual.alpha, dual.kernel, out)
            out += dual.bias
        return out[:, 0] if self._machines == 1 else out

    def proxy(self) -> Proxy | None:
        """Return the proxy for the cascade, or None while there are too few vectors for it; see `projection`."""
        if self._projection is None or not self._projection.ready:
            return None
        return Proxy(self._proxy_score, self._projection.error_bound, self._projection.cost(self.vectors))

    def _proxy_score(self, x: ArrayLike) -> Doubles:
        assert self.dual is not None
        assert self._projection is not None
        rows = np.asarray(x)
        out, vectors = np.empty((len(rows), self._machines)), self.dual.view()
        for first in range(0, len(rows), _PROXY_ROWS):
            chunk = slice(first, first + _PROXY_ROWS)
            relative = self.dual.live.relative(rows[chunk])
            norms = self.dual.live.norms(relative)
            self._projection.sums(relative, norms, vectors, out[chunk])
            out[chunk][~np.isfinite(norms)] = np.nan  # As an exact score would be.
        out += self.dual.bias
        return out[:, 0] if self._machines == 1 else out

    def dual_objective(self) -> float:
        """Return the sum over the machines of sum_i alpha_i y_i - 1/2 sum_ij alpha_i alpha_j K_ij, which grows."""
        return 0.0 if self.dual is None else self.dual.objective()

    @property
    def _machines(self) -> int:
        return 1 if self.classes is None or self.classes == 2 else self.classes

    def _per_class(self, rows: Any) -> Any:
        return rows[0] if self._machines == 1 else rows  # With two classes, there is one machine.

    # Learning ----------------------------------------------------------------------------------------------------

    def update(self, selected: Selected) -> None:
        """Learn examples in order: PROCESS each, with the bound C/p, and REPROCESS.

        An example that is a support vector already is not inserted again.

        Parameters
        ----------
        selected : Selected
            Labeled examples with their probabilities p.

        Raises
        ------
        InputError
            If a label is not one of the classes, or a feature is too large or not finite.
        """
        if not len(selected):
            return
        check_labels(selected.examples.y, self.classes or 2)
        if (dual := self.dual) is None:
            sparse = isinstance(selected.examples.x, SparseRows)
            dual = self._allocate((SparseVectors if sparse else DenseVectors)(selected.examples.width))
        first = self._learn_early(dual, selected)
        for start in range(first, len(selected), _CHUNK_ROWS):
            self._learn(dual, selected.take(slice(start, start + _CHUNK_ROWS)))
        self._learned += len(selected)
        self._project_vectors(dual)

    def _learn_early(self, dual: Dual, selected: Selected) -> int:
        """Learn the first examples, which also set the center and the scale. Returns their number.

        The center is the first example at first, then the median of all first examples.
        """
        done, early = 0, self._early
        while not early.complete and done < len(selected):
            until = early.next_count
            piece = selected.take(slice(done, done + until - len(early)))
            done += len(piece)
            rows = dual.live.of_its_kind(piece.examples.x)
            if not len(early):
                self._move_center(dual, rows[:1])
            early.add(rows, piece.examples.key)
            self._learn(dual, piece)
            if len(early) == until and self.gamma == "scale" and self.known_scale is None:
                dual.gamma = scale_of(early.rows)
                self._restart(dual)
            if early.complete:
                if early.better_dense:
                    early.make_dense()
                    dual.make_dense()
                    self._projection = self._new_projection(dual)
                self._move_center(dual, early.rows)
        return done

    def _move_center(self, dual: Dual, rows: Features) -> None:
        """Take all rows relative to the median of these."""
        if self.kernel == "poly":
            return  # Its values change with the origin.
        dual.live.center_on(rows)
        self._restart(dual)

    def _restart(self, dual: Dual) -> None:
        """Compute again what depends on the center and on gamma, for the few vectors that there are."""
        if dual.count:
            places = self._early.places_of(dual.keys[: dual.count], dual.live.original())
            dual.replace_vectors(dual.live.relative(self._early.rows[places]), self.tau, self.C)

    def end_round(self) -> None:
        """Reprocess until the gap is at most `gap`, if `gap` is given, and update the proxy if it is due.

        At most a thousand steps for each vector are taken. With very heavy examples the gap may stay wider.
        """
        self._reprocess_to(self.gap)
        dual, projection = self.dual, self._projection
        if dual is not None and projection is not None and projection.is_due(self._learned, self.vectors):
            projection.update_basis(dual.view(), self._learned)
            projection.measure(dual.view(), dual.sums_without_own)

    def finish(self, selected: Selected | None = None) -> None:
        """Optimize at the end of training until no pair violates by more than `tau`; see `finishing`.

        Parameters
        ----------
        selected : Selected, optional
            All examples that were learned: evicted vectors come back if they violate by more than 0.01. Not used with
            `max_vectors`. Default: optimize on the present support vectors.
        """
        dual, self._scored = self.dual, {}
        if dual is None or selected is None or self.max_vectors is not None:
            return self._reprocess_to(self.tau)
        finish_on(dual, selected, lambda some: self._learn(dual, accepted_by(self, some)), self.C)
        return self._project_vectors(dual, measure=True)

    def _learn(self, dual: Dual, selected: Selected) -> None:
        examples = selected.examples
        x = dual.live.relative(examples.x)
        dual.reserve(self.vectors + len(x))
        xx = dual.live.norms(x)
        check_norms(xx)
        scored, self._scored = self._scored, {}
        old = scored_rows.kernel_rows(scored, x, xx, dual.live, dual.kernel)
        rows = old, dual.kernel_within(x, xx), kernels.transposed(old)
        box, own = self.C * selected.weight, own_weight(self.own_weight, self._machines)
        batch = Batch(dual.live.hold(x), xx, sides_of(examples.y, self._machines), box, own, examples.key, *rows)
        dual.learn(batch, self.tau, self.C, self.reprocess, self.max_vectors, self._machines == 1 or self.reprocess_all)

    def _reprocess_to(self, gap: float | None) -> None:
        if self.dual is not None and gap is not None:
            self._scored = {}  # The limit of the steps is for kernels that are not quite positive definite.
            self.dual.reprocess(1000 * (self.vectors + 100), gap, self.C)
            self._project_vectors(self.dual)

    def _project_vectors(self, dual: Dual, measure: bool = False) -> None:
        """Let the projection follow the vectors that have come, gone and moved, and measure its error if wanted."""
        if self._projection is not None and self._projection.ready:
            self._projection.project(dual.view())
            if measure:
                self._projection.measure(dual.view(), dual.sums_without_own)

    # State -------------------------------------------------------------------------------------------------------

    def _allocate(self, vectors: DenseVectors | SparseVectors) -> Dual:
        if self.max_vectors is not None and self.max_vectors < (self.classes or 2):
            raise InputError(
                f"max_vectors is {self.max_vectors}, and there are {self.classes} classes",
                why="each class needs a vector",
                remedy=f"give max_vectors >= {self.classes}",
            )
        scale = self.known_scale if self.gamma == "scale" else None
        gamma = self.gamma if isinstance(self.gamma, float) else scale or 1.0 / vectors.width
        dual = Dual(vectors, self._machines, self.kernel, gamma, self.coef0, self.degree, self.cache_size)
        self.dual, self._projection = dual, self._new_projection(dual)
        self._early, self._learned, self._scored = EarlyExamples(vectors.rows()), 0, {}
        return dual

    def _new_projection(self, dual: Dual) -> Projection | None:
        # With sparse rows, an exact score costs less than a projection.
        return Projection(dual.live.width) if self.cascade and self.kernel == "rbf" and not dual.live.sparse else None

    def save(self) -> State:
        """Return the whole state as named arrays; see `Learner.save`."""
        if self.dual is None:
            return {"width": np.array(0)}
        return {
            "width": np.array(self.dual.live.width),
            **self._early.save(),
            **self.dual.save(),
            "learnt": np.array(self._learned),
            **({} if self._projection is None else self._projection.save()),
        }

    def load(self, state: State) -> None:
        """See `Learner.load`. An InputError is raised if the state has another number of classes."""
        width = int(state["width"])
        if not width:
            self.dual, self._projection = None, None
            return
        machines = len(state["alpha"])
        if self.classes is None and machines > 1:
            self.classes = machines
        if machines != self._machines:
            fact = f"the state has {machines} machines"
            raise InputError(fact, why=f"this LaSVM has {self._machines}", remedy="give the number of its classes")
        dual = self._allocate((DenseVectors if "vectors" in state else SparseVectors)(width))
        self._early.load(state)
        dual.load(state)
        self._learned = int(state["learnt"])
        if self._projection is not None and "basis" in state:
            self._projection.load(state)
            self._project_vectors(dual)

    def digest(self) -> str:
        """Return a digest of the state: equal digests mean equal models."""
        return digest(self.save())
