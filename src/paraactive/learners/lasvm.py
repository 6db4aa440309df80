"""LaSVM: an online kernel SVM that takes importance weights. State and bookkeeping here, loops in `lasvm_loops`."""

from __future__ import annotations

from typing import Any

import numpy as np

from paraactive.errors import one_of
from paraactive.examples import Doubles, Floats, Selected
from paraactive.learners import kernels, lasvm_loops
from paraactive.learners.blocks import LANES, panels_for
from paraactive.learners.validation import check_positive, check_rows
from paraactive.state import State, digest

_KINDS = {"rbf": kernels.RBF, "linear": kernels.LINEAR, "poly": kernels.POLYNOMIAL}
_BATCH = 256
"""Kernel rows computed together in an update. It bounds memory; the model does not depend on it."""


class LaSVM:
    """Support vector machine trained online: one pass, weighted examples, vectors that come and go.

    Parameters
    ----------
    C : the box of an example of weight 1; an example of weight w has the box C*w.
    kernel : "rbf", "linear" or "poly".
    gamma : scale of the rbf and poly kernels; None means 1/width.
    degree, coef0 : of the poly kernel.
    tau : violations below this are left alone.
    reprocess : REPROCESS steps after each new example.
    gap : after each round, reprocess until the most violating pair's gap is at most this; None: do not.

    >>> import numpy as np
    >>> from paraactive import Digits, LaSVM, train
    >>> run = train(LaSVM(C=1, gamma=0.012, gap=0.2), Digits(), examples=8192)
    >>> test = Digits().test()
    >>> error = np.mean(np.sign(run.learner.score(test.x)) != test.y)
    >>> print(f"sampling rate {run.sampling_rate:.2f}, error below 3%: {error < 0.03}")
    sampling rate 0.14, error below 3%: True
    """

    def __init__(
        self,
        C: float = 1.0,
        kernel: str = "rbf",
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 0.0,
        tau: float = 1e-3,
        reprocess: int = 2,
        gap: float | None = None,
    ) -> None:
        one_of("kernel", kernel, _KINDS)
        check_positive(C=C, tau=tau, gamma=gamma, gap=gap)
        check_positive(degree=degree, reprocess=reprocess, whole=True)
        self.C, self.kernel, self.gamma, self.degree, self.coef0 = C, kernel, gamma, degree, coef0
        self.tau, self.reprocess, self.gap = tau, reprocess, gap
        self._width = 0
        self._count = 0

    def describe(self) -> dict[str, Any]:
        """The constructor's parameters."""
        names = ("C", "kernel", "gamma", "degree", "coef0", "tau", "reprocess", "gap")
        return {name: getattr(self, name) for name in names}

    # Reading the model -------------------------------------------------------------------------------------------

    @property
    def vectors(self) -> int:
        """Live vectors."""
        return self._count

    @property
    def bias(self) -> float:
        return float(self._extremes[lasvm_loops.BIAS]) if self._width else 0.0

    @property
    def support_vectors(self) -> Floats:
        """The live vectors, one a row, up to the rounding of float32."""
        return self._vectors() + self._centre if self._width else np.zeros((0, 0), np.float32)

    @property
    def dual_coefficients(self) -> Doubles:
        """Signed alphas of the live vectors."""
        return self._alpha[: self._count].copy() if self._width else np.zeros(0)

    def score(self, x: Floats) -> Doubles:
        """f(x) = sum_s alpha_s K(s, x) + b for each row; 0 before the first update."""
        out = np.zeros(len(x))
        if self._width:
            x = self._centred(x)
            kernels.kernel_sums(
                x, _norms(x), self._panels, self._ss, self._alpha, self._count, *self._kernel_arguments(), out
            )
            out += self.bias
        return out

    def dual_objective(self) -> float:
        """sum_i alpha_i y_i - 1/2 sum_ij alpha_i alpha_j K_ij, the figure that training drives up."""
        if not self._width:
            return 0.0
        alpha, g = self._alpha[: self._count], self._g[: self._count]
        y = np.where(self._upper[: self._count] > 0, 1.0, -1.0)
        return float(alpha @ y - 0.5 * alpha @ (y - g))

    # Learning ----------------------------------------------------------------------------------------------------

    def update(self, selected: Selected) -> None:
        """Process each example, with the box C/p, and reprocess; an example that is live is not inserted again."""
        if not len(selected):
            return
        if not self._width:
            self._allocate(selected.examples.width)
            if self.kernel == "rbf":
                self._centre = selected.examples.x[0].copy()
        for first in range(0, len(selected), _BATCH):
            self._learn(selected.take(slice(first, first + _BATCH)))

    def end_round(self) -> None:
        """Reprocess to `gap`, if there is one: cheap, and the bias is steadier for it."""
        if self.gap is not None:
            self._reprocess_to(self.gap)

    def finish(self) -> None:
        """Reprocess until no pair of live vectors violates by more than tau: the end of training."""
        self._reprocess_to(self.tau)

    def _learn(self, batch: Selected) -> None:
        examples = batch.examples
        x = self._centred(examples.x)
        self._reserve(self._count + len(x))
        xx = _norms(x)
        old_rows = np.empty((len(x), self._count), np.float32)
        kernels.kernel_rows(x, xx, self._panels, self._ss, self._count, *self._kernel_arguments(), old_rows)
        new_rows = self._kernel_within(x, xx)
        self._count = lasvm_loops.learn(
            x, xx, examples.y, self.C * batch.weight, examples.key, old_rows, new_rows,
            self.tau, self.C, self.reprocess, *self._slots(),
        )  # fmt: skip

    def _reprocess_to(self, gap: float) -> None:
        if self._width:
            # Each step goes uphill, so it ends; the limit is for kernels that are not quite positive definite.
            limit = 1000 * (self._count + 100)
            self._count = lasvm_loops.reprocess(limit, gap, self.C, *self._slots())

    # Memory ------------------------------------------------------------------------------------------------------

    def _allocate(self, width: int) -> None:
        self._width, self._count = width, 0
        self._centre = np.zeros(width, np.float32)
        self._panels = np.zeros((0, width, LANES), np.float32)
        self._ss = np.zeros(0, np.float32)
        self._alpha, self._g, self._lower, self._upper = (np.zeros(0) for _ in range(4))
        self._keys, self._origin = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._kernel = np.zeros((0, 0), np.float32)
        self._extremes = np.zeros(2)

    def _reserve(self, count: int) -> None:
        """Room for that many vectors, and some more, so that growing is rare."""
        if count <= len(self._alpha):
            return
        panels = panels_for(max(count, len(self._alpha) * 5 // 4, 512))
        slots = panels * LANES
        for name in ("_ss", "_alpha", "_g", "_lower", "_upper", "_keys", "_origin"):
            setattr(self, name, _grown(getattr(self, name), (slots,)))
        self._panels = _grown(self._panels, (panels, self._width, LANES))
        self._kernel = _grown(self._kernel, (slots, slots), self._count)

    def _centred(self, x: Floats) -> Floats:
        """Rows relative to the first example learnt.

        Distances do not change, but ||x||^2 + ||s||^2 - 2 x.s is exact only where the norms are not far larger than the
        distances: data far from the origin would lose all its digits in float32.
        """
        x = check_rows(x, self._width)
        return x - self._centre if self.kernel == "rbf" else x

    def _vectors(self) -> Floats:
        """The live vectors as they lie in the panels, centred."""
        return np.ascontiguousarray(self._panels.transpose(0, 2, 1).reshape(-1, self._width)[: self._count])

    def _slots(self) -> tuple[Any, ...]:
        return (
            self._count, self._origin, self._panels, self._ss, self._alpha, self._g, self._lower, self._upper,
            self._keys, self._kernel, self._extremes,
        )  # fmt: skip

    def _kernel_arguments(self) -> tuple[int, np.float32, np.float32, int]:
        gamma = 1.0 / self._width if self.gamma is None else self.gamma
        return _KINDS[self.kernel], np.float32(gamma), np.float32(self.coef0), self.degree

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
            "vectors": self._vectors(),
            "alpha": self._alpha[live].copy(),
            "gradient": self._g[live].copy(),
            "lower": self._lower[live].copy(),
            "upper": self._upper[live].copy(),
            "key": self._keys[live].copy(),
            "extremes": self._extremes.copy(),
        }

    def load(self, state: State) -> None:
        """Become the learner that was saved; the kernel matrix is computed anew, to the same bits."""
        width = int(state["width"])
        if not width:
            self._width = self._count = 0
            return
        self._allocate(width)
        self._centre[:] = state["centre"]
        x, count = np.ascontiguousarray(state["vectors"]), len(state["alpha"])
        self._reserve(count)
        self._count = count
        xx = _norms(x)
        panels, _ = _packed(x, xx)
        self._panels[: len(panels)] = panels
        self._ss[:count] = xx
        self._kernel[:count, :count] = self._kernel_within(x, xx)
        for name, array in (("alpha", self._alpha), ("gradient", self._g), ("lower", self._lower),
                            ("upper", self._upper), ("key", self._keys)):  # fmt: skip
            array[:count] = state[name]
        self._extremes[:] = state["extremes"]

    def digest(self) -> str:
        """Equal digests, equal models."""
        return digest(self.save())


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
