"""Features of a table: a column, the indicator COLUMN=VALUE of one value of a text column, or COLUMN - NUMBER.

The name of a feature says how it is made. So a run file or model file that has the names of its features can read the
same features from other files, and needs no further description.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from paraactive.data.precision import lossy_columns
from paraactive.errors import InputError, counted

MAX_VALUES = 100
"""Largest number of values of a text column that is encoded."""
_MINUS = re.compile(r"(?P<column>.+) - (?P<offset>-?[0-9.]+(?:e[+-]?[0-9]+)?)")


@dataclass(frozen=True)
class Feature:
    """How one feature is made of a column.

    Parameters
    ----------
    column : str
        Name of the column.
    value : str, optional
        The feature is 1 where the column has this value, otherwise 0. Default: the feature is the column itself.
    offset : float, default=0.0
        Number that is subtracted from the column, in float64.

    Examples
    --------
    >>> Feature("carrier", "AA").name, Feature("time", offset=1.7e9).name, Feature("age").name
    ('carrier=AA', 'time - 1700000000', 'age')
    """

    column: str
    value: str | None = None
    offset: float = 0.0

    @property
    def name(self) -> str:
        """Name from which `parse_feature` makes the same feature."""
        if self.value is not None:
            return f"{self.column}={self.value}"
        return f"{self.column} - {self.offset:.17g}" if self.offset else self.column


def parse_feature(name: str, columns: Collection[str]) -> Feature:
    """Return the feature of a name.

    Parameters
    ----------
    name : str
        A column, COLUMN=VALUE or COLUMN - NUMBER.
    columns : collection of str
        Names of all columns. A column may have "=" or " - " in its own name.

    Returns
    -------
    Feature
        The feature. A name that fits no column gives a feature of a column with this name.

    Examples
    --------
    >>> parse_feature("a=b=c", ["a", "a=b"])
    Feature(column='a=b', value='c', offset=0.0)
    >>> parse_feature("time - 1.5", ["time"])
    Feature(column='time', value=None, offset=1.5)
    """
    if name in columns:
        return Feature(name)
    for place in [found.start() for found in re.finditer("=", name)][::-1]:
        if name[:place] in columns:
            return Feature(name[:place], name[place + 1 :])
    minus = _MINUS.fullmatch(name)
    if minus and minus["column"] in columns:
        return Feature(minus["column"], offset=float(minus["offset"]))
    return Feature(name)


def one_hot(source: str, features: Sequence[Feature], values: Mapping[str, set[str]]) -> tuple[Feature, ...]:
    """Replace text columns by one feature for each of their values.

    Parameters
    ----------
    source : str
        Name of the file, for the error message.
    features : sequence of Feature
        The features.
    values : mapping of str to set of str
        Values of the text columns.

    Returns
    -------
    tuple of Feature
        The features, with values in sorted order. An InputError names the columns that have too many values.
    """
    many = [f"{name!r} ({counted(len(own), 'value')})" for name, own in values.items() if len(own) > MAX_VALUES]
    if many:
        raise InputError(
            f"{source} has text columns with many values, {', '.join(many[:5])}{', ...' if len(many) > 5 else ''}",
            why=f"each value becomes one feature, and at most {MAX_VALUES} values are encoded",
            remedy="leave these columns out of features, or group their rare values",
        )
    encoded: list[Feature] = []
    for feature in features:
        if feature.column in values and feature.value is None:
            encoded += [Feature(feature.column, value) for value in sorted(values[feature.column])]
        else:
            encoded.append(feature)
    return tuple(encoded)


def centered(features: Sequence[Feature], ranges: Mapping[str, tuple[float, float]]) -> tuple[Feature, ...]:
    """Subtract a number from each column whose differences float32 cannot hold.

    Parameters
    ----------
    features : sequence of Feature
        The features.
    ranges : mapping of str to tuple of (float, float)
        Smallest and largest value of numeric columns.

    Returns
    -------
    tuple of Feature
        The features; most stay as they are.

    Examples
    --------
    >>> [feature.name for feature in centered([Feature("time"), Feature("age")], {"time": (1.7e9, 1.7e9 + 99)})]
    ['time - 1700000000', 'age']
    """
    return tuple(
        Feature(each.column, offset=_offset(*ranges[each.column]))
        if each.column in ranges and each.value is None and not each.offset
        else each
        for each in features
    )


def check_features(source: str, features: Sequence[Feature], columns: Collection[str]) -> None:
    """Check that the names of features can be read again.

    Parameters
    ----------
    source : str
        Name of the file, for the error message.
    features : sequence of Feature
        The features. An InputError is raised if two have one name, or a name belongs to a column.
    columns : collection of str
        Names of all columns of the file.
    """
    names = [feature.name for feature in features]
    for feature in features:
        if names.count(feature.name) > 1 or parse_feature(feature.name, columns) != feature:
            raise InputError(
                f"{source} has two features {feature.name!r}",
                why=f"one is made of the column {feature.column!r}, and the other has this name",
                remedy="rename one of the columns, or leave one of them out of features",
            )


def _offset(low: float, high: float) -> float:
    """The roundest number that leaves differences which float32 can hold; 0 if the column itself can be held."""
    if not _is_lossy(low, high):
        return 0.0
    candidates = (float(f"{(low + high) / 2:.{digits}g}") for digits in range(2, 17))
    return next((each for each in candidates if not _is_lossy(low - each, high - each)), (low + high) / 2)


def _is_lossy(low: float, high: float) -> bool:
    return bool(lossy_columns(np.array([low]), np.array([high]))[0])
