from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraactive.data.examples import Selected, SparseRows, dense
from paraactive.errors import InputError
from paraactive.learners.wrappers.minibatches import Minibatches

RNG = np.random.default_rng(0)
ALL = Selected.weighted(RNG.normal(size=(40, 3)), RNG.choice([-1, 1], 40), RNG.uniform(1, 5, 40))


@given(size=st.integers(1, 45), cuts=st.sets(st.integers(1, 39)))
def test_minibatches_do_not_depend_on_how_examples_were_grouped(size: int, cuts: set[int]) -> None:
    gather, found = Minibatches(size), list[np.ndarray[tuple[int, ...], np.dtype[np.float64]]]()
    for first, last in pairwise([0, *sorted(cuts), 40]):
        found += [each.weight for each in gather.add(ALL.take(slice(first, last)))]
        assert gather.waiting < size
    assert [each.tolist() for each in found] == [
        ALL.weight[first : first + size].tolist() for first in range(0, 40 - size + 1, size)
    ]
    assert gather.waiting == 40 % size
    if gather.waiting:
        assert gather.rest().weight.tolist() == ALL.weight[40 - 40 % size :].tolist()
        assert gather.waiting == 0


@pytest.mark.parametrize("sparse", [False, True])
def test_examples_that_wait_come_back_from_a_state(sparse: bool) -> None:
    x = SparseRows.of(ALL.examples.x) if sparse else ALL.examples.x
    gather, other = Minibatches(50), Minibatches(50)
    assert list(gather.add(Selected.weighted(x, ALL.examples.y, ALL.weight))) == []
    other.load(gather.save())
    rest = other.rest()
    assert np.array_equal(dense(rest.x), ALL.examples.x)
    assert np.array_equal(rest.weight, ALL.weight)
    other.load({})
    assert other.waiting == 0


def test_a_state_whose_arrays_do_not_fit_is_refused() -> None:
    gather = Minibatches(50)
    list(gather.add(ALL))
    with pytest.raises(InputError, match="the waiting examples of the saved state cannot be read"):
        Minibatches(50).load(gather.save() | {"waiting.y": np.ones(3, np.int8)})


@given(size=st.integers(1, 45), cuts=st.sets(st.integers(1, 39)))
def test_minibatches_by_weight_do_not_depend_on_how_examples_were_grouped(size: int, cuts: set[int]) -> None:
    pieces, whole = Minibatches(size, by_weight=True), Minibatches(size, by_weight=True)
    expected = [each.weight.tolist() for each in whole.add(ALL)]
    found: list[list[float]] = []
    for first, last in pairwise([0, *sorted(cuts), 40]):
        found += [each.weight.tolist() for each in pieces.add(ALL.take(slice(first, last)))]
    assert found == expected
    assert pieces.waiting == whole.waiting
    assert all(sum(each) >= size > sum(each[:-1]) for each in found)


def test_light_examples_fill_a_minibatch_by_their_number() -> None:
    light = Selected.weighted(np.zeros((5, 1)), [-1, 1, -1, 1, 1], np.full(5, 0.1))
    assert [len(each) for each in Minibatches(2, by_weight=True).add(light)] == [2, 2]
