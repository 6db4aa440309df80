"""The versions and the processor that a run file records."""

from __future__ import annotations

import platform
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from paraactive.basics.platforms import installed, processor, versions


def test_versions_are_texts_of_what_is_installed() -> None:
    found = versions()
    assert found["numpy"] == np.__version__
    assert found["python"] == platform.python_version()
    assert int(found["cores"]) >= 1
    assert all(isinstance(value, str) and value for value in found.values())


def test_a_library_that_is_not_installed_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    real = metadata.version

    def version(name: str) -> str:
        if name == "ray":
            raise metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(metadata, "version", version)
    installed.cache_clear()
    found = versions()
    installed.cache_clear()
    assert "ray" not in found
    assert "numpy" in found


def test_the_processor_has_a_name_where_the_system_does_not_tell_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreadable(path: Path) -> str:
        raise OSError(path)

    monkeypatch.setattr(Path, "read_text", unreadable)
    assert processor() == (platform.processor() or platform.machine())


@pytest.mark.parametrize(
    ("told", "name"), [("model name : Some 9000\nmodel name : Other\n", "Some 9000"), ("flags : none\n", None)]
)
def test_the_name_of_the_processor_is_that_of_the_first_core(
    told: str, name: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_text(path: Path) -> str:
        return told

    monkeypatch.setattr(Path, "read_text", read_text)
    assert processor() == (name or platform.machine())
