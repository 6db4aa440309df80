"""A stream over arrays in memory or in a file. The constructor checks all data (see `array_checks`)."""

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
from paraactive.streams.array_checks import check_width, example_weights, features, hash_features
from paraactive.streams.label_checks import class_values, label_column, label_name, named_labels
from paraactive.streams.locations import changed_data
from paraactive.streams.numpy_files import open_columns
from paraactive.streams.passes import checked_passes, rows_at
from paraactive.streams.svmlight_files import is_svmlight, read_svmlight
from paraactive.streams.user_stream import UserStream


class Arrays(UserStream):
    """A stream over the rows of an array with their labels.

    Contiguous or memory-mapped float32 data is not copied, so it must not change while the stream is used. Sparse rows
    stay sparse unless the learner needs dense rows.

    Parameters
    ----------
    x : array-like or sparse matrix, shape (n, features)
        Features: finite real numbers.
    y : array-like of shape (n,)
        Labels of any type. In sorted order, two labels become -1 and +1, more labels become 0, 1, 2 and so on.
    weight : array-like of shape (n,), optional
        Importance of each row, a positive number. Default: 1.
    seed : int, default=0
        Seed of the order of the rows.
    shuffle : bool, default=True
        Whether each pass goes through the rows in its own random order. If False, all passes use the order of the data.
    passes : int or None, default=1
        Number of passes over the rows. None means without end.

    Examples
    --------
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
        self._x = features(x, len(labels), check_precision=True)
        self._values, number = class_values(labels)
        self._y: Labels = labels_of(number, len(self._values))
        self._weight = None if weight is None else example_weights(weight, len(labels))
        self._source: str | None = None

    @classmethod
    def load(cls, path: str | Path, *, seed: int = 0, shuffle: bool = True, passes: int | None = 1) -> Arrays:
        """Open a file as a stream.

        Uncompressed float32 data of a numpy file is mapped into memory instead of read. svmlight text is held in memory
        as sparse rows. Files compressed with gzip (.npy.gz, .svm.gz) are held in memory. To send the stream to a node,
        only the path is sent; each node opens the file itself.

        Parameters
        ----------
        path : str or Path
            An .npz file with arrays x and y, an .npy file whose last column is the label, or svmlight text (.svm,
            .libsvm, .svmlight, .txt).
        seed : int, default=0
            Seed of the order of the rows.
        shuffle : bool, default=True
            Whether each pass goes through the rows in its own random order.
        passes : int or None, default=1
            Number of passes over the rows. None means without end.

        Returns
        -------
        Arrays
            The stream.

        Raises
        ------
        InputError
            If the file is missing, damaged, or does not hold features and labels.

        Examples
        --------
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

    def describe(self) -> dict[str, Any]:
        """Return the parameters of `load` and the fingerprint, for run files."""
        names = ("source", "seed", "shuffle", "passes", "fingerprint")
        return {name: getattr(self, name) for name in names}

    @property
    def source(self) -> str | None:
        """Path of the file that the stream was loaded from; None for arrays in memory."""
        return self._source

    @property
    def width(self) -> int:
        """Number of features."""
        return self._x.shape[1]

    @property
    def rows(self) -> int:
        """Number of examples in one pass."""
        return len(self._y)

    @property
    def length(self) -> int | None:
        """Rows times passes; None if the stream never ends."""
        return None if self.passes is None else self.rows * self.passes

    @property
    def values(self) -> NDArray[Any]:
        """The different labels as the user gave them, in the order of `classes`."""
        return self._values

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the labels, in sorted order of the labels."""
        return tuple(label_name(value) for value in self._values)

    @property
    def label_type(self) -> str:
        """Type of the labels: numpy's name of it, or "str" for text.

        Examples
        --------
        >>> Arrays([[1], [2]], [0, 1]).label_type, Arrays([[1], [2]], ["ham", "spam"]).label_type
        ('int64', 'str')
        """
        return fitting_type(self.classes, type_of_labels(self._values))

    @property
    def counts(self) -> tuple[int, ...]:
        """Number of rows of each class.

        Examples
        --------
        >>> Arrays([[1], [2], [3]], ["spam", "ham", "spam"]).counts
        (1, 2)
        """
        numbers = numbers_of(self._y, len(self._values))
        return tuple(np.bincount(numbers, minlength=len(self._values)).tolist())

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the features, the labels and their names. A resumed run checks that it reads the same data.

        Examples
        --------
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

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[object, ...]:
        if self.source is None:
            return super().__reduce_ex__(protocol)
        # Nodes open the file themselves. The fingerprint detects a node whose file differs.
        return _reopen, (self.source, self.seed, self.shuffle, self.passes, self.fingerprint)


def encode(
    x: ArrayLike | SparseRows, y: ArrayLike, classes: tuple[str, ...], width: int, *, may_miss: bool = False
) -> Examples:
    """Return data such as a test set as examples with the classes and the width of a stream.

    Parameters
    ----------
    x : array-like or sparse matrix, shape (n, features)
        Features.
    y : array-like of shape (n,)
        Labels.
    classes : tuple of str
        Names of the classes of the stream.
    width : int
        Number of features of the stream.
    may_miss : bool, default=False
        Whether features may be missing (NaN).

    Returns
    -------
    Examples
        The rows in their order.

    Raises
    ------
    InputError
        If the width differs or a label is unknown.

    Examples
    --------
    >>> encode([[0.5, 1.0]], ["spam"], classes=("ham", "spam"), width=2).y.tolist()
    [1]
    """
    labels = label_column(y)
    rows = features(x, len(labels), may_miss=may_miss)
    check_width(rows, width)
    return Examples(rows, named_labels(labels, classes), np.arange(len(labels)))


def load_like(path: str | Path, classes: tuple[str, ...], width: int) -> Examples:
    """Return the data of a file as examples with the classes and the width of a stream.

    Parameters
    ----------
    path : str or Path
        An .npz, .npy or svmlight file.
    classes : tuple of str
        Names of the classes of the stream.
    width : int
        Number of features of the stream.

    Returns
    -------
    Examples
        The rows in their order.
    """
    return encode(*load_columns(Path(path), width), classes, width)


def load_columns(path: Path, width: int | None = None) -> tuple[Any, NDArray[Any]]:
    """Return the features and labels of a file.

    Parameters
    ----------
    path : Path
        An .npz, .npy or svmlight file.
    width : int, optional
        Number of features of svmlight text, which does not state it.

    Returns
    -------
    x : ndarray or sparse matrix
        Features.
    y : ndarray
        Labels.
    """
    return read_svmlight(path, width) if is_svmlight(path) else open_columns(path)


def _reopen(path: str, seed: int, shuffle: bool, passes: int | None, fingerprint: str) -> Arrays:
    stream = Arrays.load(path, seed=seed, shuffle=shuffle, passes=passes)
    if stream.fingerprint != fingerprint:
        raise changed_data(path)
    return stream
