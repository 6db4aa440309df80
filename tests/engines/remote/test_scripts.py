from __future__ import annotations

import pickle
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from paraactive.engines.remote.scripts import read_script, script_of
from paraactive.errors import InputError

DEFINED = b"c__main__\nOwn\n)R."
"""A pickle of Own(), which the script defines."""


@pytest.fixture
def main(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The user's program, as long as a test runs."""
    module = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", module)
    monkeypatch.setitem(sys.modules, "__mp_main__", module)
    monkeypatch.setenv("PARAACTIVE_NODE", "")
    monkeypatch.delenv("PARAACTIVE_NODE")
    return module


def test_a_pickle_of_installed_classes_needs_no_script(main: ModuleType) -> None:
    assert script_of(pickle.dumps(Counter("abc"))) is None


def test_a_pickle_of_the_scripts_own_class_needs_it(main: ModuleType) -> None:
    main.__file__ = "/somewhere/script.py"
    assert script_of(DEFINED) == (None, "/somewhere/script.py")


def test_a_session_without_a_file_is_refused(main: ModuleType) -> None:
    with pytest.raises(InputError, match="defined in a notebook or an interactive session"):
        script_of(DEFINED)


@pytest.mark.usefixtures("main")
def test_a_node_that_has_read_the_script_finds_its_classes_and_starts_no_run(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("class Own:\n    word = 'read'\n\nif __name__ == '__main__':\n    raise SystemExit\n")
    read_script(None, str(script))
    assert pickle.loads(DEFINED).word == "read"
    with pytest.raises(InputError, match=r"script\.py starts a run when a node reads it"):
        script_of(DEFINED)
