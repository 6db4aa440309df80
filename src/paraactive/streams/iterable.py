"""An iterable as a stream: read once, forwards, with a window of the latest examples to go back in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from threading import Lock
from typing import Any, NoReturn, SupportsIndex

import numpy as np

from paraactive.basics.validation import positive, whole
from paraactive.data.examples import Examples, Ints
from paraactive.data.labels import STR, fitting_type, labels_of, type_of_labels
from paraactive.errors import InputError, counted, quoted_names
from paraactive.streams.array_checks import check_classes, checked_class_names, label_name
from paraactive.streams.dataset_sources import class_names
from paraactive.streams.items import FeatureOrder, Item, as_label, as_row, split_item
from paraactive.streams.user_stream import UserStream

_REMEDY = "use one process, as engine='threads', or write the examples to a file first"


class IterableStream(UserStream):
    """A stream over any Python iterable of (x, y), (x, y, weight) or dictionaries, which is read as the run goes on.

    The labels must be known beforehand: `classes` names them in their order. A Hugging Face data set that is
    streamed may have the names itself; `label` and `features` name its columns. `length` says how many examples
    there are, if you know. The latest `window` examples are kept, so that nodes of one process can share them: it
    must be larger than a batch. What lies further back is gone, so the stream cannot be sent to other processes, nor
    read again by a resumed run.

    >>> lines = (([number, number % 7], "odd" if number % 2 else "even") for number in range(10**9))
    >>> stream = IterableStream(lines, classes=("even", "odd"))
    >>> stream.read(0, 3).y.tolist(), stream.read(500, 502).x.tolist()
    ([-1, 1, -1], [[500.0, 3.0], [501.0, 4.0]])
    """

    def __init__(
        self,
        iterable: Iterable[Any],
        classes: Sequence[Any] | None = None,
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
        self._items: Iterator[Any] = iter(iterable)
        self._lock = Lock()
        self._taken, self._layout = 0, FeatureOrder()
        first = self._next()
        self.width = len(as_row(first.features, 0, None if width is None else whole("width", width, least=1)))
        self._x = np.empty((self.window, self.width), np.float32)
        self._y, self._weight = np.empty(self.window, np.int8), np.empty(self.window)
        self._keep(first)

    classes: tuple[str, ...]
    """The names of the labels."""
    label_type: str
    """The type of `classes`, as it was given; "str" for text."""
    width: int
    """Numbers in the features of an example."""
    window: int
    """Examples that are kept."""

    @property
    def length(self) -> int | None:
        """Examples in the iterable, if it was said."""
        return self._length

    def _make(self, index: Ints) -> Examples:
        if len(index) == 0:
            return Examples.empty(self.width)
        with self._lock:
            self._check_near(int(index.min()), int(index.max()))
            while self._taken <= index.max():
                self._keep(self._next())
            place = index % self.window
            return Examples(self._x[place], self._y[place], index, importance=self._weight[place])

    def _check_near(self, first: int, last: int) -> None:
        oldest = max(self._taken - self.window, 0)
        if first < oldest:
            raise InputError(
                f"position {first} in an iterable that was read up to position {self._taken - 1}",
                why=f"it is read once, and only the latest {counted(self.window, 'example')} can be read again",
                remedy="use engine='threads' and a batch smaller than the window, or give a larger one as window=...",
            )
        if last - first >= self.window:
            raise InputError(
                f"positions {first} to {last} of an iterable at once",
                why=f"only the latest {counted(self.window, 'example')} can be read again",
                remedy=f"give a larger window, as window={2 * (last - first + 1)}",
            )

    def _next(self) -> Item:
        try:
            features, label, weight = split_item(next(self._items), *self._columns, self._taken)
        except StopIteration:
            raise InputError(
                f"the iterable ended after {counted(self._taken, 'example')}",
                why="the run wants more" if self._taken else "there is nothing to learn from",
                remedy=f"give examples={self._taken}" if self._taken else "give one that was not read before",
            ) from None
        return Item(self._layout.arrange(features, self._taken), as_label(label), as_label(weight))

    def _keep(self, item: Item) -> None:
        place, label = self._taken % self.window, item.label
        number = self._numbers.get(label_name(label))
        if number is None:
            raise InputError(
                f"example {self._taken} has the label {label_name(label)!r}",
                why=f"the classes are {quoted_names(list(self.classes))}",
                remedy="name all of them, as classes=(...)",
            )
        self._x[place] = as_row(item.features, self._taken, self.width)
        self._y[place] = labels_of(number, len(self.classes))
        self._weight[place] = positive(f"the weight of example {self._taken}", item.weight)
        self._taken += 1

    def __repr__(self) -> str:
        return f"IterableStream(width={self.width}, length={self.length}, window={self.window})"

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise InputError(
            "an iterable cannot be sent to another process", why="it is read once, where it is", remedy=_REMEDY
        )


def _named(data: Any, classes: Sequence[Any] | None, label: str) -> tuple[tuple[str, ...], dict[str, int]]:
    """The names of the classes, and which class each label is, by the label's name."""
    if classes is not None:
        names = checked_class_names(classes)
        return names, {name: number for number, name in enumerate(names)}
    known = class_names(data, label)
    if known is None:
        raise InputError(
            "classes is not given",
            why="an iterable is read as the run goes on, which needs the labels beforehand",
            remedy="name them in their order, as classes=('ham', 'spam')",
        )
    check_classes(list(known))
    return known, {str(number): number for number in range(len(known))}
