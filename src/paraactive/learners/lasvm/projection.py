"""The proxy of LaSVM: a cheap score from the vectors' main directions, with a measured error.

In exp(-gamma (||x||^2 + ||s||^2 - 2 x.s)) the product x.s is replaced by the product of the projections of x and s on
an orthonormal basis, with coordinates rounded to int16. Nothing else changes. This treats the parts of x and of s
outside the basis as orthogonal to each other, which is nearly true for two unrelated rows in many dimensions.

The basis follows the vectors by orthogonal iteration, Q <- orth((S^T S) Q), each time that enough was learned. The
error of the proxy is measured on live vectors, each left out of its own score; the exact score of a vector is known
from its gradient. All of it is a function of the learner's state, so all replicas have the same proxy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from paraactive.basics.state import State
from paraactive.data.examples import Doubles, Floats, Ints
from paraactive.learners.lasvm import kernels
from paraactive.learners.lasvm.kernels import LANES, ROWS
from paraactive.learners.lasvm.projection_loops import cheap_sums, orthonormalize, shorten
from paraactive.learners.simd.blocks import packed_rows, panels_for
from paraactive.learners.simd.short_blocks import LARGEST

_RANK, _SPARE = 2 * LANES, 24
"""Number of directions in use, and of further ones that the iteration follows: the last few are the least accurate."""
_FEATURES_PER_DIRECTION = 4
"""Minimum. With fewer features the proxy would cost as much as an exact score."""
_MIN_VECTORS = 4 * LANES
"""With fewer vectors, exact scores are cheap enough."""
_FIRST_ITERATIONS = 3
"""Iterations for the first basis. Later updates take one."""
_MAX_PANELS = 24
"""Panels of vectors in one iteration, at most: about two thousand vectors determine the directions well enough."""
_UPDATE_SHARE = 0.2
"""The basis is updated once this share of the number of vectors was learned."""
_MEASURED_VECTORS = 256
"""Live vectors on which the error is measured."""
_DEVIATIONS = 5.0
"""The error bound, in root mean squares of the error. Fresh examples have larger errors than vectors."""
_EXP_COST, _SHORT_COST = 40, 0.5
"""Cost of exp and a sum for each vector, and of a multiply-add of int16, in multiply-adds of float32."""
_HEADROOM = 1.25
"""Coordinates are clipped if they are larger than this times the largest coordinate of a vector."""


@dataclass(frozen=True, slots=True)
class VectorView:
    """The live vectors of a LaSVM, as the projection needs them.

    Parameters
    ----------
    count : int
        Number of live vectors.
    keys : ndarray of int64, shape (slots,)
        Keys of the examples.
    ss : ndarray of float32, shape (slots,)
        Squared norms.
    panels : ndarray of float32, shape (panels, width, LANES)
        The vectors, packed. Empty slots are 0.
    alpha : ndarray of float64, shape (machines, slots)
        Signed alphas.
    gamma : float32
        Coefficient of the rbf kernel.
    """

    count: int
    keys: Ints
    ss: Floats
    panels: Floats
    alpha: Doubles
    gamma: np.float32

    def live(self) -> tuple[Ints, Floats]:
        """Return keys and squared norms of the live vectors."""
        return self.keys[: self.count], self.ss[: self.count]

    def rows(self, slots: NDArray[np.intp]) -> Floats:
        """Return the vectors of these slots, one in a row.

        Parameters
        ----------
        slots : ndarray of intp
            The slots.
        """
        return np.ascontiguousarray(self.panels[slots // LANES, :, slots % LANES])


class Projection:
    """The basis, the live vectors projected on it, and the measured error.

    Parameters
    ----------
    width : int
        Number of features.

    Attributes
    ----------
    rank : int
        Number of directions; 0 if there are too few features for a proxy.
    error_bound : float
        Bound on the error of a proxy score, which nearly all scores keep.
    """

    def __init__(self, width: int) -> None:
        self.rank = min(_RANK, width // _FEATURES_PER_DIRECTION // LANES * LANES)
        self.error_bound = 0.0
        if self.rank:
            _load_loops()
        self._width = width
        self._basis = np.zeros((0, width), np.float32)
        self._directions = np.zeros((0, width, LANES), np.float32)
        self._step = np.float32(1)  # The unit of coordinates as int16.
        self._learned_at_update = 0  # Examples that had been learned at the last update of the basis.
        self._clear_vectors()

    @property
    def ready(self) -> bool:
        """Whether there is a basis."""
        return len(self._basis) > 0

    def cost(self, count: int) -> float:
        """Return the cost of a proxy score with `count` vectors, in exact scores, by the number of multiply-adds.

        Parameters
        ----------
        count : int
            Number of live vectors.
        """
        cheap = self._width * self.rank + count * (_SHORT_COST * self.rank + _EXP_COST)
        return cheap / (count * (self._width + _EXP_COST))

    # Following the vectors ---------------------------------------------------------------------------------------

    def is_due(self, learned: int, count: int) -> bool:
        """Return whether the basis needs an update after `learned` examples, with `count` live vectors.

        Parameters
        ----------
        learned : int
            Number of examples learned so far.
        count : int
            Number of live vectors.
        """
        if not self.rank or count < _MIN_VECTORS:
            return False
        return not self.ready or learned - self._learned_at_update >= _UPDATE_SHARE * count

    def update_basis(self, vectors: VectorView, learned: int) -> None:
        """Turn the basis toward the main directions of the vectors, after `learned` examples.

        Parameters
        ----------
        vectors : VectorView
            The vectors.
        learned : int
            Number of examples learned so far.
        """
        live = panels_for(vectors.count, LANES)
        panels = np.ascontiguousarray(vectors.panels[: live : -(-live // _MAX_PANELS)])
        rows = panels.transpose(0, 2, 1).reshape(-1, self._width)
        # Spread over the slots: the first vectors alone may span few directions.
        some = rows[:: max(1, len(rows) // (self.rank + _SPARE))][: self.rank + _SPARE]
        basis = self._basis.copy() if self.ready else orthonormalize(some.astype(np.float64))
        # A direction of 0 would stay 0 although newer vectors may have a part in it.
        empty = np.flatnonzero(~basis.any(axis=1))
        basis[empty[: len(some)]] = some[: len(empty)]
        for _ in range(1 if self.ready else _FIRST_ITERATIONS):
            along = _products(basis, panels, len(rows))
            basis = orthonormalize(_products(along, _packed_columns(rows), self._width).astype(np.float64))
        self._set_basis(basis)
        self._learned_at_update = learned
        coordinates = _products(basis[: self.rank], vectors.panels, vectors.count)
        self._step = np.float32(max(_HEADROOM * float(np.abs(coordinates).max()), 1e-30) / LARGEST)
        # All coordinates are known here, with the bits that `project` would compute for each vector alone.
        short = np.empty((len(vectors.keys), self.rank), np.int16)
        shorten(np.ascontiguousarray(coordinates.T), self._step, short)
        self._panels = np.ascontiguousarray(short.reshape(-1, LANES, self.rank // 2, 2).transpose(0, 2, 1, 3))
        self._keys, self._norms = np.full(len(vectors.keys), -1), np.zeros(len(vectors.keys), np.float32)
        self._keys[: vectors.count], self._norms[: vectors.count] = vectors.live()

    def project(self, vectors: VectorView) -> None:
        """Project the vectors that are new in their slots.

        Parameters
        ----------
        vectors : VectorView
            The vectors.
        """
        if len(self._keys) < len(vectors.keys):
            more = len(vectors.keys) - len(self._keys)
            self._keys = np.concatenate([self._keys, np.full(more, -1)])
            self._norms = np.concatenate([self._norms, np.zeros(more, np.float32)])
            room = np.zeros((panels_for(more, LANES), *self._panels.shape[1:]), np.int16)
            self._panels = np.concatenate([self._panels, room])
        keys, norms = vectors.live()
        # By its norm, too: another example with the same key, deformed perhaps, may have come into its slot.
        slots = np.flatnonzero((self._keys[: vectors.count] != keys) | (self._norms[: vectors.count] != norms))
        if len(slots):
            self._panels[slots // LANES, :, slots % LANES] = self._short(vectors.rows(slots)).reshape(len(slots), -1, 2)
            self._keys[slots], self._norms[slots] = keys[slots], norms[slots]

    def measure(self, vectors: VectorView, exact: Callable[[NDArray[np.intp]], Doubles]) -> None:
        """Measure the error and set the bound.

        Parameters
        ----------
        vectors : VectorView
            The vectors.
        exact : callable
            Returns the exact sums of the vectors in the given slots: a row for each machine, each sum without the
            vector's own term.
        """
        slots = np.arange(0, vectors.count, -(-vectors.count // _MEASURED_VECTORS))
        rows, ss = vectors.rows(slots), np.ascontiguousarray(vectors.ss[slots])
        cheap = np.empty((len(slots), len(vectors.alpha)))
        self.sums(rows, ss, vectors, cheap)
        left = ss - np.float64(self._step) ** 2 * (self._short(rows).astype(np.float64) ** 2).sum(axis=1)
        own_terms = np.exp(-2.0 * float(vectors.gamma) * np.maximum(left, 0.0))
        error = exact(slots) - (cheap.T - vectors.alpha[:, slots] * own_terms)
        # The worst machine counts: an example is scored exactly if any machine is in doubt.
        self.error_bound = _DEVIATIONS * float(np.sqrt(np.max(np.mean(error**2, axis=1))))

    # Scoring -----------------------------------------------------------------------------------------------------

    def sums(self, x: Floats, xx: Floats, vectors: VectorView, out: Doubles) -> None:
        """Set out[i, m] to the proxy score of each row and machine, without the bias.

        Parameters
        ----------
        x : ndarray of float32, shape (n, width)
            The rows, relative to the center.
        xx : ndarray of float32, shape (n,)
            Their squared norms.
        vectors : VectorView
            The vectors.
        out : ndarray of float64, shape (n, machines)
            Where the scores go.
        """
        norms = np.zeros(panels_for(len(x), ROWS) * ROWS, np.float32)
        norms[: len(x)] = xx
        live = panels_for(vectors.count, LANES)
        panels = self._panels[:live].reshape(live, self.rank // 2, 2 * LANES)
        alpha = vectors.alpha[:, : live * LANES].astype(np.float32)
        short = self._short(x, len(norms))
        cheap_sums(short, norms, len(x), panels, vectors.ss, alpha, vectors.gamma, self._step * self._step, out)

    def _short(self, x: Floats, rows: int | None = None) -> NDArray[np.int16]:
        """Return the coordinates of rows in the main directions as int16, padded with zeros to `rows` rows."""
        out = np.empty((len(x) if rows is None else rows, self.rank), np.int16)
        shorten(_products(x, self._directions, self.rank), self._step, out)
        return out

    # State -------------------------------------------------------------------------------------------------------

    def save(self) -> State:
        """Return the basis and the error bound, or nothing before there is a basis.

        The projected vectors follow from these and are not saved.
        """
        if not self.ready:
            return {}
        return {
            "basis": self._basis.copy(),
            "guard": np.array(self.error_bound),
            "step": np.array(self._step),
            "turned": np.array(self._learned_at_update),
        }

    def load(self, state: State) -> None:
        """Restore what was saved. The caller calls `project` next.

        Parameters
        ----------
        state : dict of str to ndarray
            Arrays by name, as `save` returned them.
        """
        basis = np.array(state["basis"], np.float32, order="C")  # A copy: the loops are compiled for writable arrays.
        if basis.shape != (self.rank + _SPARE, self._width):
            raise ValueError(f"the basis has shape {basis.shape}, not {(self.rank + _SPARE, self._width)}")
        self._set_basis(basis)
        self.error_bound, self._learned_at_update = float(state["guard"]), int(state["turned"])
        self._step = np.float32(state["step"])

    def _set_basis(self, basis: Floats) -> None:
        self._basis, self._directions = basis, packed_rows(basis[: self.rank], LANES)
        self._clear_vectors()

    def _clear_vectors(self) -> None:
        """Forget all projected vectors."""
        self._keys, self._norms = np.zeros(0, np.int64), np.zeros(0, np.float32)
        self._panels = np.zeros((0, self.rank // 2, LANES, 2), np.int16)


@cache
def _load_loops() -> None:
    """Compile or load the loops that are needed after some rounds only, so that no round waits for it."""
    one, row = np.float32(1), np.ones((ROWS, 2), np.float32)
    short = np.empty((ROWS, 2), np.int16)
    shorten(row, one, short)
    norms, panels = np.ones(LANES, np.float32), np.ones((1, 1, 2 * LANES), np.int16)
    cheap_sums(short, norms, 1, panels, norms, np.ones((1, LANES), np.float32), one, one, np.empty((1, 1)))
    orthonormalize(np.ones((1, 1)))
    kernels.sums_of_rows(np.ones((1, LANES), np.float32), np.ones((1, LANES)), np.empty((1, 1)))


def _packed_columns(rows: Floats) -> Floats:
    """Return a matrix as panels of its columns, padded with zeros to whole panels."""
    panels = np.zeros((panels_for(rows.shape[1], LANES), len(rows), LANES), np.float32)
    for number, panel in enumerate(panels):
        columns = rows[:, number * LANES : (number + 1) * LANES]
        panel[:, : columns.shape[1]] = columns
    return panels


def _products(x: Floats, panels: Floats, columns: int) -> Floats:
    """Return rows times the columns of panels, in the same order of additions on every machine."""
    out = np.empty((len(x), columns), np.float32)
    nothing = np.float32(0)
    unused = np.zeros(max(len(x), len(panels) * LANES), np.float32)
    kernels.kernel_rows(x, unused, panels, unused, columns, kernels.LINEAR, nothing, nothing, 1, out)
    return out
