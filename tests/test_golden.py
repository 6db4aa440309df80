"""No run has changed: see `golden`."""

from __future__ import annotations

import json

import pytest

from golden import PINS, RUNS, facts_of, processor

_PINNED = json.loads(PINS.read_text())


@pytest.mark.parametrize("name", RUNS)
def test_a_run_is_what_it_was(name: str) -> None:
    now, pinned = facts_of(RUNS[name]()), dict(_PINNED["runs"][name])
    if processor() != _PINNED["processor"]:
        del now["digest"], pinned["digest"]
    assert now == pinned


def test_every_pin_has_its_run() -> None:
    assert _PINNED["runs"].keys() == RUNS.keys()
