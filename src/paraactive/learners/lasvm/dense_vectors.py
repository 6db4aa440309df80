"""Dense vectors in slots, with their kernel values: the support vectors of a model that learns dense rows.

The vectors are packed in panels, as `blocks` needs them, and relative to a center.
"""

from __future__ import annotations

from typing import TypeVar

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

_Scalar = TypeVar("_Scalar", bound=np.generic)


def norms(x: Floats) -> Floats:
    """Return ||x||^2 of each row.

    Parameters
    ----------
    x : ndarray of float32, shape (n, width)
        The rows.
    """
    out = np.empty(len(x), np.float32)
    kernels.squared_norms(x, out)
    return out


def packed(x: Floats, xx: Floats) -> tuple[Floats, Floats]:
    """Return rows as panels, and their norms, padded with zeros to whole panels.

    Parameters
    ----------
    x : ndarray of float32, shape (n, width)
        The rows.
    xx : ndarray of float32, shape (n,)
        Their squared norms.
    """
    panels = packed_rows(x, LANES)
    padded = np.zeros(len(panels) * LANES, np.float32)
    padded[: len(x)] = xx
    return panels, padded


class DenseVectors:
    """Dense vectors in slots 0 to count - 1; see `Vectors` for the methods.

    Parameters
    ----------
    width : int
        Number of features.

    Attributes
    ----------
    center : ndarray of float32, shape (width,)
        All rows are taken relative to it.
    panels : ndarray of float32, shape (panels, width, LANES)
        The vectors; the panels of empty slots are 0.
    ss : ndarray of float32, shape (slots,)
        Squared norm of each slot's vector.
    """

    sparse = False
    norms = staticmethod(norms)

    def __init__(self, width: int) -> None:
        self.width, self.count = width, 0
        self.center = np.zeros(width, np.float32)
        self.panels = np.zeros((0, width, LANES), np.float32)
        self.ss = np.zeros(0, np.float32)

    # Rows as they come -------------------------------------------------------------------------------------------

    def of_its_kind(self, x: ArrayLike | SparseRows) -> Floats:
        """See `Vectors.of_its_kind`."""
        return check_rows(x, self.width)

    def relative(self, x: ArrayLike | SparseRows) -> Floats:
        """See `Vectors.relative`.

        Distances do not change, nor does a linear model, whose alphas add up to 0. But ||x||^2 + ||s||^2 - 2 x.s is
        accurate only if norms are not far larger than distances: far from the origin all digits would be lost.
        """
        return check_rows(x, self.width) - self.center

    def center_on(self, x: Floats) -> None:
        """See `Vectors.center_on`."""
        self.center = np.median(x, axis=0).astype(np.float32)

    # Slots -------------------------------------------------------------------------------------------------------

    def reserve(self, slots: int) -> None:
        """See `Vectors.reserve`."""
        panels = panels_for(slots, LANES)
        if panels > len(self.panels):
            self.panels = _grown(self.panels, panels)
            self.ss = _grown(self.ss, panels * LANES)

    def hold(self, x: Floats) -> Floats:
        """See `Vectors.hold`. Returns the rows: the loops copy them into the panels."""
        return x

    def replace(self, x: Floats) -> None:
        """See `Vectors.replace`."""
        self.count = len(x)
        self.reserve(len(x))
        panels, xx = packed(x, norms(x))
        self.panels[: len(panels)], self.ss[: len(x)] = panels, xx[: len(x)]

    def rows(self, slots: NDArray[np.intp] | None = None) -> Floats:
        """See `Vectors.rows`."""
        if slots is not None:
            return np.ascontiguousarray(self.panels[slots // LANES, :, slots % LANES])
        return np.ascontiguousarray(self.panels.transpose(0, 2, 1).reshape(-1, self.width)[: self.count])

    def original(self) -> Floats:
        """Return the vectors as they were learned, up to the rounding of float32."""
        return self.rows() + self.center

    # Kernel values -----------------------------------------------------------------------------------------------

    def kernel_rows(self, x: Floats, xx: Floats, kernel: Kernel, out: Floats) -> None:
        """See `Vectors.kernel_rows`."""
        kernels.kernel_rows(x, xx, self.panels, self.ss, self.count, *kernel, out)

    def kernel_sums(self, x: Floats, xx: Floats, alpha: Doubles, kernel: Kernel, out: Doubles) -> None:
        """See `Vectors.kernel_sums`."""
        kernels.kernel_sums(x, xx, self.panels, self.ss, alpha, self.count, *kernel, out)

    @staticmethod
    def kernel_within(x: Floats, xx: Floats, kernel: Kernel) -> Floats:
        """See `Vectors.kernel_within`."""
        out = np.empty((len(x), len(x)), np.float32)
        kernels.kernel_rows(x, xx, *packed(x, xx), len(x), *kernel, out)
        return out

    def arrays(self, kernel: Kernel) -> DenseArrays:
        """See `Vectors.arrays`. The loops set panels and norms. The caller of the loops sets `count`."""
        return DenseArrays(self.panels, self.ss, *kernel)

    # State -------------------------------------------------------------------------------------------------------

    def save(self) -> State:
        """Return the center and the vectors."""
        return {"centre": self.center.copy(), "vectors": self.rows().copy()}

    def load(self, state: State) -> None:
        """See `Vectors.load`."""
        self.center = np.array(state["centre"])
        self.replace(np.ascontiguousarray(state["vectors"]))


def _grown(array: NDArray[_Scalar], length: int) -> NDArray[_Scalar]:
    """Return a longer array that begins with the old one."""
    more = np.zeros((length, *array.shape[1:]), array.dtype)
    more[: len(array)] = array
    return more
