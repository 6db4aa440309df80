"""A stream over an iterable, which is read once. A window of the latest examples can be read again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from threading import Lock
from typing import NoReturn, SupportsIndex

import numpy as np

from paraactive.basics.validation import positive, whole
from paraactive.data.examples import Examples, Ints
from paraactive.data.labels import STR, fitting_type, labels_of, type_of_labels
from paraactive.errors import InputError, counted, quoted_names
from paraactive.streams.dataset_sources import class_names
from paraactive.streams.items import FeatureOrder, Item, as_label, as_row, split_item
from paraactive.streams.label_checks import check_classes, checked_class_names, label_name
from paraactive.streams.user_stream import UserStream

_REMEDY = "use one process, as engine='threads', or write the examples to a file first"


class IterableStream(UserStream):
    """A stream over any Python iterable, which is read during the run.

    Only the latest `window` examples can be read again. So the stream cannot be sent to other processes, and a run on
    it cannot be resumed.

    Parameters
    ----------
    iterable : iterable
        Pairs (features, label), triples (features, label, weight) or dictionaries, or a streamed data set of Hugging
        Face.
    classes : sequence, optional
        All labels in their order. Default: the class names of a Hugging Face data set.
    width : int, optional
        Number of features. Default: that of the first example.
    length : int, optional
        Number of examples, if it is known.
    window : int, default=65536
        Number of latest examples that are held in memory. It must be larger than a batch.
    label : str, default="label"
        Name of the label column, for dictionaries.
    features : sequence of str, optional
        Names of the feature columns, for dictionaries. Default: all other columns.

    Attributes
    ----------
    classes : tuple of str
        Names of the labels.
    label_type : str
        Type of the labels; "str" for text.
    width : int
        Number of features.
    window : int
        Number of latest examples that can be read again.

    Examples
    --------
    >>> lines = (([number, number % 7], "odd" if number % 2 else "even") for number in range(10**9))
    >>> stream = IterableStream(lines, classes=("even", "odd"))
    >>> stream.read(0, 3).y.tolist(), stream.read(500, 502).x.tolist()
    ([-1, 1, -1], [[500.0, 3.0], [501.0, 4.0]])
    """

    def __init__(
        self,
        iterable: Iterable[object],
        classes: Sequence[object] | None = None,
        *,
        width: int | None = None,
        length: int | None = None,
        window: int = 65_536,
        label: str = "label",
        features: Sequence[str] | None = None,
    ) -> None:
        self._columns = label, features
        self.classes, self._numbers = _named(iterable, classes, label)
        self.label_type = STR if classes is None else fitting_type(self.classes, type_of_labels(classes))
        self._length = None if length is None else whole("length", length, least=1)
        self.window = whole("window", window, least=1)
        self._items: Iterator[object] = iter(iterable)
        self._lock = Lock()
        self._taken, self._layout = 0, FeatureOrder()
        first = self._next()
        self.width = len(as_row(first.features, 0, None if width is None else whole("width", width, least=1)))
        self._x = np.empty((self.window, self.width), np.float32)
        self._y, self._weight = np.empty(self.window, np.int8), np.empty(self.window)
        self._store(first)

    classes: tuple[str, ...]
    label_type: str
    width: int
    window: int

    @property
    def length(self) -> int | None:
        """Number of examples, if it was given."""
        return self._length

    def _make(self, index: Ints) -> Examples:
        if len(index) == 0:
            return Examples.empty(self.width)
        with self._lock:
            self._check_near(int(index.min()), int(index.max()))
            while self._taken <= index.max():
                self._store(self._next())
            place = index % self.window
            return Examples(self._x[place], self._y[place], index, importance=self._weight[place])

    def _check_near(self, first: int, last: int) -> None:
        oldest = max(self._taken - self.window, 0)
        if first < oldest:
            raise InputError(
                f"position {first} cannot be read from an iterable that has been read up to {self._taken - 1}",
                why=f"only the latest {counted(self.window, 'example')} can be read again",
                remedy=f"use engine='threads' and a batch smaller than the window, or give window={2 * self.window}",
            )
        if last - first >= self.window:
            raise InputError(
                f"positions {first} to {last} of an iterable cannot be read at once",
                why=f"only the latest {counted(self.window, 'example')} can be read again",
                remedy=f"give a larger window, as window={2 * (last - first + 1)}",
            )

    def _next(self) -> Item:
        try:
            features, label, weight = split_item(next(self._items), *self._columns, self._taken)
        except StopIteration:
            raise InputError(
                f"the iterable ended after {counted(self._taken, 'example')}",
                why="the run needs more" if self._taken else "there is nothing to learn from",
                remedy=f"give examples={self._taken}" if self._taken else "give an iterable that was not read before",
            ) from None
        return Item(self._layout.arrange(features, self._taken), as_label(label), as_label(weight))

    def _store(self, item: Item) -> None:
        place, label = self._taken % self.window, item.label
        number = self._numbers.get(label_name(label))
        if number is None:
            raise InputError(
                f"example {self._taken} has the label {label_name(label)!r}",
                why=f"the classes are {quoted_names(list(self.classes))}",
                remedy="list all classes, as classes=(...)",
            )
        self._x[place] = as_row(item.features, self._taken, self.width)
        self._y[place] = labels_of(number, len(self.classes))
        self._weight[place] = positive(f"the weight of example {self._taken}", item.weight)
        self._taken += 1

    def __repr__(self) -> str:
        return f"IterableStream(width={self.width}, length={self.length}, window={self.window})"

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise InputError(
            "an iterable cannot be sent to another process", why="it can be read once, in this process", remedy=_REMEDY
        )


def _named(data: object, classes: Sequence[object] | None, label: str) -> tuple[tuple[str, ...], dict[str, int]]:
    """Return the names of the classes, and the class number of each label by the label's name."""
    if classes is not None:
        names = checked_class_names(classes)
        return names, {name: number for number, name in enumerate(names)}
    known = class_names(data, label)
    if known is None:
        raise InputError(
            "classes is not given",
            why="an iterable is read during the run, which needs to know all labels at the start",
            remedy="list the labels in their order, as classes=('ham', 'spam')",
        )
    check_classes(list(known))
    return known, {str(number): number for number in range(len(known))}
