"""Choice of the feature, label and weight columns of a table, with checks of their names and types."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from paraactive.errors import InputError, quoted_names
from paraactive.streams.tables.arrow import is_label, is_number
from paraactive.streams.tables.feature_columns import Feature, parse_feature


@dataclass(frozen=True)
class ChosenColumns:
    """The columns that are read from a table.

    Parameters
    ----------
    features : tuple of Feature
        The features.
    label : str or None
        Label column.
    weight : str or None
        Weight column.
    all_others : bool
        Whether the features are all other columns by default.
    may_miss : bool, default=False
        Whether values of features may be missing.
    """

    features: tuple[Feature, ...]
    label: str | None
    weight: str | None
    all_others: bool
    may_miss: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the features."""
        return tuple(dict.fromkeys(feature.column for feature in self.features))

    @property
    def categories(self) -> tuple[str, ...]:
        """Columns of the features that are encoded, and read as text."""
        return tuple(dict.fromkeys(feature.column for feature in self.features if feature.value is not None))

    @property
    def numbers(self) -> tuple[str, ...]:
        """Columns that must be numeric."""
        features = tuple(name for name in self.columns if name not in self.categories)
        return features if self.weight is None else (*features, self.weight)

    @property
    def label_and_weight(self) -> tuple[str, ...]:
        """Label and weight column, if they are given."""
        return tuple(name for name in (self.label, self.weight) if name is not None)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all chosen columns."""
        return (*self.columns, *self.label_and_weight)


def choose_columns(
    source: str,
    kinds: dict[str, Any],
    index_columns: tuple[str, ...],
    features: Sequence[str] | None,
    label: str | None,
    weight: str | None,
    may_miss: bool = False,
) -> ChosenColumns:
    """Choose the columns of a table by name.

    Parameters
    ----------
    source : str
        Name of the file, for error messages.
    kinds : dict of str to pyarrow.DataType
        Types of all columns by name.
    index_columns : tuple of str
        Columns that are features only if they are named, such as the index of a pandas frame.
    features : sequence of str or None
        Feature columns, or names that `parse_feature` reads; None for all but label, weight and index columns.
    label : str or None
        Label column.
    weight : str or None
        Weight column.
    may_miss : bool, default=False
        Whether values of features may be missing.

    Returns
    -------
    ChosenColumns
        The columns.

    Raises
    ------
    InputError
        If a column does not exist or is chosen twice, or if there are no features.
    """
    names = list(kinds)
    for name in (label, weight):
        if name is not None:
            check_column(source, name, names)
    special = (label, weight)
    if weight is not None and weight == label:
        raise InputError(
            f"the column {weight!r} is label and weight",
            why="one column cannot be both",
            remedy="name another column as the weight, or none",
        )
    wanted = (
        [name for name in names if name not in (*special, *index_columns)] if features is None else _listed(features)
    )
    parsed = tuple(parse_feature(name, names) for name in wanted)
    for column in dict.fromkeys(feature.column for feature in parsed):
        check_column(source, column, names)
        if column in special:
            raise InputError(
                f"the column {column!r} is among the features",
                why=f"it is the {'label' if column == label else 'weight'}",
                remedy="leave it out of features",
            )
    if not wanted:
        raise InputError(
            f"{source} has only the columns {quoted_names(names)}",
            why="there are no features to learn from",
            remedy="give a file with the features and the label",
        )
    return ChosenColumns(parsed, label, weight, features is None, may_miss)


def check_types(source: str, kinds: dict[str, Any], chosen: ChosenColumns) -> None:
    """Check the types of the chosen columns.

    Parameters
    ----------
    source : str
        Name of the file, for error messages.
    kinds : dict of str to pyarrow.DataType
        Types of all columns by name.
    chosen : ChosenColumns
        The columns to check.

    Raises
    ------
    InputError
        If the label is neither text nor numeric, or a feature or weight is not numeric.
    """
    label = chosen.label
    if label is not None and not is_label(kinds[label]):
        raise InputError(
            f"the label {label!r} of {source} is of type {kinds[label]}",
            why="a label must be text or a number",
            remedy="write it as text, integers or booleans",
        )
    others = [name for name in chosen.numbers if not is_number(kinds[name])]
    others += [name for name in chosen.categories if not is_label(kinds[name])]
    if others:
        listing = ", ".join(f"{name!r} ({kinds[name]})" for name in others[:5]) + (", ..." if len(others) > 5 else "")
        numbers = [name for name in chosen.numbers if name not in others]
        raise InputError(
            f"{source} has columns that are not numbers, {listing}",
            why="features and weights must be real numbers",
            remedy=f"select the numeric ones, as features=[{quoted_names(numbers[:3]) or '...'}], "
            "or make one feature of each value of a text column with encode='onehot'",
        )


def check_column(source: str, name: str, names: list[str]) -> None:
    """Check that a column exists.

    Parameters
    ----------
    source : str
        Name of the file, for the error message.
    name : str
        Name of the column.
    names : list of str
        Names of all columns.

    Raises
    ------
    InputError
        If there is no such column. The message suggests a similar name.
    """
    if name in names:
        return
    near = [each for each in names if each.lower() == str(name).lower()]
    near = near or difflib.get_close_matches(str(name), names, n=1)
    raise InputError(
        f"no column {name!r} in {source}",
        why=f"its columns are {quoted_names(names)}",
        remedy=f"did you mean {near[0]!r}?" if near else "name one of these",
    )


def check_names(source: str, names: list[str]) -> None:
    """Check that all column names are different.

    Parameters
    ----------
    source : str
        Name of the file, for the error message.
    names : list of str
        Names of all columns.

    Raises
    ------
    InputError
        If two columns have the same name.
    """
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(
            f"{source} has two columns {twice!r}", why="column names must be different", remedy="rename one of them"
        )


def _listed(features: Sequence[str]) -> list[str]:
    names = [features] if isinstance(features, str) else list(features)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"features has {twice!r} twice", why="each column is one feature", remedy="name it once")
    return names
