"""The labels of a table, read piece by piece: the classes, their counts and their names."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from paraactive.data.labels import MAX_CLASSES, type_of_labels
from paraactive.errors import InputError, quoted_names
from paraactive.streams.label_checks import check_classes, label_name
from paraactive.streams.tables.csv_files import is_number_text
from paraactive.streams.tables.line_numbers import describe_row

Label: TypeAlias = str | bool | int | float

_MISSING = {"", "na", "n/a", "nan", "null", "none", "#n/a"}


class LabelCount:
    """Count the labels of a column without holding it in memory.

    Parameters
    ----------
    source : str
        Name of the file, for error messages.
    text : bool
        Whether the labels are text of a CSV file, which may stand for numbers or truth values.

    Examples
    --------
    >>> count = LabelCount("data.csv", text=True)
    >>> count.add(["10", "9", None], np.array([0, 1, 0]), "data.csv", 0)
    >>> count.classes(None)
    (('9', '10'), (1, 2), {'10': 1, '9': 0})
    """

    def __init__(self, source: str, text: bool) -> None:
        self._source, self._text = source, text
        self._numbers: dict[Label, int] = {}
        self._counts: list[int] = []
        self._first_rows: list[tuple[str, int]] = []
        self._digest = hashlib.sha256()

    def add(self, values: Sequence[Label | None], codes: NDArray[np.int64], file: str, first: int) -> None:
        """Count more rows of a file.

        Parameters
        ----------
        values : list
            The different values of the rows.
        codes : ndarray of int64
            Index into `values` for each row.
        file : str
            The file, for error messages.
        first : int
            Number of the first row in the file.

        Raises
        ------
        InputError
            If a label is missing, or there are too many classes.
        """
        counts = np.bincount(codes, minlength=len(values)).tolist()
        own = np.zeros(len(values), np.uint8)
        for code in (code for code, count in enumerate(counts) if count):
            value = values[code]
            if value is None:
                raise _missing(file, first + int((codes == code).argmax()))
            if value not in self._numbers:
                self._add_label(value, file, first + int((codes == code).argmax()))
            own[code] = self._numbers[value]
            self._counts[own[code]] += counts[code]
        self._digest.update(own[codes].data)

    def _add_label(self, value: Label, file: str, row: int) -> None:
        self._numbers[value] = len(self._counts)
        self._counts.append(0)
        self._first_rows.append((file, row))
        if len(self._counts) > 2 * MAX_CLASSES:  # Two spellings of a number are one class.
            raise InputError(
                f"the labels of {self._source} have more than {MAX_CLASSES} classes, "
                f"{quoted_names(list(self._named()))}",
                why=f"a classifier needs 2 to {MAX_CLASSES} classes",
                remedy="name the label column, as label=..., or merge classes into groups",
            )

    def _named(self) -> dict[str, Label]:
        """Return the values by name, sorted by value."""
        return {label_name(value): value for value in sorted(map(self._typed, self._numbers), key=_sortable)}

    def _typed(self, value: Label) -> Label:
        """Return a text of a CSV file as a number or truth value, if all texts are such."""
        if not self._text:
            return value
        return _KINDS[self._kind](str(value))

    @property
    def _kind(self) -> str:
        texts = [text for text in map(str, self._numbers) if text.strip().lower() not in _MISSING]
        if texts and all(map(is_number_text, texts)):
            return "number"
        return "truth" if texts and {text.lower() for text in texts} <= {"true", "false"} else "text"

    def classes(self, wanted: tuple[str, ...] | None) -> tuple[tuple[str, ...], tuple[int, ...], dict[object, int]]:
        """Return the classes of the column.

        Parameters
        ----------
        wanted : tuple of str or None
            Names of the classes in their order; None for the sorted labels.

        Returns
        -------
        names : tuple of str
            Names of the classes.
        counts : tuple of int
            Number of rows of each class.
        numbers : dict
            Class number of each value.

        Raises
        ------
        InputError
            If a label is missing or not in `wanted`, or if the number of classes is not 2 to 127.
        """
        self._check_missing(wanted or ())
        names = tuple(self._named())
        if wanted is None:
            check_classes(list(names))
        else:
            self._check_known(wanted)
        classes = names if wanted is None else wanted
        numbers: dict[object, int] = {value: classes.index(self._name(value, classes)) for value in self._numbers}
        counts = np.zeros(len(classes), np.int64)
        for value, number in self._numbers.items():
            counts[numbers[value]] += self._counts[number]
        return classes, tuple(counts.tolist()), numbers

    @property
    def label_type(self) -> str:
        """Type of the labels: numpy's name of it, or "str". Text of a CSV file is numeric if all labels are numbers."""
        if self._text and self._kind == "number" and not all(_is_whole(str(text)) for text in self._numbers):
            return "float64"
        return type_of_labels(self._typed(value) for value in self._numbers)

    def _name(self, value: Label, classes: tuple[str, ...]) -> str:
        """Return the name of a value. A text that is the name of a class keeps that name."""
        return str(value) if self._text and value in classes else label_name(self._typed(value))

    @property
    def digest(self) -> str:
        """Digest of all labels, in the order of the rows."""
        return self._digest.hexdigest() + repr([label_name(value) for value in self._numbers])

    def _check_missing(self, wanted: tuple[str, ...]) -> None:
        if not self._text:
            return
        missing = _MISSING if self._kind != "text" else {""}
        for text, number in self._numbers.items():
            if str(text).strip().lower() in missing and text not in wanted:
                raise _missing(*self._first_rows[number])

    def _check_known(self, wanted: tuple[str, ...]) -> None:
        for value, number in self._numbers.items():
            if self._name(value, wanted) not in wanted:
                file, row = self._first_rows[number]
                raise InputError(
                    f"unknown label {label_name(self._typed(value))!r} in {file}, first at {describe_row(file, row)}",
                    why=f"the classes are {quoted_names(list(wanted))}",
                    remedy="remove those rows, or list all classes",
                )


def _sortable(value: Label) -> Any:
    """Return the value itself. All labels of a column have comparable types, which the type checker cannot know."""
    return value


def _missing(file: str, row: int) -> InputError:
    return InputError(
        f"{file} has no label at {describe_row(file, row)}",
        why="each example must have one label",
        remedy="remove the rows without a label",
    )


def _number(text: str) -> int | float:
    value = float(text)
    return int(text) if _is_whole(text) else int(value) if value.is_integer() else value


def _is_whole(text: str) -> bool:
    return text.strip().lstrip("+-").isdigit()


def _truth(text: str) -> bool:
    return text.lower() == "true"


_KINDS: dict[str, Callable[[str], Label]] = {"number": _number, "truth": _truth, "text": str}
