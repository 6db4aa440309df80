"""The loops that the emitter writes."""

from __future__ import annotations

from typing import Any

import pytest
from numba import njit, types
from numba.extending import intrinsic

from paraactive.learners.simd.emitter import Loop


@intrinsic
def _triangle(typingctx: Any, first: Any, last: Any, start: Any) -> Any:
    """start + the sum of range(first, last, 2)."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        loop: Any = Loop(builder, args[0], args[1], [args[2]], step=2, may_be_empty=True)
        (total,) = loop.end([builder.add(loop.values[0], loop.index)])
        return total

    return types.int64(types.int64, types.int64, types.int64), codegen


@njit
def _sum(first: int, last: int, start: int) -> int:
    return _triangle(first, last, start)  # pyright: ignore[reportCallIssue]


@pytest.mark.parametrize(("first", "last"), [(0, 10), (3, 4), (3, 9)])
def test_a_loop_hands_its_values_from_turn_to_turn(first: int, last: int) -> None:
    assert _sum(first, last, 100) == 100 + sum(range(first, last, 2))


def test_a_loop_without_turns_leaves_the_values_as_they_were() -> None:
    assert _sum(5, 5, 7) == 7
