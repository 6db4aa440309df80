"""A user's own data as a stream: arrays in memory or in a numpy file, passed over once or more.

All that can be wrong with the data is said when the stream is made, before any work is done; `columns` says it.
"""

from __future__ import annotations

import hashlib
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paraactive import philox
from paraactive.errors import InputError
from paraactive.examples import Examples, Ints, Labels
from paraactive.streams.columns import blocks, check_width, features, label_column, label_name, signs, two_values
from paraactive.streams.numpy_files import open_columns
from paraactive.streams.positions import between, listed
from paraactive.validation import whole


class Arrays:
    """A stream over the rows of `x` with labels `y`.

    The labels may be any two values; the smaller becomes -1, the larger +1. Each pass goes over the rows in an order
    of its own, which the seed decides; with `shuffle=False` all go in the order given. `passes=None` never ends.
    Contiguous float32 data is not copied: leave it alone while it is read.

    >>> import numpy as np
    >>> stream = Arrays(np.eye(3), ["spam", "ham", "spam"], seed=1, passes=2)
    >>> stream.length, stream.width, stream.classes
    (6, 3, ('ham', 'spam'))
    >>> piece = stream.read(3, 6)
    >>> piece.index.tolist(), sorted(piece.key.tolist())
    ([3, 4, 5], [0, 1, 2])
    """

    def __init__(
        self, x: ArrayLike, y: ArrayLike, *, seed: int = 0, shuffle: bool = True, passes: int | None = 1
    ) -> None:
        self.seed, self.shuffle, self.passes = whole("seed", seed), bool(shuffle), _passes(passes)
        labels = label_column(y)
        self._x = features(x, len(labels))
        self._values = two_values(labels)
        self._y: Labels = np.where(labels == self._values[1], 1, -1).astype(np.int8)
        self._source: str | None = None

    @classmethod
    def load(cls, path: str | Path, *, seed: int = 0, shuffle: bool = True, passes: int | None = 1) -> Arrays:
        """The stream over a numpy file: .npz with arrays x and y, or .npy whose last column is the label.

        A loaded stream travels as the path of its file: each node opens its own copy.

        >>> import tempfile, numpy as np
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     np.savez(f"{folder}/data.npz", X=np.eye(3), y=[0, 1, 1])
        ...     Arrays.load(f"{folder}/data.npz").classes
        ('0', '1')
        """
        path = Path(path).absolute()
        stream = cls(*open_columns(path), seed=seed, shuffle=shuffle, passes=passes)
        stream._source = str(path)
        return stream

    @property
    def source(self) -> str | None:
        """The file it was loaded from; None if the arrays came from memory."""
        return self._source

    @property
    def width(self) -> int:
        """Columns of x."""
        return self._x.shape[1]

    @property
    def rows(self) -> int:
        """Examples in one pass."""
        return len(self._y)

    @property
    def length(self) -> int | None:
        """Rows times passes; None if it never ends."""
        return None if self.passes is None else self.rows * self.passes

    @property
    def values(self) -> NDArray[Any]:
        """The user's labels of -1 and +1, as they were given."""
        return self._values

    @property
    def classes(self) -> tuple[str, str]:
        """The names of the labels -1 and +1."""
        return label_name(self._values[0]), label_name(self._values[1])

    @property
    def regenerates(self) -> bool:
        """False: the data is the user's, and may be gone when a run is resumed."""
        return False

    @cached_property
    def fingerprint(self) -> str:
        """A SHA-256 of the features, the labels and their names: a resumed run checks that it reads the same data.

        >>> Arrays([[1], [2]], [0, 1]).fingerprint == Arrays([[1.0], [2.0]], [0, 1], seed=9).fingerprint
        True
        """
        digest = hashlib.sha256(repr((self._x.shape, self.classes)).encode())
        for _, block in blocks(self._x):
            digest.update(np.ascontiguousarray(block, "<f4").data)
        digest.update(self._y.data)
        return digest.hexdigest()

    def read(self, first: int, last: int) -> Examples:
        """The examples at positions first <= index < last."""
        return self._make(between(first, last, self.length))

    def at(self, index: Ints) -> Examples:
        """The examples at these positions."""
        return self._make(listed(index, self.length))

    def _make(self, index: Ints) -> Examples:
        key = self._rows_at(index)
        return Examples(self._x[key], self._y[key], index, key)

    def _rows_at(self, index: Ints) -> Ints:
        row = index % self.rows
        if not self.shuffle:
            return row
        number = index // self.rows
        for each in np.unique(number).tolist():
            own = number == each
            row[own] = _order(self.seed, self.rows, each)[row[own]]
        return row

    def __repr__(self) -> str:
        data = repr(self.source) if self.source else f"{self.rows} rows of {self.width}"
        return f"Arrays({data}, seed={self.seed}, shuffle={self.shuffle}, passes={self.passes})"

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        if self.source is None:
            return super().__reduce_ex__(protocol)
        # The bytes of a file do not travel through the driver; the fingerprint tells if the node has another file.
        return _reopen, (self.source, self.seed, self.shuffle, self.passes, self.fingerprint)


def encode(x: ArrayLike, y: ArrayLike, classes: tuple[str, str], width: int) -> Examples:
    """More data, such as a test set, with the labels and the width of a stream.

    >>> encode([[0.5, 1.0]], ["spam"], classes=("ham", "spam"), width=2).y.tolist()
    [1]
    """
    labels = label_column(y)
    rows = features(x, len(labels))
    check_width(rows, width)
    return Examples(rows, signs(labels, classes), np.arange(len(labels)))


def load_like(path: str | Path, classes: tuple[str, str], width: int) -> Examples:
    """The same from a numpy file, .npz or .npy."""
    return encode(*open_columns(Path(path)), classes, width)


@lru_cache(maxsize=2)  # a piece of the stream may lie on two passes
def _order(seed: int, rows: int, number: int) -> Ints:
    return philox.permutation(seed, philox.ORDER, rows, number)


def _reopen(path: str, seed: int, shuffle: bool, passes: int | None, fingerprint: str) -> Arrays:
    stream = Arrays.load(path, seed=seed, shuffle=shuffle, passes=passes)
    if stream.fingerprint != fingerprint:
        raise InputError(
            f"{path} holds other data than where the stream was made",
            why="all nodes must read the same stream",
            remedy="copy the same file to every node, and leave it alone during a run",
        )
    return stream


def _passes(passes: int | None) -> int | None:
    if passes is not None and whole("passes", passes) < 1:
        raise InputError(
            f"passes is {passes}", why="the stream would be empty", remedy="give 1 or more, or None for no end"
        )
    return None if passes is None else int(passes)
