"""Files of all supported kinds, recognized by their suffix: as a stream, as test examples, or as rows to predict."""

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

# Names of the label column that are recognized if `label` is not given.
LABELS = ("label", "target", "class", "y")
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
    missing: str | None = None,
    encode: str | None = None,
) -> Stream:
    """Open a Parquet, CSV, numpy or svmlight file as a stream. All kinds may be compressed with gzip (.gz).

    Parameters
    ----------
    path : str, Path or sequence of them
        File of which the suffix states the kind. Parquet and CSV data may be several files, a folder or an address (see
        `Table`).
    label : str, optional
        Label column of a Parquet or CSV file. Default: the column named label, target, class or y.
    features : sequence of str, optional
        Feature columns of a Parquet or CSV file. Default: all other columns.
    weight : str, optional
        Column of a Parquet or CSV file with the importance of each row. Default: all rows have importance 1.
    seed : int, default=0
        Seed of the order of the rows.
    shuffle : bool, default=True
        Whether each pass goes through the rows in its own random order.
    passes : int or None, default=1
        Number of passes over the rows. None means without end.
    missing : {"mean"}, optional
        Replace missing values of a Parquet or CSV file by the mean of their column. Default: they are an error.
    encode : {"onehot"}, optional
        Replace text columns of a Parquet or CSV file by one feature for each value. Default: they are an error.

    Returns
    -------
    Stream
        A `Table` for Parquet and CSV files, otherwise `Arrays`.

    Raises
    ------
    InputError
        If the file cannot be read, or its columns cannot be used.
    """
    if _is_table(path):
        if label is None:
            label = find_label(open_files(path))
        return Table(
            path, label, features=features, weight=weight, seed=seed, shuffle=shuffle, passes=passes, missing=missing,
            encode=encode,
        )  # fmt: skip
    of_tables = {"label": label, "features": features, "weight": weight, "missing": missing, "encode": encode}
    for name, given in of_tables.items():
        if given is not None:
            raise InputError(
                f"{name} is given for {path}",
                why="the columns of this file have no names",
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
    may_miss: bool = False,
) -> Examples:
    """Read all examples of a file, such as a test set, with the classes and the width of a stream.

    Parameters
    ----------
    path : str, Path or sequence of them
        File or files (see `open_stream`).
    classes : tuple of str
        Names of the classes of the stream.
    width : int
        Number of features of the stream.
    label : str, optional
        Label column of a Parquet or CSV file. Default: the column named label, target, class or y.
    features : sequence of str, optional
        Feature columns of a Parquet or CSV file. Default: all other columns.
    may_miss : bool, default=False
        Whether features of a Parquet or CSV file may be missing (NaN).

    Returns
    -------
    Examples
        The rows in their order.

    Raises
    ------
    InputError
        If the file cannot be read, the width differs, or a label is unknown.
    """
    if not _is_table(path):
        return load_like(str(path), classes, width)
    files = open_files(path)
    rows = _read(files, features, find_label(files) if label is None else label, classes, may_miss)
    check_width(rows.x, width)
    return Examples(rows.x, rows.y, np.arange(len(rows.y)))


def open_rows(
    path: Paths,
    width: int | None = None,
    *,
    features: Sequence[str] | None = None,
    label: str | None = None,
    exclude: str | None = None,
    may_miss: bool = False,
) -> Features:
    r"""Read the features of all rows of a file, without labels.

    Parameters
    ----------
    path : str, Path or sequence of them
        File or files (see `open_stream`).
    width : int, optional
        Expected number of features.
    features : sequence of str, optional
        Feature columns of a Parquet or CSV file. Default: all columns, without the label column if that gives `width`.
    label : str, optional
        Label column of a Parquet or CSV file, which is not a feature.
    exclude : str, optional
        Another column that is not a feature, such as an identifier.
    may_miss : bool, default=False
        Whether features of a Parquet or CSV file may be missing (NaN).

    Returns
    -------
    ndarray or SparseRows
        Features, one row for each row of the file.

    Raises
    ------
    InputError
        If the file cannot be read or has another width.

    Examples
    --------
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
        x = _read(files, names, None, (), may_miss).x
    elif is_svmlight(str(path)):
        x = features_alone(read_svmlight(Path(str(path)), width)[0])
    else:
        x = features_alone(open_features(Path(str(path)), width))
    if width is not None:
        check_width(x, width)
    return x


def open_column(path: Paths, name: str) -> list[Any]:
    r"""Read one column of a Parquet or CSV file, such as an identifier.

    Parameters
    ----------
    path : str, Path or sequence of them
        File or files (see `Table`).
    name : str
        Name of the column.

    Returns
    -------
    list
        Values of the column: text for CSV files, any values for Parquet files.

    Raises
    ------
    InputError
        If the file has no such column, or its columns have no names.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "rows.csv")
    ...     _ = path.write_text("id,a\n007,1\n008,2\n")
    ...     open_column(path, "id")
    ['007', '008']
    """
    if not _is_table(path):
        raise InputError(
            f"{path} has no column {name!r}",
            why="the columns of this file have no names",
            remedy="write Parquet or CSV",
        )
    files = open_files(path)
    check_column(files.files[0], name, list(files.kinds))
    return files.column(name)


def column_names(path: Paths) -> tuple[str, ...] | None:
    """Return the column names of a Parquet or CSV file, without the index of a pandas frame.

    Parameters
    ----------
    path : str, Path or sequence of them
        File or files.

    Returns
    -------
    tuple of str or None
        Names; None for other kinds of files.
    """
    return tuple(_plain_names(open_files(path))) if _is_table(path) else None


def number_columns(path: Paths) -> tuple[str, ...]:
    """Return the names of the numeric columns of a Parquet or CSV file.

    Parameters
    ----------
    path : str, Path or sequence of them
        File or files.

    Returns
    -------
    tuple of str
        Names, without empty columns and without the index of a pandas frame.
    """
    files = open_files(path)
    kinds = {name: files.kinds[name] for name in _plain_names(files)}
    return tuple(name for name, kind in kinds.items() if is_number(kind) and str(kind) != "null")


def _plain_names(files: Files) -> list[str]:
    return [name for name in files.kinds if name not in files.index_columns]


def find_label(files: Files) -> str:
    """Return the name of the label column.

    Parameters
    ----------
    files : ParquetFiles or CsvFiles
        Opened files.

    Returns
    -------
    str
        The only column named label, target, class or y, in any case.

    Raises
    ------
    InputError
        If there is no such column or more than one.
    """
    names = _plain_names(files)
    found = [name for name in names if name.lower() in LABELS]
    if len(found) != 1:
        likely = [name for name in found or names if not looks_like_index(name)]
        raise InputError(
            f"{files.files[0]} has the columns {quoted_names(list(files.kinds))}",
            why=f"{quoted_names(found)} may all be the label"
            if found
            else f"no column is called {', '.join(LABELS[:-1])} or y",
            remedy=f"name the label column, as label={likely[-1]!r}"
            if likely
            else "name the label column, as label=...",
        )
    return found[0]


def looks_like_index(name: str) -> bool:
    """Return whether a column of this name probably holds row numbers or keys.

    Parameters
    ----------
    name : str
        Name of a column.

    Returns
    -------
    bool
        True for names such as "id" or "__index_level_0__".

    Examples
    --------
    >>> [name for name in ("__index_level_0__", "Unnamed: 0", "user_id", "id", "clicked") if looks_like_index(name)]
    ['__index_level_0__', 'Unnamed: 0', 'user_id', 'id']
    """
    known = r"(__index_level_\d+__|unnamed: ?\d+|(.*[_ ])?(id|idx|index|key|uuid|guid|row|rowid|row_?number))?"
    return re.fullmatch(known, name.strip(), re.IGNORECASE) is not None


def _without_label(files: Files, width: int | None, label: str | None, exclude: str | None) -> list[str]:
    names = [name for name in _plain_names(files) if name != exclude]
    rest = [name for name in names if (name.lower() not in LABELS if label is None else name != label)]
    return rest if label is not None or (len(names) != width and len(rest) == width) else names


def _read(
    files: Files, features: Sequence[str] | None, label: str | None, classes: tuple[str, ...], may_miss: bool
) -> DecodedRows:
    """Return all rows in their order."""
    chosen = choose_columns(files.files[0], files.kinds, files.index_columns, features, label, None, may_miss)
    files.use_columns(chosen)
    labels = scan(files, chosen).labels
    numbers: dict[object, int] = {} if label is None else labels.classes(classes)[2]
    shards = make_shards(files.pieces, len(chosen.features))
    return join([decode(files, chosen, shard, numbers, len(classes)) for shard in shards])


def _is_table(path: Paths) -> bool:
    """Return whether a path is Parquet or CSV; raise InputError if its suffix is unknown."""
    if not isinstance(path, str | Path):
        return True
    suffix = suffix_of(path)
    if is_remote(path) and suffix in SUFFIXES and suffix not in table_files.SUFFIXES:
        raise InputError(
            f"{path} ends in {suffix!r}",
            why=f"only files that end in {', '.join(table_files.SUFFIXES)} can be read from an address",
            remedy="copy the file to this machine first",
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
            f"{path} ends in {suffix!r}" if suffix else f"{path} has no suffix",
            why=f"the supported suffixes are {', '.join(SUFFIXES)}",
            remedy="compress it with gzip, as .csv.gz" if packed else "write one of these kinds, such as Parquet",
        )
    return False
