"""The door to pyarrow, and its columns as numbers and labels. Nothing else of the package imports it."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraactive.basics.optional import require
from paraactive.data.examples import Doubles, Floats
from paraactive.errors import InputError
from paraactive.streams.array_checks import label_name
from paraactive.streams.tables.line_numbers import describe_row

_BLOCK = 2048
"""Rows that are turned from columns at a time."""


def pyarrow_module(module: str = "pyarrow") -> Any:
    """Pyarrow, or a module of it."""
    return require(module, extra="files", what="reading Parquet and CSV files")


def is_number(kind: Any) -> bool:
    """True for a type of whole, real or decimal numbers, or of truth values."""
    types, kind = pyarrow_module().types, _plain(kind)
    return any(
        test(kind) for test in (types.is_boolean, types.is_integer, types.is_floating, types.is_decimal, types.is_null)
    )


def is_label(kind: Any) -> bool:
    """True for a type that names classes: text, numbers or truth values."""
    types, kind = pyarrow_module().types, _plain(kind)
    texts = (types.is_string, types.is_large_string, types.is_string_view, types.is_binary, types.is_large_binary)
    return is_number(kind) or any(test(kind) for test in texts)


def is_text(kind: Any) -> bool:
    """True for a type of labels that are not numbers."""
    return is_label(kind) and not is_number(kind)


def same_kind(one: Any, other: Any) -> bool:
    """True if the types have the same values, however they are stored."""
    return _plain(one) == _plain(other) or any(kind(one) and kind(other) for kind in (is_text, _is_counted))


def _is_counted(kind: Any) -> bool:
    """True for numbers that are not truth values: 1 is one label in all of their types, and True another."""
    return is_number(kind) and not pyarrow_module().types.is_boolean(_plain(kind))


def _plain(kind: Any) -> Any:
    return kind.value_type if pyarrow_module().types.is_dictionary(kind) else kind


def feature_rows(table: Any, names: tuple[str, ...], file: str, first: int) -> Floats:
    """These columns as rows of float32; an error that names the file, the row and the column if one is not finite."""
    x = _pages(table.num_rows, len(names))
    columns = [_numbers(table.column(name)) for name in names]
    # An overflow is reported below in our words, not in numpy's. Some rows at a time, which stay in the cache.
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, len(x), _BLOCK):
            rows = slice(start, start + _BLOCK)
            for place, column in enumerate(columns):
                x[rows, place] = column[rows]
    flawed = ~np.isfinite(x)
    if flawed.any():
        row, place = divmod(int(flawed.argmax()), len(names))
        raise _flaw(file, first + row, names[place], table.column(names[place])[row].as_py())
    return x


def _pages(rows: int, width: int) -> Floats:
    """Room for rows in pages of its own, which the system has back as soon as they are forgotten.

    malloc would keep them, in as many places as there are threads that decode: memory would grow from pass to pass.
    """
    size = rows * width
    pages = mmap.mmap(-1, max(4 * size, 1), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return np.frombuffer(pages, np.float32, size).reshape(rows, width)


def weight_column(table: Any, name: str, file: str, first: int) -> Doubles:
    """The weights of the rows; an error that names the file and the row if one is not a finite number above 0."""
    weight = _numbers(table.column(name)).astype(np.float64)
    flawed = ~((weight > 0) & np.isfinite(weight))
    if flawed.any():
        row = int(flawed.argmax())
        raise InputError(
            f"{file} has {table.column(name)[row].as_py()} at {describe_row(file, first + row)}, column {name!r}",
            why="the weight of an example is a finite number above 0",
            remedy="leave out rows of weight 0, and fill in the weights of the others",
        )
    return weight


def coded_labels(column: Any) -> tuple[list[Any], NDArray[np.int64]]:
    """The different values of a column, None for those that are missing, and for each row the number of its own."""
    pa = pyarrow_module()
    values: list[Any] = []
    codes: list[NDArray[np.int64]] = []
    for chunk in column.chunks:
        coded = chunk if pa.types.is_dictionary(chunk.type) else chunk.dictionary_encode()
        numbers = coded.indices.cast("int64").fill_null(len(coded.dictionary))
        codes.append(numbers.to_numpy(zero_copy_only=False) + len(values))
        known = coded.dictionary
        if is_text(known.type):
            known = known.cast(pa.large_binary())  # Python would refuse text that is not UTF-8.
        values += [*map(_plain_value, known.to_pylist()), None]
    return values, np.concatenate([np.zeros(0, np.int64), *codes])


def _plain_value(value: Any) -> Any:
    """A value as Python has it; a decimal as a float; None for NaN."""
    if isinstance(value, bytes):
        return label_name(value)
    if value is None or isinstance(value, str | bool | int):
        return value
    return None if value != value else float(value)


def _numbers(column: Any) -> NDArray[Any]:
    """A column of numbers as numpy has it; what is missing becomes NaN."""
    types = pyarrow_module().types
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if types.is_decimal(column.type) or types.is_null(column.type):
        column = column.cast("float64")
    elif types.is_boolean(column.type):
        column = column.cast("uint8")
    return column.to_numpy()


def _flaw(file: str, row: int, name: str, value: Any) -> InputError:
    where = f"at {describe_row(file, row)}, column {name!r}"
    if value is None:
        return InputError(
            f"{file} has no value {where}",
            why="a score needs finite numbers",
            remedy=f"fill it in, remove that row, or leave {name!r} out of features",
        )
    if np.isfinite(float(value)):
        return InputError(
            f"{file} has {float(value):g} {where}, which does not fit",
            why="features are held in float32, which ends at 3.4e38",
            remedy="scale that column down",
        )
    return InputError(
        f"{file} has {value} {where}",
        why="a score needs finite numbers",
        remedy=f"remove that row, fill in the value, or leave {name!r} out of features",
    )
