"""The files of a table, whatever their kind: opened, gone through once, decoded shard by shard."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, cast

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
    """Decoded rows; of those that were read for their features alone, y is 0."""

    x: Floats
    y: Labels
    weight: Doubles | None

    @property
    def nbytes(self) -> int:
        return self.x.nbytes + self.y.nbytes + (0 if self.weight is None else self.weight.nbytes)


def listed_paths(path: Paths) -> list[str | Path]:
    """The path, or the paths, if that is what they are."""
    given: Any = [path] if isinstance(path, str | Path) else path
    if not isinstance(given, Sequence) or not all(isinstance(each, str | Path) for each in cast("list[Any]", given)):
        raise InputError(
            f"path is {path!r}", why="it says where the files are", remedy="give a path, a pattern, or a list of them"
        )
    if not given:
        raise InputError("no files are given", why="the list is empty", remedy="give at least one path")
    return list(cast("Sequence[str | Path]", given))


def open_files(path: Paths) -> Files:
    """The files at this path, all of one kind."""
    files = tuple(file for each in listed_paths(path) for file in find_files(each, SUFFIXES))
    kinds = {suffix_of(file) in parquet_files.SUFFIXES for file in files}
    if len(kinds) > 1:
        raise InputError(
            f"{quoted_names([*files])} are of two kinds",
            why="a table is of Parquet files or of CSV files",
            remedy="give a pattern that fits one kind, as folder/*.parquet",
        )
    return ParquetFiles(files) if kinds == {True} else CsvFiles(files)


def scan(files: Files, chosen: ChosenColumns) -> LabelCount:
    """One pass over the labels, and over whatever else can be checked on the way."""
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


def decode(files: Files, chosen: ChosenColumns, shard: Shard, numbers: dict[Any, int], classes: int) -> DecodedRows:
    """The rows of a shard; `numbers` says which of the classes each value of the label is."""
    parts: list[DecodedRows] = []
    for file, first, table in files.tables(shard.pieces, chosen.names):
        x, y = feature_rows(table, chosen.features, file, first), np.zeros(table.num_rows, np.int8)
        if chosen.label is not None:
            values, codes = coded_labels(table.column(chosen.label))
            own = np.array([numbers.get(value, -1) for value in values], np.int64)[codes]
            if (own < 0).any():  # All labels were met when the files were opened.
                raise changed_data(file)
            y = labels_of(own, classes)
        parts.append(
            DecodedRows(x, y, None if chosen.weight is None else weight_column(table, chosen.weight, file, first))
        )
    return join(parts)


def join(parts: Sequence[DecodedRows]) -> DecodedRows:
    """The parts one after the other."""
    if len(parts) == 1:
        return parts[0]
    x, y = np.concatenate([part.x for part in parts]), np.concatenate([part.y for part in parts])
    weights = [part.weight for part in parts if part.weight is not None]
    return DecodedRows(x, y, np.concatenate(weights) if weights else None)
