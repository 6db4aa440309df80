"""Damaged files: reading ends in the model that was written, or in one clear line."""

from __future__ import annotations

import io
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from damage import Subject, bad, subjects, try_case
from paraactive import Model
from paraactive.basics.state import unpack
from paraactive.cli import app
from paraactive.errors import InputError, ParaActiveError

_NAMES = [
    *(f"{name}{kind}" for name in ("svm", "sparse", "network", "digits", "asynchronous") for kind in ("", ", killed")),
    "oracle",
    "journal",
]
_MODELS = [f"{name} model" for name in ("svm", "sparse", "network", "digits", "asynchronous")]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Subject]:
    return {subject.name: subject for subject in subjects(tmp_path_factory.mktemp("whole"))}


@pytest.mark.parametrize("name", _NAMES)
def test_a_damaged_run_file_gives_the_right_model_or_an_error(
    name: str, whole: dict[str, Subject], tmp_path: Path
) -> None:
    for number in range(20):
        assert bad(try_case(whole[name], number, tmp_path)) == [], f"case {number}"


@pytest.mark.parametrize("name", _MODELS)
def test_a_damaged_model_gives_the_right_model_or_an_error(
    name: str, whole: dict[str, Subject], tmp_path: Path
) -> None:
    for number in range(60):
        assert bad(try_case(whole[name], number, tmp_path)) == [], f"case {number}"


def test_every_byte_of_a_model_file_matters_or_does_not_change_the_model(
    whole: dict[str, Subject], tmp_path: Path
) -> None:
    subject = whole["network model"]
    data = subject.path.read_bytes()
    for where in range(0, len(data), 7):
        (tmp_path / "a.model").write_bytes(data[:where] + bytes([data[where] ^ 0x10]) + data[where + 1 :])
        with suppress(ParaActiveError):
            assert subject.load(tmp_path / "a.model") == subject.expected


# One by one ------------------------------------------------------------------------------------------------------


def _zipped(members: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def _saved(array: np.ndarray) -> bytes:  # pyright: ignore[reportMissingTypeArgument]
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def test_a_small_file_that_inflates_to_a_large_one_is_refused_before_it_is_inflated() -> None:
    bomb = _zipped({"a.npy": _saved(np.zeros(1 << 22, np.uint8))}, zipfile.ZIP_DEFLATED)
    assert len(bomb) < 1 << 14
    with pytest.raises(InputError, match="not an uncompressed array"):
        unpack(bomb)


def test_an_array_that_says_it_is_larger_than_it_is_takes_no_memory() -> None:
    small = _saved(np.zeros(3))
    large = small.replace(b"(3,), }" + b" " * 12, b"(3999999999999,), }")
    assert len(large) == len(small)
    with pytest.raises(InputError, match="the size of an array differs from its header"):
        unpack(_zipped({"a.npy": large}))


def test_a_member_that_is_there_twice_or_is_encrypted_or_unknown_is_refused() -> None:
    array = _saved(np.zeros(3))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.npy", array)
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("a.npy", array)
    with pytest.raises(InputError, match="two members have the same name"):
        unpack(out.getvalue())
    with pytest.raises(InputError, match="not an uncompressed array"):
        unpack(_zipped({"a.npy": array, "readme.txt": b"hello"}))
    encrypted = bytearray(_zipped({"a.npy": array}))
    encrypted[encrypted.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(InputError, match="not an uncompressed array"):
        unpack(bytes(encrypted))


def test_a_member_that_was_added_to_a_model_is_refused(whole: dict[str, Subject], tmp_path: Path) -> None:
    path = tmp_path / "a.model"
    path.write_bytes(whole["svm model"].path.read_bytes())
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("state.more.npy", _saved(np.zeros(3)))
    with pytest.raises(InputError, match="its hash does not match"):
        Model.load(path)


def test_nested_json_is_no_traceback(whole: dict[str, Subject], tmp_path: Path) -> None:
    path = tmp_path / "a.model"
    text = np.frombuffer(b"[" * 200_000, np.uint8)
    path.write_bytes(_zipped({"paraactive.npy": _saved(text)}))
    with pytest.raises(InputError, match="RecursionError"):
        Model.load(path)


@pytest.mark.parametrize("command", ["load", "predict", "evaluate", "save"])
def test_the_command_line_says_it_in_one_line(
    command: str, whole: dict[str, Subject], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.model"
    path.write_bytes(whole["svm model"].path.read_bytes()[:-200])
    np.savez(tmp_path / "rows.npz", x=np.zeros((3, 2)), y=["lower"] * 3)
    arguments = {"save": [str(path), "--out", str(tmp_path / "b.model")]}.get(
        command, [str(path), str(tmp_path / "rows.npz")]
    )
    assert app.run(["predict" if command == "load" else command, *arguments]) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert error.startswith("paraactive: error: ")
    assert error.count("\n") == 1
