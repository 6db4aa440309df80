"""What travels: `Examples` of the stream, the `Selected` few with their query probability, `Entries` and `Stretch`es of
the log.

All are columnar and immutable by convention: one numpy array per column, one row per example.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float32]
Doubles: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Labels: TypeAlias = NDArray[np.int8]

COLUMNS = {"x": np.float32, "y": np.int8, "index": np.int64, "key": np.int64, "importance": np.float64}
"""Of `Examples`, in this order."""


@dataclass(frozen=True, slots=True)
class Examples:
    """A columnar run of the stream.

    >>> import numpy as np
    >>> e = Examples(np.zeros((2, 3), np.float32), np.array([-1, 1], np.int8), np.array([7, 8]))
    >>> len(e), e.width, e.take(slice(1, None)).index.tolist()
    (2, 3, [8])
    """

    x: Floats
    """Features, shape (n, width), C-contiguous."""
    y: Labels
    """Labels: -1 and +1 of two classes, 0 to C-1 of more (see `labels`)."""
    index: Ints
    """Position in the stream. It keys the coin."""
    key: Ints = field(default=None)  # pyright: ignore[reportArgumentType, reportAssignmentType]
    """Which example it is: two passes over one row have two indices and one key. By default the index."""
    importance: Doubles = field(default=None)  # pyright: ignore[reportArgumentType, reportAssignmentType]
    """What an example counts for in the user's eyes, such as a sample or class weight. By default 1."""

    def __post_init__(self) -> None:
        if self.key is None:  # pyright: ignore[reportUnnecessaryComparison]
            object.__setattr__(self, "key", self.index)
        if self.importance is None:  # pyright: ignore[reportUnnecessaryComparison]
            object.__setattr__(self, "importance", np.ones(len(self.y)))
        # A stream of the user's own may come in other types; what travels and is logged has these.
        for name, kind in COLUMNS.items():
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), kind))

    def __len__(self) -> int:
        return len(self.y)

    @property
    def width(self) -> int:
        return self.x.shape[1]

    def take(self, rows: slice | NDArray[np.intp] | NDArray[np.bool_]) -> Examples:
        """The given rows, in the given order."""
        return Examples(*(getattr(self, name)[rows] for name in COLUMNS))

    @staticmethod
    def empty(width: int) -> Examples:
        """No examples, of that width."""
        none = np.zeros(0, np.int64)
        return Examples(np.zeros((0, width), np.float32), np.zeros(0, np.int8), none)

    @staticmethod
    def concatenate(parts: Sequence[Examples]) -> Examples:
        """The parts one after the other."""
        return Examples(*(np.concatenate([getattr(part, name) for part in parts]) for name in COLUMNS))


@dataclass(frozen=True, slots=True)
class Selected:
    """Examples that passed the coin. Their probability always travels with them."""

    examples: Examples
    p: Doubles
    """The exact probability with which each was selected, 0 < p <= 1."""
    seen: Ints
    """Examples seen by the whole cluster, as the rule knew it."""
    version: Ints
    """Log entries that the sifting model had applied."""
    node: Ints
    """The node that sifted."""

    def __len__(self) -> int:
        return len(self.p)

    @property
    def weight(self) -> Doubles:
        """Importance/p, which is 1/p where the user gave no weights: it makes every weighted sum unbiased."""
        return self.examples.importance / self.p

    def take(self, rows: slice) -> Selected:
        """The given rows."""
        return Selected(self.examples.take(rows), self.p[rows], self.seen[rows], self.version[rows], self.node[rows])

    @staticmethod
    def weighted(x: ArrayLike, y: ArrayLike, weight: ArrayLike = 1.0) -> Selected:
        """Rows with labels and any positive weights, to use a learner by itself; their keys are 0, 1, 2...

        Labels are -1 and +1 of two classes, 0 to C-1 of more.

        >>> from paraactive import LaSVM
        >>> svm = LaSVM(kernel="linear")
        >>> svm.update(Selected.weighted([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1], [1, 2, 2, 1]))
        >>> svm.finish()
        >>> (svm.score([[1.9], [2.1]]) > 0).tolist()
        [False, True]
        """
        rows = np.asarray(x, np.float32)
        none, index = np.zeros(len(rows), np.int64), np.arange(len(rows), dtype=np.int64)
        p = 1.0 / np.broadcast_to(np.asarray(weight, np.float64), len(rows))
        return Selected(Examples(rows, np.asarray(y, np.int8), index), p, none, none, none)

    @staticmethod
    def empty(width: int) -> Selected:
        """Nothing selected, of that width."""
        none = np.zeros(0, np.int64)
        return Selected(Examples.empty(width), np.zeros(0), none, none, none)

    @staticmethod
    def concatenate(parts: Sequence[Selected]) -> Selected:
        """The parts one after the other."""
        return Selected(
            Examples.concatenate([part.examples for part in parts]),
            np.concatenate([part.p for part in parts]),
            np.concatenate([part.seen for part in parts]),
            np.concatenate([part.version for part in parts]),
            np.concatenate([part.node for part in parts]),
        )


@dataclass(frozen=True, slots=True)
class Entries:
    """Selected examples with their place in the total order: a contiguous piece of the log."""

    first: int
    """Sequence number of the first."""
    selected: Selected

    def __len__(self) -> int:
        return len(self.selected)

    @property
    def last(self) -> int:
        """One past the sequence number of the last: the version of a model that has applied all."""
        return self.first + len(self)

    @property
    def sequence(self) -> Ints:
        return np.arange(self.first, self.last)

    @property
    def delay(self) -> Ints:
        """How many entries older than the log the sifting model was: derived, never guessed."""
        return self.sequence - self.selected.version

    def since(self, version: int) -> Entries:
        """Those that a model of this version has not applied."""
        skipped = min(max(version - self.first, 0), len(self))
        return Entries(self.first + skipped, self.selected.take(slice(skipped, None))) if skipped else self


class Tile(NamedTuple):
    """Positions first <= index < last of the stream, fresh, for one node to sift."""

    first: int
    last: int


class Place(NamedTuple):
    """How far a replica is in the log. What a model is, is a function of its place alone."""

    version: int
    """Entries applied."""
    rounds: int
    """Rounds ended."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A piece of the log as replicas learn it: entries, perhaps none, and whether a round ends after them."""

    entries: Entries
    rounds: int
    """Rounds that had ended before."""
    seen: int
    """Examples seen by the cluster when it was given its place."""
    ends_round: bool = True

    @property
    def begins(self) -> Place:
        return Place(self.entries.first, self.rounds)

    @property
    def ends(self) -> Place:
        return Place(self.entries.last, self.rounds + self.ends_round)

    @property
    def nbytes(self) -> int:
        """What it weighs when it is sent."""
        examples = self.entries.selected.examples
        return len(examples) * entry_bytes(examples.width)


def entry_bytes(width: int) -> int:
    """What an entry weighs: x in float32; y; index, key, importance, p, seen, version, node.

    >>> entry_bytes(784)
    3193
    """
    return 4 * width + 1 + 8 * 7
