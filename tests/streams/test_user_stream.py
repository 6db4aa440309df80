"""Reading a stream by range and by position, with checks of both."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraactive.data.examples import Examples, Ints
from paraactive.errors import InputError
from paraactive.streams.user_stream import UserStream, check_positions, position_range


class Squares(UserStream):
    """A stream of a user's own: the square of each position."""

    def __init__(self, length: int | None) -> None:
        self._length = length

    @property
    def length(self) -> int | None:
        return self._length

    def _make(self, index: Ints) -> Examples:
        return Examples((index**2).astype(np.float32)[:, None], np.ones(len(index), np.int8), index)


@given(st.integers(-2, 8), st.integers(-2, 8), st.sampled_from([None, 0, 5]))
def test_a_range_is_read_if_the_stream_has_all_of_it(first: int, last: int, length: int | None) -> None:
    if 0 <= first <= last and (length is None or last <= length):
        assert position_range(first, last, length).tolist() == list(range(first, last))
        assert Squares(length).read(first, last).x.ravel().tolist() == [each**2 for each in range(first, last)]
        return
    with pytest.raises(InputError, match=r"runs backwards|is not in the stream|is not in a stream of"):
        Squares(length).read(first, last)


@given(st.lists(st.integers(-2, 8)), st.sampled_from([None, 5]))
def test_positions_are_read_in_any_order_if_the_stream_has_them(index: list[int], length: int | None) -> None:
    if all(each >= 0 and (length is None or each < length) for each in index):
        assert Squares(length).at(np.array(index)).x.ravel().tolist() == [each**2 for each in index]
        return
    with pytest.raises(InputError, match=r"is not in the stream|is not in a stream of 5 examples"):
        Squares(length).at(np.array(index))


@pytest.mark.parametrize("index", [[0.5], [[1]], ["1"], [True]], ids=repr)
def test_positions_are_a_list_of_whole_numbers(index: Any) -> None:
    with pytest.raises(InputError, match="a position in the stream is a whole number"):
        check_positions(np.array(index), 10)
    small: Any = np.array([3], np.uint8)
    assert check_positions(small, 10).dtype == np.int64


def test_data_of_a_user_may_be_gone_later() -> None:
    assert not Squares(5).regenerates
