"""Which columns of a table are features, label and weight, by name; and what is wrong with the names and types."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from paraactive.errors import InputError, quoted_names
from paraactive.streams.tables.arrow import is_label, is_number


@dataclass(frozen=True)
class ChosenColumns:
    """The columns that are read."""

    features: tuple[str, ...]
    label: str | None
    weight: str | None
    all_others: bool
    """True if the features are all other columns."""

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns that have to be numbers."""
        return self.features if self.weight is None else (*self.features, self.weight)

    @property
    def label_and_weight(self) -> tuple[str, ...]:
        """The label and the weight, if there are."""
        return tuple(name for name in (self.label, self.weight) if name is not None)

    @property
    def names(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.features, *self.label_and_weight)


def choose_columns(
    source: str,
    kinds: dict[str, Any],
    index_columns: tuple[str, ...],
    features: Sequence[str] | None,
    label: str | None,
    weight: str | None,
) -> ChosenColumns:
    """The columns by name; by default the features are all but label, weight and those that stand aside."""
    names = list(kinds)
    for name in (label, weight):
        if name is not None:
            check_column(source, name, names)
    special = (label, weight)
    if weight is not None and weight == label:
        raise InputError(
            f"the column {weight!r} is label and weight",
            why="a label says what an example is, and a weight what it counts for",
            remedy="name another column as the weight, or none",
        )
    wanted = (
        [name for name in names if name not in (*special, *index_columns)] if features is None else _listed(features)
    )
    for name in wanted:
        check_column(source, name, names)
        if name in special:
            raise InputError(
                f"the column {name!r} is among the features",
                why=f"it is the {'label' if name == label else 'weight'}",
                remedy="leave it out of features",
            )
    if not wanted:
        raise InputError(
            f"{source} has only the columns {quoted_names(names)}",
            why="there are no features to learn from",
            remedy="give a file with the features and the label",
        )
    return ChosenColumns(tuple(wanted), label, weight, features is None)


def check_types(source: str, kinds: dict[str, Any], chosen: ChosenColumns) -> None:
    """An error that names the columns of another type than they need."""
    label = chosen.label
    if label is not None and not is_label(kinds[label]):
        raise InputError(
            f"the label {label!r} of {source} is of type {kinds[label]}",
            why="labels are names or numbers of classes",
            remedy="write it as text, whole numbers or truth values",
        )
    others = [name for name in chosen.numbers if not is_number(kinds[name])]
    if others:
        listing = ", ".join(f"{name!r} ({kinds[name]})" for name in others[:5]) + (", ..." if len(others) > 5 else "")
        numbers = [name for name in chosen.numbers if name not in others]
        raise InputError(
            f"{source} has columns that are not numbers, {listing}",
            why="features and weights are real numbers",
            remedy=f"select the numeric ones, as features=[{quoted_names(numbers[:3]) or '...'}], "
            "or encode the others as numbers",
        )


def check_column(source: str, name: str, names: list[str]) -> None:
    """An error, with a guess at what was meant, if there is no such column."""
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
    """An error if two columns have one name."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(
            f"{source} has two columns {twice!r}", why="columns are told apart by name", remedy="rename one of them"
        )


def _listed(features: Sequence[str]) -> list[str]:
    names = [features] if isinstance(features, str) else list(features)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"features has {twice!r} twice", why="a column is one feature", remedy="name it once")
    return names
