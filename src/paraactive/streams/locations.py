"""Where files are: paths of this machine, folders and patterns of them, and addresses such as s3://bucket/key.

Addresses go through fsspec; nothing else of the package knows the difference.
"""

from __future__ import annotations

import glob
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import IO, Any, TypeAlias

from paraactive.basics.optional import require
from paraactive.errors import InputError, MissingExtraError
from paraactive.streams import gzip_files

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
    """The ending of its name, in small letters; of a gzip file, that of the file inside.

    >>> suffix_of("s3://bucket/Rows.PARQUET"), suffix_of("rows.csv.gz")
    ('.parquet', '.csv')
    """
    name = PurePosixPath(str(path))
    return PurePosixPath(name.stem if is_gzip(path) else name.name).suffix.lower()


def is_gzip(path: Location) -> bool:
    """True if its name says so."""
    return str(path).lower().endswith(".gz")


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
        found = _ending_so(glob.glob(str(path), recursive=True), wanted) if is_pattern(path) else []
    if not found and is_folder(path):
        raise InputError(f"no file {path}", why=f"nothing there ends in {', '.join(wanted)}", remedy="check the path")
    if not found:
        raise missing_file(path)
    return tuple(sorted(absolute(each) for each in found))


def file_signature(path: str) -> str:
    """What tells a file from another that takes its place: its size and its age, at little cost."""
    try:
        if not is_remote(path):
            state = Path(path).stat()
            return repr((state.st_ino, state.st_size, state.st_mtime_ns))
        system, inside = _system(path)
        system.invalidate_cache()  # Some remember what they listed before.
        return repr(sorted(system.info(inside).items()))
    except FileNotFoundError:
        raise missing_file(path) from None
    except OSError as error:
        raise cannot_read(path, error) from None


def open_binary(path: str) -> IO[bytes]:
    """The file, to be read at any place; a gzip file is decompressed once in each process."""
    return (
        gzip_files.open_decompressed(path, file_signature(path), _open_stored) if is_gzip(path) else _open_stored(path)
    )


def _open_stored(path: str) -> IO[bytes]:
    try:
        if not is_remote(path):
            return Path(path).open("rb")
        system, inside = _system(path)
        return system.open(inside, "rb")
    except FileNotFoundError:
        raise missing_file(path) from None
    except OSError as error:
        raise cannot_read(path, error) from None


def missing_file(path: object) -> InputError:
    """What to raise where there is no file."""
    return InputError(f"no file {path}", why="nothing is there", remedy="check the path")


def changed_data(path: object) -> InputError:
    """What to raise where a file is not the one that the stream was made of."""
    return InputError(
        f"{path} holds other data than where the stream was made",
        why="all nodes must read the same stream",
        remedy="copy the same file to every node, and leave it alone during a run",
    )


def cannot_read(path: object, error: Exception, remedy: str = "check that you may read it") -> InputError:
    """What to raise where a file cannot be read."""
    words = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return InputError(f"cannot read {path}", why=" ".join(words.split()).rstrip("."), remedy=remedy)


def is_pattern(path: Location) -> bool:
    """True if it may stand for several files.

    >>> is_pattern("rows/*"), is_pattern("rows")
    (True, False)
    """
    return any(sign in str(path) for sign in "*?[")


def _ending_so(found: list[str], wanted: tuple[str, ...]) -> list[str]:
    """Of what a pattern fits, the files that end so; all of it, if the pattern asks for another ending."""
    return [path for path in found if suffix_of(path) in wanted] or found


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

    files = [path for path in found if suffix_of(path) in wanted and not hidden(path)]
    return [path for path in files if not (is_gzip(path) and path[:-3] in files)]  # The same rows twice.


def _find_remote(path: str, wanted: tuple[str, ...]) -> list[str]:
    system, inside = _system(path)
    try:
        if system.isdir(inside):
            found = _visible(PurePosixPath(inside), system.find(inside), wanted)
        elif is_pattern(path) and not system.exists(inside):
            found = _ending_so(system.glob(inside), wanted)
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
