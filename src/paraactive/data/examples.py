"""What travels: `Examples` of the stream, the `Selected` few with their query probability, `Entries` and `Stretch`es of
the log.

All are columnar and immutable by convention: one numpy array per column, one row per example. Only features may also be
`SparseRows`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paraactive.errors import InputError

Floats: TypeAlias = NDArray[np.float32]
Doubles: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Labels: TypeAlias = NDArray[np.int8]

RowSelection: TypeAlias = slice | NDArray[np.intp] | NDArray[np.int64] | NDArray[np.bool_]
"""Which rows: a stretch, or listed, or marked."""

COLUMNS = {"x": np.float32, "y": np.int8, "index": np.int64, "key": np.int64, "importance": np.float64}
"""Of `Examples`, in this order."""


@dataclass(frozen=True, slots=True, eq=False)
class SparseRows:
    """Rows of which only what is not 0 is held: compressed sparse rows, as scipy's CSR.

    Within a row the columns ascend, none twice, and no value is 0: so equal rows have equal bytes. Whoever makes one
    sees to that; `streams.sparse` does for what a user gives.

    >>> rows = SparseRows.of(np.array([[0, 2, 0], [0, 0, 0], [1, 0, 3]], np.float32))
    >>> rows.shape, rows.indices.tolist(), rows.indptr.tolist()
    ((3, 3), [1, 0, 2], [0, 1, 1, 3])
    >>> rows[np.array([2, 0])].dense().tolist()
    [[1.0, 0.0, 3.0], [0.0, 2.0, 0.0]]
    """

    data: Floats
    """What is not 0, row after row."""
    indices: NDArray[np.int32]
    """The column of each."""
    indptr: Ints
    """Where each row begins in both, and where the last one ends: (n + 1,)."""
    width: int

    def __post_init__(self) -> None:
        for name, kind in (("data", np.float32), ("indices", np.int32), ("indptr", np.int64)):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), kind))

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def shape(self) -> tuple[int, int]:
        return len(self), self.width

    @property
    def nbytes(self) -> int:
        """What they weigh."""
        return self.data.nbytes + self.indices.nbytes + self.indptr.nbytes

    @property
    def lengths(self) -> Ints:
        """How many values of each row are not 0."""
        return np.diff(self.indptr)

    def __getitem__(self, rows: RowSelection) -> SparseRows:
        """The given rows, in the given order; of a slice without steps the values are not copied."""
        if isinstance(rows, slice):
            first, last, step = rows.indices(len(self))
            if step == 1:
                return self._between(first, max(first, last))
        places = np.arange(len(self))[rows]
        if places.ndim != 1:
            raise InputError(f"rows are asked for by {rows!r}", why="it names no list of rows", remedy="give a slice")
        begins, lengths = self.indptr[places], self.lengths[places]
        indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        taken = np.arange(indptr[-1]) + np.repeat(begins - indptr[:-1], lengths)
        return SparseRows(self.data[taken], self.indices[taken], indptr, self.width)

    def _between(self, first: int, last: int) -> SparseRows:
        begin, end = self.indptr[first], self.indptr[last]
        return SparseRows(
            self.data[begin:end], self.indices[begin:end], self.indptr[first : last + 1] - begin, self.width
        )

    def check(self) -> None:
        """A ValueError if they are not as they should be: loops would read beyond them. A file may hold anything."""
        begins, indices = self.indptr, self.indices
        if begins.ndim != 1 or indices.ndim != 1 or len(begins) < 1 or self.data.shape != indices.shape:
            raise ValueError("sparse rows of other shapes")
        if begins[0] != 0 or begins[-1] != len(indices) or np.any(np.diff(begins) < 0):
            raise ValueError("sparse rows that begin and end elsewhere")
        goes_on = np.ones(len(indices) + 1, np.bool_)
        goes_on[begins] = False
        if np.any((indices < 0) | (indices >= self.width)) or np.any((np.diff(indices) <= 0) & goes_on[1:-1]):
            raise ValueError("sparse rows whose columns do not ascend")
        if not np.all(np.isfinite(self.data) & (self.data != 0)):
            raise ValueError("sparse rows with zeros, or with what is no number")

    def __array__(self, *_: object, **__: object) -> NDArray[Any]:
        raise InputError(
            f"{len(self)} sparse rows of {self.width} features are taken for an array",
            why="they are never made dense unasked",
            remedy="ask for it, by dense()",
        )

    def dense(self) -> Floats:
        """The rows with their zeros."""
        out = np.zeros(self.shape, np.float32)
        out[np.repeat(np.arange(len(self)), self.lengths), self.indices] = self.data
        return out

    @staticmethod
    def of(dense: Floats) -> SparseRows:
        """The same rows without their zeros."""
        row, column = np.nonzero(dense)
        indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(row, minlength=len(dense)))])
        return SparseRows(dense[row, column], column.astype(np.int32), indptr, dense.shape[1])

    @staticmethod
    def concatenate(parts: Sequence[SparseRows]) -> SparseRows:
        """The parts one after the other."""
        begins = np.cumsum([0, *(len(part.data) for part in parts)])
        return SparseRows(
            np.concatenate([part.data for part in parts]),
            np.concatenate([part.indices for part in parts]),
            np.concatenate(
                [np.zeros(1, np.int64), *(part.indptr[1:] + b for part, b in zip(parts, begins, strict=False))]
            ),
            parts[0].width,
        )


Features: TypeAlias = Any
"""`Floats` or `SparseRows`, a row for each example. Not a union: whoever knows the stream knows which of them it is."""


def dense(x: Features) -> Floats:
    """The rows, dense if they were sparse."""
    return x.dense() if isinstance(x, SparseRows) else x


def join_features(parts: Sequence[Features]) -> Features:
    """The parts one after the other: sparse if one of them is. Where there is no row, it does not matter which kind."""
    sparse = [part for part in parts if isinstance(part, SparseRows)]
    if not sparse:
        return np.concatenate(parts)
    filled = [part for part in parts if len(part)]
    return SparseRows.concatenate([p if isinstance(p, SparseRows) else SparseRows.of(p) for p in filled] or sparse[:1])


@dataclass(frozen=True, slots=True)
class Examples:
    """A columnar run of the stream.

    >>> import numpy as np
    >>> e = Examples(np.zeros((2, 3), np.float32), np.array([-1, 1], np.int8), np.array([7, 8]))
    >>> len(e), e.width, e.take(slice(1, None)).index.tolist()
    (2, 3, [8])
    """

    x: Features
    """Shape (n, width): C-contiguous, or sparse."""
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
            given = getattr(self, name)
            if not isinstance(given, SparseRows):
                object.__setattr__(self, name, np.ascontiguousarray(given, kind))

    def __len__(self) -> int:
        return len(self.y)

    @property
    def width(self) -> int:
        return self.x.shape[1]

    def take(self, rows: RowSelection) -> Examples:
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
        return Examples(*(join_features([getattr(part, name) for part in parts]) for name in COLUMNS))


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

    def __len__(self) -> int:
        return len(self.p)

    @property
    def weight(self) -> Doubles:
        """Importance/p, which is 1/p where the user gave no weights: it makes every weighted sum unbiased."""
        return self.examples.importance / self.p

    def take(self, rows: RowSelection) -> Selected:
        """The given rows."""
        return Selected(self.examples.take(rows), self.p[rows], self.seen[rows], self.version[rows])

    @staticmethod
    def weighted(x: ArrayLike | SparseRows, y: ArrayLike, weight: ArrayLike = 1.0) -> Selected:
        """Rows with labels and any positive weights, to use a learner by itself; their keys are 0, 1, 2...

        Labels are -1 and +1 of two classes, 0 to C-1 of more.

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
        """Nothing selected, of that width."""
        none = np.zeros(0, np.int64)
        return Selected(Examples.empty(width), np.zeros(0), none, none)

    @staticmethod
    def concatenate(parts: Sequence[Selected]) -> Selected:
        """The parts one after the other."""
        return Selected(
            Examples.concatenate([part.examples for part in parts]),
            np.concatenate([part.p for part in parts]),
            np.concatenate([part.seen for part in parts]),
            np.concatenate([part.version for part in parts]),
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
    def entry_lag(self) -> Ints:
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
        return examples.x.nbytes + len(examples) * entry_bytes(0)


def entry_bytes(width: int) -> int:
    """What an entry of dense rows weighs: x in float32; y; index, key, importance, p, seen, version.

    >>> entry_bytes(784)
    3185
    """
    return 4 * width + 1 + 8 * 6
