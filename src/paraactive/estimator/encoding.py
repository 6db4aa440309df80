"""Text columns of X as one feature for each value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraactive.basics.validation import one_of
from paraactive.data.examples import Doubles
from paraactive.errors import InputError, counted
from paraactive.streams.label_checks import label_name
from paraactive.streams.sparse import is_sparse
from paraactive.streams.tables.feature_columns import MAX_VALUES

_TEXT_KINDS = "OUST"
"""Kinds of numpy types that may hold text."""


@dataclass(frozen=True)
class TextEncoder:
    """Replaces text columns by one column for each value, which is 1 where the text has this value and 0 elsewhere.

    Parameters
    ----------
    values : tuple of (tuple of str or None)
        For each column the values of the text, in sorted order; None for a column of numbers.

    Examples
    --------
    >>> X = np.array([["Rome", 1.5], ["Oslo", 2.5]], dtype=object)
    >>> encoder = TextEncoder.of(X)
    >>> encoder.apply(X).tolist()
    [[0.0, 1.0, 1.5], [1.0, 0.0, 2.5]]
    """

    values: tuple[tuple[str, ...] | None, ...]

    @staticmethod
    def of(X: Any) -> TextEncoder:
        """Find the text columns and their values.

        Parameters
        ----------
        X : DataFrame or array-like
            The rows of `fit`.

        Returns
        -------
        TextEncoder
            The encoder. An InputError names the columns that have too many values.
        """
        columns = _columns(X)
        values = tuple(_values(column) for column in columns)
        many = [
            f"{name!r} ({counted(len(own), 'value')})"
            for name, own in zip(_names(X, len(columns)), values, strict=True)
            if own is not None and len(own) > MAX_VALUES
        ]
        if many:
            raise InputError(
                f"X has text columns with many values, {', '.join(many[:5])}{', ...' if len(many) > 5 else ''}",
                why=f"each value becomes one feature, and at most {MAX_VALUES} values are encoded",
                remedy="leave these columns out, or group their rare values",
            )
        return TextEncoder(values)

    def apply(self, X: Any) -> Doubles:
        """Encode rows.

        Parameters
        ----------
        X : DataFrame or array-like
            Rows with the columns of `of`. A value that is not known is 0 in all columns of its text.

        Returns
        -------
        ndarray of float64
            The rows. A missing number is NaN, and so are all columns of a missing text.
        """
        parts: list[Doubles] = []
        columns = _columns(X)
        for name, column, values in zip(_names(X, len(columns)), columns, self.values, strict=True):
            parts.append(_numbers(column, name)[:, None] if values is None else _indicators(column, values))
        return np.concatenate(parts, axis=1)

    @property
    def texts(self) -> NDArray[np.bool_]:
        """Which of the encoded columns are of a text."""
        return np.concatenate([np.full(1 if own is None else len(own), own is not None) for own in self.values])


def encoder_for(X: Any, encode: str | None) -> TextEncoder | None:
    """The encoder that a user asks for.

    Parameters
    ----------
    X : DataFrame, array-like or sparse matrix
        The rows of `fit`.
    encode : {"onehot"} or None
        What the user gives. None: an InputError names the text columns of a DataFrame.

    Returns
    -------
    TextEncoder or None
        None if nothing is to be encoded.
    """
    if encode is not None:
        one_of("encoding", encode, ("onehot",))
        return None if is_sparse(X) else TextEncoder.of(X)
    if hasattr(X, "columns"):
        texts = [(name, _values(column)) for name, column in zip(X.columns, _columns(X), strict=True)]
        listed = [f"{name!r} ({counted(len(own), 'value')})" for name, own in texts if own is not None]
        if listed:
            raise InputError(
                f"X has text columns, {', '.join(listed[:5])}{', ...' if len(listed) > 5 else ''}",
                why="features must be numbers",
                remedy='make one feature of each value with encode="onehot", or leave the columns out',
            )
    return None


def _columns(X: Any) -> list[Any]:
    if hasattr(X, "columns"):
        return [X[name] for name in X.columns]
    array = np.asarray(X) if hasattr(X, "dtype") else np.asarray(X, object)
    if array.ndim != 2:
        raise InputError(
            f"X has {counted(array.ndim, 'dimension')}",
            why="it must have a row for each example and a column for each feature",
            remedy="Reshape your data with X.reshape(-1, 1) or X.reshape(1, -1)",
        )
    return list(array.T)


def _names(X: Any, count: int) -> Sequence[object]:
    return list(X.columns) if hasattr(X, "columns") else range(count)


def _values(column: Any) -> tuple[str, ...] | None:
    """The different values of a text column; None for numbers. A column with any text is a text column."""
    array = np.asarray(column)
    if array.dtype.kind not in _TEXT_KINDS:
        return None
    values = array.tolist()
    if not any(isinstance(value, str) for value in values):
        return None
    return tuple(sorted({label_name(value) for value in values if not _is_missing(value)}))


def _is_missing(value: object) -> bool:
    """Whether a value is None, NaN, or the NA of pandas, whose comparisons are not truth values."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or value != value


def _indicators(column: Any, values: tuple[str, ...]) -> Doubles:
    place = {value: number for number, value in enumerate(values)}
    found = np.zeros((len(column), len(values)))
    for row, value in enumerate(np.asarray(column).tolist()):
        if _is_missing(value):
            found[row] = np.nan
        elif label_name(value) in place:
            found[row, place[label_name(value)]] = 1.0
    return found


def _numbers(column: Any, name: object) -> Doubles:
    """A column of numbers, of which missing ones are NaN."""
    array = np.asarray(column)
    try:
        if array.dtype.kind in "Mm":
            raise TypeError
        if array.dtype.kind == "O":
            array = np.array([np.nan if _is_missing(value) else value for value in array.tolist()], object)
        return array.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"the column {name!r} of X ({getattr(column, 'dtype', array.dtype)}) has values that are no numbers",
            why="it has no text in the rows of fit, so it must be numeric",
            remedy="convert dates and times to numbers first, or leave the column out",
        ) from None
