"""Atomic writing of files: write a temporary file in the same folder, flush it to disk, then rename it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from paraactive.errors import InputError, cannot_write


@contextmanager
def atomic_write(path: str | Path, *, overwrite: bool = True) -> Generator[BinaryIO]:
    """Open a file for writing that replaces `path` when the block ends without an error.

    Until then, or if the disk is full, the file at `path` does not change. Pipes and devices are written directly.

    Parameters
    ----------
    path : str or Path
        File to create or replace.
    overwrite : bool, default=True
        Whether an existing file may be replaced.

    Yields
    ------
    BinaryIO
        File to write to.

    Raises
    ------
    InputError
        If the file exists and overwrite is False, or if the file cannot be written.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_write(Path(folder, "words")) as file:
    ...         _ = file.write(b"all of them")
    ...     os.listdir(folder)
    ['words']
    """
    path = Path(path)
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as device:
                yield device
            return
        if path.exists() and not overwrite:
            raise FileExistsError
        target = Path(os.path.realpath(path))  # A symbolic link stays a link, to the new file.
        handle, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", suffix=".part", dir=target.parent)
        try:
            with open(handle, "wb") as file:
                os.fchmod(handle, _mode(target))
                yield file
                file.flush()
                os.fsync(handle)
            _rename(name, target, overwrite)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(name)
    except FileExistsError:
        raise already_exists(path) from None
    except OSError as error:
        raise cannot_write(path, error) from error


def already_exists(path: str | Path) -> InputError:
    """Return the error for a file that exists and must not be replaced.

    Parameters
    ----------
    path : str or Path
        The existing file.

    Returns
    -------
    InputError
        Error to raise.
    """
    return InputError(
        f"{path} already exists",
        why="a file is replaced only on request",
        remedy="give another name, or --overwrite (overwrite=True)",
    )


def _mode(target: Path) -> int:
    """Return the permissions of the file that is replaced, or the default ones of a new file."""
    with suppress(OSError):
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _rename(name: str, target: Path, overwrite: bool) -> None:
    if overwrite:
        os.replace(name, target)
    else:
        _rename_if_absent(name, target)
    with suppress(OSError):  # Some systems cannot flush a folder.
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _rename_if_absent(name: str, target: Path) -> None:
    """Rename by a hard link, which fails if another process has created the target in the meantime."""
    try:
        os.link(name, target)
    except FileExistsError:
        raise
    except OSError:  # A file system without links.
        if target.exists():
            raise FileExistsError from None
        os.replace(name, target)
