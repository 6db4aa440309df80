"""Philox against its published answers and against the laws that random numbers keep."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from paraactive.basics import philox

ONES = 0xFFFFFFFF
KNOWN = [
    # Random123's kat_vectors, philox4x32 with 10 rounds: counter, key, answer.
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((ONES,) * 4, (ONES,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]
INDEX = np.arange(100_000)


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN)
def test_ten_rounds_give_the_published_answers(counter: tuple[int, ...], key: tuple[int, ...], answer: tuple[int, ...]):
    words = philox.philox(*(np.uint64(word) for word in (*counter, *key)))
    assert tuple(int(word) for word in words) == answer


def test_words_put_index_purpose_and_seed_where_the_counter_and_the_key_say():
    seed, index = 0x0123456789ABCDEF, 0x0000000700000009
    expected = philox.philox(
        np.uint64(9), np.uint64(7), np.uint64(3), np.uint64(0), np.uint64(0x89ABCDEF), np.uint64(0x01234567)
    )
    assert philox.words(seed, 3, np.array([index]))[0].tolist() == [int(word) for word in expected]


@given(st.integers(0, 2**64 - 1), st.lists(st.integers(0, 2**62), min_size=1, max_size=20))
@settings(deadline=None)
def test_the_number_of_an_index_does_not_depend_on_the_others_asked_for(seed: int, index: list[int]):
    together = philox.uniforms(seed, philox.COIN, np.array(index))
    alone = [philox.uniforms(seed, philox.COIN, np.array([each]))[0] for each in index]
    assert together.tolist() == alone


@pytest.mark.parametrize("seed", [0, 1, 2**64 - 1])
def test_uniforms_follow_the_uniform_law(seed: int):
    u = philox.uniforms(seed, philox.COIN, INDEX)
    assert u.min() >= 0
    assert u.max() < 1
    assert stats.kstest(u, "uniform").pvalue > 1e-4


def test_every_bit_of_every_word_is_set_half_the_time():
    words = philox.words(5, philox.COIN, INDEX)
    for bit in range(32):
        share = ((words >> np.uint32(bit)) & np.uint32(1)).mean(axis=0)
        # The standard error is 0.0016; 128 shares within 5 of them.
        assert np.abs(share - 0.5).max() < 0.008


@pytest.mark.parametrize(
    ("one", "other"),
    [((1, philox.COIN, 0), (1, philox.ORDER, 0)), ((1, 0, 0), (2, 0, 0)), ((1, 0, 0), (1, 0, 1))],
    ids=["two purposes", "two seeds", "neighbouring indices"],
)
def test_numbers_of_two_streams_are_independent(one: tuple[int, int, int], other: tuple[int, int, int]):
    def draw(seed: int, purpose: int, skip: int):
        return philox.uniforms(seed, purpose, INDEX + skip)

    grid, _, _ = np.histogram2d(draw(*one), draw(*other), bins=16, range=[[0, 1], [0, 1]])
    assert stats.chisquare(grid.ravel()).pvalue > 1e-4


@given(st.integers(0, 2**64 - 1), st.integers(0, 300), st.integers(0, 1000))
@settings(deadline=None)
def test_a_permutation_has_every_number_once(seed: int, length: int, number: int):
    order = philox.permutation(seed, philox.ORDER, length, number)
    assert sorted(order.tolist()) == list(range(length))


def test_permutations_of_other_numbers_and_seeds_differ():
    orders = [philox.permutation(seed, philox.ORDER, 50, number) for seed in (1, 2) for number in (0, 1)]
    assert len({tuple(order.tolist()) for order in orders}) == 4


def test_each_of_the_six_orders_of_three_comes_equally_often():
    orders = [tuple(philox.permutation(3, philox.ORDER, 3, number).tolist()) for number in range(3000)]
    counts = [orders.count(order) for order in set(orders)]
    assert len(counts) == 6
    assert stats.chisquare(counts).pvalue > 1e-4
