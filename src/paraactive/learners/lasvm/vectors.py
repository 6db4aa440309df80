"""What LaSVM asks of its vectors, dense (`dense_vectors`) or sparse (`sparse_vectors`)."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paraactive.basics.state import State
from paraactive.data.examples import Doubles, Features, Floats, SparseRows

Kernel: TypeAlias = tuple[int, np.float32, np.float32, int]
"""Its kind, gamma, coef0 and degree, as in `kernels`."""


class Vectors(Protocol):
    """Vectors in slots 0 to count - 1, and the kernel values of rows with them.

    Rows are those that `relative` gives. Scoring changes nothing: any number of threads may do it at one time.
    """

    sparse: bool
    """Which kind of rows they are."""
    count: int
    """Set by whoever calls the loops."""

    # Rows as they come

    def of_its_kind(self, x: ArrayLike | SparseRows) -> Features:
        """Rows of the right width, as dense or sparse as the vectors."""
        ...

    def relative(self, x: ArrayLike | SparseRows) -> Features:
        """The same relative to the centre, if there is one."""
        ...

    def centre_on(self, x: Features) -> None:
        """Move the centre, if there is one, to the median of these rows; `replace` comes next."""
        ...

    def norms(self, x: Features) -> Floats:
        """||x||^2 of each row."""
        ...

    # Slots

    def reserve(self, slots: int) -> None:
        """Have room for so many."""
        ...

    def replace(self, x: Features) -> None:
        """Have these rows in the slots, and no others."""
        ...

    def hold(self, x: Features) -> NDArray[Any]:
        """Have these rows at hand, for the loops to put into slots. Returns what `vector_loops.put` takes for x."""
        ...

    def rows(self, slots: NDArray[np.intp] | None = None) -> Features:
        """The vectors of these slots, in this order; by default of all."""
        ...

    def original(self) -> Features:
        """All of them as they were learnt, not relative to anything."""
        ...

    # Kernel values

    def kernel_rows(self, x: Features, xx: Floats, kernel: Kernel, out: Floats) -> None:
        """out[i, c] = K(x_i, s_c) for all slots c; xx are the norms of x."""
        ...

    def kernel_sums(self, x: Features, xx: Floats, alpha: Doubles, kernel: Kernel, out: Doubles) -> None:
        """out[i, m] = sum over all slots c of alpha[m, c] K(x_i, s_c); alpha is 0 where a slot is empty."""
        ...

    def kernel_within(self, x: Features, xx: Floats, kernel: Kernel) -> Floats:
        """K of each two of these rows."""
        ...

    def arrays(self, kernel: Kernel) -> Any:
        """What the loops work on, see `vector_loops`."""
        ...

    # State

    def save(self) -> State:
        """The vectors, as plain arrays."""
        ...

    def load(self, state: State) -> None:
        """Become what was saved."""
        ...
