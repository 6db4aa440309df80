"""Where a row is in its file, in the way that people count there."""

from __future__ import annotations

from paraactive.errors import InputError
from paraactive.streams.locations import open_binary, suffix_of

_COUNTED_FROM_0 = (".parquet", ".pq")


def describe_row(file: str, row: int) -> str:
    """The line of a CSV file, as an editor counts: the header is line 1. Rows of other files are counted from 0."""
    return f"row {row}" if suffix_of(file) in _COUNTED_FROM_0 else f"line {_line_of(file, row)}"


def _line_of(file: str, row: int) -> int:
    """The line on which a row begins. Blank lines are not rows, and a field in quotes may have several lines."""
    rows, begins, inside = -1, 1, False  # The header is not a row.
    try:
        with open_binary(file) as source:
            for number, line in enumerate(source, start=1):
                begins = begins if inside else number
                inside ^= line.count(b'"') % 2 == 1
                if not inside and (line.strip(b"\r\n") or begins < number):
                    if rows == row:
                        return begins
                    rows += 1
    except (OSError, InputError):
        pass  # The row is what the message is about, and not that the file cannot be read a second time.
    return row + 2
