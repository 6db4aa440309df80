"""Dense vectors in slots, with their kernel values: the support vectors of a model whose rows are dense.

They lie in panels, as `blocks` multiplies with, relative to a centre.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paraactive.basics.state import State
from paraactive.data.examples import Doubles, Floats, SparseRows
from paraactive.learners.lasvm import kernels
from paraactive.learners.lasvm.kernels import LANES
from paraactive.learners.lasvm.vector_loops import DenseArrays
from paraactive.learners.lasvm.vectors import Kernel
from paraactive.learners.rows import check_rows
from paraactive.learners.simd.blocks import packed_rows, panels_for


def norms(x: Floats) -> Floats:
    """||x||^2 of each row."""
    out = np.empty(len(x), np.float32)
    kernels.squared_norms(x, out)
    return out


def packed(x: Floats, xx: Floats) -> tuple[Floats, Floats]:
    """Rows as panels, with their norms, filled up with zeros to whole panels."""
    panels = packed_rows(x, LANES)
    filled = np.zeros(len(panels) * LANES, np.float32)
    filled[: len(x)] = xx
    return panels, filled


class DenseVectors:
    """Vectors in slots 0 to count - 1; the panels of empty slots are 0."""

    sparse = False
    norms = staticmethod(norms)

    def __init__(self, width: int) -> None:
        self.width, self.count = width, 0
        self.centre = np.zeros(width, np.float32)
        self.panels = np.zeros((0, width, LANES), np.float32)
        self.ss = np.zeros(0, np.float32)
        """||s||^2 of each slot."""

    # Rows as they come -------------------------------------------------------------------------------------------

    def of_its_kind(self, x: ArrayLike | SparseRows) -> Floats:
        """Rows of the right width, as they are held here."""
        return check_rows(x, self.width)

    def relative(self, x: ArrayLike | SparseRows) -> Floats:
        """Rows relative to the centre.

        Distances do not change, nor does a linear model, whose alphas add up to 0. But ||x||^2 + ||s||^2 - 2 x.s is
        exact only where norms are not far larger than distances: data far from the origin would lose all its digits.
        """
        return check_rows(x, self.width) - self.centre

    def centre_on(self, x: Floats) -> None:
        """Take all rows relative to the median of these from now on; `replace` comes next, if there are vectors."""
        self.centre = np.median(x, axis=0).astype(np.float32)

    # Slots -------------------------------------------------------------------------------------------------------

    def reserve(self, slots: int) -> None:
        """Room for so many slots, or a few more."""
        panels = panels_for(slots, LANES)
        if panels > len(self.panels):
            self.panels = _grown(self.panels, panels)
            self.ss = _grown(self.ss, panels * LANES)

    def hold(self, x: Floats) -> Floats:
        """Have these rows at hand, to be put into slots by the loops."""
        return x

    def replace(self, x: Floats) -> None:
        """Have these rows in the slots, and no others."""
        self.count = len(x)
        self.reserve(len(x))
        panels, xx = packed(x, norms(x))
        self.panels[: len(panels)], self.ss[: len(x)] = panels, xx[: len(x)]

    def rows(self, slots: NDArray[np.intp] | None = None) -> Floats:
        """The vectors of these slots, in this order, relative to the centre; by default of all."""
        if slots is not None:
            return np.ascontiguousarray(self.panels[slots // LANES, :, slots % LANES])
        return np.ascontiguousarray(self.panels.transpose(0, 2, 1).reshape(-1, self.width)[: self.count])

    def original(self) -> Floats:
        """The vectors as they were learnt, up to the rounding of float32."""
        return self.rows() + self.centre

    # Kernel values -----------------------------------------------------------------------------------------------

    def kernel_rows(self, x: Floats, xx: Floats, kernel: Kernel, out: Floats) -> None:
        """out[i, c] = K(x_i, s_c) for all slots c; xx are the `norms` of x."""
        kernels.kernel_rows(x, xx, self.panels, self.ss, self.count, *kernel, out)

    def kernel_sums(self, x: Floats, xx: Floats, alpha: Doubles, kernel: Kernel, out: Doubles) -> None:
        """out[i, m] = sum over all slots c of alpha[m, c] K(x_i, s_c); alpha is 0 where a slot is empty."""
        kernels.kernel_sums(x, xx, self.panels, self.ss, alpha, self.count, *kernel, out)

    @staticmethod
    def kernel_within(x: Floats, xx: Floats, kernel: Kernel) -> Floats:
        """out[i, j] = K(x_i, x_j)."""
        out = np.empty((len(x), len(x)), np.float32)
        kernels.kernel_rows(x, xx, *packed(x, xx), len(x), *kernel, out)
        return out

    def arrays(self, kernel: Kernel) -> DenseArrays:
        """What the loops work on; they set panels and norms of slots, and whoever calls them the count."""
        return DenseArrays(self.panels, self.ss, *kernel)

    # State -------------------------------------------------------------------------------------------------------

    def save(self) -> State:
        """The centre and the vectors."""
        return {"centre": self.centre.copy(), "vectors": self.rows().copy()}

    def load(self, state: State) -> None:
        """Become what was saved."""
        self.centre = np.array(state["centre"])
        self.replace(np.ascontiguousarray(state["vectors"]))


def _grown(array: NDArray[Any], length: int) -> NDArray[Any]:
    """A longer array that begins with the old one."""
    more = np.zeros((length, *array.shape[1:]), array.dtype)
    more[: len(array)] = array
    return more
