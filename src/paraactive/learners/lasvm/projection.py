"""A cheap score for LaSVM: the vectors in their few main directions, with an error that is measured.

In exp(-gamma (||x||^2 + ||s||^2 - 2 x.s)) the product x.s is replaced by that of the projections of x and s on an
orthonormal basis, their coordinates rounded to short integers, and nothing else. That takes what the basis leaves of x
and of s as orthogonal to each other, which for two unrelated rows in many dimensions is nearly true.

The basis follows the vectors by orthogonal iteration, Q <- orth((S^T S) Q), once whenever enough was learnt since. How
far the cheap score is off is measured on live vectors, each left out of its own score: the exact score of a vector is
known from its gradient. All of it is a function of the learner's state, so every replica has the same.
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
from paraactive.learners.lasvm.projection_loops import cheap_sums, orthonormalise, shorten
from paraactive.learners.simd.blocks import packed_rows, panels_for
from paraactive.learners.simd.short_blocks import LARGEST

_RANK, _SPARE = 2 * LANES, 24
"""Directions that are used, and those that are followed beside them: the last few are the least accurate."""
_NARROWEST = 4
"""Features for each direction: with fewer, the cheap score would not be cheap."""
_FEWEST = 4 * LANES
"""Vectors: with fewer, exact scores are cheap enough."""
_FIRST_TURNS = 3
_TURNED_BY = 24
"""Panels of vectors that the basis is turned by at most: some two thousand vectors know the directions well enough."""
_DUE = 0.2
"""What must have been learnt for the basis to be turned again, as a share of the vectors."""
_TRIED = 256
"""Live vectors on which the error is measured."""
_DEVIATIONS = 5.0
"""The guard, in root mean squares of the error: a little more than enough, as vectors are easier than what is fresh."""
_EXPONENTIAL, _SHORT = 40, 0.5
"""What exp and adding up cost for each vector, and a multiply-add of short integers, in multiply-adds of floats."""
_ROOM = 1.25
"""Coordinates may be so much larger than those of the vectors before they are cut off."""


@dataclass(frozen=True, slots=True)
class Vectors:
    """The live vectors of a LaSVM, as the projection needs them."""

    count: int
    keys: Ints
    ss: Floats
    """Squared norms."""
    panels: Floats
    """The vectors themselves, packed; empty slots are 0."""
    alpha: Doubles
    """A row for each machine."""
    gamma: np.float32

    def live(self) -> tuple[Ints, Floats]:
        """Keys and squared norms."""
        return self.keys[: self.count], self.ss[: self.count]

    def rows(self, slots: NDArray[np.intp]) -> Floats:
        """The vectors in some slots."""
        return np.ascontiguousarray(self.panels[slots // LANES, :, slots % LANES])


class Projection:
    """The basis, the live vectors projected on it, and the measured error."""

    def __init__(self, width: int) -> None:
        self.rank = min(_RANK, width // _NARROWEST // LANES * LANES)
        """0 if there are too few features for it."""
        self.guard = 0.0
        """How far the cheap score is thought to be off at most."""
        if self.rank:
            _load_loops()
        self._width = width
        self._basis = np.zeros((0, width), np.float32)
        self._directions = np.zeros((0, width, LANES), np.float32)
        """Those of the basis that are used, packed."""
        self._step = np.float32(1)
        """Of coordinates as short integers."""
        self._turned = 0
        """Examples that had been learnt when the basis was last turned."""
        self._forget()

    @property
    def ready(self) -> bool:
        """True if there is a basis."""
        return len(self._basis) > 0

    def cost(self, count: int) -> float:
        """Of a cheap score among so many vectors, in exact scores: multiply-adds, counted."""
        cheap = self._width * self.rank + count * (_SHORT * self.rank + _EXPONENTIAL)
        return cheap / (count * (self._width + _EXPONENTIAL))

    # Keeping up with the learner ---------------------------------------------------------------------------------

    def is_due(self, learnt: int, count: int) -> bool:
        """True if the basis is to be turned, with so many examples learnt and vectors live."""
        if not self.rank or count < _FEWEST:
            return False
        return not self.ready or learnt - self._turned >= _DUE * count

    def turn(self, vectors: Vectors, learnt: int) -> None:
        """Turn the basis towards the main directions of the vectors."""
        live = panels_for(vectors.count, LANES)
        panels = np.ascontiguousarray(vectors.panels[: live : -(-live // _TURNED_BY)])
        rows = panels.transpose(0, 2, 1).reshape(-1, self._width)
        # Spread over the slots: the first few may all lie in few directions.
        some = rows[:: max(1, len(rows) // (self.rank + _SPARE))][: self.rank + _SPARE]
        basis = self._basis.copy() if self.ready else orthonormalise(some.astype(np.float64))
        # A direction that is 0 would stay so for ever: vectors that came since may have it.
        empty = np.flatnonzero(~basis.any(axis=1))
        basis[empty[: len(some)]] = some[: len(empty)]
        for _ in range(1 if self.ready else _FIRST_TURNS):
            along = _products(basis, panels, len(rows))
            basis = orthonormalise(_products(along, _packed_columns(rows), self._width).astype(np.float64))
        self._use(basis)
        self._turned = learnt
        coordinates = _products(basis[: self.rank], vectors.panels, vectors.count)
        self._step = np.float32(max(_ROOM * float(np.abs(coordinates).max()), 1e-30) / LARGEST)
        # Here they all are, to the same bits as if each were projected for itself.
        short = np.empty((len(vectors.keys), self.rank), np.int16)
        shorten(np.ascontiguousarray(coordinates.T), self._step, short)
        self._panels = np.ascontiguousarray(short.reshape(-1, LANES, self.rank // 2, 2).transpose(0, 2, 1, 3))
        self._keys, self._norms = np.full(len(vectors.keys), -1), np.zeros(len(vectors.keys), np.float32)
        self._keys[: vectors.count], self._norms[: vectors.count] = vectors.live()

    def hold(self, vectors: Vectors) -> None:
        """Project the vectors that are new in their slots."""
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

    def measure(self, vectors: Vectors, exact: Callable[[NDArray[np.intp]], Doubles]) -> None:
        """Set the guard. `exact(slots)` has the sums of vectors, a row for each machine, without their own part."""
        slots = np.arange(0, vectors.count, -(-vectors.count // _TRIED))
        rows, ss = vectors.rows(slots), np.ascontiguousarray(vectors.ss[slots])
        cheap = np.empty((len(slots), len(vectors.alpha)))
        self.sums(rows, ss, vectors, cheap)
        left = ss - np.float64(self._step) ** 2 * (self._short(rows).astype(np.float64) ** 2).sum(axis=1)
        own = np.exp(-2.0 * float(vectors.gamma) * np.maximum(left, 0.0))
        error = exact(slots) - (cheap.T - vectors.alpha[:, slots] * own)
        # The worst of the machines is that of them all: an example passes if one of them is in doubt.
        self.guard = _DEVIATIONS * float(np.sqrt(np.max(np.mean(error**2, axis=1))))

    # Scoring -----------------------------------------------------------------------------------------------------

    def sums(self, x: Floats, xx: Floats, vectors: Vectors, out: Doubles) -> None:
        """out[i, m] = the cheap sum over the vectors of each row and machine, without the bias."""
        norms = np.zeros(panels_for(len(x), ROWS) * ROWS, np.float32)
        norms[: len(x)] = xx
        live = panels_for(vectors.count, LANES)
        panels = self._panels[:live].reshape(live, self.rank // 2, 2 * LANES)
        alpha = vectors.alpha[:, : live * LANES].astype(np.float32)
        short = self._short(x, len(norms))
        cheap_sums(short, norms, len(x), panels, vectors.ss, alpha, vectors.gamma, self._step * self._step, out)

    def _short(self, x: Floats, rows: int | None = None) -> NDArray[np.int16]:
        """The coordinates of rows in the main directions, as short integers; then zeros, up to so many rows."""
        out = np.empty((len(x) if rows is None else rows, self.rank), np.int16)
        shorten(_products(x, self._directions, self.rank), self._step, out)
        return out

    # State -------------------------------------------------------------------------------------------------------

    def save(self) -> State:
        """The basis and the guard, if there is one yet; the projected vectors follow from them."""
        if not self.ready:
            return {}
        return {
            "basis": self._basis.copy(),
            "guard": np.array(self.guard),
            "step": np.array(self._step),
            "turned": np.array(self._turned),
        }

    def load(self, state: State) -> None:
        """Become what was saved; `hold` comes next."""
        basis = np.array(state["basis"], np.float32, order="C")  # A copy: loops are compiled for what can be written.
        if basis.shape != (self.rank + _SPARE, self._width):
            raise ValueError(f"the basis has shape {basis.shape}, not {(self.rank + _SPARE, self._width)}")
        self._use(basis)
        self.guard, self._turned = float(state["guard"]), int(state["turned"])
        self._step = np.float32(state["step"])

    def _use(self, basis: Floats) -> None:
        self._basis, self._directions = basis, packed_rows(basis[: self.rank], LANES)
        self._forget()

    def _forget(self) -> None:
        """No vector is projected."""
        self._keys, self._norms = np.zeros(0, np.int64), np.zeros(0, np.float32)
        self._panels = np.zeros((0, self.rank // 2, LANES, 2), np.int16)


@cache
def _load_loops() -> None:
    """Compile or load what is needed only after some rounds: a run does so before its clock starts."""
    one, row = np.float32(1), np.ones((ROWS, 2), np.float32)
    short = np.empty((ROWS, 2), np.int16)
    shorten(row, one, short)
    norms, panels = np.ones(LANES, np.float32), np.ones((1, 1, 2 * LANES), np.int16)
    cheap_sums(short, norms, 1, panels, norms, np.ones((1, LANES), np.float32), one, one, np.empty((1, 1)))
    orthonormalise(np.ones((1, 1)))
    kernels.sums_of_rows(np.ones((1, LANES), np.float32), np.ones((1, LANES)), np.empty((1, 1)))


def _packed_columns(rows: Floats) -> Floats:
    """A matrix as panels of its columns, filled up with zeros to whole panels."""
    panels = np.zeros((panels_for(rows.shape[1], LANES), len(rows), LANES), np.float32)
    for number, panel in enumerate(panels):
        columns = rows[:, number * LANES : (number + 1) * LANES]
        panel[:, : columns.shape[1]] = columns
    return panels


def _products(x: Floats, panels: Floats, columns: int) -> Floats:
    """Rows times the columns of panels: in a fixed order of additions, on every machine and in every thread."""
    out = np.empty((len(x), columns), np.float32)
    nothing = np.float32(0)
    unused = np.zeros(max(len(x), len(panels) * LANES), np.float32)
    kernels.kernel_rows(x, unused, panels, unused, columns, kernels.LINEAR, nothing, nothing, 1, out)
    return out
