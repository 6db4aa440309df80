"""LaSVM: an online kernel SVM that takes importance weights. State and bookkeeping here, loops in `lasvm_loops`."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paraactive.basics.state import State, digest
from paraactive.basics.validation import number, one_of, positive, truth, whole
from paraactive.data.examples import Doubles, Features, Floats, Labels, Selected, SparseRows, dense, join_features
from paraactive.data.labels import check_count, check_labels
from paraactive.errors import InputError
from paraactive.learners.base import Proxy
from paraactive.learners.lasvm import kernels, projection
from paraactive.learners.lasvm import svm_loops as lasvm_loops
from paraactive.learners.lasvm.dense_vectors import DenseVectors
from paraactive.learners.lasvm.kernel_cache import KernelCache
from paraactive.learners.lasvm.kernels import LANES
from paraactive.learners.lasvm.projection import Projection
from paraactive.learners.lasvm.scale import scale_of
from paraactive.learners.lasvm.sparse_vectors import SparseVectors
from paraactive.learners.lasvm.svm_loops import Batch, Slots
from paraactive.learners.lasvm.vectors import Kernel, Vectors
from paraactive.learners.simd.blocks import panels_for
from paraactive.learners.wrappers.rows_state import rows_from_state, rows_to_state

_KINDS = {"rbf": kernels.RBF, "linear": kernels.LINEAR, "poly": kernels.POLYNOMIAL}
_BATCH = 256
"""Kernel rows computed together in an update. It bounds memory; the model does not depend on it."""
_EARLY = 64
"""Examples that settle the centre: enough that an outlier or two do not move their median."""
_SCALED = (2, 4, 8, 16, 32, _EARLY)
"""After so many examples gamma="scale" is taken anew."""
_FILLED = 0.1
"""The part of sparse rows that is not 0, from which on dense ones are scored faster."""
_REMEMBERED = 8_000_000
"""Numbers that are kept at most of rows that were scored, their kernel values and features: 32 megabytes."""
_NO_LIMIT = 2**62


class LaSVM:
    """Support vector machine trained online: one pass, weighted examples, vectors that come and go.

    Parameters
    ----------
    C : the box of an example of weight 1; an example of weight w has the box C*w.
    kernel : "rbf", "linear" or "poly".
    gamma : scale of the rbf and poly kernels. "scale" means 1/(width * variance of the features), as in scikit-learn,
        the variance being that of the first 64 examples learnt; None means 1/width.
    degree, coef0 : of the poly kernel.
    tau : violations below this are left alone.
    reprocess : REPROCESS steps after each new example.
    gap : after each round, reprocess until the most violating pair's gap is at most this; None: do not.
    classes : how many there are; None: as many as the stream has that it is trained on, or two. More than two are told
        apart by a machine for each, against the rest; they share vectors and kernel values.
    cache_size : megabytes of kernel values that are kept; what is beyond it is computed again when it is needed. The
        model does not depend on it.
    cascade : if True, it offers sifters a cheap score, by which most examples are ruled out without an exact one.
    max_vectors : the most vectors that there may be; None: as many as it takes. Where there would be one more, the one with
        the smallest alphas is merged into the nearest one of its class. After 12 288 digits (one run) there were 40
        mistakes of 4065 with 3231 vectors and no limit, 38 with 1000, 47 with 500.

    If the first rows that it learns are sparse, its vectors are: zeros cost neither time nor memory. Then there is no
    cheap score, and no centre: rows should not lie far from the origin. If more than a tenth of the first 64 is not 0,
    its vectors are dense nevertheless, which is faster.

    >>> import numpy as np
    >>> from paraactive import Digits, LaSVM, train
    >>> run = train(LaSVM(C=1, gamma=0.012, gap=0.2), Digits(), examples=8192)
    >>> test = Digits().test()
    >>> error = np.mean(np.sign(run.learner.score(test.x)) != test.y)
    >>> print(f"sampling rate {run.sampling_rate:.2f}, error below 3%: {error < 0.03}")
    sampling rate 0.17, error below 3%: True
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
    ) -> None:
        self.C, self.kernel = positive("C", C), one_of("kernel", kernel, _KINDS)
        self.gamma = gamma if gamma is None or gamma == "scale" else positive("gamma", gamma)
        self.degree, self.coef0 = whole("degree", degree, 1), number("coef0", coef0)
        self.tau, self.reprocess = positive("tau", tau), whole("reprocess", reprocess, 1)
        self.gap = None if gap is None else positive("gap", gap)
        self.classes = None if classes is None else check_count(classes)
        self.cache_size = positive("cache_size", cache_size)
        self.max_vectors = None if max_vectors is None else whole("max_vectors", max_vectors, 2)
        self.cascade = truth("cascade", cascade)
        self._width = 0

    def describe(self) -> dict[str, Any]:
        """The constructor's parameters."""
        names = (
            "C", "kernel", "gamma", "degree", "coef0", "tau", "reprocess", "gap", "classes", "cache_size", "max_vectors",
            "cascade",
        )  # fmt: skip
        return {name: getattr(self, name) for name in names}

    def __repr__(self) -> str:
        return f"LaSVM({', '.join(f'{name}={value!r}' for name, value in self.describe().items())})"

    def __getstate__(self) -> dict[str, Any]:
        # A copy begins with nothing scored: whoever copies may do so while others score.
        return self.__dict__ | ({"_scored": {}} if self._width else {})

    # Reading the model -------------------------------------------------------------------------------------------

    @property
    def sparse(self) -> bool:
        """True while it takes sparse rows: unless it has learnt dense ones."""
        return not self._width or self._live.sparse

    @property
    def vectors(self) -> int:
        """Live vectors."""
        return self._live.count if self._width else 0

    @property
    def bias(self) -> float | Doubles:
        """b; with more than two classes, of each."""
        return self._bare(self._extremes[lasvm_loops.BIAS].copy() if self._width else np.zeros(self._machines))

    @property
    def support_vectors(self) -> Features:
        """The live vectors, one a row, up to the rounding of float32; sparse if those are that it learnt."""
        return self._live.original() if self._width else np.zeros((0, 0), np.float32)

    @property
    def dual_coefficients(self) -> Doubles:
        """Signed alphas of the live vectors; with more than two classes, a row for each."""
        return self._bare(self._alpha[:, : self.vectors].copy() if self._width else np.zeros((self._machines, 0)))

    def score(self, x: ArrayLike | SparseRows) -> Doubles:
        """f(x) = sum_s alpha_s K(s, x) + b for each row, and each class if there are more than two.

        0 before the first update.
        """
        given: Features = x if isinstance(x, SparseRows) else np.asarray(x)
        out = np.zeros((len(given), self._machines))
        if self._width:
            rows = self._live.relative(given)
            xx = self._live.norms(rows)
            each = self.vectors + self._width
            if self.proxy() is not None and (len(self._scored) + len(rows)) * each <= _REMEMBERED:
                kernels.sums_of_rows(self._remembered_rows(rows, xx), self._alpha, out)
            else:
                self._live.kernel_sums(rows, xx, self._alpha, self._kernel(), out)
            out += self._extremes[lasvm_loops.BIAS]
        return out[:, 0] if self._machines == 1 else out

    def _remembered_rows(self, x: Any, xx: Floats) -> Floats:
        """Kernel values of these with all vectors, kept for the update that may follow.

        With a cascade, what gets an exact score is likely to be selected; and then it is learnt here, or soon replaced.
        """
        values = np.zeros((len(x), panels_for(self.vectors, LANES) * LANES), np.float32)
        self._live.kernel_rows(x, xx, self._kernel(), values)
        for row, own in zip(x, values, strict=True):
            self._scored[row.tobytes()] = own.copy()  # A view would keep all of them, for one that is new.
        return values

    def proxy(self) -> Proxy | None:
        """The cheap score of the cascade, once there are vectors enough for it to pay; see `learners.projection`."""
        if not self._width or self._projection is None or not self._projection.ready:
            return None
        return Proxy(self._cheap_score, self._projection.guard, self._projection.cost(self.vectors))

    def _cheap_score(self, x: ArrayLike) -> Doubles:
        assert self._projection is not None
        rows: Any = np.asarray(x)
        out, vectors = np.empty((len(rows), self._machines)), self._projected()
        for first in range(0, len(rows), _BATCH):  # What is temporary stays in the cache.
            piece = slice(first, first + _BATCH)
            relative: Any = self._live.relative(rows[piece])
            norms = self._live.norms(relative)
            self._projection.sums(relative, norms, vectors, out[piece])
            out[piece][~np.isfinite(norms)] = np.nan  # As an exact score would be.
        out += self._extremes[lasvm_loops.BIAS]
        return out[:, 0] if self._machines == 1 else out

    def dual_objective(self) -> float:
        """sum_i alpha_i y_i - 1/2 sum_ij alpha_i alpha_j K_ij, the figure that training drives up; of all machines."""
        if not self._width:
            return 0.0
        live = slice(0, self.vectors)
        alpha, g = self._alpha[:, live].ravel(), self._g[:, live].ravel()
        y = np.where(self._upper[:, live].ravel() > 0, 1.0, -1.0)
        return float(alpha @ y - 0.5 * alpha @ (y - g))

    @property
    def _machines(self) -> int:
        return 1 if self.classes is None or self.classes == 2 else self.classes

    def _bare(self, rows: Any) -> Any:
        """What there is one of for each machine: of two classes, the one itself."""
        return rows[0] if self._machines == 1 else rows

    # Learning ----------------------------------------------------------------------------------------------------

    def update(self, selected: Selected) -> None:
        """Process each example, with the box C/p, and reprocess; an example that is live is not inserted again."""
        if not len(selected):
            return
        check_labels(selected.examples.y, self.classes or 2)
        if not self._width:
            sparse = isinstance(selected.examples.x, SparseRows)
            self._allocate((SparseVectors if sparse else DenseVectors)(selected.examples.width))
        first = self._learn_early(selected)
        for start in range(first, len(selected), _BATCH):
            self._learn(selected.take(slice(start, start + _BATCH)))
        self._learnt += len(selected)
        self._keep_up()

    def _learn_early(self, selected: Selected) -> int:
        """The first examples also settle the centre and the scale. Returns how many there were.

        The centre is the first one alone at first, then the median of them all.
        """
        done = 0
        while len(self._early) < _EARLY and done < len(selected):
            until = next(count for count in _SCALED if count > len(self._early))
            piece = selected.take(slice(done, done + until - len(self._early)))
            done += len(piece)
            rows = self._live.of_its_kind(piece.examples.x)
            if not len(self._early):
                self._move_centre(rows[:1])
            self._early = join_features([self._early, rows])
            self._early_keys = np.concatenate([self._early_keys, piece.examples.key])
            self._learn(piece)
            if len(self._early) == until and self.gamma == "scale":
                self._gamma = scale_of(self._early)
                self._start_anew()
            if len(self._early) == _EARLY:
                self._settle_kind()
                self._move_centre(self._early)
        return done

    def _settle_kind(self) -> None:
        """Hold vectors dense from now on that are sparse by name, but not sparse enough for it to pay."""
        rows = self._early
        if isinstance(rows, SparseRows) and len(rows.data) > _FILLED * len(rows) * rows.width:
            self._early, vectors = rows.dense(), self._live.rows().dense()
            self._hold_in(DenseVectors(self._width))
            self._live.reserve(len(self._keys))
            self._live.replace(vectors)  # Their kernel values stay the same, to the bit.

    def _move_centre(self, rows: Features) -> None:
        """Take all rows relative to the median of these."""
        if self.kernel == "poly":
            return  # Its values change with the origin.
        self._live.centre_on(rows)
        self._start_anew()

    def _start_anew(self) -> None:
        """Recompute what depends on the centre and on gamma, for the few vectors that there are."""
        count = self.vectors
        if count:
            places = self._early_places()
            x = self._live.relative(self._early[places])
            self._live.replace(x)
            self._cache = self._empty_cache()
            kernel = self._kernel_within(x).astype(np.float64)
            for m, s in np.ndindex(self._machines, count):
                products = self._alpha[m, :count] * kernel[s]
                self._g[m, s] = (1.0 if self._upper[m, s] > 0 else -1.0) - sum(products.tolist())
            self._live.count = lasvm_loops.reprocess(0, self.tau, self.C, *self._loop_arguments())  # the bias anew

    def _early_places(self) -> NDArray[np.intp]:
        """Of each vector: which of the first examples it is. Others may have its key; then it is the nearest."""
        found, vectors = list[int](), self._live.original()
        for slot, key in enumerate(self._keys[: self.vectors]):
            same = np.flatnonzero(self._early_keys == key)
            if len(same) > 1:
                vector = dense(vectors[slot : slot + 1])
                same = same[np.argsort(((dense(self._early[same]) - vector) ** 2).sum(axis=1), kind="stable")]
            found.append(int(same[0]))
        return np.array(found, np.intp)

    def end_round(self) -> None:
        """Reprocess to `gap`, if there is one: cheap, and the bias is steadier for it.

        Very heavy examples can take more steps than are allowed (a thousand for each vector); then it is left wider.
        """
        if self.gap is not None:
            self._reprocess_to(self.gap)
        if self._width and self._projection is not None and self._projection.is_due(self._learnt, self.vectors):
            self._projection.turn(self._projected(), self._learnt)
            self._projection.measure(self._projected(), self._sums_without_own)

    def finish(self) -> None:
        """Reprocess until no pair of live vectors violates by more than tau: the end of training.

        Vectors that were evicted on the way do not come back; to get to the solution of a batch solver, pass over the
        data a few times before.
        """
        self._reprocess_to(self.tau)

    def _learn(self, batch: Selected) -> None:
        examples = batch.examples
        x = self._live.relative(examples.x)
        self._reserve(self.vectors + len(x))
        xx = self._live.norms(x)
        if not np.isfinite(xx).all():
            raise InputError(
                "an example is too large, or not finite",
                why="squared distances are held in float32, which ends at 3.4e38",
                remedy="scale the features, for example to zero mean and unit variance",
            )
        rows = self._kernel_rows(x, xx), self._kernel_within(x, xx)
        new = Batch(self._live.hold(x), xx, self._targets(examples.y), self.C * batch.weight, examples.key, *rows)
        limit, done = _NO_LIMIT if self.max_vectors is None else self.max_vectors, 0
        while done < len(x):
            self._live.count, done = lasvm_loops.learn(
                new, done, self.tau, self.C, self.reprocess, limit, *self._loop_arguments(len(x) - done)
            )
            if self.vectors > limit:
                self._live.count = lasvm_loops.keep_to(limit, *self._loop_arguments())

    def _kernel_rows(self, x: Features, xx: Floats) -> Floats:
        """Kernel values of new rows with all vectors; of some they are known since they were scored."""
        known, self._scored = self._scored, {}
        rows = np.empty((len(x), self.vectors), np.float32)
        found = [known.get(row.tobytes()) for row in x] if known else [None] * len(x)
        for place, own in enumerate(found):
            if own is not None:
                rows[place] = own[: self.vectors]
        left = np.array([place for place, own in enumerate(found) if own is None], np.intp)
        if len(left):
            computed = np.empty((len(left), self.vectors), np.float32)
            self._live.kernel_rows(x[left], xx[left], self._kernel(), computed)
            rows[left] = computed
        return rows

    def _targets(self, y: Labels) -> Labels:
        """The side of each example for each machine: that of its label, or +1 for its own class and -1 for others."""
        if self._machines == 1:
            return y[:, None]
        return np.where(y[:, None] == np.arange(self._machines), 1, -1).astype(np.int8)

    def _reprocess_to(self, gap: float) -> None:
        if self._width:
            # Each step goes uphill, so it ends; the limit is for kernels that are not quite positive definite.
            limit = 1000 * (self.vectors + 100)
            self._scored = {}
            self._live.count = lasvm_loops.reprocess(limit, gap, self.C, *self._loop_arguments())
            self._keep_up()

    def _keep_up(self) -> None:
        """Vectors have come, gone and moved: the projection follows."""
        if self._projection is not None and self._projection.ready:
            self._projection.hold(self._projected())

    def _projected(self) -> projection.Vectors:
        """The live vectors, for the projection; they are dense if there is one."""
        live: Any = self._live
        return projection.Vectors(live.count, self._keys, live.ss, live.panels, self._alpha, np.float32(self._gamma))

    def _sums_without_own(self, slots: NDArray[np.intp]) -> Doubles:
        """sum over the other vectors of alpha K, for the vectors in some slots: the gradients know it."""
        side = np.where(self._upper[:, slots] > 0, 1.0, -1.0)
        return side - self._g[:, slots] - self._alpha[:, slots]  # The rbf kernel of a vector with itself is 1.

    # Memory ------------------------------------------------------------------------------------------------------

    def _allocate(self, vectors: DenseVectors | SparseVectors) -> None:
        if self.max_vectors is not None and self.max_vectors < (self.classes or 2):
            raise InputError(
                f"max_vectors is {self.max_vectors}, and there are {self.classes} classes",
                why="each class needs one",
                remedy=f"give max_vectors >= {self.classes}",
            )
        self._width = vectors.width
        self._hold_in(vectors)
        self._early, self._early_keys = self._live.rows(), np.zeros(0, np.int64)
        self._alpha, self._g, self._lower, self._upper = (np.zeros((self._machines, 0)) for _ in range(4))
        self._keys, self._origin = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._cache = self._empty_cache()
        self._extremes = np.zeros((2, self._machines))
        self._learnt = 0
        self._scored: dict[bytes, Floats] = {}
        """Kernel values of rows that were scored since the vectors last changed."""
        self._gamma = self.gamma if isinstance(self.gamma, float) else 1.0 / vectors.width

    def _hold_in(self, vectors: DenseVectors | SparseVectors) -> None:
        self._live = cast(Vectors, vectors)
        # It is for the rbf kernel; of sparse rows, an exact score costs less than a projection.
        cheap = self.cascade and self.kernel == "rbf" and not vectors.sparse
        self._projection = Projection(vectors.width) if cheap else None

    def _reserve(self, count: int) -> None:
        """Room for that many vectors, and some more, so that growing is rare."""
        if count <= len(self._keys):
            return
        panels = panels_for(max(count, len(self._keys) * 5 // 4, 512), LANES)
        slots = panels * LANES
        for name in ("_keys", "_origin"):
            setattr(self, name, _grown(getattr(self, name), (slots,)))
        for name in ("_alpha", "_g", "_lower", "_upper"):
            setattr(self, name, _grown(getattr(self, name), (self._machines, slots)))
        self._live.reserve(slots)

    def _empty_cache(self) -> KernelCache:
        return KernelCache(self.cache_size, least=2 * self._machines)  # A pair for each machine.

    def _loop_arguments(self, fresh: int = 0) -> tuple[Any, ...]:
        """What the loops work on, with room for the rows of so many new vectors."""
        slots = Slots(self._alpha, self._g, self._lower, self._upper, self._keys, self._origin, self._extremes)
        self._cache.reserve(len(self._keys), self.vectors + fresh)
        return self.vectors, slots, self._cache.arrays(), self._live.arrays(self._kernel())

    def _kernel(self) -> Kernel:
        return _KINDS[self.kernel], np.float32(self._gamma), np.float32(self.coef0), self.degree

    def _kernel_within(self, x: Features, xx: Floats | None = None) -> Floats:
        """The kernel matrix of some rows."""
        out = self._live.kernel_within(x, self._live.norms(x) if xx is None else xx, self._kernel())
        if self.kernel == "rbf":
            np.fill_diagonal(out, 1.0)
        return out

    # Saving ------------------------------------------------------------------------------------------------------

    def save(self) -> State:
        """The vectors and their numbers. Kernel values are left out: they are functions of the vectors."""
        if not self._width:
            return {"width": np.array(0)}
        live = slice(0, self.vectors)
        return {
            "width": np.array(self._width),
            **rows_to_state("early", self._early),
            "early_keys": self._early_keys.copy(),
            **self._live.save(),
            "gamma": np.array(self._gamma),
            "alpha": self._alpha[:, live].copy(),
            "gradient": self._g[:, live].copy(),
            "lower": self._lower[:, live].copy(),
            "upper": self._upper[:, live].copy(),
            "key": self._keys[live].copy(),
            "extremes": self._extremes.copy(),
            "learnt": np.array(self._learnt),
            **({} if self._projection is None else self._projection.save()),
        }

    def load(self, state: State) -> None:
        """Become the learner that was saved; kernel values are computed when it learns on, to the same bits."""
        width = int(state["width"])
        if not width:
            self._width = 0
            return
        machines = len(state["alpha"])
        if self.classes is None and machines > 1:
            self.classes = machines
        if machines != self._machines:
            raise InputError(
                f"the state has {machines} machines", why=f"this LaSVM has {self._machines}", remedy="give its classes"
            )
        self._allocate((DenseVectors if "vectors" in state else SparseVectors)(width))
        self._gamma = float(state["gamma"])
        self._early, self._early_keys = rows_from_state("early", state), np.array(state["early_keys"])
        count = len(state["key"])
        self._reserve(count)
        self._live.load(state)
        for name, array in (("alpha", self._alpha), ("gradient", self._g), ("lower", self._lower),
                            ("upper", self._upper), ("key", self._keys)):  # fmt: skip
            array[..., :count] = state[name]
        self._extremes[:] = state["extremes"]
        self._learnt = int(state["learnt"])
        if self._projection is not None and "basis" in state:
            self._projection.load(state)
            self._keep_up()

    def digest(self) -> str:
        """Equal digests, equal models."""
        return digest(self.save())


def _grown(array: Any, shape: tuple[int, ...]) -> Any:
    """A larger array with the old one in its corner."""
    grown = np.zeros(shape, array.dtype)
    grown[tuple(slice(0, size) for size in array.shape)] = array
    return grown
