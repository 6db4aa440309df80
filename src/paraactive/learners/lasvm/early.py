"""The first examples that a LaSVM learns: they set the center, gamma="scale", and whether vectors are sparse."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from paraactive.basics.state import State
from paraactive.data.examples import Features, Ints, SparseRows, dense, join_features
from paraactive.learners.wrappers.rows_state import rows_from_state, rows_to_state

EARLY = 64
"""Number of first examples: enough that one or two outliers do not move their median."""
_RESCALED_AFTER = (2, 4, 8, 16, 32, EARLY)
"""Numbers of examples after which gamma="scale" is computed again."""
_DENSE_SHARE = 0.1
"""Share of values that are not 0 from which on dense rows are scored faster than sparse ones."""


class EarlyExamples:
    """The first examples, up to `EARLY`, with their keys.

    Parameters
    ----------
    rows : ndarray or SparseRows
        No rows, of the right width and kind.
    """

    def __init__(self, rows: Features) -> None:
        self.rows, self.keys = rows, np.zeros(0, np.int64)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def complete(self) -> bool:
        """Whether all first examples were learned."""
        return len(self) >= EARLY

    @property
    def next_count(self) -> int:
        """The next number of examples after which gamma="scale" is computed again."""
        return next(count for count in _RESCALED_AFTER if count > len(self))

    @property
    def better_dense(self) -> bool:
        """Whether the rows are sparse by type, but have too few zeros for that to pay."""
        rows = self.rows
        return isinstance(rows, SparseRows) and len(rows.data) > _DENSE_SHARE * len(rows) * rows.width

    def add(self, rows: Features, keys: Ints) -> None:
        """Add examples.

        Parameters
        ----------
        rows : ndarray of float32 or SparseRows
            Their features.
        keys : ndarray of int64, shape (n,)
            Keys of the examples.
        """
        self.rows = join_features([self.rows, rows])
        self.keys = np.concatenate([self.keys, keys])

    def make_dense(self) -> None:
        """Hold the rows dense from now on."""
        self.rows = dense(self.rows)

    def places_of(self, keys: Ints, vectors: Features) -> NDArray[np.intp]:
        """Return which of the first examples each vector is. Of several with its key, it is the nearest.

        Parameters
        ----------
        keys : ndarray of int64, shape (n,)
            Keys of the vectors.
        vectors : ndarray of float32 or SparseRows
            The vectors.
        """
        found = list[int]()
        for slot, key in enumerate(keys):
            same = np.flatnonzero(self.keys == key)
            if len(same) > 1:
                vector = dense(vectors[slot : slot + 1])
                same = same[np.argsort(((dense(self.rows[same]) - vector) ** 2).sum(axis=1), kind="stable")]
            found.append(int(same[0]))
        return np.array(found, np.intp)

    def save(self) -> State:
        """Return rows and keys as named arrays."""
        return {**rows_to_state("early", self.rows), "early_keys": self.keys.copy()}

    def load(self, state: State) -> None:
        """Restore what was saved.

        Parameters
        ----------
        state : dict of str to ndarray
            Arrays by name, as `save` returned them.
        """
        self.rows, self.keys = rows_from_state("early", state), np.array(state["early_keys"])
