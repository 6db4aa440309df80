"""CSV files with one header as pieces: about 8 MB of whole lines, found once, so that any can be decoded alone.

The first line names the columns. Fields may be in quotes, with separators and line breaks inside.
"""

from __future__ import annotations

import csv
import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import IO, Any

from paraactive.errors import InputError, counted, quoted_names
from paraactive.streams.locations import cannot_read, changed_data, open_binary, suffix_of
from paraactive.streams.tables.arrow import pyarrow_module
from paraactive.streams.tables.line_numbers import describe_row
from paraactive.streams.tables.shards import Piece
from paraactive.streams.tables.table_columns import ChosenColumns, check_names, check_types

SUFFIXES = (".csv", ".tsv")
BLOCK = 8 << 20
"""Bytes of a piece, up to the end of its last line."""
_PACKED = {b"\x1f\x8b": "gzip", b"PK\x03\x04": "zip", b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"(\xb5/\xfd": "zstandard"}
_LONGEST = 64 << 20
"""Bytes of a header."""
_MOST_LINES = 10_000
"""Lines that one field may have, if it is in quotes."""


class CsvFiles:
    """The header, the types that the first lines show, and where the lines are."""

    scan_reads_features = True
    """Opening reads every line, so that all that is wrong is found before anything is learnt."""

    def __init__(self, files: tuple[str, ...]) -> None:
        self.files = files
        self.pieces: tuple[Piece, ...] = ()
        self.digests: tuple[str, ...] = ()
        """Of each file, a digest of all its bytes."""
        with open_binary(files[0]) as source:
            self._separator, self._names = _header(files[0], source)
            self._first = _lines(files[0], source)
        if not self._first.strip():
            raise _no_rows(files[0])
        self._types: dict[str, str] = {}
        schema = self._parse(self._first, files[0], 0, None).schema
        self.kinds: dict[str, Any] = dict(zip(schema.names, schema.types, strict=True))

    @property
    def index_columns(self) -> tuple[str, ...]:
        """Columns that are features only if they are named: a first one without a name, the index of a pandas frame."""
        return tuple(name for name in self._names[:1] if not name.strip())

    def use_columns(self, chosen: ChosenColumns) -> None:
        """Say which columns will be read: an error if one is not of numbers."""
        for name in chosen.numbers:
            self._check_text(name)
        check_types(self.files[0], self.kinds, chosen)
        # Whole numbers at the beginning may be followed by others; labels are given their type when all are known.
        truth = {name for name in chosen.numbers if str(self.kinds[name]) == "bool"}
        self._types = {name: "bool" if name in truth else "float64" for name in chosen.numbers}
        if chosen.label is not None:
            self._types[chosen.label] = "string"

    def scan(self) -> Iterator[tuple[str, int, Any]]:
        """Go through all files once, and so find the pieces: the rows of each, with all columns that were chosen."""
        pieces: list[Piece] = []
        digests: list[str] = []
        for number, file in enumerate(self.files):
            digest = hashlib.sha256()
            for piece, table in self._find(number, file, digest):
                pieces.append(piece)
                yield file, piece.first, table
            digests.append(digest.hexdigest())
        self.pieces, self.digests = tuple(pieces), tuple(digests)

    def tables(self, pieces: Iterable[Piece], columns: tuple[str, ...]) -> Iterator[tuple[str, int, Any]]:
        """The rows of these pieces: their file, the number of the first in it, and the columns asked for."""
        for piece in pieces:
            file = self.files[piece.file]
            offset, size, stamp = piece.place
            with open_binary(file) as source:
                source.seek(int(offset))
                text = source.read(int(size))
            if _stamp(text) != stamp:
                raise changed_data(file)
            yield file, piece.first, self._parse(text, file, piece.first, columns)

    def column(self, name: str) -> list[Any]:
        """All values of a column, as the text that the file has. Nothing else can be read afterwards."""
        self._types = {name: "string"}
        return [value for _, _, table in self.scan() for value in table.column(name).to_pylist()]

    def _check_text(self, name: str) -> None:
        """An error that says where, if some text is among the numbers of a column."""
        if str(self.kinds[name]) != "string":
            return
        values = self._parse(self._first, self.files[0], 0, (name,), {name: "string"}).column(name).to_pylist()
        texts = ((row, text) for row, text in enumerate(values) if text and not is_number_text(text))
        row, text = next(texts, (0, ""))
        if row > 0:
            raise InputError(
                f"{self.files[0]} has {text!r} at {describe_row(self.files[0], row)}, column {name!r}",
                why="the column begins with numbers",
                remedy=f"correct it, leave {name!r} out of features, or encode it as numbers",
            )

    def _find(self, number: int, file: str, digest: Any) -> Iterator[tuple[Piece, Any]]:
        with open_binary(file) as source:
            separator, names = _header(file, source)
            if (separator, names) != (self._separator, self._names):
                raise InputError(
                    f"{file} has the columns {quoted_names(names)}",
                    why=f"all files of a table have the columns of {self.files[0]}",
                    remedy="write them with one header",
                )
            offset, first = source.tell(), 0
            digest.update("\n".join(names).encode())
            while text := _lines(file, source):
                digest.update(text)
                if text.strip():  # Blank lines at the end are no rows.
                    table = self._parse(text, file, first, tuple(self._types))
                    yield Piece(number, first, table.num_rows, (offset, len(text), _stamp(text))), table
                    first += table.num_rows
                offset += len(text)

    def _parse(
        self, text: bytes, file: str, first: int, columns: tuple[str, ...] | None, types: dict[str, str] | None = None
    ) -> Any:
        pa, reader = pyarrow_module(), pyarrow_module("pyarrow.csv")
        types = self._types if types is None else types
        known = {name: pa.type_for_alias(kind) for name, kind in types.items()}
        converting = reader.ConvertOptions(column_types=known, include_columns=columns and list(columns))
        parsing = reader.ParseOptions(delimiter=self._separator)
        for threads in (True, False):
            try:
                reading = reader.ReadOptions(column_names=self._names, use_threads=threads, block_size=len(text) + 1)
                return reader.read_csv(pa.py_buffer(text), reading, parsing, converting)
            except pa.ArrowException as error:
                if not threads:  # Only one thread says in which row it was.
                    raise self._mistake(file, first, str(error)) from None
        raise AssertionError

    def _mistake(self, file: str, first: int, words: str) -> InputError:
        row = re.search(r"Row #(\d+)", words)
        where = f" at {describe_row(file, first + int(row[1]) - 1)}" if row else ""
        column = re.search(r"CSV column #(\d+)", words)
        value = re.search(r"invalid value '(.*)'", words, re.DOTALL)
        if column and value:
            name = self._names[int(column[1])]
            return InputError(
                f"{file} has {value[1]!r}{where}, column {name!r}",
                why="the column is one of numbers",
                remedy=f"correct it, or leave {name!r} out of features",
            )
        counts = re.search(r"Expected (\d+) columns, got (\d+)", words)
        if counts:
            return InputError(
                f"{file} has {counted(int(counts[2]), 'field')}{where}",
                why=f"its header names {counted(int(counts[1]), 'column')}",
                remedy="write as many fields for each row, and those with a separator inside in quotes",
            )
        return cannot_read(file, ValueError(words), "check that it is a CSV file of UTF-8 text")

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_first": b"", "kinds": {}}  # They are for opening alone.


def is_number_text(text: str) -> bool:
    """True if the text is a number, as CSV files have them.

    >>> is_number_text("-1.5e3"), is_number_text("1_000"), is_number_text("n/a")
    (True, False, False)
    """
    return re.fullmatch(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", text, re.ASCII) is not None


def _header(file: str, source: IO[bytes]) -> tuple[str, list[str]]:
    """The separator and the names of the columns; the file stands after them."""
    try:
        line = source.readline(_LONGEST)
        packed = next((name for magic, name in _PACKED.items() if line.startswith(magic)), None)
        text = "" if packed else line.decode("utf-8-sig").strip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise cannot_read(file, error, "check that it is a CSV file of UTF-8 text") from None
    if packed:
        raise InputError(
            f"{file} is compressed ({packed})",
            why="its name does not say so" if packed == "gzip" else "of compressed CSV files only gzip is read",
            remedy="name it with .gz at the end" if packed == "gzip" else "compress it with gzip, or write Parquet",
        )
    if not text.strip():
        raise InputError(
            f"{file} has no header", why="its first line names the columns", remedy="write one, as a,b,label"
        )
    separator = _separator(file, text)
    names = _names(file, text, separator)
    if all(map(is_number_text, names)):
        raise InputError(
            f"{file} begins with numbers, {quoted_names(names)}",
            why="its first line names the columns",
            remedy="write a header, as a,b,label",
        )
    check_names(file, names)
    return separator, names


def _names(file: str, header: str, separator: str) -> list[str]:
    try:
        names = next(csv.reader([header], delimiter=separator))
    except csv.Error as error:
        words = ValueError("its lines end with a carriage return alone") if "\r" in header else error
        raise cannot_read(file, words, "write it as UTF-8 text whose lines end with a line feed") from None
    nameless = [place for place, name in enumerate(names) if place and not name.strip()]
    if nameless:
        raise InputError(
            f"column {nameless[0] + 1} of {file} has no name",
            why="columns are told apart by name",
            remedy="name it in the header, or write the file without it",
        )
    return names


def _separator(file: str, header: str) -> str:
    """A comma; a tab in .tsv; in a header without commas a tab or a semicolon, if there is one."""
    if suffix_of(file) == ".tsv":
        return "\t"
    return next((sign for sign in ",\t;" if sign in header), ",")


def _lines(file: str, source: IO[bytes]) -> bytes:
    """The next whole lines, about 8 MB of them; not cut at a line break inside of quotes."""
    text = source.read(BLOCK)
    open_quotes, more = text.count(b'"') % 2, [text]
    while open_quotes or not more[-1].endswith(b"\n"):
        line = source.readline(BLOCK)
        if not line or len(more) > _MOST_LINES:
            break
        open_quotes = (open_quotes + line.count(b'"')) % 2
        more.append(line)
    if open_quotes:
        raise InputError(
            f"{file} has a quote that is not closed, after byte {source.tell() - sum(map(len, more))}",
            why="all that follows would be one field",
            remedy='close it; a quote that is meant is written twice, ""',
        )
    return b"".join(more)


def _stamp(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:16]


def _no_rows(file: str) -> InputError:
    return InputError(f"{file} has no rows", why="there is nothing to learn from", remedy="give a file with examples")
