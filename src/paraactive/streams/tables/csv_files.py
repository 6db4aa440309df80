"""CSV files with equal headers, divided into pieces of about 8 MB of whole lines, which can be decoded alone.

The first line names the columns. Quoted fields may contain separators and line breaks.
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
# Size of a piece in bytes, up to the end of its last line.
BLOCK = 8 << 20
_PACKED = {b"\x1f\x8b": "gzip", b"PK\x03\x04": "zip", b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"(\xb5/\xfd": "zstandard"}
# Maximum length of a header in bytes.
_MAX_HEADER = 64 << 20
# Maximum number of lines of a quoted field.
_MAX_FIELD_LINES = 10_000


class CsvFiles:
    """CSV files: the columns, their types in the first lines, and the pieces.

    Parameters
    ----------
    files : tuple of str
        Paths or addresses.

    Attributes
    ----------
    pieces : tuple of Piece
        Pieces of all files; known after `scan`.
    digests : tuple of str
        SHA-256 of each file; known after `scan`.
    kinds : dict of str to pyarrow.DataType
        Types of the columns by name.
    scan_reads_features : bool
        True: `scan` reads every line, so that all errors are found before the run starts.
    """

    scan_reads_features = True

    def __init__(self, files: tuple[str, ...]) -> None:
        self.files = files
        self.pieces: tuple[Piece, ...] = ()
        self.digests: tuple[str, ...] = ()
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
        """Columns that are features only if they are named: a nameless first column, which pandas writes as index."""
        return tuple(name for name in self._names[:1] if not name.strip())

    def use_columns(self, chosen: ChosenColumns) -> None:
        """Set the columns to read.

        Parameters
        ----------
        chosen : ChosenColumns
            The columns.

        Raises
        ------
        InputError
            If a feature or weight is not numeric.
        """
        for name in chosen.numbers:
            self._check_text(name)
        texts = dict.fromkeys(chosen.categories, pyarrow_module().string())  # Also those that look like dates.
        check_types(self.files[0], self.kinds | texts, chosen)
        # Integers in the first lines may be followed by floats. The type of the labels is known after the scan.
        truth = {name for name in chosen.numbers if str(self.kinds[name]) == "bool"}
        self._types = {name: "bool" if name in truth else "float64" for name in chosen.numbers}
        self._types |= dict.fromkeys(chosen.categories, "string")
        if chosen.label is not None:
            self._types[chosen.label] = "string"

    def texts(self, columns: tuple[str, ...]) -> Iterator[Any]:
        """Read text columns of all files. Other columns cannot be read afterwards.

        Parameters
        ----------
        columns : tuple of str
            Columns to read.

        Yields
        ------
        pyarrow.Table
            The columns of consecutive rows.
        """
        self._types = dict.fromkeys(columns, "string")
        for _, _, table in self.scan():
            yield table

    def scan(self) -> Iterator[tuple[str, int, Any]]:
        """Read all files once, and find the pieces.

        Yields
        ------
        file : str
            The file.
        first : int
            Number of the first row in the file.
        table : pyarrow.Table
            Chosen columns of a piece.
        """
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
            The columns of a piece.
        """
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
        """Return a column as text. Other columns cannot be read afterwards.

        Parameters
        ----------
        name : str
            Name of the column.

        Returns
        -------
        list of str
            The values.
        """
        return [value for table in self.texts((name,)) for value in table.column(name).to_pylist()]

    def _check_text(self, name: str) -> None:
        """Raise InputError with the position if a numeric column contains text."""
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
                if text.strip():  # Blank lines at the end are not rows.
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
                if not threads:  # pyarrow reports the row only if it uses one thread.
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
                why="the column is numeric",
                remedy=f"correct it, or leave {name!r} out of features",
            )
        counts = re.search(r"Expected (\d+) columns, got (\d+)", words)
        if counts:
            return InputError(
                f"{file} has {counted(int(counts[2]), 'field')}{where}",
                why=f"its header names {counted(int(counts[1]), 'column')}",
                remedy="write as many fields in each row, and quote fields that contain a separator",
            )
        return cannot_read(file, ValueError(words), "check that it is a CSV file of UTF-8 text")

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_first": b"", "kinds": {}}  # Needed only to open the files.


def is_number_text(text: str) -> bool:
    """Return whether a text of a CSV file is a number.

    Parameters
    ----------
    text : str
        The text.

    Returns
    -------
    bool
        True for a number.

    Examples
    --------
    >>> is_number_text("-1.5e3"), is_number_text("1_000"), is_number_text("n/a")
    (True, False, False)
    """
    return re.fullmatch(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", text, re.ASCII) is not None


def _header(file: str, source: IO[bytes]) -> tuple[str, list[str]]:
    """Read the header. Return the separator and the names of the columns."""
    try:
        line = source.readline(_MAX_HEADER)
        packed = next((name for magic, name in _PACKED.items() if line.startswith(magic)), None)
        text = "" if packed else line.decode("utf-8-sig").strip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise cannot_read(file, error, "check that it is a CSV file of UTF-8 text") from None
    if packed:
        raise InputError(
            f"{file} is compressed ({packed})",
            why="its name does not end in .gz" if packed == "gzip" else "only gzip compression is supported",
            remedy="rename it to end in .gz" if packed == "gzip" else "compress it with gzip, or write Parquet",
        )
    if not text.strip():
        raise InputError(
            f"{file} has no header", why="the first line must name the columns", remedy="write one, as a,b,label"
        )
    separator = _separator(file, text)
    names = _names(file, text, separator)
    if all(map(is_number_text, names)):
        raise InputError(
            f"{file} begins with numbers, {quoted_names(names)}",
            why="the first line must name the columns",
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
            why="each column needs a name",
            remedy="name it in the header, or write the file without it",
        )
    return names


def _separator(file: str, header: str) -> str:
    """Return the separator: a tab in .tsv files, otherwise the first of comma, tab, semicolon in the header."""
    if suffix_of(file) == ".tsv":
        return "\t"
    return next((sign for sign in ",\t;" if sign in header), ",")


def _lines(file: str, source: IO[bytes]) -> bytes:
    """Read about 8 MB of whole lines. Line breaks inside of quotes do not end a line."""
    text = source.read(BLOCK)
    open_quotes, more = text.count(b'"') % 2, [text]
    while open_quotes or not more[-1].endswith(b"\n"):
        line = source.readline(BLOCK)
        if not line or len(more) > _MAX_FIELD_LINES:
            break
        open_quotes = (open_quotes + line.count(b'"')) % 2
        more.append(line)
    if open_quotes:
        raise InputError(
            f"{file} has a quote that is not closed, after byte {source.tell() - sum(map(len, more))}",
            why="the rest of the file would be one field",
            remedy='close it, or write a literal quote twice, as ""',
        )
    return b"".join(more)


def _stamp(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:16]


def _no_rows(file: str) -> InputError:
    return InputError(f"{file} has no rows", why="there is nothing to learn from", remedy="give a file with examples")
