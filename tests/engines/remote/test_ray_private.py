"""The private names of Ray that we depend on are still there, in the versions that pyproject.toml allows."""

from __future__ import annotations

import inspect
import tomllib
from importlib import import_module, metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from paraactive.engines.remote import ray_private

_CHANGED = (
    "Ray {version} has changed: {module}.{name} {problem}. Adapt engines/remote/ray_private.py, or lower the upper "
    "bound of Ray's version in pyproject.toml."
)
NAMES = [ray_private.LOOPBACK_SWITCH, ray_private.ERROR_PRINTER, ray_private.TOKEN_LOADER, ray_private.SETTINGS]


def _message(module: str, name: str, problem: str) -> str:
    return _CHANGED.format(version=metadata.version("ray"), module=module, name=name, problem=problem)


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_the_private_name_exists(module: str, name: str) -> None:
    assert hasattr(import_module(module), name), _message(module, name, "is missing")


def test_the_loopback_switch_is_still_what_ray_reads() -> None:
    services = import_module("ray._private.services")
    problem = "is not read by get_node_ip_address any more"
    read = inspect.getsource(services.get_node_ip_address)
    assert f"ray_constants.{ray_private.LOOPBACK_SWITCH[1]}" in read, _message(*ray_private.LOOPBACK_SWITCH, problem)


def test_the_printer_of_errors_is_still_what_ray_starts() -> None:
    worker = import_module("ray._private.worker")
    problem = "is not started by connect any more"
    assert f"target={ray_private.ERROR_PRINTER[1]}" in inspect.getsource(worker.connect), _message(
        *ray_private.ERROR_PRINTER, problem
    )


def test_names_are_restored() -> None:
    before = [getattr(import_module(module), name) for module, name in NAMES]
    with ray_private.on_loopback_and_quiet():
        assert import_module("ray._private.services").get_node_ip_address() == "127.0.0.1"
    assert [getattr(import_module(module), name) for module, name in NAMES] == before


def test_the_installed_version_is_within_the_bounds() -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())
    (required,) = project["project"]["optional-dependencies"]["ray"]
    bounds = Requirement(required).specifier
    assert {each.operator for each in bounds} == {">=", "<"}
    assert metadata.version("ray") in bounds
