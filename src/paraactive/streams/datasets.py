"""A stream over data sets of torch and Hugging Face, and over lists."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from paraactive.basics.validation import positive, whole
from paraactive.data.examples import Examples, Floats, Ints
from paraactive.data.labels import fitting_type, labels_of, type_of_labels
from paraactive.errors import InputError
from paraactive.streams.dataset_sources import numbers_by_name, open_source
from paraactive.streams.items import FeatureOrder, Item, as_row
from paraactive.streams.label_checks import class_values, label_column, label_name
from paraactive.streams.passes import checked_passes, rows_at
from paraactive.streams.user_stream import UserStream


class Dataset(UserStream):
    """A stream over a data set with a length whose examples can be read by number.

    Features of any shape become one row of numbers. Several columns are joined in the order of the first example. An
    example must be the same each time it is read, so random augmentation is not possible.

    The constructor needs all labels. It reads them from the label column, or from the attribute `targets` or `labels`
    of the source; if there is none, it reads all examples once. The stream can be sent to nodes if the source can be
    pickled.

    Parameters
    ----------
    source : Dataset or sequence
        A torch Dataset or a list of pairs (features, label), triples (features, label, weight) or dictionaries, or a
        `datasets.Dataset` of Hugging Face.
    label : str, default="label"
        Name of the label column, for dictionaries and Hugging Face data sets.
    features : sequence of str, optional
        Names of the feature columns. Default: all other columns.
    transform : callable, optional
        Function of the features of one example (a dictionary if there are several columns) that returns numbers.
    seed : int, default=0
        Seed of the order of the rows.
    shuffle : bool, default=True
        Whether each pass goes through the rows in its own random order. If False, all passes use the order of the data.
    passes : int or None, default=1
        Number of passes over the rows. None means without end.

    Attributes
    ----------
    classes : tuple of str
        Names of the labels.
    width : int
        Number of features.

    Examples
    --------
    >>> stream = Dataset([([[0, 1]], "ham"), ([[2, 3]], "spam"), ([[4, 5]], "ham")], shuffle=False)
    >>> stream.classes, stream.counts, stream.width, stream.read(1, 2).x.tolist()
    (('ham', 'spam'), (2, 1), 2, [[2.0, 3.0]])
    """

    def __init__(
        self,
        source: object,
        label: str = "label",
        features: Sequence[str] | None = None,
        *,
        transform: Callable[[Any], object] | None = None,
        seed: int = 0,
        shuffle: bool = True,
        passes: int | None = 1,
    ) -> None:
        self.seed, self.shuffle, self.passes = whole("seed", seed), bool(shuffle), checked_passes(passes)
        self.label, self.transform = label, transform
        self._source = open_source(source, label, features)
        self._values, self._value = class_values(label_column(self._source.labels()))
        self.classes, numbers = numbers_by_name(self._values, self._source.names())
        self._number = numbers[self._value]
        self._y = labels_of(self._number, len(self.classes))
        self._layout = FeatureOrder()
        self.width = len(self._row(0, self._source.get([0])[0]))

    classes: tuple[str, ...]
    width: int

    @property
    def rows(self) -> int:
        """Number of examples in one pass."""
        return len(self._y)

    @property
    def label_type(self) -> str:
        """Type of the labels; "str" if they are text or if the data set names its classes."""
        return fitting_type(self.classes, type_of_labels(self._values))

    @property
    def counts(self) -> tuple[int, ...]:
        """Number of rows of each class."""
        return tuple(np.bincount(self._number, minlength=len(self.classes)).tolist())

    @property
    def length(self) -> int | None:
        """Rows times passes; None if the stream never ends."""
        return None if self.passes is None else self.rows * self.passes

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 by which a resumed run recognizes the same data in the same order.

        It covers all labels, and the features of the first and the last example. Hashing all features would need a pass
        over the whole data set.
        """
        known = (self.width, self.classes, self.seed, self.shuffle)
        digest = hashlib.sha256(repr(known).encode() + self._y.tobytes())
        ends = [0, self.rows - 1]
        for row, item in zip(ends, self._source.get(ends), strict=True):
            digest.update(self._row(row, item, self.width).astype("<f4").tobytes())
        return digest.hexdigest()

    def _make(self, index: Ints) -> Examples:
        key = rows_at(index, self.rows, self.seed, self.shuffle)
        x, weight = np.empty((len(key), self.width), np.float32), np.empty(len(key))
        rows: list[int] = key.tolist()
        for place, (row, item) in enumerate(zip(rows, self._source.get(rows), strict=True)):
            x[place] = self._row(row, item, self.width)
            weight[place] = positive(f"the weight of example {row}", item.weight)
        return Examples(x, self._y[key], index, key, weight)

    def _row(self, row: int, item: Item, width: int | None = None) -> Floats:
        features, label, _ = item
        known = label_name(self._values[self._value[row]])
        if label_name(label) != known:
            raise InputError(
                f"example {row} has the label {label_name(label)!r}, but {known!r} in the list of all labels",
                why="an example must be the same each time it is read",
                remedy="give a data set whose targets are the labels of its examples",
            )
        made = features if self.transform is None else self.transform(features)
        return as_row(self._layout.arrange(made, row), row, width)

    def __repr__(self) -> str:
        return (
            f"Dataset({self.rows} rows of {self.width}, seed={self.seed}, shuffle={self.shuffle}, passes={self.passes})"
        )
