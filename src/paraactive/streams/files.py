"""A file of any kind that is known, by its name: as a stream, as test examples, or as rows to predict."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paraactive.data.examples import Examples, Features
from paraactive.errors import InputError, quoted_names
from paraactive.streams import svmlight_files
from paraactive.streams.array_checks import check_width, features_alone
from paraactive.streams.arrays import Arrays, load_like
from paraactive.streams.base import Stream
from paraactive.streams.locations import is_folder, is_pattern, is_remote, missing_file, suffix_of
from paraactive.streams.numpy_files import open_features
from paraactive.streams.svmlight_files import is_svmlight, read_svmlight
from paraactive.streams.tables import table_files
from paraactive.streams.tables.arrow import is_number
from paraactive.streams.tables.shards import make_shards
from paraactive.streams.tables.table import Table
from paraactive.streams.tables.table_columns import check_column, choose_columns
from paraactive.streams.tables.table_files import DecodedRows, Files, Paths, decode, join, open_files, scan

LABELS = ("label", "target", "class", "y")
"""What the column of the labels is called, if nobody says."""
SUFFIXES = (*table_files.SUFFIXES, ".npz", ".npy", *svmlight_files.SUFFIXES, ".txt")


def open_stream(
    path: Paths,
    *,
    label: str | None = None,
    features: Sequence[str] | None = None,
    weight: str | None = None,
    seed: int = 0,
    shuffle: bool = True,
    passes: int | None = 1,
) -> Stream:
    """The stream over a file: Parquet, CSV, numpy or svmlight, by the ending of its name, or any of them with .gz.

    Parquet and CSV may be several files, a folder or an address (see `Table`). If no `label` is named, it is the column
    label, target, class or y. The other files have no named columns (see `Arrays.load`).
    """
    if _is_table(path):
        if label is None:
            label = find_label(open_files(path))
        return Table(path, label, features=features, weight=weight, seed=seed, shuffle=shuffle, passes=passes)
    for name, given in (("label", label), ("features", features), ("weight", weight)):
        if given is not None:
            raise InputError(
                f"{name} is given for {path}",
                why="its columns have no names",
                remedy="leave it out, or write Parquet or CSV",
            )
    return Arrays.load(str(path), seed=seed, shuffle=shuffle, passes=passes)


def open_examples(
    path: Paths,
    classes: tuple[str, ...],
    width: int,
    *,
    label: str | None = None,
    features: Sequence[str] | None = None,
) -> Examples:
    """All examples of a file, such as a test set, with the classes and the width of a stream.

    `label` and `features` name the columns of Parquet and CSV files; others have no names.
    """
    if not _is_table(path):
        return load_like(str(path), classes, width)
    files = open_files(path)
    rows = _read(files, features, find_label(files) if label is None else label, classes)
    check_width(rows.x, width)
    return Examples(rows.x, rows.y, np.arange(len(rows.y)))


def open_rows(
    path: Paths,
    width: int | None = None,
    *,
    features: Sequence[str] | None = None,
    label: str | None = None,
    exclude: str | None = None,
) -> Features:
    r"""The features alone of all rows of a file, to predict their labels.

    `features` names the columns of a table. If nobody does, they are all columns; or all but the label, where that
    gives the `width`; the column `exclude` is never among them. Of numpy files see `open_features`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "rows.csv")
    ...     _ = path.write_text("a,b,label\n1,2,?\n3,4,?\n")
    ...     open_rows(path, width=2).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    if _is_table(path):
        files = open_files(path)
        names = _without_label(files, width, label, exclude) if features is None else features
        x = _read(files, names, None, ()).x
    elif is_svmlight(str(path)):
        x = features_alone(read_svmlight(Path(str(path)), width)[0])
    else:
        x = features_alone(open_features(Path(str(path)), width))
    if width is not None:
        check_width(x, width)
    return x


def open_column(path: Paths, name: str) -> list[Any]:
    r"""The values of one column of a table, such as an identifier: text of CSV files, any values of Parquet files.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "rows.csv")
    ...     _ = path.write_text("id,a\n007,1\n008,2\n")
    ...     open_column(path, "id")
    ['007', '008']
    """
    if not _is_table(path):
        raise InputError(
            f"the column {name!r} of {path} is asked for",
            why="its columns have no names",
            remedy="write Parquet or CSV",
        )
    files = open_files(path)
    check_column(files.files[0], name, list(files.kinds))
    return files.column(name)


def column_names(path: Paths) -> tuple[str, ...] | None:
    """The names of the columns of a table, without the index of a pandas frame; None if the file is of another kind."""
    return tuple(_plain_names(open_files(path))) if _is_table(path) else None


def number_columns(path: Paths) -> tuple[str, ...]:
    """The names of the columns of a table that hold numbers; an empty column holds none."""
    files = open_files(path)
    kinds = {name: files.kinds[name] for name in _plain_names(files)}
    return tuple(name for name, kind in kinds.items() if is_number(kind) and str(kind) != "null")


def _plain_names(files: Files) -> list[str]:
    return [name for name in files.kinds if name not in files.index_columns]


def find_label(files: Files) -> str:
    """The column of the labels, by its name."""
    names = _plain_names(files)
    found = [name for name in names if name.lower() in LABELS]
    if len(found) != 1:
        likely = [name for name in found or names if not looks_like_index(name)]
        raise InputError(
            f"{files.files[0]} has the columns {quoted_names(list(files.kinds))}",
            why=f"{quoted_names(found)} may all be the label"
            if found
            else f"no column is called {', '.join(LABELS[:-1])} or y",
            remedy=f"name the column of the labels, as label={likely[-1]!r}" if likely else "name it as label=...",
        )
    return found[0]


def looks_like_index(name: str) -> bool:
    """True for names that a column of row numbers or keys has.

    >>> [name for name in ("__index_level_0__", "Unnamed: 0", "user_id", "id", "clicked") if looks_like_index(name)]
    ['__index_level_0__', 'Unnamed: 0', 'user_id', 'id']
    """
    known = r"(__index_level_\d+__|unnamed: ?\d+|(.*[_ ])?(id|idx|index|key|uuid|guid|row|rowid|row_?number))?"
    return re.fullmatch(known, name.strip(), re.IGNORECASE) is not None


def _without_label(files: Files, width: int | None, label: str | None, exclude: str | None) -> list[str]:
    names = [name for name in _plain_names(files) if name != exclude]
    rest = [name for name in names if (name.lower() not in LABELS if label is None else name != label)]
    return rest if label is not None or (len(names) != width and len(rest) == width) else names


def _read(files: Files, features: Sequence[str] | None, label: str | None, classes: tuple[str, ...]) -> DecodedRows:
    """All rows, in their order."""
    chosen = choose_columns(files.files[0], files.kinds, files.index_columns, features, label, None)
    files.use_columns(chosen)
    labels = scan(files, chosen)
    numbers: dict[Any, int] = {} if label is None else labels.classes(classes)[2]
    shards = make_shards(files.pieces, len(chosen.features))
    return join([decode(files, chosen, shard, numbers, len(classes)) for shard in shards])


def _is_table(path: Paths) -> bool:
    """True for Parquet and CSV; an error if the name says nothing."""
    if not isinstance(path, str | Path):
        return True
    suffix = suffix_of(path)
    if is_remote(path) and suffix in SUFFIXES and suffix not in table_files.SUFFIXES:
        raise InputError(
            f"{path} ends in {suffix!r}",
            why=f"only files that end in {', '.join(table_files.SUFFIXES)} are read from an address",
            remedy="copy it to this machine first",
        )
    if is_folder(path) or is_pattern(suffix or path):
        return True
    if suffix == ".txt":
        return not is_svmlight(path)
    if suffix in table_files.SUFFIXES:
        return True
    if not suffix and not is_remote(path) and not Path(path).exists():
        raise missing_file(path)
    if suffix not in SUFFIXES:
        packed = suffix in (".bz2", ".xz", ".zst", ".zip")
        raise InputError(
            f"{path} ends in {suffix!r}" if suffix else f"the name of {path} has no ending",
            why=f"the kinds of files that are known end in {', '.join(SUFFIXES)}",
            remedy="compress it with gzip, as .csv.gz" if packed else "write one of these, such as Parquet",
        )
    return False
