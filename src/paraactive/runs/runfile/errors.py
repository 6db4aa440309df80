"""Errors of SQLite and nonsense in a run file, reraised as `RunFileError`."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from paraactive.errors import ParaActiveError, RunFileError


@contextmanager
def reraise_sqlite_errors(path: Path, doing: str) -> Generator[None]:
    """Reraise errors of SQLite as `RunFileError`.

    Parameters
    ----------
    path : Path
        The run file that the error is about.
    doing : {"open", "read", "write"}
        What the block does with the file.
    """
    try:
        yield
    except UnicodeDecodeError as error:  # sqlite3 raises it for names in the schema.
        raise corruption(path, "it holds text that is not UTF-8") from error
    except sqlite3.DatabaseError as error:
        message = " ".join(str(error).split())
        if "not a database" in message or "malformed" in message:
            raise RunFileError(
                f"{path} is not a run file, or is damaged",
                why=message,
                remedy="give a file that train wrote, or restore a copy of it",
            ) from error
        if doing == "write":
            raise RunFileError(
                f"cannot write {path}",
                why=message if "full" in message or "I/O" not in message else f"{message}, perhaps the disk is full",
                remedy=f"all rounds up to the last commit are safe: make room, then 'paraactive resume {path}'",
            ) from error
        raise RunFileError(
            f"cannot {doing} {path}", why=message, remedy="check the path and its permissions"
        ) from error


@contextmanager
def reraise_as_corruption(path: Path) -> Generator[None]:
    """Reraise errors that the content of a run file causes, such as a missing key, as `RunFileError`.

    Parameters
    ----------
    path : Path
        The run file whose content the block uses.
    """
    try:
        yield
    except ParaActiveError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, MemoryError, RecursionError) as error:
        raise corruption(path, f"its content cannot be used ({type(error).__name__}: {error})") from error


def corruption(path: Path, why: str) -> RunFileError:
    """Make the error about a damaged run file.

    Parameters
    ----------
    path : Path
        The run file.
    why : str
        What is wrong with the file. Line breaks become spaces.

    Returns
    -------
    RunFileError
        The error, for the caller to raise.
    """
    return RunFileError(f"{path} is damaged", why=" ".join(why.split()), remedy="restore a copy of it, or train anew")
