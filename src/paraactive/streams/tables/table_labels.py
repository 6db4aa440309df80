"""The labels of a table, met shard by shard: which there are, how many of each, and what they are called."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraactive.data.labels import MAX_CLASSES, type_of_labels
from paraactive.errors import InputError, quoted_names
from paraactive.streams.array_checks import check_classes, label_name
from paraactive.streams.tables.csv_files import is_number_text
from paraactive.streams.tables.line_numbers import describe_row

_MISSING = {"", "na", "n/a", "nan", "null", "none", "#n/a"}


class LabelCount:
    """Counts the labels of a column that is too long to be held.

    >>> count = LabelCount("data.csv", text=True)
    >>> count.add(["10", "9", None], np.array([0, 1, 0]), "data.csv", 0)
    >>> count.classes(None)
    (('9', '10'), (1, 2), {'10': 1, '9': 0})
    """

    def __init__(self, source: str, text: bool) -> None:
        self._source, self._text = source, text
        self._numbers: dict[Any, int] = {}
        self._counts: list[int] = []
        self._met: list[tuple[str, int]] = []
        self._digest = hashlib.sha256()

    def add(self, values: list[Any], codes: NDArray[np.int64], file: str, first: int) -> None:
        """More rows of this file: the different values, and the number of each row's own."""
        counts = np.bincount(codes, minlength=len(values)).tolist()
        own = np.zeros(len(values), np.uint8)
        for code in (code for code, count in enumerate(counts) if count):
            value = values[code]
            if value not in self._numbers:
                self._meet(value, file, first + int((codes == code).argmax()))
            own[code] = self._numbers[value]
            self._counts[own[code]] += counts[code]
        self._digest.update(own[codes].data)

    def _meet(self, value: Any, file: str, row: int) -> None:
        if value is None:
            raise _missing(file, row)
        self._numbers[value] = len(self._counts)
        self._counts.append(0)
        self._met.append((file, row))
        if len(self._counts) > 2 * MAX_CLASSES:  # Two spellings of a number are one class.
            raise InputError(
                f"the labels of {self._source} have more than {MAX_CLASSES} classes, "
                f"{quoted_names(list(self._named()))}",
                why=f"two are told apart, or more, up to {MAX_CLASSES}",
                remedy="name the column of the labels, as label=..., or make groups of them",
            )

    def _named(self) -> dict[str, Any]:
        """The values by name, in the order of their values."""
        return {label_name(value): value for value in sorted(self._typed(value) for value in self._numbers)}

    def _typed(self, value: Any) -> Any:
        """A text of a CSV file as the number or truth value that it is, if all are."""
        if not self._text:
            return value
        return _KINDS[self._kind](value)

    @property
    def _kind(self) -> str:
        texts = [text for text in self._numbers if text.strip().lower() not in _MISSING]
        if texts and all(map(is_number_text, texts)):
            return "number"
        return "truth" if texts and {text.lower() for text in texts} <= {"true", "false"} else "text"

    def classes(self, wanted: tuple[str, ...] | None) -> tuple[tuple[str, ...], tuple[int, ...], dict[Any, int]]:
        """The names of the classes, the rows of each, and which class each value is."""
        self._check_missing(wanted or ())
        names = tuple(self._named())
        if wanted is None:
            check_classes(list(names))
        else:
            self._check_known(wanted)
        classes = names if wanted is None else wanted
        numbers = {value: classes.index(self._name(value, classes)) for value in self._numbers}
        counts = np.zeros(len(classes), np.int64)
        for value, number in numbers.items():
            counts[number] += self._counts[self._numbers[value]]
        return classes, tuple(counts.tolist()), numbers

    @property
    def label_type(self) -> str:
        """The type of the labels, by numpy's name for it. A CSV file has numbers or truth values if all labels are."""
        if self._text and self._kind == "number" and not all(map(_is_whole, self._numbers)):
            return "float64"
        return type_of_labels(self._typed(value) for value in self._numbers)

    def _name(self, value: Any, classes: tuple[str, ...]) -> str:
        """What a value is called: a text that is the name of a class is that class, whatever the others look like."""
        return value if self._text and value in classes else label_name(self._typed(value))

    @property
    def digest(self) -> str:
        """Of all labels, in the order of the rows."""
        return self._digest.hexdigest() + repr([label_name(value) for value in self._numbers])

    def _check_missing(self, wanted: tuple[str, ...]) -> None:
        if not self._text:
            return
        missing = _MISSING if self._kind != "text" else {""}
        for text, number in self._numbers.items():
            if text.strip().lower() in missing and text not in wanted:
                raise _missing(*self._met[number])

    def _check_known(self, wanted: tuple[str, ...]) -> None:
        for value, number in self._numbers.items():
            if self._name(value, wanted) not in wanted:
                file, row = self._met[number]
                raise InputError(
                    f"unknown label {label_name(self._typed(value))!r} in {file}, first at {describe_row(file, row)}",
                    why=f"the classes are {quoted_names(list(wanted))}",
                    remedy="remove those rows, or name all classes",
                )


def _missing(file: str, row: int) -> InputError:
    return InputError(
        f"{file} has no label at {describe_row(file, row)}",
        why="each example has one label",
        remedy="remove the rows without a label",
    )


def _number(text: str) -> int | float:
    value = float(text)
    return int(text) if _is_whole(text) else int(value) if value.is_integer() else value


def _is_whole(text: str) -> bool:
    return text.strip().lstrip("+-").isdigit()


def _truth(text: str) -> bool:
    return text.lower() == "true"


_KINDS: dict[str, Callable[[str], Any]] = {"number": _number, "truth": _truth, "text": str}
