from __future__ import annotations

import io

import numpy as np
import pytest

from paraactive.basics.state import digest, pack, unpack
from paraactive.errors import InputError


def test_a_digest_tells_values_types_shapes_and_names_apart() -> None:
    a = np.arange(6)
    states = [{"a": a}, {"b": a}, {"a": a.astype(np.int32)}, {"a": a.reshape(2, 3)}, {"a": a[::-1]}, {"a": a, "b": a}]
    assert len({digest(state) for state in states}) == len(states)
    assert digest({"a": a, "b": a + 1}) == digest({"b": a + 1, "a": a})


def test_packing_keeps_every_bit() -> None:
    state = {"f": np.array([0.1, -0.0, np.nan, 1e-40], np.float32), "i": np.array(7), "none": np.zeros((0, 3))}
    assert digest(unpack(pack(state))) == digest(state)


def test_damaged_bytes_are_refused() -> None:
    data = bytearray(pack({"a": np.arange(1000)}))
    data[len(data) // 2] ^= 1
    with pytest.raises(InputError, match="damaged"):
        unpack(bytes(data))
    with pytest.raises(InputError, match="cannot be read"):
        unpack(b"not a state")


def test_pickled_objects_are_refused() -> None:
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=True, a=np.array([{"x": 1}], dtype=object))
    with pytest.raises(InputError, match="cannot be read"):
        unpack(buffer.getvalue())


def test_objects_are_not_packed() -> None:
    with pytest.raises(ValueError, match="pickle"):
        pack({"a": np.array([{"x": 1}], dtype=object)})
