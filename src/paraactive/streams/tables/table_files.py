"""The files of a table, Parquet or CSV: opening, scanning the labels, and decoding shards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeAlias, cast

import numpy as np

from paraactive.basics.validation import one_of
from paraactive.data.examples import Doubles, Floats, Labels
from paraactive.data.labels import labels_of
from paraactive.errors import InputError, quoted_names
from paraactive.streams.locations import changed_data, find_files, suffix_of
from paraactive.streams.tables import csv_files, parquet_files
from paraactive.streams.tables.arrow import (
    coded_labels,
    feature_rows,
    is_number,
    is_text,
    number_range,
    text_values,
    weight_column,
)
from paraactive.streams.tables.csv_files import CsvFiles
from paraactive.streams.tables.feature_columns import centered, check_features, one_hot
from paraactive.streams.tables.parquet_files import ParquetFiles
from paraactive.streams.tables.shards import Shard
from paraactive.streams.tables.table_columns import ChosenColumns, choose_columns
from paraactive.streams.tables.table_labels import LabelCount

Paths: TypeAlias = "str | Path | Sequence[str | Path]"
Files: TypeAlias = ParquetFiles | CsvFiles

SUFFIXES = (*parquet_files.SUFFIXES, *csv_files.SUFFIXES)


class DecodedRows(NamedTuple):
    """Decoded rows.

    Parameters
    ----------
    x : ndarray of float32, shape (n, features)
        Features.
    y : ndarray of int8, shape (n,)
        Labels; 0 if there is no label column.
    weight : ndarray of float64 or None
        Weights, if there is a weight column.
    """

    x: Floats
    y: Labels
    weight: Doubles | None

    @property
    def nbytes(self) -> int:
        """Number of bytes of all arrays."""
        return self.x.nbytes + self.y.nbytes + (0 if self.weight is None else self.weight.nbytes)


def listed_paths(path: Paths) -> list[str | Path]:
    """Return a path or several paths as a list.

    Parameters
    ----------
    path : str, Path or sequence of them
        Path or paths.

    Returns
    -------
    list of str or Path
        The paths.

    Raises
    ------
    InputError
        If the value is not a path, or an empty list.
    """
    given = cast(object, [path] if isinstance(path, str | Path) else path)
    if not isinstance(given, Sequence) or not all(isinstance(each, str | Path) for each in cast("list[object]", given)):
        raise InputError(
            f"path is {path!r}",
            why="it must be a path or a list of paths",
            remedy="give a path, a pattern, or a list of them",
        )
    if not given:
        raise InputError("no files are given", why="the list is empty", remedy="give at least one path")
    return list(cast("Sequence[str | Path]", given))


def open_files(path: Paths) -> Files:
    """Open the files of a table.

    Parameters
    ----------
    path : str, Path or sequence of them
        Files, folders, patterns or addresses.

    Returns
    -------
    ParquetFiles or CsvFiles
        The opened files.

    Raises
    ------
    InputError
        If no file is found, or the files are of two kinds.
    """
    files = tuple(file for each in listed_paths(path) for file in find_files(each, SUFFIXES))
    kinds = {suffix_of(file) in parquet_files.SUFFIXES for file in files}
    if len(kinds) > 1:
        raise InputError(
            f"{quoted_names([*files])} are of two kinds",
            why="all files of a table must be Parquet or all CSV",
            remedy="give a pattern that matches one kind, as folder/*.parquet",
        )
    return ParquetFiles(files) if kinds == {True} else CsvFiles(files)


def feature_names_for(
    path: Paths, columns: Sequence[str], missing: str | None = None, encode: str | None = None
) -> tuple[str, ...]:
    """Return the names of the features that are made of columns of a table, as `Table` makes them.

    Parameters
    ----------
    path : str, Path or sequence of them
        File or files.
    columns : sequence of str
        The columns.
    missing : {"mean"}, optional
        Values may be missing. Default: a missing value is an error.
    encode : {"onehot"}, optional
        Text columns become one feature for each value. Default: text columns are an error.

    Returns
    -------
    tuple of str
        Names that `open_rows` takes.
    """
    files = open_files(path)
    chosen = choose_columns(files.files[0], files.kinds, files.index_columns, columns, None, None, missing is not None)
    chosen = encode_texts(files, chosen, encode)
    files.use_columns(chosen)
    return tuple(feature.name for feature in center(files, chosen, scan(files, chosen)).features)


class Scanned(NamedTuple):
    """What is known of files after they were scanned.

    Parameters
    ----------
    labels : LabelCount
        Count of the labels.
    ranges : dict of str to tuple of (float, float)
        Smallest and largest value of numeric columns, as far as they are known.
    """

    labels: LabelCount
    ranges: dict[str, tuple[float, float]]


def encode_texts(files: Files, chosen: ChosenColumns, encode: str | None) -> ChosenColumns:
    """Replace text columns by one feature for each of their values. This reads these columns.

    Parameters
    ----------
    files : ParquetFiles or CsvFiles
        Opened files.
    chosen : ChosenColumns
        Columns of the table.
    encode : {"onehot"} or None
        None: text columns stay, and are refused later.

    Returns
    -------
    ChosenColumns
        The columns, with the values that the files have.
    """
    if encode is None:
        return chosen
    one_of("encoding", encode, ("onehot",))
    plain = [feature.column for feature in chosen.features if feature.value is None]
    # Dates and times in CSV files are read as text. Other columns that are not numbers are refused later.
    is_csv = isinstance(files, CsvFiles)
    texts = tuple(name for name in plain if is_text(files.kinds[name]) or (is_csv and not is_number(files.kinds[name])))
    if not texts:
        return chosen
    values: dict[str, set[str]] = {name: set() for name in texts}
    for table in files.texts(texts):
        for name, own in values.items():
            own |= text_values(table.column(name))
    encoded = replace(chosen, features=one_hot(files.files[0], chosen.features, values))
    check_features(files.files[0], encoded.features, files.kinds)
    return encoded


def center(files: Files, chosen: ChosenColumns, scanned: Scanned) -> ChosenColumns:
    """Center the columns whose differences float32 cannot hold.

    Parameters
    ----------
    files : ParquetFiles or CsvFiles
        Opened files.
    chosen : ChosenColumns
        Columns of the table.
    scanned : Scanned
        Their ranges.

    Returns
    -------
    ChosenColumns
        The columns.
    """
    made = replace(chosen, features=centered(chosen.features, scanned.ranges))
    if made != chosen:
        check_features(files.files[0], made.features, files.kinds)
    return made


def scan(files: Files, chosen: ChosenColumns) -> Scanned:
    """Read all labels, and check the features and weights that are read on the way.

    Parameters
    ----------
    files : ParquetFiles or CsvFiles
        Opened files.
    chosen : ChosenColumns
        Columns of the table.

    Returns
    -------
    Scanned
        Count of the labels, and the ranges of the columns.

    Raises
    ------
    InputError
        If there are no rows, or a value cannot be used.
    """
    labels = LabelCount(files.files[0], text=isinstance(files, CsvFiles))
    ranges = {} if isinstance(files, CsvFiles) else files.ranges(chosen.numbers)
    for file, first, table in files.scan():
        if files.scan_reads_features:
            feature_rows(table, chosen.features, file, first, chosen.may_miss)
            for name in chosen.numbers:
                _widen(ranges, name, number_range(table.column(name)))
        if chosen.weight is not None:
            weight_column(table, chosen.weight, file, first)
        if chosen.label is not None:
            labels.add(*coded_labels(table.column(chosen.label)), file, first)
    if not any(piece.rows for piece in files.pieces):
        raise InputError(
            f"{files.files[0]} has no rows", why="there is nothing to learn from", remedy="give a file with examples"
        )
    return Scanned(labels, ranges)


def _widen(ranges: dict[str, tuple[float, float]], name: str, more: tuple[float, float] | None) -> None:
    if more is not None:
        low, high = ranges.get(name, more)
        ranges[name] = min(low, more[0]), max(high, more[1])


def decode(files: Files, chosen: ChosenColumns, shard: Shard, numbers: dict[object, int], classes: int) -> DecodedRows:
    """Decode the rows of a shard.

    Parameters
    ----------
    files : ParquetFiles or CsvFiles
        Opened files.
    chosen : ChosenColumns
        Columns of the table.
    shard : Shard
        Shard to decode.
    numbers : dict
        Class number of each label value.
    classes : int
        Number of classes.

    Returns
    -------
    DecodedRows
        The rows.

    Raises
    ------
    InputError
        If a value cannot be used, or the file has changed since it was opened.
    """
    parts: list[DecodedRows] = []
    for file, first, table in files.tables(shard.pieces, chosen.names):
        x = feature_rows(table, chosen.features, file, first, chosen.may_miss)
        y = np.zeros(table.num_rows, np.int8)
        if chosen.label is not None:
            values, codes = coded_labels(table.column(chosen.label))
            own = np.array([numbers.get(value, -1) for value in values], np.int64)[codes]
            if (own < 0).any():  # All labels were known when the files were opened.
                raise changed_data(file)
            y = labels_of(own, classes)
        parts.append(
            DecodedRows(x, y, None if chosen.weight is None else weight_column(table, chosen.weight, file, first))
        )
    return join(parts)


def join(parts: Sequence[DecodedRows]) -> DecodedRows:
    """Join decoded rows.

    Parameters
    ----------
    parts : sequence of DecodedRows
        At least one part.

    Returns
    -------
    DecodedRows
        The rows of all parts, in order.
    """
    if len(parts) == 1:
        return parts[0]
    x, y = np.concatenate([part.x for part in parts]), np.concatenate([part.y for part in parts])
    weights = [part.weight for part in parts if part.weight is not None]
    return DecodedRows(x, y, np.concatenate(weights) if weights else None)
