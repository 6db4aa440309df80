"""The shape of the repository: rooms, layers, sizes, and a test module for every module."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "paraactive"
TESTS = ROOT / "tests"
SOURCES = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))

MAX_PACKAGES = 18
MAX_LAYERS = 14
MAX_MODULE_LINES = 400
MAX_ANY = 92
MAX_PAGE_LINES = {"README.md": 200, "ARCHITECTURE.md": 150}
ROOT_MODULES = {"__init__.py", "__main__.py", "_version.py"}

UNTESTED: dict[str, str] = {
    # Module: why it has no test module. `__init__`, `__main__` and `_version` need no entry.
    "cli/base.py": "annotations of options only; the commands use them",
    "data/array_types.py": "type aliases only; pyright checks them",
    "engines/remote/messages.py": "messages without methods",
    "engines/remote/ray_api.py": "the part of Ray that is used, as protocols",
    "engines/remote/transport.py": "a protocol",
    "learners/lasvm/vectors.py": "a protocol",
    "schedules/engine.py": "a protocol, and messages without methods",
}
COVERED_BY: dict[str, tuple[str, ...]] = {
    # A test module that covers several small modules of one package: those modules.
    "checks/test_learner.py": (
        "checks/learner_case.py",
        "checks/learner_scores.py",
        "checks/learner_state.py",
        "checks/learner_updates.py",
    ),
    "learners/lasvm/test_kernel_cache.py": ("learners/lasvm/kernel_cache_loops.py",),
    "learners/lasvm/test_max_vectors.py": ("learners/lasvm/merge_loops.py",),
    "learners/lasvm/test_sparse_vectors.py": ("learners/lasvm/vector_loops.py",),
    "learners/lasvm/test_svm.py": ("learners/lasvm/svm_loops.py",),
    "theory/test_iwal.py": ("theory/iwal_loops.py",),
    "experiments/paper/test_experiment.py": (
        "experiments/paper/network.py",
        "experiments/paper/stragglers.py",
        "experiments/paper/svm.py",
    ),
}


def own_test(module: Path) -> Path:
    """Where a reader looks for the tests of a module."""
    return module.with_name(f"test_{module.name}")


def lines_of(path: Path) -> int:
    return len(path.read_text().splitlines())


def test_every_module_has_a_test_module_of_its_name() -> None:
    together = {module for modules in COVERED_BY.values() for module in modules}
    missing = [
        f"{module.as_posix()} needs tests/{own_test(module).as_posix()}"
        for module in SOURCES
        if not module.name.startswith("_")
        and module.as_posix() not in UNTESTED.keys() | together
        and not (TESTS / own_test(module)).exists()
    ]
    assert not missing, f"{len(missing)} modules have no test module:\n" + "\n".join(missing)


@pytest.mark.parametrize("module", [*UNTESTED, *(each for modules in COVERED_BY.values() for each in modules)])
def test_an_exception_names_a_module_that_exists_and_has_no_test_module(module: str) -> None:
    assert (PACKAGE / module).exists()
    assert not (TESTS / own_test(Path(module))).exists()


@pytest.mark.parametrize("test", COVERED_BY)
def test_modules_that_are_tested_together_are_in_the_package_of_their_test(test: str) -> None:
    assert (TESTS / test).exists()
    assert {Path(module).parent for module in COVERED_BY[test]} == {Path(test).parent}


def test_every_test_module_has_a_test() -> None:
    empty = [path for path in sorted(TESTS.rglob("test_*.py")) if not re.search(r"^def test_", path.read_text(), re.M)]
    assert not empty


def test_the_root_of_the_package_has_few_packages_and_no_loose_modules() -> None:
    assert {path.name for path in PACKAGE.glob("*.py")} == ROOT_MODULES
    packages = [path.parent.name for path in PACKAGE.glob("*/__init__.py")]
    assert len(packages) <= MAX_PACKAGES, sorted(packages)


def test_no_module_is_too_long() -> None:
    lengths = {module.as_posix(): lines_of(PACKAGE / module) for module in SOURCES}
    too_long = {module: lines for module, lines in lengths.items() if lines > MAX_MODULE_LINES}
    assert not too_long, f"more than {MAX_MODULE_LINES} lines: {too_long}"


def test_the_contract_of_imports_is_exhaustive_and_has_few_layers_and_no_exceptions() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (contract,) = settings["contracts"]
    assert contract["type"] == "layers"
    assert len(contract["layers"]) <= MAX_LAYERS
    assert contract["exhaustive"]
    assert contract["exhaustive_ignores"] == ["_version"]
    assert "ignore_imports" not in contract


@pytest.mark.parametrize("page", MAX_PAGE_LINES)
def test_a_page_that_newcomers_read_first_is_short(page: str) -> None:
    assert lines_of(ROOT / page) <= MAX_PAGE_LINES[page]


def test_few_values_are_of_any_type() -> None:
    uses = {module.as_posix(): len(re.findall(r": Any\b", (PACKAGE / module).read_text())) for module in SOURCES}
    assert sum(uses.values()) <= MAX_ANY, sorted((uses[module], module) for module in uses if uses[module])[-20:]


def test_pyright_is_strict_without_switches_for_whole_files() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pyright"]
    assert settings["typeCheckingMode"] == "strict"
    switched = [
        path.relative_to(ROOT).as_posix()
        for folder in ("src", "tests")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if re.search(r"^# pyright: (basic|standard|strict|report\w+)", path.read_text(), re.M)
    ]
    assert not switched
