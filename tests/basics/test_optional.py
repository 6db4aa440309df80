"""Libraries that are imported only when they are used."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from paraactive.basics.optional import require
from paraactive.errors import MissingExtraError


def test_a_module_that_is_installed_is_imported() -> None:
    assert require("os.path", extra="none", what="this test").join("a", "b") == str(Path("a", "b"))


def test_a_module_that_is_missing_is_an_error_that_names_the_extra() -> None:
    with pytest.raises(MissingExtraError, match=r"a report needs nowhere_to_find.*pip install 'paraactive\[report\]'"):
        require("nowhere_to_find.inside", extra="report", what="a report")


def test_a_module_that_needs_another_one_says_so_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "installed_but_broken.py").write_text("import nowhere_to_find\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="nowhere_to_find") as caught:
        require("installed_but_broken", extra="report", what="a report")
    assert not isinstance(caught.value, MissingExtraError)
    assert "installed_but_broken" not in sys.modules
