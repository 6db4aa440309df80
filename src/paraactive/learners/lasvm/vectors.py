"""The contract of LaSVM's vectors, dense (`dense_vectors`) or sparse (`sparse_vectors`)."""

from __future__ import annotations

from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paraactive.basics.state import State
from paraactive.data.examples import Doubles, Features, Floats, Ints, SparseRows
from paraactive.learners.lasvm.vector_loops import DenseArrays, SparseArrays

Kernel: TypeAlias = tuple[int, np.float32, np.float32, int]
"""Kind, gamma, coef0 and degree of a kernel, as in `kernels`."""


class Vectors(Protocol):
    """Vectors in slots 0 to count - 1, and the kernel values of rows with them.

    Methods take rows as `relative` returns them. Scoring changes nothing, so several threads may score at once.

    Attributes
    ----------
    sparse : bool
        Whether the vectors are sparse.
    width : int
        Number of features.
    count : int
        Number of vectors. The caller of the loops sets it.
    """

    sparse: bool
    width: int
    count: int

    # Rows as they come

    def of_its_kind(self, x: ArrayLike | SparseRows) -> Features:
        """Return rows of the right width, dense or sparse as the vectors are.

        Parameters
        ----------
        x : array-like or SparseRows
            The rows.
        """
        ...

    def relative(self, x: ArrayLike | SparseRows) -> Features:
        """Return rows relative to the center, if there is one.

        Parameters
        ----------
        x : array-like or SparseRows
            The rows.
        """
        ...

    def center_on(self, x: Features) -> None:
        """Move the center, if there is one, to the median of these rows. The caller calls `replace` next.

        Parameters
        ----------
        x : ndarray of float32 or SparseRows
            The rows.
        """
        ...

    def norms(self, x: Features) -> Floats:
        """Return ||x||^2 of each row.

        Parameters
        ----------
        x : ndarray of float32 or SparseRows
            Rows of features, relative to the center.
        """
        ...

    # Slots

    def reserve(self, slots: int) -> None:
        """Make room for this number of slots.

        Parameters
        ----------
        slots : int
            Number of slots.
        """
        ...

    def replace(self, x: Features) -> None:
        """Put these rows into the slots, and remove all others.

        Parameters
        ----------
        x : ndarray of float32 or SparseRows
            Rows of features, relative to the center.
        """
        ...

    def hold(self, x: Features) -> Floats | Ints:
        """Store these rows, so that loops can put them into slots. Returns what `vector_loops.put` takes for x.

        Parameters
        ----------
        x : ndarray of float32 or SparseRows
            Rows of features, relative to the center.
        """
        ...

    def rows(self, slots: NDArray[np.intp] | None = None) -> Features:
        """Return the vectors of these slots, in this order; by default all vectors.

        Parameters
        ----------
        slots : ndarray of intp, optional
            The slots. Default: all slots that hold a vector.
        """
        ...

    def original(self) -> Features:
        """Return all vectors as they were learned, not relative to a center."""
        ...

    # Kernel values

    def kernel_rows(self, x: Features, xx: Floats, kernel: Kernel, out: Floats) -> None:
        """Set out[i, c] = K(x_i, s_c) for all slots c.

        Parameters
        ----------
        x : ndarray of float32 or SparseRows
            Rows of features, relative to the center.
        xx : ndarray of float32, shape (n,)
            Squared norms of the rows x.
        kernel : Kernel
            The kernel.
        out : ndarray of float32, shape (n, slots)
            Where the kernel values go.
        """
        ...

    def kernel_sums(self, x: Features, xx: Floats, alpha: Doubles, kernel: Kernel, out: Doubles) -> None:
        """Set out[i, m] = sum over all slots c of alpha[m, c] K(x_i, s_c).

        Parameters
        ----------
        x : ndarray of float32 or SparseRows
            Rows of features, relative to the center.
        xx : ndarray of float32, shape (n,)
            Squared norms of the rows x.
        alpha : ndarray of float64, shape (machines, slots)
            Factors of the vectors, for each machine. They are 0 in empty slots.
        kernel : Kernel
            The kernel.
        out : ndarray of float64, shape (n, machines)
            Where the sums go.
        """
        ...

    def kernel_within(self, x: Features, xx: Floats, kernel: Kernel) -> Floats:
        """Return the kernel matrix of these rows.

        Parameters
        ----------
        x : ndarray of float32 or SparseRows
            Rows of features, relative to the center.
        xx : ndarray of float32, shape (n,)
            Squared norms of the rows x.
        kernel : Kernel
            The kernel.
        """
        ...

    def arrays(self, kernel: Kernel) -> DenseArrays | SparseArrays:
        """Return the arrays for the loops; see `vector_loops`.

        Parameters
        ----------
        kernel : Kernel
            The kernel.
        """
        ...

    # State

    def save(self) -> State:
        """Return the vectors as named arrays."""
        ...

    def load(self, state: State) -> None:
        """Restore what was saved.

        Parameters
        ----------
        state : dict of str to ndarray
            Arrays by name, as `save` returned them.
        """
        ...
