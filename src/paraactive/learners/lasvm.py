"""LaSVM: an online kernel SVM that takes importance weights. State and bookkeeping here, loops in `lasvm_loops`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from paraactive.errors import InputError
from paraactive.examples import Doubles, Floats, Labels, Selected
from paraactive.labels import check_count, check_labels
from paraactive.learners import kernels, lasvm_loops
from paraactive.learners.blocks import LANES, panels_for
from paraactive.learners.rows import check_rows
from paraactive.state import State, digest
from paraactive.validation import number, one_of, positive, whole

_KINDS = {"rbf": kernels.RBF, "linear": kernels.LINEAR, "poly": kernels.POLYNOMIAL}
_BATCH = 256
"""Kernel rows computed together in an update. It bounds memory; the model does not depend on it."""
_EARLY = 64
"""Examples that settle the centre: enough that an outlier or two do not move their median."""
_SCALED = (2, 4, 8, 16, 32, _EARLY)
"""After so many examples gamma="scale" is taken anew."""
_STEEPEST = 1e30
_SCALED_AT_ONCE = 4096
"""Rows: what is temporary stays small beside the data."""


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
    ) -> None:
        self.C, self.kernel = positive("C", C), one_of("kernel", kernel, _KINDS)
        self.gamma = gamma if gamma is None or gamma == "scale" else positive("gamma", gamma)
        self.degree, self.coef0 = whole("degree", degree, 1), number("coef0", coef0)
        self.tau, self.reprocess = positive("tau", tau), whole("reprocess", reprocess, 1)
        self.gap = None if gap is None else positive("gap", gap)
        self.classes = None if classes is None else check_count(classes)
        self._width = 0
        self._count = 0

    def describe(self) -> dict[str, Any]:
        """The constructor's parameters."""
        names = ("C", "kernel", "gamma", "degree", "coef0", "tau", "reprocess", "gap", "classes")
        return {name: getattr(self, name) for name in names}

    def __repr__(self) -> str:
        return f"LaSVM({', '.join(f'{name}={value!r}' for name, value in self.describe().items())})"

    # Reading the model -------------------------------------------------------------------------------------------

    @property
    def vectors(self) -> int:
        """Live vectors."""
        return self._count

    @property
    def bias(self) -> float | Doubles:
        """b; with more than two classes, of each."""
        return self._bare(self._extremes[lasvm_loops.BIAS].copy() if self._width else np.zeros(self._machines))

    @property
    def support_vectors(self) -> Floats:
        """The live vectors, one a row, up to the rounding of float32."""
        return self._vectors() + self._centre if self._width else np.zeros((0, 0), np.float32)

    @property
    def dual_coefficients(self) -> Doubles:
        """Signed alphas of the live vectors; with more than two classes, a row for each."""
        return self._bare(self._alpha[:, : self._count].copy() if self._width else np.zeros((self._machines, 0)))

    def score(self, x: ArrayLike) -> Doubles:
        """f(x) = sum_s alpha_s K(s, x) + b for each row, and each class if there are more than two.

        0 before the first update.
        """
        rows = np.asarray(x)
        out = np.zeros((len(rows), self._machines))
        if self._width:
            rows = self._centred(rows)
            kernels.kernel_sums(
                rows, _norms(rows), self._panels, self._ss, self._alpha, self._count, *self._kernel_arguments(), out
            )
            out += self._extremes[lasvm_loops.BIAS]
        return out[:, 0] if self._machines == 1 else out

    def dual_objective(self) -> float:
        """sum_i alpha_i y_i - 1/2 sum_ij alpha_i alpha_j K_ij, the figure that training drives up; of all machines."""
        if not self._width:
            return 0.0
        live = slice(0, self._count)
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
            self._allocate(selected.examples.width)
        first = self._learn_early(selected)
        for start in range(first, len(selected), _BATCH):
            self._learn(selected.take(slice(start, start + _BATCH)))

    def _learn_early(self, selected: Selected) -> int:
        """The first examples also settle the centre and the scale. Returns how many there were.

        The centre is the first one alone at first, then the median of them all.
        """
        done = 0
        while len(self._early) < _EARLY and done < len(selected):
            until = next(count for count in _SCALED if count > len(self._early))
            piece = selected.take(slice(done, done + until - len(self._early)))
            done += len(piece)
            if not len(self._early):
                self._move_centre(piece.examples.x[0])
            self._early = np.concatenate([self._early, check_rows(piece.examples.x, self._width)])
            self._early_keys = np.concatenate([self._early_keys, piece.examples.key])
            self._learn(piece)
            if len(self._early) == until and self.gamma == "scale":
                self._gamma = scale_of(self._early)
                self._start_anew()
            if len(self._early) == _EARLY:
                self._move_centre(np.median(self._early, axis=0).astype(np.float32))
        return done

    def _move_centre(self, centre: Floats) -> None:
        """Take all rows relative to this."""
        if self.kernel == "poly":
            return  # Its values change with the origin.
        self._centre = centre.copy()
        self._start_anew()

    def _start_anew(self) -> None:
        """Recompute what depends on the centre and on gamma, for the few vectors that there are."""
        if self._count:
            places = [np.flatnonzero(self._early_keys == key)[-1] for key in self._keys[: self._count]]
            self._fill(self._centred(self._early[places]))
            self._fill_kernel()
            for m, s in np.ndindex(self._machines, self._count):
                products = self._alpha[m, : self._count] * self._kernel[s, : self._count].astype(np.float64)
                self._g[m, s] = (1.0 if self._upper[m, s] > 0 else -1.0) - sum(products.tolist())
            self._count = lasvm_loops.reprocess(0, self.tau, self.C, *self._slots())  # the bias anew

    def end_round(self) -> None:
        """Reprocess to `gap`, if there is one: cheap, and the bias is steadier for it.

        Very heavy examples can take more steps than are allowed (a thousand for each vector); then it is left wider.
        """
        if self.gap is not None:
            self._reprocess_to(self.gap)

    def finish(self) -> None:
        """Reprocess until no pair of live vectors violates by more than tau: the end of training.

        Vectors that were evicted on the way do not come back; to get to the solution of a batch solver, pass over the
        data a few times before.
        """
        self._reprocess_to(self.tau)

    def _learn(self, batch: Selected) -> None:
        examples = batch.examples
        x = self._centred(examples.x)
        self._reserve(self._count + len(x))
        xx = _norms(x)
        if not np.isfinite(xx).all():
            raise InputError(
                "an example is too large, or not finite",
                why="squared distances are held in float32, which ends at 3.4e38",
                remedy="scale the features, for example to zero mean and unit variance",
            )
        old_rows = np.empty((len(x), self._count), np.float32)
        kernels.kernel_rows(x, xx, self._panels, self._ss, self._count, *self._kernel_arguments(), old_rows)
        new_rows = self._kernel_within(x, xx)
        self._count = lasvm_loops.learn(
            x, xx, self._targets(examples.y), self.C * batch.weight, examples.key, old_rows, new_rows,
            self.tau, self.C, self.reprocess, *self._slots(),
        )  # fmt: skip

    def _targets(self, y: Labels) -> Labels:
        """The side of each example for each machine: that of its label, or +1 for its own class and -1 for others."""
        if self._machines == 1:
            return y[:, None]
        return np.where(y[:, None] == np.arange(self._machines), 1, -1).astype(np.int8)

    def _reprocess_to(self, gap: float) -> None:
        if self._width:
            # Each step goes uphill, so it ends; the limit is for kernels that are not quite positive definite.
            limit = 1000 * (self._count + 100)
            self._count = lasvm_loops.reprocess(limit, gap, self.C, *self._slots())

    # Memory ------------------------------------------------------------------------------------------------------

    def _allocate(self, width: int) -> None:
        self._width, self._count = width, 0
        self._centre = np.zeros(width, np.float32)
        self._early, self._early_keys = np.zeros((0, width), np.float32), np.zeros(0, np.int64)
        self._panels = np.zeros((0, width, LANES), np.float32)
        self._ss = np.zeros(0, np.float32)
        self._alpha, self._g, self._lower, self._upper = (np.zeros((self._machines, 0)) for _ in range(4))
        self._keys, self._origin = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._kernel = np.zeros((0, 0), np.float32)
        self._kernel_waits = False
        self._extremes = np.zeros((2, self._machines))
        self._gamma = self.gamma if isinstance(self.gamma, float) else 1.0 / width

    def _reserve(self, count: int) -> None:
        """Room for that many vectors, and some more, so that growing is rare."""
        if count <= len(self._keys):
            return
        panels = panels_for(max(count, len(self._keys) * 5 // 4, 512))
        slots = panels * LANES
        for name in ("_ss", "_keys", "_origin"):
            setattr(self, name, _grown(getattr(self, name), (slots,)))
        for name in ("_alpha", "_g", "_lower", "_upper"):
            setattr(self, name, _grown(getattr(self, name), (self._machines, slots)))
        self._panels = _grown(self._panels, (panels, self._width, LANES))
        self._kernel = _grown(self._kernel, (slots, slots), self._count)

    def _centred(self, x: ArrayLike) -> Floats:
        """Rows relative to the centre of the first examples learnt.

        Distances do not change, nor does a linear model, whose alphas add up to 0. But ||x||^2 + ||s||^2 - 2 x.s is
        exact only where norms are not far larger than distances: data far from the origin would lose all its digits.
        """
        return check_rows(x, self._width) - self._centre

    def _fill(self, x: Floats) -> None:
        """Put these centred rows into the slots, with their norms; kernel values come when they are needed."""
        count, xx = len(x), _norms(x)
        panels, _ = _packed(x, xx)
        self._panels[: len(panels)] = panels
        self._ss[:count] = xx
        self._kernel_waits = True

    def _fill_kernel(self) -> None:
        """The kernel matrix of the live vectors. A replica that only sifts never needs it."""
        if self._kernel_waits:
            live = slice(0, self._count)
            self._kernel[live, live] = self._kernel_within(self._vectors(), self._ss[live])
            self._kernel_waits = False

    def _vectors(self) -> Floats:
        """The live vectors as they lie in the panels, centred."""
        return np.ascontiguousarray(self._panels.transpose(0, 2, 1).reshape(-1, self._width)[: self._count])

    def _slots(self) -> tuple[Any, ...]:
        self._fill_kernel()
        return (
            self._count, self._origin, self._panels, self._ss, self._alpha, self._g, self._lower, self._upper,
            self._keys, self._kernel, self._extremes,
        )  # fmt: skip

    def _kernel_arguments(self) -> tuple[int, np.float32, np.float32, int]:
        return _KINDS[self.kernel], np.float32(self._gamma), np.float32(self.coef0), self.degree

    def _kernel_within(self, x: Floats, xx: Floats) -> Floats:
        """The kernel matrix of some rows."""
        panels, norms = _packed(x, xx)
        out = np.empty((len(x), len(x)), np.float32)
        kernels.kernel_rows(x, xx, panels, norms, len(x), *self._kernel_arguments(), out)
        if self.kernel == "rbf":
            np.fill_diagonal(out, 1.0)
        return out

    # Saving ------------------------------------------------------------------------------------------------------

    def save(self) -> State:
        """The vectors and their numbers. The kernel matrix is left out: it is a function of the vectors."""
        if not self._width:
            return {"width": np.array(0)}
        live = slice(0, self._count)
        return {
            "width": np.array(self._width),
            "centre": self._centre.copy(),
            "early": self._early.copy(),
            "early_keys": self._early_keys.copy(),
            "vectors": self._vectors().copy(),
            "gamma": np.array(self._gamma),
            "alpha": self._alpha[:, live].copy(),
            "gradient": self._g[:, live].copy(),
            "lower": self._lower[:, live].copy(),
            "upper": self._upper[:, live].copy(),
            "key": self._keys[live].copy(),
            "extremes": self._extremes.copy(),
        }

    def load(self, state: State) -> None:
        """Become the learner that was saved; the kernel matrix is computed when it learns on, to the same bits."""
        width = int(state["width"])
        if not width:
            self._width = self._count = 0
            return
        self._allocate(width)
        self._gamma = float(state["gamma"])
        self._centre, self._early, self._early_keys = (
            np.array(state[name]) for name in ("centre", "early", "early_keys")
        )
        count = len(state["key"])
        self._reserve(count)
        self._count = count
        self._fill(np.ascontiguousarray(state["vectors"]))
        for name, array in (("alpha", self._alpha), ("gradient", self._g), ("lower", self._lower),
                            ("upper", self._upper), ("key", self._keys)):  # fmt: skip
            array[..., :count] = state[name]
        self._extremes[:] = state["extremes"]

    def digest(self) -> str:
        """Equal digests, equal models."""
        return digest(self.save())


def scale_of(x: Floats, weight: Doubles | None = None) -> float:
    """1/(width * variance), the variance of all numbers in x; 1 where they are all the same.

    >>> scale_of(np.array([[0.0, 2.0], [2.0, 0.0]], np.float32))
    0.5
    """
    weight = np.ones(len(x)) if weight is None else weight
    mean = float(np.average(x.mean(axis=1, dtype=np.float64), weights=weight))
    variance = total = 0.0
    for start in range(0, len(x), _SCALED_AT_ONCE):
        rows = slice(start, start + _SCALED_AT_ONCE)
        variance += float(weight[rows] @ ((x[rows].astype(np.float64) - mean) ** 2).mean(axis=1))
        total += float(weight[rows].sum())
    return scale_for(x.shape[1], variance / total)


def scale_for(width: int, variance: float) -> float:
    """1/(width * variance); 1 where there is none, and an error where it is too small for float32."""
    scale = 1.0 / (width * variance) if variance > 0 else 1.0
    if scale > _STEEPEST:
        raise InputError(
            f"the features have a variance of {variance:.2g}",
            why="squared distances are held in float32, and these are too small for it",
            remedy="scale the features, for example to zero mean and unit variance",
        )
    return scale


def _norms(x: Floats) -> Floats:
    out = np.empty(len(x), np.float32)
    kernels.squared_norms(x, out)
    return out


def _packed(x: Floats, xx: Floats) -> tuple[Floats, Floats]:
    """Rows as panels, with their norms, filled up with zeros to whole panels."""
    panels = panels_for(len(x))
    rows, norms = np.zeros((panels * LANES, x.shape[1]), np.float32), np.zeros(panels * LANES, np.float32)
    rows[: len(x)], norms[: len(x)] = x, xx
    return np.ascontiguousarray(rows.reshape(panels, LANES, -1).transpose(0, 2, 1)), norms


def _grown(array: Any, shape: tuple[int, ...], filled: int | None = None) -> Any:
    """A larger array with the old one in its corner; of a matrix, only the filled part is copied."""
    grown = np.zeros(shape, array.dtype)
    corner = tuple(slice(0, size if filled is None else filled) for size in array.shape)
    grown[corner] = array[corner]
    return grown
