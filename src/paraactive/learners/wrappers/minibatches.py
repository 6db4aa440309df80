"""Examples gathered into minibatches of a fixed size, in the order of the log. The rest waits.

So the minibatches depend on the log and on where rounds end, and not on how entries were grouped on their way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from paraactive.basics.state import State
from paraactive.data.examples import Doubles, Features, Labels, Selected, join_features
from paraactive.learners.wrappers.foreign import reraise_as_input_error
from paraactive.learners.wrappers.rows_state import rows_from_state, rows_to_state

_COLUMNS = ("x", "y", "weight")


@dataclass(frozen=True, slots=True)
class Minibatch:
    """Examples that are learned in one step.

    Parameters
    ----------
    x : ndarray or SparseRows
        Rows of features.
    y : ndarray of int8, shape (n,)
        Labels.
    weight : ndarray of float64, shape (n,)
        Weights.
    """

    x: Features
    y: Labels
    weight: Doubles

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: slice) -> Minibatch:
        """Return the examples of these rows.

        Parameters
        ----------
        rows : slice
            The rows.
        """
        return Minibatch(self.x[rows], self.y[rows], self.weight[rows])


class Minibatches:
    """Collects examples, returns complete minibatches, and keeps the rest.

    Parameters
    ----------
    size : int
        Number of examples in a minibatch.
    by_weight : bool, default=False
        Whether a minibatch is also complete when the sum of its weights reaches `size`. Then as many minibatches are
        learned as without sifting.

    Examples
    --------
    >>> gather = Minibatches(2)
    >>> [each.y.tolist() for each in gather.add(Selected.weighted(np.zeros((3, 1)), [-1, 1, -1]))]
    [[-1, 1]]
    >>> gather.waiting, gather.rest().y.tolist(), gather.waiting
    (1, [-1], 0)
    """

    def __init__(self, size: int, by_weight: bool = False) -> None:
        self.size, self.by_weight = size, by_weight
        self._rest: Minibatch | None = None

    @property
    def waiting(self) -> int:
        """Number of examples that wait for a complete minibatch."""
        return 0 if self._rest is None else len(self._rest)

    def add(self, selected: Selected) -> Iterator[Minibatch]:
        """Add examples.

        Parameters
        ----------
        selected : Selected
            The next examples of the log.

        Yields
        ------
        Minibatch
            Each minibatch that is complete with these examples.
        """
        given = Minibatch(selected.examples.x, selected.examples.y, selected.weight)
        joined = given if self._rest is None else _join(self._rest, given)
        ends = self._ends(joined.weight)
        self._keep(joined.take(slice(ends[-1], None)))
        for first, last in pairwise(ends):
            yield joined.take(slice(first, last))

    def _ends(self, weight: Doubles) -> list[int]:
        """Return where complete minibatches end, after a 0."""
        if not self.by_weight:
            return list(range(0, len(weight) + 1, self.size))
        ends, total = [0], 0.0
        for last, each in enumerate(weight.tolist(), start=1):
            total += each
            if total >= self.size or last - ends[-1] == self.size:
                ends.append(last)
                total = 0.0
        return ends

    def rest(self) -> Minibatch:
        """Return the waiting examples, and remove them."""
        assert self._rest is not None
        rest, self._rest = self._rest, None
        return rest

    def save(self) -> State:
        """Return the waiting examples as named arrays; nothing if none wait."""
        rest = self._rest
        if rest is None:
            return {}
        return {
            **rows_to_state("waiting.x", rest.x),
            "waiting.y": rest.y.copy(),
            "waiting.weight": rest.weight.copy(),
        }

    def load(self, state: State) -> None:
        """Restore the waiting examples of a saved state.

        Parameters
        ----------
        state : dict of str to ndarray
            Arrays by name, as `save` returned them.
        """
        if not any(name.startswith("waiting.") for name in state):
            self._rest = None
            return
        fact, remedy = "the waiting examples of the saved state cannot be read", "load a state that a learner saved"
        with reraise_as_input_error(fact, remedy):
            x = rows_from_state("waiting.x", state)
            y, weight = np.array(state["waiting.y"], np.int8), np.array(state["waiting.weight"], np.float64)
            if len(x.shape) != 2 or y.shape != (len(x),) or weight.shape != (len(x),):
                raise ValueError(f"features have shape {x.shape}, labels {y.shape}, weights {weight.shape}")
        self._rest = Minibatch(x, y, weight)

    def _keep(self, rest: Minibatch) -> None:
        # A copy: the rows belong to the stream and may be a view of large arrays.
        self._rest = _join(rest) if len(rest) else None


def _join(*parts: Minibatch) -> Minibatch:
    return Minibatch(*(join_features([getattr(part, name) for part in parts]) for name in _COLUMNS))
