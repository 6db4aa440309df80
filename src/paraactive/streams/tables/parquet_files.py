"""Parquet files of one schema. A piece is a row group, the smallest part that can be decoded alone."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import IO, Any, TypeAlias

from paraactive.errors import InputError, quoted_names
from paraactive.streams.locations import cannot_read, changed_data, file_signature, is_gzip, is_remote, open_binary
from paraactive.streams.lru_cache import LRUCache
from paraactive.streams.tables.arrow import (
    is_label,
    is_number,
    is_text,
    missing_values,
    pyarrow_module,
    same_kind,
)
from paraactive.streams.tables.shards import Piece, make_shards
from paraactive.streams.tables.table_columns import ChosenColumns, check_names, check_types

# pyarrow is optional and has no type information, so its objects are typed as Any under these names.
ParquetMetadata: TypeAlias = Any
ArrowSchema: TypeAlias = Any

SUFFIXES = (".parquet", ".pq")
_DAMAGED = "check that it is a complete Parquet file"


class ParquetFiles:
    """Parquet files: the columns and row groups from the footers. Rows are read on request.

    Parameters
    ----------
    files : tuple of str
        Paths or addresses.

    Attributes
    ----------
    pieces : tuple of Piece
        Row groups of all files.
    digests : tuple of str
        SHA-256 of the size and the footer of each file. The footer has the schema, and the sizes and statistics of all
        row groups.
    schemas : list of pyarrow.Schema
        Schema of each file.
    scan_reads_features : bool
        False: `scan` reads only label and weight.
    """

    scan_reads_features = False

    def __init__(self, files: tuple[str, ...]) -> None:
        self.files = files
        self.pieces: tuple[Piece, ...] = ()
        self.digests: tuple[str, ...] = ()
        self._footers = _new_footer_cache()
        footers = [self._find_footer(number) for number in range(len(files))]
        self.digests = tuple(stamp for stamp, _ in footers)
        self.schemas = [metadata.schema.to_arrow_schema() for _, metadata in footers]
        self.pieces = tuple(
            piece for number, (_, metadata) in enumerate(footers) for piece in _row_groups(number, metadata)
        )

    @property
    def kinds(self) -> dict[str, Any]:
        """Types of the columns of the first file by name."""
        return _kinds(self.files[0], self.schemas[0])

    @property
    def index_columns(self) -> tuple[str, ...]:
        """Columns that are features only if they are named: the index of a pandas frame."""
        return tuple(dict.fromkeys(name for schema in self.schemas for name in _index_columns(schema)))

    def use_columns(self, chosen: ChosenColumns) -> None:
        """Set the columns to read.

        Parameters
        ----------
        chosen : ChosenColumns
            The columns.

        Raises
        ------
        InputError
            If a file lacks a column, has another type, or its statistics show missing values.
        """
        check_types(self.files[0], self.kinds, chosen)
        self._chosen = chosen
        for number in range(len(self.files)):
            self._check_schema(number, chosen)
            if not chosen.may_miss:
                self._check_missing(number, chosen.columns)

    def scan(self) -> Iterator[tuple[str, int, Any]]:
        """Read label and weight of all files.

        Yields
        ------
        file : str
            The file.
        first : int
            Number of the first row in the file.
        table : pyarrow.Table
            Label and weight of consecutive row groups.
        """
        columns = self._chosen.label_and_weight
        for shard in make_shards(self.pieces, width=len(columns)) if columns else ():
            yield from self.tables(shard.pieces, columns)

    def tables(self, pieces: Iterable[Piece], columns: tuple[str, ...]) -> Iterator[tuple[str, int, Any]]:
        """Read pieces.

        Parameters
        ----------
        pieces : iterable of Piece
            Pieces to read.
        columns : tuple of str
            Columns to read.

        Yields
        ------
        file : str
            The file.
        first : int
            Number of the first row in the file.
        table : pyarrow.Table
            The columns of consecutive pieces.
        """
        for number, run in groupby(pieces, key=lambda piece: piece.file):
            own = list(run)
            groups = [int(piece.place[0]) for piece in own]
            yield self.files[number], own[0].first, self._read(number, groups, columns)

    def column(self, name: str) -> list[Any]:
        """Return all values of a column.

        Parameters
        ----------
        name : str
            Name of the column.

        Returns
        -------
        list
            The values.
        """
        return [value for table in self.texts((name,)) for value in table.column(name).to_pylist()]

    def texts(self, columns: tuple[str, ...]) -> Iterator[Any]:
        """Read columns of all files.

        Parameters
        ----------
        columns : tuple of str
            Columns to read.

        Yields
        ------
        pyarrow.Table
            The columns of consecutive rows.
        """
        for shard in make_shards(self.pieces, width=len(columns)):
            for _, _, table in self.tables(shard.pieces, columns):
                yield table

    def ranges(self, columns: tuple[str, ...]) -> dict[str, tuple[float, float]]:
        """Return the smallest and the largest value of numeric columns, from the statistics. This reads no rows.

        Parameters
        ----------
        columns : tuple of str
            Numeric columns.

        Returns
        -------
        dict of str to tuple of (float, float)
            By column. Columns of which the files have no statistics are left out.
        """
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in columns}
        for group, places in self._groups():
            for name in columns:
                known = group.column(places[name]).statistics if name in places else None
                if known is not None and known.has_min_max and isinstance(known.min, int | float):
                    found[name].append((float(known.min), float(known.max)))
        return {name: (min(low for low, _ in own), max(high for _, high in own)) for name, own in found.items() if own}

    def _groups(self) -> Iterator[tuple[Any, dict[str, int]]]:
        """Yield the metadata of each row group, and the number of each column by its name."""
        for number in range(len(self.files)):
            metadata = self._footer_of(number)
            places = _places(metadata) if metadata.num_row_groups else {}
            for piece in (piece for piece in self.pieces if piece.file == number):
                yield metadata.row_group(int(piece.place[0])), places

    def _read(self, number: int, groups: list[int], columns: tuple[str, ...]) -> Any:
        file, metadata = self.files[number], self._footer_of(number)
        schema = metadata.schema.to_arrow_schema()
        coded = [name for name in columns if is_text(schema.field(name).type)]
        pq, pa = pyarrow_module("pyarrow.parquet"), pyarrow_module()
        try:
            with _source(file) as source:
                opened = pq.ParquetFile(
                    source, metadata=metadata, read_dictionary=coded, page_checksum_verification=True
                )
                table = opened.read_row_groups(groups, columns=list(columns))
        except (OSError, UnicodeDecodeError, pa.ArrowException) as error:
            raise cannot_read(file, error, _DAMAGED) from None
        self._footer_of(number)  # Raises InputError if the file was replaced in the meantime.
        return table

    def _footer_of(self, number: int) -> Any:
        """Return the metadata of a file. Raise InputError if the file differs from the one that was opened."""
        stamp, metadata = self._find_footer(number)
        if stamp != self.digests[number]:
            raise changed_data(self.files[number])
        return metadata

    def _find_footer(self, number: int) -> tuple[str, Any]:
        return self._footers.get((number, file_signature(self.files[number])), lambda: self._open_footer(number))

    def _open_footer(self, number: int) -> tuple[str, Any]:
        file, pq, pa = self.files[number], pyarrow_module("pyarrow.parquet"), pyarrow_module()
        with open_binary(file) as source:
            try:
                stamp = _stamp(source)
                source.seek(0)
                metadata = pq.read_metadata(source)
                _places(metadata)  # pyarrow finds invalid names only when they are read,
                metadata.schema.to_arrow_schema()  # and invalid types too.
                return stamp, metadata
            except (OSError, UnicodeDecodeError, pa.ArrowException) as error:
                raise cannot_read(file, error, _DAMAGED) from None

    def _check_schema(self, number: int, chosen: ChosenColumns) -> None:
        file, first, own = self.files[number], self.kinds, _kinds(self.files[number], self.schemas[number])
        lacking = [name for name in chosen.names if name not in own]
        more = [name for name in own if name not in (*first, *self.index_columns)] if chosen.all_others else []
        differ = [name for name in chosen.numbers if name in own and not is_number(own[name])]
        differ += [name for name in chosen.categories if name in own and not is_label(own[name])]
        label = chosen.label
        if label is not None and label in own and not same_kind(own[label], first[label]):
            differ.append(label)
        for names, fact in ((lacking, "no column"), (more, "another column,"), (differ, "another type of column")):
            if names:
                raise InputError(
                    f"{file} has {fact} {quoted_names(names)}",
                    why=f"all files of a table have the columns of {self.files[0]}",
                    remedy="write them with one schema, or name the columns to use as features=[...]",
                )

    def _check_missing(self, number: int, columns: tuple[str, ...]) -> None:
        """Raise InputError if the statistics show missing values of a feature. This reads no rows."""
        metadata, counts, first = self._footer_of(number), dict[str, int](), ""
        places = _places(metadata) if metadata.num_row_groups else {}
        for piece in (piece for piece in self.pieces if piece.file == number):
            group = metadata.row_group(int(piece.place[0]))
            for name in columns:
                known = group.column(places[name]).statistics if name in places else None
                if known is not None and known.has_null_count and known.null_count:
                    counts[name] = counts.get(name, 0) + int(known.null_count)
                    first = first or self._first_missing(number, piece, name)
        if counts:
            raise missing_values(self.files[number], first, counts)

    def _first_missing(self, number: int, piece: Piece, name: str) -> str:
        column = self._read(number, [int(piece.place[0])], (name,)).column(name)
        return f"at row {piece.first + int(column.is_null().index(True).as_py())}, column {name!r}"

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_footers": None, "schemas": []}  # Needed only to open the files.

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state | {"_footers": _new_footer_cache()})


def _new_footer_cache() -> LRUCache[tuple[str, Any]]:
    return LRUCache(64 << 20, lambda end: int(end[1].serialized_size))


def _row_groups(number: int, metadata: ParquetMetadata) -> Iterator[Piece]:
    first = 0
    for group in range(metadata.num_row_groups):
        rows = int(metadata.row_group(group).num_rows)
        yield Piece(number, first, rows, (group,))
        first += rows


def _kinds(file: str, schema: ArrowSchema) -> dict[str, Any]:
    check_names(file, list(schema.names))
    return dict(zip(schema.names, schema.types, strict=True))


def _places(metadata: ParquetMetadata) -> dict[str, int]:
    """Return the number of each column by its name."""
    return {metadata.schema.column(place).path: place for place in range(metadata.num_columns)}


def _index_columns(schema: ArrowSchema) -> list[str]:
    try:
        known = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
        return [name for name in known.get("index_columns", ()) if name in schema.names]
    except (ValueError, TypeError, AttributeError):
        return []  # The metadata of pandas is optional.


def _stamp(source: IO[bytes]) -> str:
    size = source.seek(0, 2)
    source.seek(max(0, size - 8))
    end = source.read(8)
    length = int.from_bytes(end[:4], "little")
    if end[4:] not in (b"PAR1", b"PARE") or length > size - 8:
        raise OSError("it does not end like a Parquet file")  # Do not read the length that a wrong footer states.
    source.seek(size - 8 - length)
    return hashlib.sha256(f"{size}".encode() + source.read(length + 8)).hexdigest()


def _source(file: str) -> Any:
    """Return a file for pyarrow: its own for local files, otherwise ours."""
    return open_binary(file) if is_remote(file) or is_gzip(file) else pyarrow_module().OSFile(file)
