"""The records that travel between nodes: `Examples` of the stream, `Selected` examples with their sampling probability,
`Entries` and `Stretch`es of the log.

All are columnar and immutable by convention: one numpy array per column, one row per example. Only the features may be
`SparseRows` instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from paraactive.data.array_types import Doubles, Floats, Ints, Labels, RowSelection
from paraactive.data.sparse import Features, SparseRows, dense, join_features

__all__ = [
    "COLUMNS", "Doubles", "Entries", "Examples", "Features", "Floats", "Ints", "Labels", "Place", "RowSelection",
    "Selected", "SparseRows", "Stretch", "Tile", "dense", "entry_bytes", "join_features",
]  # fmt: skip

# The columns of `Examples` in their order, and their types.
COLUMNS = {"x": np.float32, "y": np.int8, "index": np.int64, "key": np.int64, "importance": np.float64}


@dataclass(frozen=True, slots=True)
class Examples:
    """Examples of the stream, one row each.

    Parameters
    ----------
    x : ndarray of float32 or SparseRows, shape (n, width)
        Features.
    y : ndarray of int8, shape (n,)
        Labels: -1 and +1 for two classes, otherwise 0 to classes - 1 (see `labels`).
    index : ndarray of int64, shape (n,)
        Position in the stream. It determines the coin of the example.
    key : ndarray of int64, shape (n,), optional
        Which example of the data it is. Two passes over one row have two indices and one key. Default: the index.
    importance : ndarray of float64, shape (n,), optional
        The user's own weight of the example, such as a sample weight or class weight. Default: 1.

    Examples
    --------
    >>> import numpy as np
    >>> e = Examples(np.zeros((2, 3), np.float32), np.array([-1, 1], np.int8), np.array([7, 8]))
    >>> len(e), e.width, e.take(slice(1, None)).index.tolist()
    (2, 3, [8])
    """

    x: Features
    y: Labels
    index: Ints
    key: Ints = field(default=None)  # pyright: ignore[reportArgumentType, reportAssignmentType]
    importance: Doubles = field(default=None)  # pyright: ignore[reportArgumentType, reportAssignmentType]

    def __post_init__(self) -> None:
        if self.key is None:  # pyright: ignore[reportUnnecessaryComparison]
            object.__setattr__(self, "key", self.index)
        if self.importance is None:  # pyright: ignore[reportUnnecessaryComparison]
            object.__setattr__(self, "importance", np.ones(len(self.y)))
        # A user's own stream may return other types. These types are sent and logged.
        for name, kind in COLUMNS.items():
            given = getattr(self, name)
            if not isinstance(given, SparseRows):
                object.__setattr__(self, name, np.ascontiguousarray(given, kind))

    def __len__(self) -> int:
        return len(self.y)

    @property
    def width(self) -> int:
        """Number of features."""
        return self.x.shape[1]

    def take(self, rows: RowSelection) -> Examples:
        """Return the given rows.

        Parameters
        ----------
        rows : slice or ndarray
            A slice, row numbers, or a mask.

        Returns
        -------
        Examples
            The rows in the given order.
        """
        return Examples(*(getattr(self, name)[rows] for name in COLUMNS))

    @staticmethod
    def empty(width: int) -> Examples:
        """Return no examples.

        Parameters
        ----------
        width : int
            Number of features.

        Returns
        -------
        Examples
            Zero rows.
        """
        none = np.zeros(0, np.int64)
        return Examples(np.zeros((0, width), np.float32), np.zeros(0, np.int8), none)

    @staticmethod
    def concatenate(parts: Sequence[Examples]) -> Examples:
        """Join examples.

        Parameters
        ----------
        parts : sequence of Examples
            At least one part.

        Returns
        -------
        Examples
            The rows of all parts, in order.
        """
        return Examples(*(join_features([getattr(part, name) for part in parts]) for name in COLUMNS))


@dataclass(frozen=True, slots=True)
class Selected:
    """Selected examples with their sampling probabilities.

    Parameters
    ----------
    examples : Examples
        The selected examples.
    p : ndarray of float64, shape (n,)
        Exact probability with which each example was selected, 0 < p <= 1.
    seen : ndarray of int64, shape (n,)
        Number of examples that the whole cluster had seen, as given to the rule.
    version : ndarray of int64, shape (n,)
        Number of log entries that the sifting model had applied.
    score : ndarray of float32, shape (n, 1) or (n, classes), optional
        Scores of the sifting model, before it learned the examples. NaN where there is none, which is the default.
    """

    examples: Examples
    p: Doubles
    seen: Ints
    version: Ints
    score: Floats = field(default=None)  # pyright: ignore[reportArgumentType, reportAssignmentType]

    def __post_init__(self) -> None:
        if self.score is None:  # pyright: ignore[reportUnnecessaryComparison]
            object.__setattr__(self, "score", np.full((len(self.p), 1), np.nan, np.float32))

    def __len__(self) -> int:
        return len(self.p)

    @property
    def weight(self) -> Doubles:
        """Weight of each example in the update, importance / p. It makes every weighted sum unbiased."""
        return self.examples.importance / self.p

    def take(self, rows: RowSelection) -> Selected:
        """Return the given rows.

        Parameters
        ----------
        rows : slice or ndarray
            A slice, row numbers, or a mask.

        Returns
        -------
        Selected
            The rows in the given order.
        """
        examples = self.examples.take(rows)
        return Selected(examples, self.p[rows], self.seen[rows], self.version[rows], self.score[rows])

    @staticmethod
    def weighted(x: ArrayLike | SparseRows, y: ArrayLike, weight: ArrayLike = 1.0) -> Selected:
        """Return rows with labels and weights, to train a learner without a run. The keys are 0, 1, 2 and so on.

        Parameters
        ----------
        x : array-like or SparseRows, shape (n, width)
            Features.
        y : array-like of shape (n,)
            Labels: -1 and +1 for two classes, otherwise 0 to classes - 1.
        weight : float or array-like of shape (n,), default=1.0
            Positive weights.

        Returns
        -------
        Selected
            The rows, with p = 1/weight.

        Examples
        --------
        >>> from paraactive import LaSVM
        >>> svm = LaSVM(kernel="linear")
        >>> svm.update(Selected.weighted([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1], [1, 2, 2, 1]))
        >>> svm.finish()
        >>> (svm.score([[1.9], [2.1]]) > 0).tolist()
        [False, True]
        """
        rows = x if isinstance(x, SparseRows) else np.asarray(x, np.float32)
        none, index = np.zeros(len(rows), np.int64), np.arange(len(rows), dtype=np.int64)
        p = 1.0 / np.broadcast_to(np.asarray(weight, np.float64), len(rows))
        return Selected(Examples(rows, np.asarray(y, np.int8), index), p, none, none)

    @staticmethod
    def empty(width: int) -> Selected:
        """Return no examples.

        Parameters
        ----------
        width : int
            Number of features.

        Returns
        -------
        Selected
            Zero rows.
        """
        none = np.zeros(0, np.int64)
        return Selected(Examples.empty(width), np.zeros(0), none, none)

    @staticmethod
    def concatenate(parts: Sequence[Selected]) -> Selected:
        """Join selected examples.

        Parameters
        ----------
        parts : sequence of Selected
            At least one part.

        Returns
        -------
        Selected
            The rows of all parts, in order.
        """
        return Selected(
            Examples.concatenate([part.examples for part in parts]),
            np.concatenate([part.p for part in parts]),
            np.concatenate([part.seen for part in parts]),
            np.concatenate([part.version for part in parts]),
            _join_scores([part.score for part in parts]),
        )


def _join_scores(parts: list[Floats]) -> Floats:
    """Join scores. A part without scores has one column of NaN, whatever the number of classes."""
    columns = max(part.shape[1] for part in parts)
    return np.concatenate([np.broadcast_to(part, (len(part), columns)) for part in parts])


@dataclass(frozen=True, slots=True)
class Entries:
    """Consecutive entries of the log: selected examples with their place in the total order.

    Parameters
    ----------
    first : int
        Sequence number of the first entry.
    selected : Selected
        The examples of the entries.
    """

    first: int
    selected: Selected

    def __len__(self) -> int:
        return len(self.selected)

    @property
    def last(self) -> int:
        """One past the last sequence number, which is the version of a model that has applied all entries."""
        return self.first + len(self)

    @property
    def sequence(self) -> Ints:
        """Sequence number of each entry."""
        return np.arange(self.first, self.last)

    @property
    def entry_lag(self) -> Ints:
        """Number of entries before each entry that the sifting model had not applied."""
        return self.sequence - self.selected.version

    def since(self, version: int) -> Entries:
        """Return the entries that a model has not applied.

        Parameters
        ----------
        version : int
            Number of entries that the model has applied.

        Returns
        -------
        Entries
            The entries from this version on.
        """
        skipped = min(max(version - self.first, 0), len(self))
        return Entries(self.first + skipped, self.selected.take(slice(skipped, None))) if skipped else self


class Tile(NamedTuple):
    """Range of stream positions that one node sifts in one piece.

    Parameters
    ----------
    first : int
        First position.
    last : int
        One past the last position.
    """

    first: int
    last: int


class Place(NamedTuple):
    """Place of a replica in the log. Replicas at the same place have equal models.

    Parameters
    ----------
    version : int
        Number of entries applied.
    rounds : int
        Number of rounds ended.
    """

    version: int
    rounds: int


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive entries of the log, from one place to the next, as replicas learn them.

    Parameters
    ----------
    entries : Entries
        The entries, possibly none.
    rounds : int
        Number of rounds that had ended before.
    seen : int
        Number of examples that the cluster had seen when the stretch was logged.
    ends_round : bool, default=True
        Whether a round ends after the entries.
    """

    entries: Entries
    rounds: int
    seen: int
    ends_round: bool = True

    @property
    def begins(self) -> Place:
        """Place of a replica before it learns the stretch."""
        return Place(self.entries.first, self.rounds)

    @property
    def ends(self) -> Place:
        """Place of a replica after it has learned the stretch."""
        return Place(self.entries.last, self.rounds + self.ends_round)

    @property
    def nbytes(self) -> int:
        """Number of bytes of all columns, which are sent to a node."""
        examples = self.entries.selected.examples
        return examples.x.nbytes + self.entries.selected.score.nbytes + len(examples) * (entry_bytes(0) - 4)


def entry_bytes(width: int) -> int:
    """Return the number of bytes of an entry with dense features.

    These are x in float32, y in int8, index, key, importance, p, seen and version with 8 bytes each, and a score.

    Parameters
    ----------
    width : int
        Number of features.

    Returns
    -------
    int
        Bytes.

    Examples
    --------
    >>> entry_bytes(784)
    3189
    """
    return 4 * width + 1 + 8 * 6 + 4
