"""Wrapper of pyarrow: types of columns, and conversion of columns to numpy. Only this module imports pyarrow."""

from __future__ import annotations

import mmap
from collections.abc import Mapping
from typing import Any, SupportsFloat, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from paraactive.basics.optional import require
from paraactive.data.examples import Doubles, Floats
from paraactive.errors import InputError, counted
from paraactive.streams.label_checks import label_name
from paraactive.streams.tables.feature_columns import Feature
from paraactive.streams.tables.line_numbers import describe_row

# pyarrow is optional and has no type information, so its objects are typed as Any under these names.
ArrowType: TypeAlias = Any
ArrowTable: TypeAlias = Any
ArrowColumn: TypeAlias = Any

# Number of rows that are transposed at a time, so that they stay in the processor cache.
_BLOCK = 2048


def pyarrow_module(module: str = "pyarrow") -> Any:
    """Import pyarrow or one of its modules.

    Parameters
    ----------
    module : str, default="pyarrow"
        Name of the module.

    Returns
    -------
    module
        The module.

    Raises
    ------
    MissingExtraError
        If pyarrow is not installed.
    """
    return require(module, extra="files", what="reading Parquet and CSV files")


def is_number(kind: ArrowType) -> bool:
    """Return whether a type is numeric.

    Parameters
    ----------
    kind : pyarrow.DataType
        Type of a column.

    Returns
    -------
    bool
        True for integers, floats, decimals, booleans and the null type.
    """
    types, kind = pyarrow_module().types, _plain(kind)
    return any(
        test(kind) for test in (types.is_boolean, types.is_integer, types.is_floating, types.is_decimal, types.is_null)
    )


def is_label(kind: ArrowType) -> bool:
    """Return whether a column of this type can be the label.

    Parameters
    ----------
    kind : pyarrow.DataType
        Type of a column.

    Returns
    -------
    bool
        True for text and numeric types.
    """
    types, kind = pyarrow_module().types, _plain(kind)
    texts = (types.is_string, types.is_large_string, types.is_string_view, types.is_binary, types.is_large_binary)
    return is_number(kind) or any(test(kind) for test in texts)


def is_text(kind: ArrowType) -> bool:
    """Return whether a type is text.

    Parameters
    ----------
    kind : pyarrow.DataType
        Type of a column.

    Returns
    -------
    bool
        True for text and binary types.
    """
    return is_label(kind) and not is_number(kind)


def same_kind(one: ArrowType, other: ArrowType) -> bool:
    """Return whether two types hold the same labels in different representations.

    Parameters
    ----------
    one : pyarrow.DataType
        Type of a column.
    other : pyarrow.DataType
        Type of another column.

    Returns
    -------
    bool
        True if a label has the same name in both types.
    """
    return _plain(one) == _plain(other) or any(kind(one) and kind(other) for kind in (is_text, _is_counted))


def _is_counted(kind: ArrowType) -> bool:
    """Return whether a type is numeric but not boolean. 1 is the same label in all numeric types; True is another."""
    return is_number(kind) and not pyarrow_module().types.is_boolean(_plain(kind))


def _plain(kind: ArrowType) -> ArrowType:
    return kind.value_type if pyarrow_module().types.is_dictionary(kind) else kind


def feature_rows(
    table: ArrowTable, features: tuple[Feature, ...], file: str, first: int, may_miss: bool = False
) -> Floats:
    """Return features as rows of float32.

    Parameters
    ----------
    table : pyarrow.Table
        Rows of a file.
    features : tuple of Feature
        How the features are made of the columns.
    file : str
        The file, for the error message.
    first : int
        Number of the first row in the file, for the error message.
    may_miss : bool, default=False
        Whether values may be missing. A missing number is NaN, and all features of a missing text are 0.

    Returns
    -------
    ndarray of float32, shape (rows, features)
        Features.

    Raises
    ------
    InputError
        If a value is missing or not finite. The message names the file, the row and the column.
    """
    x = _pages(table.num_rows, len(features))
    columns = _feature_columns(table, features, file)
    # Overflow is reported below.
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, len(x), _BLOCK):
            rows = slice(start, start + _BLOCK)
            for place, (feature, column) in enumerate(zip(features, columns, strict=True)):
                x[rows, place] = column[rows] - feature.offset if feature.offset else column[rows]
    flawed = np.isinf(x) if may_miss else ~np.isfinite(x)
    if flawed.any():
        raise _flaw(table, features, file, first, *divmod(int(flawed.argmax()), len(features)))
    if may_miss and any(feature.value is not None for feature in features):
        texts = [place for place, feature in enumerate(features) if feature.value is not None]
        x[:, texts] = np.nan_to_num(x[:, texts])
    return x


def _feature_columns(table: ArrowTable, features: tuple[Feature, ...], file: str) -> list[NDArray[Any]]:
    """Return each feature as a column. The indicator of a missing text is NaN."""
    coded: dict[str, tuple[NDArray[np.object_], NDArray[np.int64]]] = {}
    columns: list[NDArray[Any]] = []
    for feature in features:
        column = table.column(feature.column)
        if feature.value is None:
            columns.append(_numbers(column))
            continue
        if feature.column not in coded:
            values, codes = coded_labels(column)
            coded[feature.column] = np.array([_category(value) for value in values], object), codes
            known = {each.value for each in features if each.column == feature.column}
            if table.num_rows and not is_text(column.type) and known.isdisjoint(coded[feature.column][0].tolist()):
                raise InputError(
                    f"the column {feature.column!r} of {file} ({column.type}) has no value that is known",
                    why=f"the model knows this column as text, such as {feature.value!r}",
                    remedy="write the column as the text that the training data has",
                )
        values, codes = coded[feature.column]
        indicator = [np.nan if value is None else float(value == feature.value) for value in values]
        columns.append(np.array(indicator, np.float32)[codes])
    return columns


def _category(value: object) -> str | None:
    """Return the name of a value of a text column; None if it is missing, which CSV files write as nothing."""
    return None if value is None or value == "" else label_name(value)


def text_values(column: ArrowColumn) -> set[str]:
    """Return the different values of a text column.

    Parameters
    ----------
    column : pyarrow.ChunkedArray
        A text column.

    Returns
    -------
    set of str
        The values; missing ones are left out.
    """
    return {name for name in map(_category, coded_labels(column)[0]) if name is not None}


def number_range(column: ArrowColumn) -> tuple[float, float] | None:
    """Return the smallest and the largest value of a numeric column.

    Parameters
    ----------
    column : pyarrow.ChunkedArray
        A numeric column.

    Returns
    -------
    tuple of (float, float) or None
        Both; None if no value is finite.
    """
    values = _numbers(column).astype(np.float64)
    values = values[np.isfinite(values)]
    return (float(values.min()), float(values.max())) if len(values) else None


def _pages(rows: int, width: int) -> Floats:
    """Return memory for rows in an anonymous map, which the system reclaims when the array is deleted.

    malloc would keep freed memory for each thread, so memory use would grow from pass to pass.
    """
    size = rows * width
    pages = mmap.mmap(-1, max(4 * size, 1), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return np.frombuffer(pages, np.float32, size).reshape(rows, width)


def weight_column(table: ArrowTable, name: str, file: str, first: int) -> Doubles:
    """Return the weight column.

    Parameters
    ----------
    table : pyarrow.Table
        Rows of a file.
    name : str
        Name of the weight column.
    file : str
        The file, for the error message.
    first : int
        Number of the first row in the file, for the error message.

    Returns
    -------
    ndarray of float64
        Weights.

    Raises
    ------
    InputError
        If a weight is not a finite number above 0.
    """
    weight = _numbers(table.column(name)).astype(np.float64)
    flawed = ~((weight > 0) & np.isfinite(weight))
    if flawed.any():
        row = int(flawed.argmax())
        raise InputError(
            f"{file} has {table.column(name)[row].as_py()} at {describe_row(file, first + row)}, column {name!r}",
            why="the weight of an example must be a finite number above 0",
            remedy="remove rows of weight 0, and fill in missing weights",
        )
    return weight


def coded_labels(column: ArrowColumn) -> tuple[list[Any], NDArray[np.int64]]:
    """Return the different values of a column and the index of each row's value.

    Parameters
    ----------
    column : pyarrow.ChunkedArray
        Label column.

    Returns
    -------
    values : list
        The different values; None for missing ones. A value may appear more than once.
    codes : ndarray of int64
        Index into `values` for each row.
    """
    pa = pyarrow_module()
    values: list[Any] = []
    codes: list[NDArray[np.int64]] = []
    for chunk in column.chunks:
        coded = chunk if pa.types.is_dictionary(chunk.type) else chunk.dictionary_encode()
        numbers = coded.indices.cast("int64").fill_null(len(coded.dictionary))
        codes.append(numbers.to_numpy(zero_copy_only=False) + len(values))
        known = coded.dictionary
        if is_text(known.type):
            known = known.cast(pa.large_binary())  # Python cannot decode text that is not UTF-8.
        values += [*map(_plain_value, known.to_pylist()), None]
    return values, np.concatenate([np.zeros(0, np.int64), *codes])


def _plain_value(value: object) -> str | bool | int | float | None:
    """Return a label as a Python value: decimals as float, NaN as None."""
    if isinstance(value, bytes):
        return label_name(value)
    if value is None or isinstance(value, str | bool | int):
        return value
    return None if value != value else float(cast(SupportsFloat, value))


def _numbers(column: ArrowColumn) -> NDArray[Any]:
    """Return a numeric column as a numpy array. Missing values become NaN."""
    types = pyarrow_module().types
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if types.is_decimal(column.type) or types.is_null(column.type):
        column = column.cast("float64")
    elif types.is_boolean(column.type):
        column = column.cast("uint8")
    return column.to_numpy()


def missing_values(file: str, where: str, counts: Mapping[str, int]) -> InputError:
    """Return the error for missing values of features.

    Parameters
    ----------
    file : str
        The file.
    where : str
        Place of the first missing value.
    counts : mapping of str to int
        Number of missing values of each column that has some.

    Returns
    -------
    InputError
        The error, which lists the columns.
    """
    listing = ", ".join(f"{name!r} ({count})" for name, count in list(counts.items())[:5])
    return InputError(
        f"{file} has no value {where}",
        why=f"a score needs finite numbers, and {counted(len(counts), 'column')} "
        f"{'lacks' if len(counts) == 1 else 'lack'} values: {listing}{', ...' if len(counts) > 5 else ''}",
        remedy="replace missing values by the mean of their column with missing='mean', fill them in, "
        "or leave out the rows or columns",
    )


def _flaw(table: ArrowTable, features: tuple[Feature, ...], file: str, first: int, row: int, place: int) -> InputError:
    name = features[place].column
    value = table.column(name)[row].as_py()
    where = f"at {describe_row(file, first + row)}, column {name!r}"
    if value is None or value == "" or value != value:
        names = dict.fromkeys(feature.column for feature in features)
        counts = {name: _count_missing(table.column(name)) for name in names}
        return missing_values(file, where, {name: count for name, count in counts.items() if count})
    if np.isfinite(float(value)):
        return InputError(
            f"{file} has {float(value):g} {where}, which does not fit",
            why="features are stored in float32, whose largest number is 3.4e38",
            remedy="scale the column down",
        )
    return InputError(
        f"{file} has {value} {where}",
        why="a score needs finite numbers",
        remedy=f"remove the row, fill in the value, or leave {name!r} out of features",
    )


def _count_missing(column: ArrowColumn) -> int:
    if not is_text(column.type):
        return int(np.count_nonzero(np.isnan(_numbers(column).astype(np.float64))))
    values, codes = coded_labels(column)
    return int(np.count_nonzero(np.array([_category(value) is None for value in values], bool)[codes]))
