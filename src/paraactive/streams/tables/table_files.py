"""The files of a table, Parquet or CSV: opening, scanning the labels, and decoding shards."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias, cast

import numpy as np

from paraactive.data.examples import Doubles, Floats, Labels
from paraactive.data.labels import labels_of
from paraactive.errors import InputError, quoted_names
from paraactive.streams.locations import changed_data, find_files, suffix_of
from paraactive.streams.tables import csv_files, parquet_files
from paraactive.streams.tables.arrow import coded_labels, feature_rows, weight_column
from paraactive.streams.tables.csv_files import CsvFiles
from paraactive.streams.tables.parquet_files import ParquetFiles
from paraactive.streams.tables.shards import Shard
from paraactive.streams.tables.table_columns import ChosenColumns
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


def scan(files: Files, chosen: ChosenColumns) -> LabelCount:
    """Read all labels, and check the features and weights that are read on the way.

    Parameters
    ----------
    files : ParquetFiles or CsvFiles
        Opened files.
    chosen : ChosenColumns
        Columns of the table.

    Returns
    -------
    LabelCount
        Count of the labels.

    Raises
    ------
    InputError
        If there are no rows, or a value cannot be used.
    """
    labels = LabelCount(files.files[0], text=isinstance(files, CsvFiles))
    for file, first, table in files.scan():
        if files.scan_reads_features:
            feature_rows(table, chosen.features, file, first)
        if chosen.weight is not None:
            weight_column(table, chosen.weight, file, first)
        if chosen.label is not None:
            labels.add(*coded_labels(table.column(chosen.label)), file, first)
    if not any(piece.rows for piece in files.pieces):
        raise InputError(
            f"{files.files[0]} has no rows", why="there is nothing to learn from", remedy="give a file with examples"
        )
    return labels


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
        x, y = feature_rows(table, chosen.features, file, first), np.zeros(table.num_rows, np.int8)
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
