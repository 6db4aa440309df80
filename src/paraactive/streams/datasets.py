"""Data sets of torch and Hugging Face, and lists of pairs, as streams."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from paraactive.errors import InputError
from paraactive.examples import Examples, Floats, Ints
from paraactive.labels import labels_of
from paraactive.streams.columns import class_values, label_column, label_name
from paraactive.streams.dataset_sources import Given, numbers_by_name, open_source
from paraactive.streams.items import as_row
from paraactive.streams.passes import checked_passes, rows_at
from paraactive.streams.positions import between, listed
from paraactive.validation import whole


class Dataset:
    """A stream over anything with a length whose examples can be asked for by number.

    `source` is a torch Dataset, or a list, of pairs (features, label); or a `datasets.Dataset` of Hugging Face, whose
    columns `label` and `features` name, by default all others. Features of any shape become a row of numbers, those of
    several columns one after the other. `transform` is called with the features of an example first, a
    dictionary if there are several columns. An example must be the same each time it is read: no random changes.

    All labels are needed at the beginning. They are taken from the label column, or from the attribute `targets` or
    `labels` of the source; if it has none, all examples are read once. It travels if the source can be pickled.

    >>> stream = Dataset([([[0, 1]], "ham"), ([[2, 3]], "spam"), ([[4, 5]], "ham")], shuffle=False)
    >>> stream.classes, stream.counts, stream.width, stream.read(1, 2).x.tolist()
    (('ham', 'spam'), (2, 1), 2, [[2.0, 3.0]])
    """

    def __init__(
        self,
        source: Any,
        label: str = "label",
        features: Sequence[str] | None = None,
        *,
        transform: Callable[[Any], Any] | None = None,
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
        self.width = len(self._row(0, self._source.get([0])[0]))

    classes: tuple[str, ...]
    """The names of the labels."""
    width: int
    """Numbers in the features of an example."""

    @property
    def rows(self) -> int:
        """Examples in one pass."""
        return len(self._y)

    @property
    def counts(self) -> tuple[int, ...]:
        """The rows of each class."""
        return tuple(np.bincount(self._number, minlength=len(self.classes)).tolist())

    @property
    def length(self) -> int | None:
        """Rows times passes; None if it never ends."""
        return None if self.passes is None else self.rows * self.passes

    @property
    def regenerates(self) -> bool:
        """False: the data is the user's, and may be gone when a run is resumed."""
        return False

    def read(self, first: int, last: int) -> Examples:
        """The examples at positions first <= index < last."""
        return self._make(between(first, last, self.length))

    def at(self, index: Ints) -> Examples:
        """The examples at these positions."""
        return self._make(listed(index, self.length))

    def _make(self, index: Ints) -> Examples:
        key = rows_at(index, self.rows, self.seed, self.shuffle)
        x = np.empty((len(key), self.width), np.float32)
        rows: list[int] = key.tolist()
        for place, (row, given) in enumerate(zip(rows, self._source.get(rows), strict=True)):
            x[place] = self._row(row, given, self.width)
        return Examples(x, self._y[key], index, key)

    def _row(self, row: int, given: Given, width: int | None = None) -> Floats:
        features, label = given
        known = label_name(self._values[self._value[row]])
        if label_name(label) != known:
            raise InputError(
                f"example {row} has the label {label_name(label)!r}, and {known!r} in the list of all labels",
                why="an example must be the same each time it is read",
                remedy="give a data set whose targets are the labels of its examples",
            )
        return as_row(features if self.transform is None else self.transform(features), row, width)

    def __repr__(self) -> str:
        return (
            f"Dataset({self.rows} rows of {self.width}, seed={self.seed}, shuffle={self.shuffle}, passes={self.passes})"
        )
