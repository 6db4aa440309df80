"""Nested values as arrays: what goes in comes out, whatever it is named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from paraactive.errors import InputError
from paraactive.learners.wrappers.nested import from_state, to_state


@pytest.mark.parametrize(
    "value",
    [
        {"a.b": np.zeros(1), "a": {"b": np.ones(1)}},
        {1: np.zeros(1), "1": np.ones(1)},
        {"json": np.ones(1)},
        {"array0": np.ones(1), "a": np.zeros(1)},
        [np.float64(3.0), {"0": np.int8(1)}],
        {np.int64(1): np.ones(2)},
    ],
)
def test_arrays_whose_names_look_alike_are_kept_apart(value: Any) -> None:
    assert repr(from_state(to_state(value))) == repr(value)


def test_what_was_one_array_is_one_array_again() -> None:
    array = np.arange(3.0)
    state = to_state({"one": array, "other": [array]})
    found = from_state(state)
    assert sorted(state) == ["array0", "json"]
    assert found["one"] is found["other"][0]
    assert found["one"] is not array


@pytest.mark.parametrize(
    "text", [b"[" * 100_000, b'{"tuple": 3}', b'{"dict": [[{"list": []}, 1]]}', b'{"array": "a"}', b""]
)
def test_what_cannot_be_read_is_an_error(text: bytes) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        from_state({"json": np.frombuffer(text, np.uint8)})
