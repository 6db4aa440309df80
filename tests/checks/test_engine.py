"""Our engines pass every check of engines, and for each check there is an engine that fails it and no other.

Ray is in `tests/engines/test_contract.py`, where there is a cluster.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from checks import broken_engines as broken
from checks.failing import failed, first_named
from paraactive.checks import check_engine, engine_checks
from paraactive.engines import Simulated
from strange import nothing_left

CHECKS = engine_checks()
"""One list, so that the runs on an engine are made once."""
SYNCHRONOUS = "synchronous runs are those of the simulated engine"
REPLICAS, REBUILT = "all replicas are equal in the end", "the log rebuilds the model"
BROKEN: list[tuple[str, type[Simulated], set[str]]] = [
    (SYNCHRONOUS, broken.Reversed, set()),
    (SYNCHRONOUS, broken.Sleepy, {REBUILT}),
    (REPLICAS, broken.Divided, set()),
    (REPLICAS, broken.Silent, set()),
    ("without rounds every example is sifted once", broken.Losing, set()),
    (REBUILT, broken.Overeager, set()),
    ("entries say which model sifted them", broken.Boasting, set()),
    ("an error on a node reaches the caller", broken.Muffling, set()),
]


@pytest.mark.parametrize("engine", ["simulated", "threads", "processes"])
@pytest.mark.parametrize(("name", "check"), CHECKS, ids=[name for name, _ in CHECKS])
def test_our_engines_keep_their_contract(engine: str, name: str, check: Callable[[Any], None]) -> None:
    with nothing_left():
        check(engine)


@pytest.mark.parametrize(("name", "kind", "also"), BROKEN, ids=[kind.__name__ for _, kind, _ in BROKEN])
def test_a_broken_engine_fails_the_check_of_what_is_broken(name: str, kind: type[Simulated], also: set[str]) -> None:
    engine = broken.factory(kind)
    assert first_named(check_engine, engine) == name
    assert set(failed(CHECKS, lambda: engine)) == {name} | also


def test_every_check_can_fail() -> None:
    assert {name for name, _, _ in BROKEN} == {name for name, _ in CHECKS}


def test_an_unknown_engine_is_named() -> None:
    assert first_named(check_engine, "thread") == SYNCHRONOUS
