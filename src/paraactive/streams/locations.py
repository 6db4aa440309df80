"""Locations of files: local paths, folders, patterns, and addresses such as s3://bucket/key.

Addresses are read through fsspec. No other module distinguishes addresses from paths.
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
    """Return whether a location is an address, such as s3://bucket/key.

    Parameters
    ----------
    path : str or Path
        A path or an address.

    Returns
    -------
    bool
        True for an address.

    Examples
    --------
    >>> is_remote("memory://data.csv"), is_remote("data.csv")
    (True, False)
    """
    return "://" in str(path)


def absolute(path: Location) -> str:
    """Return an absolute path, which processes in other folders can use.

    Parameters
    ----------
    path : str or Path
        A path or an address.

    Returns
    -------
    str
        Absolute path; an address is not changed.
    """
    return str(path) if is_remote(path) else str(Path(path).absolute())


def suffix_of(path: Location) -> str:
    """Return the suffix of a file name in lowercase; for a gzip file, the suffix before .gz.

    Parameters
    ----------
    path : str or Path
        A path or an address.

    Returns
    -------
    str
        Suffix with its dot, or "".

    Examples
    --------
    >>> suffix_of("s3://bucket/Rows.PARQUET"), suffix_of("rows.csv.gz")
    ('.parquet', '.csv')
    """
    name = PurePosixPath(str(path))
    return PurePosixPath(name.stem if is_gzip(path) else name.name).suffix.lower()


def is_gzip(path: Location) -> bool:
    """Return whether a file name ends in .gz.

    Parameters
    ----------
    path : str or Path
        A path or an address.

    Returns
    -------
    bool
        True for gzip files.
    """
    return str(path).lower().endswith(".gz")


def is_folder(path: Location) -> bool:
    """Return whether a location is an existing folder.

    Parameters
    ----------
    path : str or Path
        A path or an address.

    Returns
    -------
    bool
        True for a folder.
    """
    if not is_remote(path):
        return Path(path).is_dir()
    system, inside = _system(path)
    return bool(system.isdir(inside))


def find_files(path: Location, suffixes: Iterable[str]) -> tuple[str, ...]:
    """Return the files at a location, sorted.

    Of the folders in a folder only partitions such as year=2026 are entered. Names that begin with a dot or an
    underscore are skipped, as other readers of Parquet do.

    Parameters
    ----------
    path : str or Path
        A file, a folder, or a pattern with *.
    suffixes : iterable of str
        Suffixes of the files to take from a folder or pattern.

    Returns
    -------
    tuple of str
        Absolute paths or addresses.

    Raises
    ------
    InputError
        If there is no such file.
    """
    wanted = tuple(suffixes)
    if is_remote(path):
        found = _find_remote(str(path), wanted)
    elif Path(path).is_dir():
        found = _visible(Path(path), _inside(Path(path)), wanted)
    elif Path(path).exists():
        found = [str(path)]
    else:
        found = _with_suffix(glob.glob(str(path), recursive=True), wanted) if is_pattern(path) else []
    if not found and is_folder(path):
        raise InputError(
            f"no file {path}", why=f"the folder has no files that end in {', '.join(wanted)}", remedy="check the path"
        )
    if not found:
        raise missing_file(path)
    return tuple(sorted(absolute(each) for each in found))


def file_signature(path: str) -> str:
    """Return a text that changes when a file is replaced, from its size and time of modification.

    Parameters
    ----------
    path : str
        A path or an address.

    Returns
    -------
    str
        The signature.
    """
    try:
        if not is_remote(path):
            state = Path(path).stat()
            return repr((state.st_ino, state.st_size, state.st_mtime_ns))
        system, inside = _system(path)
        system.invalidate_cache()  # Some file systems cache their listings.
        return repr(sorted(system.info(inside).items()))
    except FileNotFoundError:
        raise missing_file(path) from None
    except OSError as error:
        raise cannot_read(path, error) from None


def open_binary(path: str) -> IO[bytes]:
    """Open a file for reading with random access. A gzip file is decompressed once in each process.

    Parameters
    ----------
    path : str
        A path or an address.

    Returns
    -------
    BinaryIO
        The decompressed contents.

    Raises
    ------
    InputError
        If the file cannot be read.
    """
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
    """Return the error for a missing file.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    InputError
        Error to raise.
    """
    return InputError(f"no file {path}", why="it does not exist", remedy="check the path")


def changed_data(path: object) -> InputError:
    """Return the error for a file that differs from the one that the stream was created with.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    InputError
        Error to raise.
    """
    return InputError(
        f"{path} has other data than when the stream was created",
        why="all nodes must read the same stream",
        remedy="copy the same file to every node, and do not change it during a run",
    )


def cannot_read(path: object, error: Exception, remedy: str = "check that you may read it") -> InputError:
    """Return the error for a file that cannot be read.

    Parameters
    ----------
    path : str or Path
        The file.
    error : Exception
        The cause.
    remedy : str, optional
        Remedy for the message.

    Returns
    -------
    InputError
        Error to raise.
    """
    words = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return InputError(f"cannot read {path}", why=" ".join(words.split()).rstrip("."), remedy=remedy)


def is_pattern(path: Location) -> bool:
    """Return whether a location is a pattern with *, ? or [.

    Parameters
    ----------
    path : str or Path
        A path or an address.

    Returns
    -------
    bool
        True for a pattern.

    Examples
    --------
    >>> is_pattern("rows/*"), is_pattern("rows")
    (True, False)
    """
    return any(sign in str(path) for sign in "*?[")


def _with_suffix(found: list[str], wanted: tuple[str, ...]) -> list[str]:
    """Return the files with a wanted suffix, or all files if none has one."""
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
    return [path for path in files if not (is_gzip(path) and path[:-3] in files)]  # It holds the same rows.


def _find_remote(path: str, wanted: tuple[str, ...]) -> list[str]:
    system, inside = _system(path)
    try:
        if system.isdir(inside):
            found = _visible(PurePosixPath(inside), system.find(inside), wanted)
        elif is_pattern(path) and not system.exists(inside):
            found = _with_suffix(system.glob(inside), wanted)
        else:
            found = [inside] if system.exists(inside) else []
    except OSError as error:
        raise cannot_read(path, error) from None
    return [system.unstrip_protocol(each) for each in found]


def _system(path: Location) -> tuple[Any, str]:
    """Return the fsspec file system of an address, and the path in it."""
    fsspec = require("fsspec", extra="files", what=f"reading {path}")
    try:
        return fsspec.core.url_to_fs(str(path))
    except ImportError as error:
        raise MissingExtraError(
            f"reading {path} needs another library", why=str(error).rstrip("."), remedy="install that library"
        ) from None
    except ValueError as error:
        raise cannot_read(path, error, remedy="give a path, or an address that fsspec supports, as s3://...") from None
