"""A user's own data as a stream: arrays in memory or in a numpy file, passed over once or more.

All that can be wrong with the data is said when the stream is made, before any work is done; `columns` says it.
"""

from __future__ import annotations

import hashlib
from functools import cached_property
from pathlib import Path
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paraactive.basics.validation import whole
from paraactive.data.examples import Examples, Ints, Labels, SparseRows
from paraactive.data.labels import fitting_type, labels_of, numbers_of, type_of_labels
from paraactive.streams.array_checks import (
    check_width,
    class_values,
    example_weights,
    features,
    hash_features,
    label_column,
    label_name,
    named_labels,
)
from paraactive.streams.locations import changed_data
from paraactive.streams.numpy_files import open_columns
from paraactive.streams.passes import checked_passes, rows_at
from paraactive.streams.svmlight_files import is_svmlight, read_svmlight
from paraactive.streams.user_stream import UserStream


class Arrays(UserStream):
    """A stream over the rows of `x` with labels `y`.

    The labels may be any values: of two the smaller becomes -1, the larger +1, more become 0, 1, 2 in their order.
    `weight`, one number above 0 for each row, says what the rows count for. Each pass goes over the rows in an order
    of its own, which the seed decides; with `shuffle=False` all go in the order given. `passes=None` never ends.
    Contiguous float32 data is not copied, nor is float32 data of a memory map: leave it alone while it is read. `x` may
    be a sparse matrix of scipy's: its rows stay sparse, and only a learner that does not take them so makes them dense.

    >>> import numpy as np
    >>> stream = Arrays(np.eye(3), ["spam", "ham", "spam"], seed=1, passes=2)
    >>> stream.length, stream.width, stream.classes
    (6, 3, ('ham', 'spam'))
    >>> piece = stream.read(3, 6)
    >>> piece.index.tolist(), sorted(piece.key.tolist())
    ([3, 4, 5], [0, 1, 2])
    """

    def __init__(
        self,
        x: ArrayLike | SparseRows,
        y: ArrayLike,
        *,
        weight: ArrayLike | None = None,
        seed: int = 0,
        shuffle: bool = True,
        passes: int | None = 1,
    ) -> None:
        self.seed, self.shuffle, self.passes = whole("seed", seed), bool(shuffle), checked_passes(passes)
        labels = label_column(y)
        self._x = features(x, len(labels))
        self._values, number = class_values(labels)
        self._y: Labels = labels_of(number, len(self._values))
        self._weight = None if weight is None else example_weights(weight, len(labels))
        self._source: str | None = None

    @classmethod
    def load(cls, path: str | Path, *, seed: int = 0, shuffle: bool = True, passes: int | None = 1) -> Arrays:
        """The stream over a file: .npz with arrays x and y, .npy whose last column is the label, or svmlight text.

        float32 data of a numpy file is not read into memory but mapped, if the file is not compressed. svmlight text
        (.svm, .libsvm, .svmlight, .txt) is held in memory, sparse. Files compressed with gzip (.npy.gz, .svm.gz) are
        held in memory too. A loaded stream travels as the path of its file: each node opens its own copy.

        >>> import tempfile, numpy as np
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     np.savez(f"{folder}/data.npz", X=np.eye(3), y=[0, 1, 1])
        ...     Arrays.load(f"{folder}/data.npz").classes
        ('0', '1')
        """
        path = Path(path).absolute()
        stream = cls(*load_columns(path), seed=seed, shuffle=shuffle, passes=passes)
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
        """The user's labels, as they were given, in the order of `classes`."""
        return self._values

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the labels."""
        return tuple(label_name(value) for value in self._values)

    @property
    def label_type(self) -> str:
        """The type of the labels, by numpy's name for it; "str" if they are text.

        >>> Arrays([[1], [2]], [0, 1]).label_type, Arrays([[1], [2]], ["ham", "spam"]).label_type
        ('int64', 'str')
        """
        return fitting_type(self.classes, type_of_labels(self._values))

    @property
    def counts(self) -> tuple[int, ...]:
        """The rows of each class.

        >>> Arrays([[1], [2], [3]], ["spam", "ham", "spam"]).counts
        (1, 2)
        """
        numbers = numbers_of(self._y, len(self._values))
        return tuple(np.bincount(numbers, minlength=len(self._values)).tolist())

    @cached_property
    def fingerprint(self) -> str:
        """A SHA-256 of the features, the labels and their names: a resumed run checks that it reads the same data.

        >>> Arrays([[1], [2]], [0, 1]).fingerprint == Arrays([[1.0], [2.0]], [0, 1], seed=9).fingerprint
        True
        """
        digest = hashlib.sha256(repr((self._x.shape, self.classes)).encode())
        hash_features(digest, self._x)
        digest.update(self._y.data)
        if self._weight is not None:
            digest.update(self._weight.data)
        return digest.hexdigest()

    def _make(self, index: Ints) -> Examples:
        key = rows_at(index, self.rows, self.seed, self.shuffle)
        if self._weight is None:
            return Examples(self._x[key], self._y[key], index, key)
        return Examples(self._x[key], self._y[key], index, key, self._weight[key])

    def __repr__(self) -> str:
        data = repr(self.source) if self.source else f"{self.rows} rows of {self.width}"
        return f"Arrays({data}, seed={self.seed}, shuffle={self.shuffle}, passes={self.passes})"

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        if self.source is None:
            return super().__reduce_ex__(protocol)
        # The bytes of a file do not travel through the driver; the fingerprint tells if the node has another file.
        return _reopen, (self.source, self.seed, self.shuffle, self.passes, self.fingerprint)


def encode(x: ArrayLike | SparseRows, y: ArrayLike, classes: tuple[str, ...], width: int) -> Examples:
    """More data, such as a test set, with the labels and the width of a stream.

    >>> encode([[0.5, 1.0]], ["spam"], classes=("ham", "spam"), width=2).y.tolist()
    [1]
    """
    labels = label_column(y)
    rows = features(x, len(labels))
    check_width(rows, width)
    return Examples(rows, named_labels(labels, classes), np.arange(len(labels)))


def load_like(path: str | Path, classes: tuple[str, ...], width: int) -> Examples:
    """The same from a file: .npz, .npy or svmlight text."""
    return encode(*load_columns(Path(path), width), classes, width)


def load_columns(path: Path, width: int | None = None) -> tuple[Any, NDArray[Any]]:
    """X, perhaps sparse, and y of such a file; svmlight text does not say how wide it is, so `width` may."""
    return read_svmlight(path, width) if is_svmlight(path) else open_columns(path)


def _reopen(path: str, seed: int, shuffle: bool, passes: int | None, fingerprint: str) -> Arrays:
    stream = Arrays.load(path, seed=seed, shuffle=shuffle, passes=passes)
    if stream.fingerprint != fingerprint:
        raise changed_data(path)
    return stream
