"""Where files are: paths of this machine, folders and patterns of them, and addresses such as s3://bucket/key.

Addresses go through fsspec; nothing else of the package knows the difference.
"""

from __future__ import annotations

import glob
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import IO, Any, TypeAlias

from paraactive.errors import InputError, MissingExtraError
from paraactive.optional import require

Location: TypeAlias = "str | Path"


def is_remote(path: Location) -> bool:
    """True for an address, as s3://bucket/key.

    >>> is_remote("memory://data.csv"), is_remote("data.csv")
    (True, False)
    """
    return "://" in str(path)


def absolute(path: Location) -> str:
    """The path as another process, in another folder, can use it."""
    return str(path) if is_remote(path) else str(Path(path).absolute())


def suffix_of(path: Location) -> str:
    """The ending of its name, in small letters.

    >>> suffix_of("s3://bucket/Rows.PARQUET")
    '.parquet'
    """
    return PurePosixPath(str(path)).suffix.lower()


def is_folder(path: Location) -> bool:
    """True if there is a folder of this name."""
    if not is_remote(path):
        return Path(path).is_dir()
    system, inside = _system(path)
    return bool(system.isdir(inside))


def find_files(path: Location, suffixes: Iterable[str]) -> tuple[str, ...]:
    """The file; those of a folder that end so; or those that a pattern with * fits. In their order.

    Of the folders in a folder only those are entered that are part of one data set, as year=2026. Names that begin with
    a dot or an underscore are left out, as by others that read Parquet.
    """
    wanted = tuple(suffixes)
    if is_remote(path):
        found = _find_remote(str(path), wanted)
    elif Path(path).is_dir():
        found = _visible(Path(path), _inside(Path(path)), wanted)
    elif Path(path).exists():
        found = [str(path)]
    else:
        found = glob.glob(str(path), recursive=True) if _is_pattern(path) else []
    if not found:
        raise InputError(
            f"no file {path}",
            why=f"nothing there ends in {', '.join(wanted)}" if is_folder(path) else "nothing is there",
            remedy="check the path",
        )
    return tuple(sorted(absolute(each) for each in found))


def open_binary(path: str) -> IO[bytes]:
    """The file, to be read at any place."""
    try:
        if not is_remote(path):
            return Path(path).open("rb")
        system, inside = _system(path)
        return system.open(inside, "rb")
    except FileNotFoundError:
        raise InputError(f"no file {path}", why="nothing is there", remedy="check the path") from None
    except OSError as error:
        raise cannot_read(path, error) from None


def cannot_read(path: object, error: Exception, remedy: str = "check that you may read it") -> InputError:
    """What to raise where a file cannot be read."""
    words = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return InputError(f"cannot read {path}", why=" ".join(words.split()).rstrip("."), remedy=remedy)


def _is_pattern(path: Location) -> bool:
    return any(sign in str(path) for sign in "*?[")


def _inside(folder: Path) -> list[str]:
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise cannot_read(folder, error) from None
    files = [str(each) for each in entries if each.is_file()]
    return files + [file for each in entries if each.is_dir() and "=" in each.name for file in _inside(each)]


def _visible(folder: Path | PurePosixPath, found: list[str], wanted: tuple[str, ...]) -> list[str]:
    def hidden(path: str) -> bool:
        *folders, name = PurePosixPath(path).relative_to(folder).parts
        return name.startswith((".", "_")) or any("=" not in part for part in folders)

    return [path for path in found if path.lower().endswith(wanted) and not hidden(path)]


def _find_remote(path: str, wanted: tuple[str, ...]) -> list[str]:
    system, inside = _system(path)
    try:
        if system.isdir(inside):
            found = _visible(PurePosixPath(inside), system.find(inside), wanted)
        elif _is_pattern(path) and not system.exists(inside):
            found = system.glob(inside)
        else:
            found = [inside] if system.exists(inside) else []
    except OSError as error:
        raise cannot_read(path, error) from None
    return [system.unstrip_protocol(each) for each in found]


def _system(path: Location) -> tuple[Any, str]:
    fsspec = require("fsspec", extra="files", what=f"reading {path}")
    try:
        return fsspec.core.url_to_fs(str(path))
    except ImportError as error:
        raise MissingExtraError(
            f"reading {path} needs another library", why=str(error).rstrip("."), remedy="install the one it names"
        ) from None
    except ValueError as error:
        raise cannot_read(path, error, remedy="give a path, or an address that fsspec knows, as s3://...") from None
