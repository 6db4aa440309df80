"""No run has changed: see `golden`."""

from __future__ import annotations

import json

import pytest

from golden import OF_SCIKIT_LEARN, PINS, RUNS, blas_kernels, facts_of, processor

_PINNED = json.loads(PINS.read_text())


@pytest.mark.parametrize("name", RUNS)
def test_a_run_is_what_it_was(name: str) -> None:
    now, pinned = facts_of(RUNS[name]()), dict(_PINNED["runs"][name])
    is_same_blas = name not in OF_SCIKIT_LEARN or blas_kernels() == _PINNED["blas"]
    if processor() != _PINNED["processor"] or not is_same_blas:
        del now["digest"], pinned["digest"]
    assert now == pinned


def test_every_pin_has_its_run() -> None:
    assert _PINNED["runs"].keys() == RUNS.keys()
