"""The two ways in which data sets are read: pairs one by one, as torch has them, and columns, as Hugging Face has them.

Neither library is imported: what counts is what the object can do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from paraactive.errors import InputError, quoted_names
from paraactive.streams.array_checks import check_classes, label_name
from paraactive.streams.items import FeatureOrder, Item, as_label, split_item
from paraactive.streams.tables.table_columns import check_column


class DatasetSource(Protocol):
    """A data set, as the stream reads it."""

    def labels(self) -> NDArray[Any]:
        """Of all examples."""
        ...

    def names(self) -> tuple[str, ...] | None:
        """Of the classes 0, 1, 2, if the data set has them."""
        ...

    def get(self, rows: list[int]) -> list[Item]:
        """The examples with these numbers."""
        ...


class ItemSource:
    """Examples that are asked for one by one."""

    def __init__(self, data: Any, label: str, features: Sequence[str] | None) -> None:
        self._data, self._label, self._features = data, label, features
        self._layout = FeatureOrder()

    def labels(self) -> NDArray[Any]:
        """The attribute `targets` or `labels`, if it has one for each example; otherwise all examples are read."""
        count = len(self._data)
        for name in ("targets", "labels"):
            known = getattr(self._data, name, None)
            if known is not None and hasattr(known, "__len__") and len(known) == count:
                return np.asarray([as_label(each) for each in known])
        return np.asarray([label for start in range(0, count, 1024) for label in self._some(start, count)])

    def _some(self, start: int, count: int) -> list[Any]:
        return [item.label for item in self.get(list(range(start, min(start + 1024, count))))]

    def names(self) -> None:
        """None: the labels are their own names."""

    def get(self, rows: list[int]) -> list[Item]:
        """The examples with these numbers; the first that is asked for, number 0, says which features there are."""
        return [self._get(row) for row in rows]

    def _get(self, row: int) -> Item:
        features, label, weight = split_item(self._data[row], self._label, self._features, row)
        return Item(self._layout.arrange(features, row), as_label(label), as_label(weight))


class ColumnSource:
    """Columns of which any rows are asked for at once, as dictionaries."""

    def __init__(self, data: Any, label: str, features: Sequence[str] | None) -> None:
        _check_untransformed(data)
        columns: list[str] = list(data.column_names)
        for name in (label, *(features or ())):
            check_column("the data set", name, columns)
        self._names = [name for name in columns if name != label] if features is None else list(features)
        if not self._names:
            raise InputError(
                f"the data set has only the column {label!r}",
                why="there are no features to learn from",
                remedy="give one with the features and the label",
            )
        self._label = label
        self._data = data.select_columns([*self._names, label]).with_format("numpy")

    def labels(self) -> NDArray[Any]:
        """The column of the labels."""
        return np.asarray(self._data.select_columns([self._label])[:][self._label])

    def names(self) -> tuple[str, ...] | None:
        """Those of a ClassLabel."""
        return class_names(self._data, self._label)

    def get(self, rows: list[int]) -> list[Item]:
        """The examples with these numbers."""
        if not rows:
            return []
        columns = self._data[rows]
        labels = [as_label(label) for label in columns[self._label]]
        if len(self._names) == 1:
            return [Item(*pair) for pair in zip(columns[self._names[0]], labels, strict=True)]
        lines = zip(*(columns[name] for name in self._names), strict=True)
        return [
            Item(dict(zip(self._names, line, strict=True)), label) for line, label in zip(lines, labels, strict=True)
        ]


def _check_untransformed(data: Any) -> None:
    """An error if the data set changes its columns whenever they are read, which reading them as arrays would undo."""
    form: Any = getattr(data, "format", None)
    if isinstance(form, dict) and form.get("type") == "custom":  # pyright: ignore[reportUnknownMemberType]
        raise InputError(
            "the data set has a transform of its own",
            why="its columns are read as they are stored",
            remedy="take it off, as data.with_format(None), and give it as transform=..., or apply it with data.map",
        )


def open_source(data: Any, label: str, features: Sequence[str] | None) -> DatasetSource:
    """The data set as what it can be read as; an error if it has no length or cannot be asked for an example."""
    if isinstance(data, Mapping):
        names = [str(name) for name in data]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        raise InputError(
            f"a data set of type {type(data).__name__}, which has {quoted_names(names)}",  # pyright: ignore[reportUnknownArgumentType]
            why="its examples cannot be asked for by number",
            remedy="give one of its parts, as data['train'], or a list of pairs (x, y)",
        )
    if not hasattr(data, "__len__") or not hasattr(data, "__getitem__"):
        raise InputError(
            f"a data set of type {type(data).__name__}",
            why="it has no length, or its examples cannot be asked for by number",
            remedy="read it once, forwards, as IterableStream(source, classes=...)",
        )
    if len(data) == 0:
        raise InputError("the data set is empty", why="there is nothing to learn from", remedy="give examples")
    columns = hasattr(data, "column_names") and hasattr(data, "select_columns")
    return ColumnSource(data, label, features) if columns else ItemSource(data, label, features)


def class_names(data: Any, label: str) -> tuple[str, ...] | None:
    """The names of the classes 0, 1, 2, if the data set gives its labels names."""
    kinds: Any = getattr(data, "features", None)
    kind = kinds.get(label) if hasattr(kinds, "get") else None
    names = getattr(kind, "names", None)
    return None if names is None else tuple(label_name(name) for name in names)


def numbers_by_name(values: NDArray[Any], names: tuple[str, ...] | None) -> tuple[tuple[str, ...], NDArray[np.intp]]:
    """The names of the classes, and for each of the different labels the number of its class.

    >>> numbers_by_name(np.array([0, 2]), ("cat", "dog", "owl"))
    (('cat', 'dog', 'owl'), array([0, 2]))
    """
    if names is None:
        return tuple(label_name(value) for value in values), np.arange(len(values))
    check_classes(list(names))
    outside = [value for value in values.tolist() if not 0 <= value < len(names)]
    if outside:
        raise InputError(
            f"there are labels {outside[0]}",
            why=f"the data set has names for 0 to {len(names) - 1}; a label that is missing is often written -1",
            remedy="remove the examples without a label",
        )
    return names, values.astype(np.intp)
