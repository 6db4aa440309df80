"""Start-up: what an import brings with it, what is said of compiling, and what happens where nothing can be kept."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paraactive import Arrays, Network, train
from paraactive.basics import compiled, philox
from paraactive.data.events import Compiling, Event
from paraactive.sifting import parts

HEAVY = ("numpy", "numba", "scipy", "sklearn", "pandas", "torch", "ray", "pyarrow", "typer", "rich", "plotly")


def _run(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=os.environ | environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _brings(statement: str) -> set[str]:
    """The heavy libraries that are loaded after this."""
    return set(_run(f"import sys\n{statement}\nprint(*(name for name in {HEAVY} if name in sys.modules))").split())


def test_importing_the_package_imports_nothing_heavy() -> None:
    assert _brings("import paraactive") == set()


@pytest.mark.parametrize("name", ["LaSVM", "Network", "Digits", "Arrays", "train"])
def test_a_name_of_the_package_brings_numpy_and_numba_only(name: str) -> None:
    assert _brings(f"from paraactive import {name}") <= _brings("import numpy, numba")


def test_help_does_not_wait_for_numba() -> None:
    assert not _brings("import paraactive.cli.app") & {"numpy", "numba", "sklearn", "torch", "ray", "pyarrow"}


# Compiling ---------------------------------------------------------------------------------------------------------


@compiled.njit(nogil=True)
def _foreign(a: Any) -> Any:
    return a + 1


def test_compiling_is_told_once_and_loading_is_not() -> None:
    told: list[str] = []

    @compiled.njit(nogil=True)
    def ours(a: Any) -> Any:
        return a + 2

    ours.py_func.__module__ = "paraactive.somewhere"  # pyright: ignore[reportFunctionMemberAccess]
    with compiled.notify_on_compile(lambda: told.append("now")):
        _foreign(1)  # Not one of ours.
        assert told == []
        assert (ours(1), ours(1.5), ours(2)) == (3, 3.5, 4)
        assert told == ["now"]
    with compiled.notify_on_compile(lambda: told.append("again")):
        assert ours(3) == 5
    assert told == ["now"]


def _events_of_a_run(cache: Path) -> list[str]:
    """Of a process that finds compiled loops there, if any."""
    code = """
import numpy as np
from paraactive import Arrays, Network, train
x = np.random.default_rng(0).normal(size=(64, 2)).astype(np.float32)
train(Network(hidden=2), Arrays(x, x[:, 0] > 0), rule="passive", nodes=1, observers=[print])
"""
    return [line.split("(")[0] for line in _run(code, NUMBA_CACHE_DIR=str(cache)).splitlines()]


def test_a_run_says_that_it_compiles_in_the_first_process_only(tmp_path: Path) -> None:
    first, second = _events_of_a_run(tmp_path), _events_of_a_run(tmp_path)
    assert first[0] == "Compiling"
    assert first.count("Compiling") == 1
    assert second == first[1:]


def test_the_event_names_the_learner(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def notify_on_compile(tell: Any) -> Generator[None]:
        tell()
        yield

    monkeypatch.setattr(parts, "notify_on_compile", notify_on_compile)
    said: list[Event] = []
    x = np.random.default_rng(0).normal(size=(64, 2)).astype(np.float32)
    train(Network(hidden=2), Arrays(x, x[:, 0] > 0), rule="passive", nodes=1, guard=True, observers=[said.append])
    assert said[0] == Compiling("Network")


def test_where_nothing_can_be_kept_loops_are_compiled_all_the_same() -> None:
    code = """
from numba.core import caching
for kind in [caching.CacheImpl, *caching.CacheImpl.__subclasses__()]:
    kind._locator_classes = []
import numpy as np
from paraactive.basics import philox
print(philox.words(7, philox.COIN, np.arange(2)).tolist())
"""
    assert _run(code, NUMBA_CACHE_DIR="").strip() == str(philox.words(7, philox.COIN, np.arange(2)).tolist())


def _fit_of_an_estimator(site: Path, caches: Path) -> tuple[str, str]:
    """What a process that fits one prints, on both sides, where nothing can be written beside the package."""
    code = """
import warnings
warnings.simplefilter("error")
import numpy as np
from paraactive import Network, ParaActiveClassifier
x = np.random.default_rng(0).normal(size=(64, 2)).astype(np.float32)
clf = ParaActiveClassifier(Network(hidden=2), warmstart=20, batch=10, random_state=0)
clf.fit(x, x[:, 0] > 0).fit(x, x[:, 0] > 0).partial_fit(x, x[:, 0] > 0)
"""
    own = {
        "PYTHONPATH": str(site),
        "XDG_CACHE_HOME": str(caches),
        "NUMBA_CACHE_DIR": "",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ | own
    )  # fmt: skip
    return done.stdout, done.stderr


def test_an_estimator_says_once_that_it_compiles_and_a_second_process_finds_all_on_disk(tmp_path: Path) -> None:
    site, caches = tmp_path / "site", tmp_path / "caches"
    package = Path(compiled.__file__).parents[1]
    shutil.copytree(package, site / "paraactive", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [site / "paraactive", *(site / "paraactive").rglob("*/")]:
        if folder.is_dir():
            (folder / "__pycache__").write_text("")  # A file, so that no folder of this name can be made.
    out, error = _fit_of_an_estimator(site, caches)
    assert out == ""
    assert error == "paraactive compiles its loops, once on this machine: this takes up to half a minute\n"
    assert list(caches.rglob("*.nbi"))
    assert _fit_of_an_estimator(site, caches) == ("", "")
