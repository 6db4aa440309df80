"""One pass over the gradients of a machine: it takes a step and finds the next most violating pair on the way.

The largest of some numbers is exact in any order, so the pass takes eight slots at a time without changing a bit. LLVM
does not vectorize such a search by itself, because of NaN and the sign of 0. So it is written with `simd.emitter`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.cpu import CPUContext
from numba.core.typing.context import Context
from numba.core.typing.templates import Signature
from numpy.typing import NDArray

from paraactive.basics.compiled import intrinsic, njit
from paraactive.data.array_types import Doubles, Floats
from paraactive.learners.simd.emitter import F64, I8, I64, Builder, Lanes, Loop, Value, arrays_at, floats

NONE = -1
"""No slot."""
UP, DOWN = np.uint8(1), np.uint8(2)
"""Bits of `free`: the directions in which the alpha of a slot may move. Empty slots have neither."""
TOGETHER = 8
"""Slots that are taken at a time. The length of an array over slots is a multiple of it."""


@intrinsic
def _step_lanes(
    typingctx: Context,
    g: types.Type,
    free: types.Type,
    row_i: types.Type,
    row_j: types.Type,
    step: types.Type,
    eights: types.Type,
    largest: types.Type,
    smallest: types.Type,
    up: types.Type,
    down: types.Type,
):
    """Subtract step * (row_i - row_j) from g, over `eights` (at least one) times eight slots.

    Each g is rounded as by a product and two differences in float64, one after the other. For each of the eight lanes,
    `largest` becomes the largest gradient that may go up, and `up` the first eight slots in which it was found;
    `smallest` and `down` likewise.
    """

    def codegen(context: CPUContext, builder: Builder, signature: Signature, args: Sequence[Value]):
        g, free, row_i, row_j, *found = arrays_at(context, builder, signature, args, 0, 1, 2, 3, 6, 7, 8, 9)
        doubles, ints, bytes_ = (Lanes(builder, ir.VectorType(kind, TOGETHER)) for kind in (F64, I64, I8))
        step, lowest, highest = doubles.spread(args[4]), doubles.all(float("-inf")), doubles.all(float("inf"))
        loop = Loop(builder, 0, args[5], [lowest, highest, ints.all(0), ints.all(0)])
        high, low, high_at, low_at = loop.values
        slot, here = builder.mul(loop.index, ir.Constant(I64, TOGETHER)), ints.spread(loop.index)
        of_i, of_j = (builder.fpext(row.load(floats(TOGETHER), slot), doubles.vector) for row in (row_i, row_j))
        moved = builder.fsub(g.load(doubles.vector, slot), builder.fmul(step, builder.fsub(of_i, of_j)))
        g.store(moved, slot)
        ways = free.load(bytes_.vector, slot)
        upward = builder.select(bytes_.has_bit(ways, UP), moved, lowest)
        downward = builder.select(bytes_.has_bit(ways, DOWN), moved, highest)
        above, below = builder.fcmp_ordered(">", upward, high), builder.fcmp_ordered("<", downward, low)
        results = loop.end(
            [
                builder.select(above, upward, high),
                builder.select(below, downward, low),
                builder.select(above, here, high_at),
                builder.select(below, here, low_at),
            ]
        )
        for array, result in zip(found, results, strict=True):
            array.store(result, 0)
        return context.get_dummy_value()

    return types.void(
        g, free, row_i, row_j, types.float64, types.int64, largest, smallest, up, down
    ), codegen  # fmt: skip


@njit(cache=True, nogil=True)
def step_and_search(count: int, step: float, row_i: Floats, row_j: Floats, g: Doubles, free: NDArray[np.uint8]):
    """Subtract step * (row_i - row_j) from g. Returns the most violating pair after that, as `search` does.

    Parameters
    ----------
    count : int
        Number of live vectors.
    step : float
        Length of the step.
    row_i, row_j : ndarray of float32, shape (slots,)
        Kernel rows of the two vectors of the pair.
    g : ndarray of float64, shape (slots,)
        Gradients of one machine.
    free : ndarray of uint8, shape (slots,)
        Directions in which each alpha may move.
    """
    high, low = np.empty(TOGETHER), np.empty(TOGETHER)
    high_at, low_at = np.empty(TOGETHER, np.int64), np.empty(TOGETHER, np.int64)
    _step_lanes(g, free, row_i, row_j, step, -(-count // TOGETHER), high, low, high_at, low_at)
    up, down = NONE, NONE
    largest, smallest = -np.inf, np.inf
    for lane in range(TOGETHER):
        slot = high_at[lane] * TOGETHER + lane
        if high[lane] > largest or (high[lane] == largest and slot < up):
            largest, up = high[lane], slot
        slot = low_at[lane] * TOGETHER + lane
        if low[lane] < smallest or (low[lane] == smallest and slot < down):
            smallest, down = low[lane], slot
    return up, down


@njit(cache=True, nogil=True)
def search(count: int, g: Doubles, free: NDArray[np.uint8]):
    """Return (i, j): the largest gradient that may go up and the smallest that may go down.

    Each is NONE if no slot qualifies. Of equal gradients the first slot counts.

    Parameters
    ----------
    count : int
        Number of live vectors.
    g : ndarray of float64, shape (slots,)
        Gradients of one machine.
    free : ndarray of uint8, shape (slots,)
        Directions in which each alpha may move.
    """
    up, down = NONE, NONE
    largest, smallest = -np.inf, np.inf
    for s in range(count):
        if g[s] > largest and free[s] & UP:
            largest, up = g[s], s
        if g[s] < smallest and free[s] & DOWN:
            smallest, down = g[s], s
    return up, down
