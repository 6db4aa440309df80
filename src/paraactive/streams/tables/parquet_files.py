"""Parquet files of one schema as pieces: the piece is the row group, the smallest that can be decoded alone."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import IO, Any

from paraactive.errors import InputError, counted, quoted_names
from paraactive.streams.locations import cannot_read, changed_data, file_signature, is_gzip, is_remote, open_binary
from paraactive.streams.lru_cache import LRUCache
from paraactive.streams.tables.arrow import is_number, is_text, pyarrow_module, same_kind
from paraactive.streams.tables.shards import Piece, make_shards
from paraactive.streams.tables.table_columns import ChosenColumns, check_names, check_types

SUFFIXES = (".parquet", ".pq")
_DAMAGED = "check that it is a Parquet file, and was written to its end"


class ParquetFiles:
    """What stands at the ends of the files: columns, row groups, sizes. Rows are read when they are asked for."""

    scan_reads_features = False
    """Opening looks at the ends of the files alone."""

    def __init__(self, files: tuple[str, ...]) -> None:
        self.files = files
        self.pieces: tuple[Piece, ...] = ()
        self.digests: tuple[str, ...] = ()
        """Of each file, a digest of its size and its end, where schema, sizes and statistics of all row groups are."""
        self._found = _new_store()
        ends = [self._find_end(number) for number in range(len(files))]
        self.digests = tuple(stamp for stamp, _ in ends)
        self.schemas = [metadata.schema.to_arrow_schema() for _, metadata in ends]
        self.pieces = tuple(
            piece for number, (_, metadata) in enumerate(ends) for piece in _row_groups(number, metadata)
        )

    @property
    def kinds(self) -> dict[str, Any]:
        """The columns of the first file, and their types."""
        return _kinds(self.files[0], self.schemas[0])

    @property
    def index_columns(self) -> tuple[str, ...]:
        """Columns that are features only if they are named: what pandas writes as the index of a frame."""
        return tuple(dict.fromkeys(name for schema in self.schemas for name in _index_columns(schema)))

    def use_columns(self, chosen: ChosenColumns) -> None:
        """Say which columns will be read: an error if a file lacks one, has another type or misses values of it."""
        check_types(self.files[0], self.kinds, chosen)
        self._chosen = chosen
        for number in range(len(self.files)):
            self._check_schema(number, chosen)
            self._check_missing(number, chosen.features)

    def scan(self) -> Iterator[tuple[str, int, Any]]:
        """Go through all files once: the rows of each run of row groups, with label and weight alone."""
        columns = self._chosen.label_and_weight
        for shard in make_shards(self.pieces, width=len(columns)) if columns else ():
            yield from self.tables(shard.pieces, columns)

    def tables(self, pieces: Iterable[Piece], columns: tuple[str, ...]) -> Iterator[tuple[str, int, Any]]:
        """The rows of these pieces: their file, the number of the first in it, and the columns asked for."""
        for number, run in groupby(pieces, key=lambda piece: piece.file):
            own = list(run)
            groups = [int(piece.place[0]) for piece in own]
            yield self.files[number], own[0].first, self._read(number, groups, columns)

    def column(self, name: str) -> list[Any]:
        """All values of a column."""
        shards = make_shards(self.pieces, width=1)
        tables = (table for shard in shards for _, _, table in self.tables(shard.pieces, (name,)))
        return [value for table in tables for value in table.column(name).to_pylist()]

    def _read(self, number: int, groups: list[int], columns: tuple[str, ...]) -> Any:
        file, metadata = self.files[number], self._end_of(number)
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
        self._end_of(number)  # It may have been replaced in between.
        return table

    def _end_of(self, number: int) -> Any:
        """The metadata of a file: read again if the file has changed, and checked to be that of the one opened."""
        stamp, metadata = self._find_end(number)
        if stamp != self.digests[number]:
            raise changed_data(self.files[number])
        return metadata

    def _find_end(self, number: int) -> tuple[str, Any]:
        return self._found.get((number, file_signature(self.files[number])), lambda: self._open_end(number))

    def _open_end(self, number: int) -> tuple[str, Any]:
        file, pq, pa = self.files[number], pyarrow_module("pyarrow.parquet"), pyarrow_module()
        with open_binary(file) as source:
            try:
                stamp = _stamp(source)
                source.seek(0)
                metadata = pq.read_metadata(source)
                _places(metadata)  # Names that are no text are found only when they are asked for,
                metadata.schema.to_arrow_schema()  # and types that are none.
                return stamp, metadata
            except (OSError, UnicodeDecodeError, pa.ArrowException) as error:
                raise cannot_read(file, error, _DAMAGED) from None

    def _check_schema(self, number: int, chosen: ChosenColumns) -> None:
        file, first, own = self.files[number], self.kinds, _kinds(self.files[number], self.schemas[number])
        lacking = [name for name in chosen.names if name not in own]
        more = [name for name in own if name not in (*first, *self.index_columns)] if chosen.all_others else []
        differ = [name for name in chosen.numbers if name in own and not is_number(own[name])]
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

    def _check_missing(self, number: int, features: tuple[str, ...]) -> None:
        """An error if the statistics say that a feature is missing somewhere: no row need be read to know it."""
        metadata = self._end_of(number)
        if metadata.num_row_groups == 0:
            return
        places = _places(metadata)
        for piece in (piece for piece in self.pieces if piece.file == number):
            group = metadata.row_group(int(piece.place[0]))
            for name in features:
                known = group.column(places[name]).statistics if name in places else None
                if known is not None and known.has_null_count and known.null_count:
                    column = self._read(number, [int(piece.place[0])], (name,)).column(name)
                    row = piece.first + int(column.is_null().index(True).as_py())
                    raise InputError(
                        f"{self.files[number]} has no value at row {row}, column {name!r}",
                        why=f"that column misses {counted(known.null_count, 'value')} in its row group, "
                        "and a score needs finite numbers",
                        remedy=f"fill them in, remove those rows, or leave {name!r} out of features",
                    )

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_found": None, "schemas": []}  # They are for opening alone.

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state | {"_found": _new_store()})


def _new_store() -> LRUCache[tuple[str, Any]]:
    return LRUCache(64 << 20, lambda end: int(end[1].serialized_size))


def _row_groups(number: int, metadata: Any) -> Iterator[Piece]:
    first = 0
    for group in range(metadata.num_row_groups):
        rows = int(metadata.row_group(group).num_rows)
        yield Piece(number, first, rows, (group,))
        first += rows


def _kinds(file: str, schema: Any) -> dict[str, Any]:
    check_names(file, list(schema.names))
    return dict(zip(schema.names, schema.types, strict=True))


def _places(metadata: Any) -> dict[str, int]:
    """The number of each column, by its name."""
    return {metadata.schema.column(place).path: place for place in range(metadata.num_columns)}


def _index_columns(schema: Any) -> list[str]:
    try:
        known = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
        return [name for name in known.get("index_columns", ()) if name in schema.names]
    except (ValueError, TypeError, AttributeError):
        return []  # Only a note of another library.


def _stamp(source: IO[bytes]) -> str:
    size = source.seek(0, 2)
    source.seek(max(0, size - 8))
    end = source.read(8)
    length = int.from_bytes(end[:4], "little")
    if end[4:] not in (b"PAR1", b"PARE") or length > size - 8:
        raise OSError("it does not end as a Parquet file does")  # Before so much is read as its end seems to say.
    source.seek(size - 8 - length)
    return hashlib.sha256(f"{size}".encode() + source.read(length + 8)).hexdigest()


def _source(file: str) -> Any:
    """What pyarrow reads the file from: itself, if it can reach it."""
    return open_binary(file) if is_remote(file) or is_gzip(file) else pyarrow_module().OSFile(file)
