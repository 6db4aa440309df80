"""Writing a file so that it is there whole or not at all: beside its place first, flushed to disk, then renamed."""

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
    """A file to write that takes the place of `path` when the block ends without an error.

    Until then, and if the disk is full, whatever was at `path` stays as it was. Pipes and devices are written directly.
    An `OSError` becomes an `InputError` that names the path.

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
        target = Path(os.path.realpath(path))  # A link stays a link, to the new file.
        handle, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", suffix=".part", dir=target.parent)
        try:
            with open(handle, "wb") as file:
                os.fchmod(handle, _mode(target))
                yield file
                file.flush()
                os.fsync(handle)
            _put_in_place(name, target, overwrite)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(name)
    except FileExistsError:
        raise already_exists(path) from None
    except OSError as error:
        raise cannot_write(path, error) from error


def already_exists(path: str | Path) -> InputError:
    """What to raise where a file would be replaced and nobody asked for it."""
    return InputError(
        f"{path} already exists",
        why="a file is replaced only on request",
        remedy="give another name, or --overwrite (overwrite=True)",
    )


def _mode(target: Path) -> int:
    """The permissions of the file that is replaced, or those of any new file."""
    with suppress(OSError):
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _put_in_place(name: str, target: Path, overwrite: bool) -> None:
    if overwrite:
        os.replace(name, target)
    else:
        _name_once(name, target)
    with suppress(OSError):  # Not every system can flush a folder.
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _name_once(name: str, target: Path) -> None:
    """A link, unlike a rename, fails if somebody else has written a file of this name meanwhile."""
    try:
        os.link(name, target)
    except FileExistsError:
        raise
    except OSError:  # A file system without links.
        if target.exists():
            raise FileExistsError from None
        os.replace(name, target)
