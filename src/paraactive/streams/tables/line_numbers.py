"""Description of the position of a row in its file, for error messages."""

from __future__ import annotations

from paraactive.errors import InputError
from paraactive.streams.locations import open_binary, suffix_of

_COUNTED_FROM_0 = (".parquet", ".pq")


def describe_row(file: str, row: int) -> str:
    """Return the position of a row as text.

    Parameters
    ----------
    file : str
        The file.
    row : int
        Number of the row in the file, from 0, without the header.

    Returns
    -------
    str
        For a CSV file the line, such as "line 2" (the header is line 1); for other files the row, such as "row 0".
    """
    return f"row {row}" if suffix_of(file) in _COUNTED_FROM_0 else f"line {_line_of(file, row)}"


def _line_of(file: str, row: int) -> int:
    """Return the first line of a row. Blank lines are not rows, and a quoted field may span several lines."""
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
        pass  # The caller reports a problem of the row, which matters more than that the file cannot be read again.
    return row + 2
