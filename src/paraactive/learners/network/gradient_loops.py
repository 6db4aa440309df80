"""One walk over the gradients of a machine: a step is taken and the next most violating pair is found on the way.

Finding the largest of some numbers is exact in any order, so this may go eight slots at a time without changing a bit;
LLVM does not dare to, for the sake of NaN and of the sign of 0, so it is written in its own terms.
"""

# The typing of numba's intrinsics is numba's own, at compile time.
# pyright: basic, reportCallIssue=false

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from paraactive.basics.compiled import njit

NONE = -1
UP, DOWN = np.uint8(1), np.uint8(2)
"""Bits of `free`: which way the alpha of a slot may go. Empty slots have neither."""
TOGETHER = 8
"""Slots at a time. Arrays over slots are a multiple of it long."""

_I64, _F64 = ir.IntType(64), ir.DoubleType()
_DOUBLES, _FLOATS = ir.VectorType(_F64, TOGETHER), ir.VectorType(ir.FloatType(), TOGETHER)
_WHOLES, _BYTES = ir.VectorType(_I64, TOGETHER), ir.VectorType(ir.IntType(8), TOGETHER)


@intrinsic
def _walk_lanes(typingctx, g, free, row_i, row_j, step, eights, largest, smallest, up, down):
    """g -= step * (row_i - row_j) over `eights` (at least one) times eight slots.

    Each g is rounded as by a product and two differences in float64, one after the other. For each of the eight lanes:
    largest, the largest gradient that may go up, and up, the first eight that it was found in; the smallest likewise.
    """

    def codegen(context, builder, signature, args):
        def start(at):
            return builder.ptrtoint(context.make_array(signature.args[at])(context, builder, args[at]).data, _I64)

        def lanes(address, kind, bytes_each, k):
            at = builder.add(address, builder.mul(k, number(TOGETHER * bytes_each)))
            return builder.inttoptr(at, kind.as_pointer())

        def number(value):
            return ir.Constant(_I64, value)

        def spread(value, kind):
            nothing, lane = ir.Constant(kind, ir.Undefined), ir.Constant(ir.IntType(32), 0)
            zeros = ir.Constant(ir.VectorType(ir.IntType(32), TOGETHER), [0] * TOGETHER)
            return builder.shuffle_vector(builder.insert_element(nothing, value, lane), nothing, zeros)

        def may(bits, way):
            chosen = builder.and_(bits, ir.Constant(_BYTES, [int(way)] * TOGETHER))
            return builder.icmp_unsigned("!=", chosen, ir.Constant(_BYTES, [0] * TOGETHER))

        gradients, bits, rows, steps = start(0), start(1), (start(2), start(3)), spread(args[4], _DOUBLES)
        lowest, highest = (ir.Constant(_DOUBLES, [value] * TOGETHER) for value in (float("-inf"), float("inf")))
        nowhere = ir.Constant(_WHOLES, [0] * TOGETHER)
        before = builder.block
        walk, walked = builder.append_basic_block("walk"), builder.append_basic_block("walked")
        builder.branch(walk)

        builder.position_at_end(walk)
        k, high, low = builder.phi(_I64), builder.phi(_DOUBLES), builder.phi(_DOUBLES)
        high_at, low_at = builder.phi(_WHOLES), builder.phi(_WHOLES)
        at, here = lanes(gradients, _DOUBLES, 8, k), spread(k, _WHOLES)
        of_i, of_j = (builder.fpext(builder.load(lanes(r, _FLOATS, 4, k), align=4), _DOUBLES) for r in rows)
        moved = builder.fsub(builder.load(at, align=8), builder.fmul(steps, builder.fsub(of_i, of_j)))
        builder.store(moved, at, align=8)
        ways = builder.load(lanes(bits, _BYTES, 1, k), align=1)
        upward = builder.select(may(ways, UP), moved, lowest)
        downward = builder.select(may(ways, DOWN), moved, highest)
        above, below = builder.fcmp_ordered(">", upward, high), builder.fcmp_ordered("<", downward, low)
        following = builder.add(k, number(1))
        loop = (
            (k, number(0), following),
            (high, lowest, builder.select(above, upward, high)),
            (low, highest, builder.select(below, downward, low)),
            (high_at, nowhere, builder.select(above, here, high_at)),
            (low_at, nowhere, builder.select(below, here, low_at)),
        )
        builder.cbranch(builder.icmp_signed("<", following, args[5]), walk, walked)
        for phi, begin, onward in loop:
            phi.add_incoming(begin, before)
            phi.add_incoming(onward, walk)

        builder.position_at_end(walked)
        for into, (_, _, found) in enumerate(loop[1:], start=6):
            builder.store(found, builder.inttoptr(start(into), found.type.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(
        g, free, row_i, row_j, types.float64, types.int64, largest, smallest, up, down
    ), codegen  # fmt: skip


@njit(cache=True, nogil=True)
def walk(count, step, row_i, row_j, g, free):
    """g -= step * (row_i - row_j). Returns the most violating pair that there is then, as `search` does."""
    high, low = np.empty(TOGETHER), np.empty(TOGETHER)
    high_at, low_at = np.empty(TOGETHER, np.int64), np.empty(TOGETHER, np.int64)
    _walk_lanes(g, free, row_i, row_j, step, -(-count // TOGETHER), high, low, high_at, low_at)
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
def search(count, g, free):
    """(i, j): the largest gradient that may go up and the smallest that may go down; NONE where there is none.

    Of equal ones the first.
    """
    up, down = NONE, NONE
    largest, smallest = -np.inf, np.inf
    for s in range(count):
        if g[s] > largest and free[s] & UP:
            largest, up = g[s], s
        if g[s] < smallest and free[s] & DOWN:
            smallest, down = g[s], s
    return up, down
