"""Files by path, folder, pattern and address."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import fsspec
import pytest

from paraactive.errors import InputError
from paraactive.streams import Table
from paraactive.streams.locations import absolute, file_signature, find_files, is_folder, open_binary, suffix_of


def test_an_address_of_a_kind_that_nobody_knows_is_refused():
    with pytest.raises(InputError, match=r"cannot read nowhere://a\.csv"):
        Table("nowhere://a.csv")


TREE = [
    "b.csv", "a.csv", "c.csv.gz", "a.csv.gz", "d.CSV", "_e.csv", ".f.csv", "notes.md", "year=1/a.csv", "year=1/b/c.csv",
    "year=1/_x=2/c.csv", "old/a.csv",
]  # fmt: skip
WANTED = ["a.csv", "b.csv", "c.csv.gz", "d.CSV", "year=1/_x=2/c.csv", "year=1/a.csv"]


def test_files_of_a_folder_are_found_here_and_at_an_address(tmp_path: Path):
    memory = fsspec.filesystem("memory")
    for name in TREE:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
        memory.pipe(f"/found/{name}", name.encode())
    assert find_files(tmp_path, (".csv",)) == tuple(f"{tmp_path}/{name}" for name in WANTED)
    assert find_files("memory://found", (".csv",)) == tuple(f"memory:///found/{name}" for name in WANTED)
    assert is_folder(tmp_path)
    assert is_folder("memory://found")
    assert not is_folder("memory://found/a.csv")
    for folder in (str(tmp_path), "memory:///found"):
        assert find_files(f"{folder}/a.csv", (".parquet",)) == (f"{folder}/a.csv",)
        assert find_files(f"{folder}/*.md", (".csv",)) == (f"{folder}/notes.md",)
        with pytest.raises(InputError, match=r"no file .*none: it does not exist"):
            find_files(f"{folder}/none", (".csv",))
    memory.rm("/found", recursive=True)


def test_a_signature_changes_with_the_file_and_only_then(tmp_path: Path):
    path, memory = tmp_path / "a.csv", fsspec.filesystem("memory")
    path.write_text("one")
    memory.pipe("/signed.csv", b"one")
    first, remote = file_signature(str(path)), file_signature("memory://signed.csv")
    assert (file_signature(str(path)), file_signature("memory://signed.csv")) == (first, remote)
    os.utime(path, (1, 1))
    memory.pipe("/signed.csv", b"other")
    assert file_signature(str(path)) != first
    assert file_signature("memory://signed.csv") != remote
    memory.rm("/signed.csv")
    for gone in (str(tmp_path / "none"), "memory://signed.csv"):
        with pytest.raises(InputError, match="no file"):
            file_signature(gone)


def test_a_gzip_file_is_opened_as_what_is_in_it(tmp_path: Path):
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"a,b"))
    with open_binary(str(tmp_path / "a.csv.gz")) as file:
        assert file.read() == b"a,b"
    assert suffix_of("A.CSV.GZ") == ".csv"


def test_a_path_is_made_absolute_and_an_address_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert absolute("a.csv") == str(tmp_path / "a.csv")
    assert absolute("s3://bucket/a.csv") == "s3://bucket/a.csv"
