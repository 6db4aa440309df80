"""Files are replaced whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import threading
from pathlib import Path

import pytest

from paraactive.basics.atomic_files import atomic_write
from paraactive.errors import InputError


def _write(path: Path, data: bytes, **options: bool) -> None:
    with atomic_write(path, **options) as file:
        file.write(data)


def _write_half(path: Path) -> None:
    with atomic_write(path) as file:
        file.write(b"new")
        _ = 1 / 0


def _lose_a_race(path: Path) -> None:
    with atomic_write(path, overwrite=False) as file:
        file.write(b"mine")
        path.write_bytes(b"theirs")


def test_a_full_disk_leaves_the_old_file_as_it_was_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model"
    _write(path, b"old")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match=r"cannot write .*model: no space left on device"):
        _write(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["model"]


def test_an_error_in_the_block_leaves_the_old_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "model"
    _write(path, b"old")
    with pytest.raises(ZeroDivisionError):
        _write_half(path)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["model"]


def test_a_file_is_not_replaced_unasked_even_if_it_appears_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "model"
    with pytest.raises(InputError, match="already exists"):
        _lose_a_race(path)
    assert path.read_bytes() == b"theirs"
    with pytest.raises(InputError, match="already exists"):
        _write(path, b"mine", overwrite=False)
    assert os.listdir(tmp_path) == ["model"]


def test_permissions_are_those_of_the_old_file_or_of_any_new_one(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_bytes(b"")
    path = tmp_path / "model"
    _write(path, b"new")
    assert path.stat().st_mode == other.stat().st_mode
    path.chmod(0o640)
    _write(path, b"newer")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "model", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    _write(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_pipe_is_written_directly(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()))
    reader.start()
    _write(path, b"through")
    reader.join()
    assert read == [b"through"]
    assert stat.S_ISFIFO(path.stat().st_mode)
