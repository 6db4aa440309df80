"""`Digits`: MNIST first, then deformed copies without end, each a pure function of seed and position."""

from __future__ import annotations

import hashlib
import pickle
import subprocess
import sys
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paraactive.data.examples import Examples, Floats
from paraactive.errors import InputError
from paraactive.streams import Digits, Stream

TASK = Digits(negative=(5,), positive=(3,), seed=11)
COUNTS = [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
"""Published numbers of training digits, by class."""


def same(one: Examples, other: Examples) -> bool:
    columns = ((one.x, other.x), (one.y, other.y), (one.index, other.index), (one.key, other.key))
    return all(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in columns)


def digest(examples: Examples) -> str:
    return hashlib.sha256(examples.x.tobytes() + examples.y.tobytes()).hexdigest()


def likeness(one: Floats, other: Floats) -> float:
    """The median correlation of the images in the rows of both."""
    return float(np.median([np.corrcoef(a, b)[0, 1] for a, b in zip(one, other, strict=True)]))


def test_it_is_a_stream_of_784_pixels_that_never_ends_and_regenerates():
    stream: Stream = Digits()
    assert (stream.width, stream.length, stream.classes, stream.regenerates) == (784, None, ("5,7", "3,1"), True)


def test_the_first_pass_is_every_mnist_training_digit_once_and_undeformed():
    everything = Digits(negative=(0, 2, 4, 6, 8), positive=(1, 3, 5, 7, 9), low=0, high=255)
    assert everything.originals == 60_000
    first = everything.read(0, 60_000)
    assert (first.y == 1).sum() == sum(COUNTS[1::2])
    # The sum of all pixels, and the number of distinct images, do not depend on the order.
    assert int(first.x.sum(dtype=np.float64)) == 1_567_298_545
    assert len({row.tobytes() for row in first.x.astype(np.uint8)}) == 60_000


@pytest.mark.parametrize("digit", range(10))
def test_each_class_has_its_published_number_of_digits(digit: int):
    other = (digit + 1) % 10
    stream = Digits(negative=(other,), positive=(digit,))
    assert stream.originals == COUNTS[digit] + COUNTS[other]
    assert (stream.read(0, stream.originals).y == 1).sum() == COUNTS[digit]


@pytest.mark.parametrize(("stream", "count"), [(Digits(), 4065), (TASK, 1902)], ids=["3,1 v 5,7", "3 v 5"])
def test_the_test_digits_are_those_of_the_task(stream: Digits, count: int):
    test = stream.test()
    assert len(test) == count
    assert test.x.dtype == np.float32
    assert (test.x.min(), test.x.max()) == (-1, 1)


def test_the_test_digits_are_in_file_order():
    # The test set begins 7 2 1 0 4 1 4 9 5 9 0 6 9 0 1 5 9 7 3 4.
    assert Digits().test().y[:7].tolist() == [-1, 1, 1, -1, 1, -1, -1]


def test_the_first_training_digit_is_the_five_of_the_published_file():
    row = Digits(negative=(5,), positive=(3,), low=0, high=255)
    every = row.read(0, row.originals)
    five = [0] * 12 + [3, 18, 18, 18, 126, 136, 175, 26, 166, 255, 247, 127] + [0] * 4
    found = [i for i in range(len(every)) if every.x[i].reshape(28, 28)[5].astype(int).tolist() == five]
    assert len(found) == 1
    assert every.y[found[0]] == -1


def test_later_passes_bring_the_same_digits_deformed_each_time_in_another_way():
    n = TASK.originals
    passes = [TASK.read(k * n, k * n + 200) for k in range(3)]
    assert (passes[0].y == passes[1].y).all()
    for one, other in ((0, 1), (0, 2), (1, 2)):
        moved = np.abs(passes[one].x - passes[other].x).mean(axis=1)
        assert (moved > 0).mean() > 0.98
    own = likeness(passes[0].x, passes[1].x)
    foreign = likeness(passes[0].x, np.roll(passes[1].x, 1, axis=0))
    assert own > 0.7 > foreign + 0.2


def test_deformation_starts_exactly_after_the_last_original():
    n = TASK.originals
    straddling, first = TASK.read(n - 5, n + 5), TASK.read(0, 5)
    known = {row.tobytes() for row in TASK.read(0, n).x}
    assert [row.tobytes() in known for row in straddling.x] == [True] * 5 + [False] * 5
    assert (straddling.y[5:] == first.y).all()


@given(st.integers(0, 40_000), st.lists(st.integers(0, 12), max_size=8), st.randoms())
@settings(deadline=None, max_examples=40)
def test_pieces_and_single_positions_are_the_whole_bit_for_bit(first: int, sizes: list[int], random: Any):
    ends = np.concatenate([[first], first + np.cumsum(sizes, dtype=np.int64)]).tolist()
    whole = TASK.read(first, ends[-1])
    pieces = [TASK.read(a, b) for a, b in pairwise(ends)]
    assert same(whole, Examples.concatenate([Examples.empty(784), *pieces]))
    order = list(range(len(whole)))
    random.shuffle(order)
    rows = np.array(order, np.intp)
    assert same(whole.take(rows), TASK.at(whole.index[rows]))


def test_index_and_key_are_the_position():
    piece = TASK.read(50_000, 50_003)
    assert piece.index.tolist() == piece.key.tolist() == [50_000, 50_001, 50_002]


def test_a_pickled_stream_is_small_and_gives_the_same_digits():
    TASK.read(0, 10)
    sent = pickle.dumps(TASK)
    assert len(sent) < 500
    assert same(pickle.loads(sent).read(11_000, 12_000), TASK.read(11_000, 12_000))


def test_another_process_makes_the_same_digits():
    program = """
import hashlib
from paraactive.streams import Digits
part = Digits(negative=(5,), positive=(3,), seed=11).read(11_000, 13_000)
print(hashlib.sha256(part.x.tobytes() + part.y.tobytes()).hexdigest())
"""
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    assert answer.stdout.strip() == digest(TASK.read(11_000, 13_000))


def test_the_digits_are_those_of_the_first_release_on_every_machine():
    assert digest(TASK.read(11_000, 13_000)) == "287e5285484135728f5aa1fd8419397e5413c1fda69a1564807d9050466ebfca"


def test_seeds_give_other_orders_and_other_deformations():
    one, other = Digits(seed=1), Digits(seed=2)
    assert not same(one.read(0, 100), other.read(0, 100))
    assert not same(one.read(30_000, 30_100), other.read(30_000, 30_100))


def test_exchanged_classes_are_the_same_images_with_the_other_sign():
    one, other = TASK.read(0, 50), Digits(negative=(3,), positive=(5,), seed=11).read(0, 50)
    assert (one.x == other.x).all()
    assert (one.y == -other.y).all()


def test_features_are_grey_values_scaled_to_the_range():
    grey = Digits(low=0, high=255).read(24_000, 25_000).x.astype(np.float64)
    assert (grey == np.rint(grey)).all()
    assert (Digits().read(24_000, 25_000).x == (grey / 127.5 - 1).astype(np.float32)).all()
    assert (Digits(low=0, high=1).read(24_000, 25_000).x == (grey / 255).astype(np.float32)).all()


@pytest.mark.parametrize(
    "options",
    [
        {"negative": (3,), "positive": (3,)},
        {"negative": (5, 5)},
        {"positive": ()},
        {"positive": (10,)},
        {"positive": (-1,)},
        {"positive": ("3",)},
        {"positive": None},
        {"positive": (2.5,)},
        {"low": 1, "high": 1},
        {"low": 1, "high": -1},
        {"low": float("nan")},
        {"high": float("inf")},
        {"seed": 1.5},
        {"seed": None},
    ],
    ids=str,
)
def test_bad_parameters_are_refused_before_any_work(options: dict[str, Any]):
    with pytest.raises(InputError):
        Digits(**options)


@pytest.mark.parametrize(
    "read", [lambda: TASK.read(-1, 3), lambda: TASK.read(5, 4), lambda: TASK.at(np.array([3, -1]))]
)
def test_positions_outside_the_stream_are_refused(read: Any):
    with pytest.raises(InputError):
        read()


def test_positions_that_are_not_whole_numbers_are_refused():
    with pytest.raises(InputError, match="whole number"):
        TASK.at(np.array([1.5]))  # pyright: ignore[reportArgumentType]


def test_an_empty_piece_has_no_digits_and_the_right_width():
    assert TASK.read(7, 7).x.shape == TASK.at(np.array([], np.int64)).x.shape == (0, 784)
