"""`Arrays`: passes over a user's own data, and every error that the data can have."""

from __future__ import annotations

import pickle
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paraactive.data.examples import Examples
from paraactive.errors import InputError
from paraactive.streams import Arrays, Stream
from paraactive.streams.arrays import encode

X = np.arange(21, dtype=np.float64).reshape(7, 3)
Y = np.array([0, 1, 1, 0, 1, 0, 0])


def same(one: Examples, other: Examples) -> bool:
    columns = ((one.x, other.x), (one.y, other.y), (one.index, other.index), (one.key, other.key))
    return all(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in columns)


def test_it_is_a_stream_of_its_rows():
    stream: Stream = Arrays(X, Y, passes=3)
    assert (stream.width, stream.length, stream.classes, stream.regenerates) == (3, 21, ("0", "1"), False)


def test_examples_are_the_rows_that_their_keys_name():
    piece = Arrays(X, Y, seed=4, passes=2).read(0, 14)
    assert (piece.x == X[piece.key]).all()
    assert (piece.y == np.where(Y[piece.key] == 1, 1, -1)).all()
    assert (piece.x.dtype, piece.y.dtype) == (np.float32, np.int8)
    assert piece.index.tolist() == list(range(14))


@given(st.integers(1, 40), st.integers(1, 5), st.integers(0, 2**63))
@settings(deadline=None)
def test_each_pass_has_every_row_once(rows: int, passes: int, seed: int):
    labels = np.arange(rows + 1) % 2
    stream = Arrays(np.zeros((rows + 1, 1)), labels, seed=seed, passes=passes)
    keys = stream.read(0, (rows + 1) * passes).key.reshape(passes, rows + 1)
    assert (np.sort(keys, axis=1) == np.arange(rows + 1)).all()


def test_passes_and_seeds_have_orders_of_their_own():
    x, y = np.zeros((30, 1)), np.arange(30) % 2
    orders = [Arrays(x, y, seed=seed, passes=3).read(30 * k, 30 * k + 30).key for seed in (1, 2) for k in range(3)]
    assert len({tuple(order.tolist()) for order in orders}) == 6


def test_unshuffled_passes_go_in_the_order_given():
    assert Arrays(X, Y, shuffle=False, passes=2).read(0, 14).key.tolist() == [*range(7), *range(7)]


def test_a_stream_without_end_can_be_read_anywhere():
    stream = Arrays(X, Y, passes=None)
    assert stream.length is None
    assert len(stream.read(10**9, 10**9 + 20)) == 20


@given(st.lists(st.integers(0, 6), max_size=8), st.randoms())
@settings(deadline=None)
def test_pieces_and_single_positions_are_the_whole_bit_for_bit(sizes: list[int], random: Any):
    stream = Arrays(X, Y, seed=5, passes=8)
    ends = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).tolist()
    whole = stream.read(0, ends[-1])
    pieces = [stream.read(a, b) for a, b in pairwise(ends)]
    assert same(whole, Examples.concatenate([Examples.empty(3), *pieces]))
    order = list(range(len(whole)))
    random.shuffle(order)
    rows = np.array(order, np.intp)
    assert same(whole.take(rows), stream.at(whole.index[rows]))


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ([7, 5], ("5", "7")),
        ([1, -1], ("-1", "1")),
        (["spam", "ham"], ("ham", "spam")),
        ([True, False], ("False", "True")),
        ([1.0, 0.0], ("0", "1")),
        ([1.5, 0.5], ("0.5", "1.5")),
        (np.array(["b", "a"], object), ("a", "b")),
    ],
    ids=str,
)
def test_the_smaller_of_any_two_labels_is_minus_one(labels: Any, classes: tuple[str, str]):
    stream = Arrays([[1], [2]], labels, shuffle=False)
    assert stream.classes == classes
    assert stream.read(0, 2).y.tolist() == [1, -1]
    assert stream.values.tolist() == sorted(labels)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.int8, np.uint64, np.bool_])
def test_any_real_numbers_become_float32(kind: Any):
    piece = Arrays(np.array([[1, 0], [0, 1]], kind), [0, 1], shuffle=False).read(0, 2)
    assert piece.x.dtype == np.float32
    assert piece.x.tolist() == [[1, 0], [0, 1]]


def with_value(value: float, *places: tuple[int, int]) -> Any:
    x = X.copy()
    for place in places:
        x[place] = value
    return x


@pytest.mark.parametrize(
    ("x", "y", "says"),
    [
        (with_value(np.nan, (4, 1), (2, 2)), Y, r"2 of the features are NaN.*row 2, column 2"),
        (with_value(-np.inf, (6, 0)), Y, r"1 of the features is NaN or infinite, the first -inf at row 6, column 0"),
        (with_value(1e39, (3, 1)), Y, r"1 of the features does not fit, the first 1e\+39 at row 3, column 1"),
        (X[0], Y, r"1 dimension, shape \(3,\)"),
        (X[None], Y, "3 dimensions"),
        (X[:5], Y, "5 rows and y has 7 labels"),
        (X.astype(object), Y, "type object"),
        (X.astype(str), Y, "type <U"),
        (X.astype(complex), Y, "type complex128"),
        ([[1, 2], [3]], [0, 1], "x is not an array"),
        (X[:, :0], Y, r"x is empty, shape \(7, 0\)"),
        (X[:0], Y[:0], "y is empty"),
        (X, Y[:, None], r"y has shape \(7, 1\)"),
        (X, Y * 0, "1 class, '0'"),
        (np.zeros((200, 2)), np.arange(200), "200 classes, '0', '1', '2', '3', '4', ..."),
        (X, np.where(Y, np.nan, 0.0), "missing labels"),
        (X, np.array([1, "a", 1, 1, 1, 1, 1], object), "cannot be sorted"),
        (X, np.array([None, "a", "a", "a", "a", "a", "a"], object), "missing labels"),
    ],
)
def test_data_that_cannot_be_used_gets_an_error_that_says_where(x: Any, y: Any, says: str):
    with pytest.raises(InputError, match=says):
        Arrays(x, y)


@pytest.mark.parametrize("options", [{"passes": 0}, {"passes": -1}, {"passes": 1.5}, {"seed": "a"}], ids=str)
def test_bad_parameters_are_refused(options: dict[str, Any]):
    with pytest.raises(InputError):
        Arrays(X, Y, **options)


@pytest.mark.parametrize(("first", "last"), [(-1, 2), (0, 15), (14, 15), (3, 2)])
def test_reading_outside_the_stream_is_refused(first: int, last: int):
    stream = Arrays(X, Y, passes=2)
    with pytest.raises(InputError):
        stream.read(first, last)
    assert len(stream.read(14, 14)) == 0


@pytest.mark.parametrize("index", [[14], [-1], [0.5], [[1]]])
def test_positions_that_the_stream_does_not_have_are_refused(index: Any):
    with pytest.raises(InputError):
        Arrays(X, Y, passes=2).at(np.array(index))


@pytest.mark.parametrize("names", [("x", "y"), ("X", "y"), ("X", "Y")])
def test_an_npz_file_is_read_by_name(tmp_path: Path, names: tuple[str, str]):
    path = tmp_path / "data.npz"
    members: dict[str, Any] = {names[0]: X, names[1]: Y, "other": X}
    np.savez(path, **members)
    stream = Arrays.load(path, seed=3, passes=2)
    assert same(stream.read(0, 14), Arrays(X, Y, seed=3, passes=2).read(0, 14))
    assert stream.source == str(path)
    assert Arrays(X, Y).source is None


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int16])
def test_an_npy_file_has_the_label_in_its_last_column(tmp_path: Path, kind: Any):
    path = tmp_path / "data.npy"
    np.save(path, np.column_stack([X, Y]).astype(kind))
    stream = Arrays.load(str(path))
    assert same(stream.read(0, 7), Arrays(X, Y).read(0, 7))
    assert stream.classes == ("0", "1")


def write(path: Path, content: str) -> None:
    if content == "text":
        path.write_text("a,b,c\n1,2,3\n")
    elif content == "empty":
        path.write_bytes(b"")
    elif content == "pickle":
        np.save(path, np.array([{"a": 1}], object), allow_pickle=True)
    elif content == "one dimension":
        np.save(path, X[0])
    elif content == "one column":
        np.save(path, X[:, :1])
    elif content == "folder":
        path.mkdir()


@pytest.mark.parametrize("content", ["text", "empty", "pickle", "one dimension", "one column", "folder", "missing"])
def test_a_file_that_cannot_be_read_gets_an_error_with_its_name(tmp_path: Path, content: str):
    path = tmp_path / "data.npy"
    write(path, content)
    with pytest.raises(InputError, match=r"data\.npy"):
        Arrays.load(path)


def test_an_npz_file_cut_short_or_damaged_is_refused(tmp_path: Path):
    path = tmp_path / "data.npz"
    np.savez_compressed(path, x=np.tile(X, (500, 1)), y=np.tile(Y, 500))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="cannot read"):
        Arrays.load(path)
    path.write_bytes(whole[:100] + bytes(50) + whole[150:])
    with pytest.raises(InputError, match="cannot read"):
        Arrays.load(path)


def test_an_npz_file_of_other_names_gets_an_error_that_lists_them(tmp_path: Path):
    path = tmp_path / "data.npz"
    np.savez(path, features=X, labels=Y)
    with pytest.raises(InputError, match="'features', 'labels'"):
        Arrays.load(path)


def test_the_fingerprint_tells_data_apart_and_nothing_else():
    mine = Arrays(X, Y).fingerprint
    assert mine == Arrays(X.astype(np.float32), Y.astype(float), seed=3, shuffle=False, passes=None).fingerprint
    assert mine == Arrays(np.asfortranarray(X), Y).fingerprint
    others = [
        Arrays(with_value(99, (6, 2)), Y),
        Arrays(X, 1 - Y),
        Arrays(X, Y + 1),
        Arrays(X[:6], Y[:6]),
    ]
    assert len({mine, *(other.fingerprint for other in others)}) == 5


def test_arrays_from_memory_travel_whole():
    stream = Arrays(X, ["a", "b", "b", "a", "b", "a", "a"], seed=2, passes=3)
    copy = pickle.loads(pickle.dumps(stream))
    assert same(copy.read(0, 21), stream.read(0, 21))
    assert (copy.classes, copy.fingerprint) == (stream.classes, stream.fingerprint)


def test_arrays_from_a_file_travel_as_its_path(tmp_path: Path):
    path = tmp_path / "data.npz"
    np.savez(path, x=np.tile(X, (500, 1)), y=np.tile(Y, 500))
    stream = Arrays.load(path, seed=2, passes=3)
    sent = pickle.dumps(stream)
    assert len(sent) < 1000
    assert same(pickle.loads(sent).read(0, 21), stream.read(0, 21))
    np.savez(path, x=np.tile(X + 1, (500, 1)), y=np.tile(Y, 500))
    with pytest.raises(InputError, match="other data"):
        pickle.loads(sent)


def test_a_test_set_is_encoded_with_the_classes_of_the_stream():
    examples = encode([[1, 2], [3, 4], [5, 6]], [7.0, 5.0, 7.0], classes=("5", "7"), width=2)
    assert examples.y.tolist() == [1, -1, 1]
    assert examples.index.tolist() == [0, 1, 2]
    # One class alone is enough here: the stream has told which sign it has.
    assert encode([[1, 2]], ["5"], classes=("5", "7"), width=2).y.tolist() == [-1]


def test_a_test_set_of_another_width_or_label_is_refused():
    with pytest.raises(InputError, match="3 features, and those of the stream have 2"):
        encode(X, Y, classes=("0", "1"), width=2)
    with pytest.raises(InputError, match="unknown label '0'"):
        encode(X, Y, classes=("1", "2"), width=3)
    with pytest.raises(InputError, match="NaN"):
        encode(with_value(np.nan, (0, 0)), Y, classes=("0", "1"), width=3)


@pytest.mark.parametrize("member", ["x", "y"])
def test_an_npz_file_with_two_arrays_of_one_name_is_refused(tmp_path: Path, member: str):
    arrays: dict[str, Any] = {"x": X, "y": Y, member.upper(): X}
    np.savez(tmp_path / "data.npz", **arrays)
    with pytest.raises(InputError, match=f"has the arrays '{member}' and '{member.upper()}'"):
        Arrays.load(tmp_path / "data.npz")


def test_a_damaged_header_of_a_numpy_file_is_told_of(tmp_path: Path):
    np.save(tmp_path / "data.npy", np.column_stack([X, Y]))
    np.savez(tmp_path / "data.npz", x=X.astype(np.float32), y=Y)
    for path in (tmp_path / "data.npy", tmp_path / "data.npz"):
        whole = path.read_bytes()
        for place in range(130):
            for change in (1, 8, 0xFF):
                path.write_bytes(whole[:place] + bytes([whole[place] ^ change]) + whole[place + 1 :])
                try:
                    Arrays.load(path)
                except InputError:
                    continue
    method = whole.rindex(b"PK\x01\x02") + 10
    path.write_bytes(whole[:method] + b"\x63\x00" + whole[method + 2 :])
    with pytest.raises(InputError, match=r"cannot read .*data\.npz"):
        Arrays.load(path)
