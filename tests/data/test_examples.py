from __future__ import annotations

import numpy as np

from making import same_rows
from paraactive.data.examples import Entries, Examples, Place, Selected, SparseRows, Stretch, entry_bytes


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
    selected = Selected(_examples(), np.array([0.5, 1.0, 0.1]), np.array([8, 8, 8]), np.array([7, 7, 9]))
    entries = Entries(10, selected)
    assert entries.sequence.tolist() == [10, 11, 12]
    assert entries.last == 13
    assert entries.entry_lag.tolist() == [3, 4, 3]
    assert selected.weight.tolist() == [2.0, 1.0, 10.0]


def _sparse_examples() -> Examples:
    dense = _examples()
    return Examples(SparseRows.of(dense.x), dense.y, dense.index)


def test_sparse_examples_are_taken_and_joined() -> None:
    examples = _sparse_examples()
    assert examples.width == 2
    assert examples.take(np.array([2, 0])).x.dense().tolist() == [[4, 5], [0, 1]]
    again = Examples.concatenate([Examples.empty(2), examples.take(slice(0, 1)), examples.take(slice(1, 3))])
    assert same_rows(again.x, examples.x)
    selected = Selected.weighted(examples.x, examples.y, 2.0)
    joined = Selected.concatenate([Selected.empty(2), selected, Selected.empty(2)])
    assert same_rows(joined.examples.x, examples.x)
    assert not isinstance(Selected.concatenate([Selected.empty(2), Selected.empty(2)]).examples.x, SparseRows)
    nothing = Examples.concatenate([Examples.empty(2), examples.take(slice(0, 0))])
    assert nothing.x.shape == (0, 2)
    mixed = Examples.concatenate([_examples(), examples])
    assert np.array_equal(mixed.x.dense(), np.concatenate([_examples().x, _examples().x]))


def test_a_stretch_of_sparse_entries_weighs_what_is_sent() -> None:
    for examples in (_examples(), _sparse_examples()):
        selected = Selected.weighted(examples.x, examples.y)
        weighs = Stretch(Entries(0, selected), 0, 3).nbytes
        assert weighs == examples.x.nbytes + 3 * entry_bytes(0)
    assert Stretch(Entries(0, Selected.weighted(_examples().x, _examples().y)), 0, 3).nbytes == 3 * entry_bytes(2)
    assert Stretch(Entries(0, Selected.empty(2)), 0, 3).ends == Place(0, 1)
