from __future__ import annotations

import numpy as np

from paraactive.examples import Entries, Examples, Selected


def _examples() -> Examples:
    return Examples(np.arange(6.0).reshape(3, 2), np.array([1, -1, 1]), np.array([4, 5, 6], np.int32))  # pyright: ignore


def test_columns_get_the_types_that_travel() -> None:
    examples = _examples()
    assert [column.dtype for column in (examples.x, examples.y, examples.index, examples.key)] == [
        np.float32,
        np.int8,
        np.int64,
        np.int64,
    ]


def test_the_key_is_the_index_unless_told_otherwise() -> None:
    assert _examples().key.tolist() == [4, 5, 6]


def test_taking_and_joining_are_inverse() -> None:
    examples = _examples()
    again = Examples.concatenate([examples.take(slice(0, 1)), examples.take(slice(1, 3))])
    assert np.array_equal(again.x, examples.x)
    assert again.index.tolist() == [4, 5, 6]


def test_entries_know_their_places_weights_and_delays() -> None:
    selected = Selected(
        _examples(), np.array([0.5, 1.0, 0.1]), np.array([8, 8, 8]), np.array([7, 7, 9]), np.array([0, 1, 1])
    )
    entries = Entries(10, selected)
    assert entries.sequence.tolist() == [10, 11, 12]
    assert entries.last == 13
    assert entries.delay.tolist() == [3, 4, 3]
    assert selected.weight.tolist() == [2.0, 1.0, 10.0]
