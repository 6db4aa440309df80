"""Arrays in memory that processes share."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hn

from paraactive.engines.remote.memory import SharedPickle, load_shared


def through(thing: object) -> tuple[Any, SharedPickle]:
    """The thing on the other side."""
    shared = SharedPickle(thing)
    return load_shared(shared.data, shared.descriptor, shared.size), shared


KINDS = ["f4", "f8", ">f4", "i1", "u8", "c16", "?", "f2", "U3", "S5", "M8[s]", [("a", "i4"), ("b", "f8", 2)]]


@given(
    array=st.sampled_from(KINDS).flatmap(
        lambda kind: hn.arrays(np.dtype(kind), hn.array_shapes(max_dims=3, max_side=5), fill=st.nothing())
    ),
    times=st.sampled_from([1, 3000, 70_000]),
    order=st.sampled_from("CF"),
)
@settings(max_examples=60, deadline=None)
def test_an_array_is_the_same_on_the_other_side(array: np.ndarray[Any, Any], times: int, order: Any):
    array = np.asarray(np.concatenate([array] * max(1, times // array.size)), order=order)
    there, shared = through({"array": array})
    there = there["array"]
    assert (there.dtype, there.shape) == (array.dtype, array.shape)
    assert there.tobytes() == array.tobytes()
    large = array.nbytes >= 1 << 16
    assert there.flags.writeable != large
    assert (shared.size >= array.nbytes) == large
    assert (len(shared.data) > array.nbytes) != large
    shared.close()


def test_an_array_that_is_met_twice_is_stored_once():
    array, other = np.arange(20_000.0), np.arange(20_000.0) + 1
    there, shared = through([array, {"again": array}, other])
    assert shared.size == array.nbytes + other.nbytes
    assert np.array_equal(there[0], there[1]["again"])
    assert np.array_equal(there[2], other)
    shared.close()


def test_what_cannot_be_stored_by_its_bytes_is_pickled():
    array = np.array([None, "text", 3] * 10_000, object)
    there, shared = through(array)
    assert there.tolist() == array.tolist()
    assert shared.size == 0
    shared.close()


def test_the_memory_stays_for_those_who_have_mapped_it():
    array = np.arange(20_000.0)
    there, shared = through(array)
    shared.close()
    shared.close()
    assert np.array_equal(there, array)
