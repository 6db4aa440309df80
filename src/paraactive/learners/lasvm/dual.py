"""The dual problem of LaSVM: the live vectors, their alphas and gradients, and the calls of the compiled loops."""

from __future__ import annotations

from math import sqrt
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from paraactive.basics.state import State
from paraactive.data.examples import Doubles, Features, Floats, Ints, Labels
from paraactive.learners.lasvm import kernels, svm_loops
from paraactive.learners.lasvm.dense_vectors import DenseVectors
from paraactive.learners.lasvm.kernel_cache import KernelCache, next_length
from paraactive.learners.lasvm.kernel_cache_loops import CacheArrays
from paraactive.learners.lasvm.kernels import LANES
from paraactive.learners.lasvm.merge_loops import merge_down_to
from paraactive.learners.lasvm.projection import VectorView
from paraactive.learners.lasvm.slot_loops import BIAS, Slots
from paraactive.learners.lasvm.sparse_vectors import SparseVectors
from paraactive.learners.lasvm.svm_loops import Batch
from paraactive.learners.lasvm.vector_loops import DenseArrays, SparseArrays
from paraactive.learners.lasvm.vectors import Kernel, Vectors
from paraactive.learners.simd.blocks import panels_for

KERNELS = {"rbf": kernels.RBF, "linear": kernels.LINEAR, "poly": kernels.POLYNOMIAL}
"""Kernels by name."""
_FIRST_SLOTS = 512
_NO_LIMIT = 2**62
_SAVED = (("alpha", "alpha"), ("gradient", "g"), ("lower", "lower"), ("upper", "upper"), ("key", "keys"))
"""Names in a saved state, and names of the attributes."""

_Scalar = TypeVar("_Scalar", bound=np.generic)


class Dual:
    """The live vectors of one or more machines, with alphas, gradients and bounds; see `svm_loops` for the formulas.

    Parameters
    ----------
    vectors : DenseVectors or SparseVectors
        The vectors, still none.
    machines : int
        One for two classes; for more, one for each class against the rest.
    kernel : str
        "rbf", "linear" or "poly".
    gamma, coef0, degree : float, float, int
        Parameters of the kernel.
    cache_size : float
        Memory for cached kernel values, in MB.
    """

    def __init__(
        self,
        vectors: DenseVectors | SparseVectors,
        machines: int,
        kernel: str,
        gamma: float,
        coef0: float,
        degree: int,
        cache_size: float,
    ) -> None:
        self.machines, self.gamma = machines, gamma
        self._kind, self._coef0, self._degree, self._cache_size = KERNELS[kernel], coef0, degree, cache_size
        self.live = cast(Vectors, vectors)
        self.alpha, self.g, self.lower, self.upper = (np.zeros((machines, 0)) for _ in range(4))
        self.keys, self.origin = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self.extremes = np.zeros((2, machines))
        self.cache = self._empty_cache()

    @property
    def count(self) -> int:
        """Number of live vectors."""
        return self.live.count

    @property
    def bias(self) -> Doubles:
        """The bias of each machine."""
        return self.extremes[BIAS]

    @property
    def kernel(self) -> Kernel:
        """The kernel as the loops take it."""
        return self._kind, np.float32(self.gamma), np.float32(self._coef0), self._degree

    def objective(self) -> float:
        """Return sum_i alpha_i y_i - 1/2 sum_ij alpha_i alpha_j K_ij, added up over the machines."""
        live = slice(0, self.count)
        alpha, g = self.alpha[:, live].ravel(), self.g[:, live].ravel()
        y = np.where(self.upper[:, live].ravel() > 0, 1.0, -1.0)
        return float(alpha @ y - 0.5 * alpha @ (y - g))

    def sums_without_own(self, slots: NDArray[np.intp]) -> Doubles:
        """Return sum over the other vectors of alpha K for the vectors in some slots, which the gradients contain.

        Parameters
        ----------
        slots : ndarray of intp
            The slots.
        """
        side = np.where(self.upper[:, slots] > 0, 1.0, -1.0)
        return side - self.g[:, slots] - self.alpha[:, slots]  # The rbf kernel of a vector with itself is 1.

    def view(self) -> VectorView:
        """Return the live vectors for the projection. They must be dense."""
        live = cast(DenseVectors, self.live)
        return VectorView(live.count, self.keys, live.ss, live.panels, self.alpha, np.float32(self.gamma))

    def kernel_within(self, x: Features, xx: Floats | None = None) -> Floats:
        """Return the kernel matrix of some rows; xx has their norms.

        Parameters
        ----------
        x : ndarray of float32 or SparseRows
            Rows of features, relative to the center.
        xx : ndarray of float32, optional
            Squared norms of the rows. Default: computed from the rows.
        """
        out = self.live.kernel_within(x, self.live.norms(x) if xx is None else xx, self.kernel)
        if self._kind == kernels.RBF:
            np.fill_diagonal(out, 1.0)
        return out

    # Learning ----------------------------------------------------------------------------------------------------

    def learn(
        self, batch: Batch, tau: float, C: float, steps: int, max_vectors: int | None, reprocess_all: bool
    ) -> None:
        """PROCESS each example of a batch, with REPROCESS `steps` after it. `reserve` must have made room for all.

        Parameters
        ----------
        batch : Batch
            The examples.
        tau : float
            A pair violates if its gradients differ by more than tau.
        C : float
            Largest alpha of an example with weight 1.
        steps : int
            Number of REPROCESS steps after each example.
        max_vectors : int or None
            Largest number of vectors. None: no limit.
        reprocess_all : bool
            Whether REPROCESS also changes the machines that PROCESS did not.
        """
        limit, done = _NO_LIMIT if max_vectors is None else max_vectors, 0
        while done < len(batch.key):
            self.live.count, done = svm_loops.learn(
                batch, done, tau, C, steps, limit, reprocess_all, *self.loop_arguments(batch)
            )
            if self.count > limit:
                self.live.count = merge_down_to(limit, *self.loop_arguments())

    def reprocess(self, steps: int, gap: float, C: float) -> None:
        """REPROCESS each machine until its gap is at most `gap`, with at most `steps` steps.

        Parameters
        ----------
        steps : int
            Largest number of steps of each machine.
        gap : float
            The gap at which a machine stops.
        C : float
            Largest alpha of an example with weight 1.
        """
        self.live.count = svm_loops.reprocess(steps, gap, C, *self.loop_arguments())

    def replace_vectors(self, x: Features, tau: float, C: float) -> None:
        """Replace the vectors by other rows, and compute the gradients and the bias again; the alphas stay.

        Parameters
        ----------
        x : ndarray of float32 or SparseRows
            Rows of features, relative to the center.
        tau : float
            A pair violates if its gradients differ by more than tau.
        C : float
            Largest alpha of an example with weight 1.
        """
        self.live.replace(x)
        self.cache = self._empty_cache()
        kernel = self.kernel_within(x).astype(np.float64)
        for m, s in np.ndindex(self.machines, len(x)):
            products = self.alpha[m, : len(x)] * kernel[s]
            self.g[m, s] = (1.0 if self.upper[m, s] > 0 else -1.0) - sum(products.tolist())
        self.reprocess(0, tau, C)

    def make_dense(self) -> None:
        """Hold the vectors dense from now on. Their kernel values stay the same, to the bit."""
        rows = cast(SparseVectors, self.live).rows().dense()
        self.live = cast(Vectors, DenseVectors(self.live.width))
        self.live.reserve(len(self.keys))
        self.live.replace(rows)

    # Memory ------------------------------------------------------------------------------------------------------

    def reserve(self, count: int) -> None:
        """Make room for this number of vectors and some more, so that arrays seldom grow.

        Parameters
        ----------
        count : int
            Number of vectors.
        """
        if count <= len(self.keys):
            return
        slots = panels_for(max(count, next_length(len(self.keys)), _FIRST_SLOTS), LANES) * LANES
        self.keys, self.origin = _grown(self.keys, (slots,)), _grown(self.origin, (slots,))
        shape = self.machines, slots
        self.alpha, self.g = _grown(self.alpha, shape), _grown(self.g, shape)
        self.lower, self.upper = _grown(self.lower, shape), _grown(self.upper, shape)
        self.live.reserve(slots)

    def loop_arguments(self, batch: Batch | None = None) -> tuple[int, Slots, CacheArrays, DenseArrays | SparseArrays]:
        """Return the last arguments of the loops, with room in the cache for the rows of a batch.

        Parameters
        ----------
        batch : Batch, optional
            The examples that the loop may add.
        """
        slots = Slots(self.alpha, self.g, self.lower, self.upper, self.keys, self.origin, self.extremes)
        self.cache.reserve(len(self.keys), self.count + (0 if batch is None else len(batch.key)))
        values = () if batch is None else (batch.columns, batch.new_rows)
        return self.count, slots, self.cache.arrays(self.origin, *values), self.live.arrays(self.kernel)

    def _empty_cache(self) -> KernelCache:
        return KernelCache(self._cache_size, least=2 * self.machines)  # A pair for each machine.

    # State -------------------------------------------------------------------------------------------------------

    def save(self) -> State:
        """Return vectors, alphas, gradients and bounds. Kernel values are functions of the vectors."""
        arrays: dict[str, Doubles | Ints] = {name: getattr(self, attribute) for name, attribute in _SAVED}
        return {
            **self.live.save(),
            "gamma": np.array(self.gamma),
            **{name: array[..., : self.count].copy() for name, array in arrays.items()},
            "extremes": self.extremes.copy(),
        }

    def load(self, state: State) -> None:
        """Restore what was saved.

        Parameters
        ----------
        state : dict of str to ndarray
            Arrays by name, as `save` returned them.
        """
        self.gamma = float(state["gamma"])
        count = len(state["key"])
        self.reserve(count)
        self.live.load(state)
        for name, attribute in _SAVED:
            getattr(self, attribute)[..., :count] = state[name]
        self.extremes[:] = state["extremes"]


def sides_of(y: Labels, machines: int) -> Labels:
    """Return the side of each example for each machine: its label, or +1 for its own class and -1 for others.

    Parameters
    ----------
    y : ndarray of int8, shape (n,)
        Labels: -1 or 1 for two classes, otherwise class numbers.
    machines : int
        Number of machines.
    """
    if machines == 1:
        return y[:, None]
    return np.where(y[:, None] == np.arange(machines), 1, -1).astype(np.int8)


def own_weight(given: float | str, machines: int) -> float:
    """Return the factor of the box of an example in the machine of its own class.

    Parameters
    ----------
    given : float or "auto"
        The parameter of LaSVM.
    machines : int
        Number of machines.
    """
    if machines == 1:
        return 1.0
    return sqrt(machines - 1) if isinstance(given, str) else given


def _grown(array: NDArray[_Scalar], shape: tuple[int, ...]) -> NDArray[_Scalar]:
    """Return a larger array with the old one in its corner."""
    grown = np.zeros(shape, array.dtype)
    grown[tuple(slice(0, size) for size in array.shape)] = array
    return grown
