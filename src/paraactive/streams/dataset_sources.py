"""The two kinds of data sets: items read one by one (torch, lists) and columns (Hugging Face).

Neither library is imported. The methods of the object decide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from paraactive.errors import InputError, quoted_names
from paraactive.streams.items import FeatureOrder, Item, as_label, split_item
from paraactive.streams.label_checks import check_classes, label_name
from paraactive.streams.tables.table_columns import check_column


class ColumnData(Protocol):
    """The part of Hugging Face's `datasets.Dataset` that this module uses."""

    @property
    def column_names(self) -> list[str]:
        """Names of the columns."""
        ...

    def select_columns(self, names: list[str]) -> ColumnData:
        """See `datasets.Dataset.select_columns`."""
        ...

    def with_format(self, kind: str) -> ColumnData:
        """See `datasets.Dataset.with_format`."""
        ...

    def __getitem__(self, rows: slice | list[int]) -> dict[str, Sequence[object]]: ...


class DatasetSource(Protocol):
    """A data set as `Dataset` reads it."""

    def labels(self) -> NDArray[Any]:
        """Return the labels of all examples."""
        ...

    def names(self) -> tuple[str, ...] | None:
        """Return the names of the classes 0, 1, 2 and so on, or None if the data set has no names."""
        ...

    def get(self, rows: list[int]) -> list[Item]:
        """Return the examples with the given numbers.

        Parameters
        ----------
        rows : list of int
            Numbers of examples.

        Returns
        -------
        list of Item
            The examples in the given order.
        """
        ...


class ItemSource:
    """A data set whose items are read one by one.

    Parameters
    ----------
    data : sequence
        The data set.
    label : str
        Name of the label column, for dictionaries.
    features : sequence of str or None
        Names of the feature columns, for dictionaries.
    """

    def __init__(self, data: Sequence[object], label: str, features: Sequence[str] | None) -> None:
        self._data, self._label, self._features = data, label, features
        self._layout = FeatureOrder()

    def labels(self) -> NDArray[Any]:
        """Return the attribute `targets` or `labels` if its length fits; otherwise read all examples."""
        count = len(self._data)
        for name in ("targets", "labels"):
            known = getattr(self._data, name, None)
            if known is not None and hasattr(known, "__len__") and len(known) == count:
                return np.asarray([as_label(each) for each in known])
        return np.asarray([label for start in range(0, count, 1024) for label in self._labels_from(start, count)])

    def _labels_from(self, start: int, count: int) -> list[object]:
        return [item.label for item in self.get(list(range(start, min(start + 1024, count))))]

    def names(self) -> None:
        """Return None, because items have no class names."""

    def get(self, rows: list[int]) -> list[Item]:
        """See `DatasetSource.get`. The first call defines the order of named features."""
        return [self._get(row) for row in rows]

    def _get(self, row: int) -> Item:
        features, label, weight = split_item(self._data[row], self._label, self._features, row)
        return Item(self._layout.arrange(features, row), as_label(label), as_label(weight))


class ColumnSource:
    """A Hugging Face data set, whose columns are read for several rows at once.

    Parameters
    ----------
    data : datasets.Dataset
        The data set.
    label : str
        Name of the label column.
    features : sequence of str or None
        Names of the feature columns; None for all other columns.
    """

    def __init__(self, data: ColumnData, label: str, features: Sequence[str] | None) -> None:
        _check_untransformed(data)
        columns: list[str] = list(data.column_names)
        for name in (label, *(features or ())):
            check_column("the data set", name, columns)
        self._names = [name for name in columns if name != label] if features is None else list(features)
        if not self._names:
            raise InputError(
                f"the data set has only the column {label!r}",
                why="there are no features to learn from",
                remedy="give a data set with features and label",
            )
        self._label = label
        self._data = data.select_columns([*self._names, label]).with_format("numpy")

    def labels(self) -> NDArray[Any]:
        """Return the label column."""
        return np.asarray(self._data.select_columns([self._label])[:][self._label])

    def names(self) -> tuple[str, ...] | None:
        """Return the names of a ClassLabel column, or None."""
        return class_names(self._data, self._label)

    def get(self, rows: list[int]) -> list[Item]:
        """See `DatasetSource.get`."""
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


def _check_untransformed(data: ColumnData) -> None:
    """Raise InputError if the data set has its own transform, which reading columns as arrays would bypass."""
    form = getattr(data, "format", None)
    if isinstance(form, dict) and cast("dict[str, object]", form).get("type") == "custom":
        raise InputError(
            "the data set has a transform of its own",
            why="its columns are read without that transform",
            remedy="remove it with data.with_format(None) and give it as transform=..., or apply it with data.map",
        )


def open_source(data: object, label: str, features: Sequence[str] | None) -> DatasetSource:
    """Return the reader of a data set.

    Parameters
    ----------
    data : object
        A torch Dataset, a list, or a `datasets.Dataset` of Hugging Face.
    label : str
        Name of the label column.
    features : sequence of str or None
        Names of the feature columns; None for all other columns.

    Returns
    -------
    DatasetSource
        The reader.

    Raises
    ------
    InputError
        If the data set is empty, has no length, or its examples cannot be read by number.
    """
    if isinstance(data, Mapping):
        names = [str(name) for name in cast("Mapping[object, object]", data)]
        raise InputError(
            f"a mapping of {quoted_names(names)} is not a data set",
            why="its examples cannot be read by number",
            remedy="give one of its parts, as data['train'], or a list of pairs (x, y)",
        )
    if not hasattr(data, "__len__") or not hasattr(data, "__getitem__"):
        raise InputError(
            f"a data set of type {type(data).__name__} cannot be used",
            why="it has no length, or its examples cannot be read by number",
            remedy="read it once, as IterableStream(source, classes=...)",
        )
    items = cast("Sequence[object]", data)
    if len(items) == 0:
        raise InputError("the data set is empty", why="there is nothing to learn from", remedy="give examples")
    if hasattr(data, "column_names") and hasattr(data, "select_columns"):
        return ColumnSource(cast(ColumnData, data), label, features)
    return ItemSource(items, label, features)


def class_names(data: object, label: str) -> tuple[str, ...] | None:
    """Return the class names of a Hugging Face data set.

    Parameters
    ----------
    data : object
        Any data set.
    label : str
        Name of the label column.

    Returns
    -------
    tuple of str or None
        Names of the classes 0, 1, 2 and so on; None if the data set has no names.
    """
    kinds = getattr(data, "features", None)
    kind = kinds.get(label) if kinds is not None and hasattr(kinds, "get") else None
    names = getattr(kind, "names", None)
    return None if names is None else tuple(label_name(name) for name in names)


def numbers_by_name(values: NDArray[Any], names: tuple[str, ...] | None) -> tuple[tuple[str, ...], NDArray[np.intp]]:
    """Return the names of the classes, and the class number of each different label.

    Parameters
    ----------
    values : ndarray
        The different labels.
    names : tuple of str or None
        Names of the classes 0, 1, 2 and so on; None if the labels are their own names.

    Returns
    -------
    names : tuple of str
        Names of the classes.
    numbers : ndarray of int
        Class number of each label.

    Raises
    ------
    InputError
        If a label has no name.

    Examples
    --------
    >>> numbers_by_name(np.array([0, 2]), ("cat", "dog", "owl"))
    (('cat', 'dog', 'owl'), array([0, 2]))
    """
    if names is None:
        return tuple(label_name(value) for value in values), np.arange(len(values))
    check_classes(list(names))
    outside = [value for value in values.tolist() if not 0 <= value < len(names)]
    if outside:
        raise InputError(
            f"the data set has the label {outside[0]}",
            why=f"it has names for 0 to {len(names) - 1} only, and -1 often means a missing label",
            remedy="remove the examples without a label",
        )
    return names, values.astype(np.intp)
