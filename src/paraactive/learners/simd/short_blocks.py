"""Kernel values from products of int16: half the time of float32, and exact until the sums become floats.

They are for the proxy scores of `projection`: 8 rows by 48 vectors at a time, two coordinates in each step. Sums of
integers have the same bits in any order and on any machine.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir
from numba import types
from numba.core.cpu import CPUContext
from numba.core.typing.context import Context
from numba.core.typing.templates import Signature

from paraactive.basics.compiled import intrinsic
from paraactive.learners.simd.blocks import WIDE_LANES, WIDE_ROWS
from paraactive.learners.simd.emitter import (
    F32,
    I16,
    I32,
    I64,
    WIDE,
    Array,
    Builder,
    Lanes,
    Loop,
    Value,
    arrays_at,
    call_llvm,
    floats,
    number,
    target_has,
)
from paraactive.learners.simd.functions import exp_lanes

LARGEST = 4095
"""Largest coordinate: the sum of 96 products of two such numbers still fits into 32 bits."""
_INTS, _PAIRS = ir.VectorType(I32, WIDE), ir.VectorType(I16, 2 * WIDE)
_PARTS = range(WIDE_LANES // WIDE)


@intrinsic
def short_rbf(
    typingctx: Context,
    x: types.Type,
    row: types.Type,
    panels: types.Type,
    panel: types.Type,
    xx: types.Type,
    ss: types.Type,
    gamma: types.Type,
    scale: types.Type,
    block: types.Type,
):
    """Set block[r, l] = exp(-gamma max(0, xx[row + r] + ss[.] - 2 scale x.s)) for WIDE_ROWS rows and a panel's lanes.

    x is int16 (n, rank); panels is int16 (panels, rank / 2, 2 WIDE_LANES), with two coordinates of a vector side by
    side. All arrays are contiguous, and rank is even.
    """

    def codegen(context: CPUContext, builder: Builder, signature: Signature, args: Sequence[Value]):
        x, panels, xx, ss, block = arrays_at(context, builder, signature, args, 0, 2, 4, 5, 8)
        wide = target_has(context, "avx512vnni")
        totals = iter(_sums_of_products(builder, x, args[1], panels.address(args[3]), wide))
        code, memory = Lanes(builder, floats(WIDE)), x.memory
        steepness = code.spread(builder.fneg(args[6]))
        shrink = code.spread(builder.fmul(args[7], ir.Constant(F32, -2.0)))
        first_row, first_column = xx.address(args[1]), ss.address(builder.mul(args[3], number(WIDE_LANES)))
        norms = [memory.load(memory.after(first_column, WIDE * part, 4), code.vector, 4) for part in _PARTS]
        for r in range(WIDE_ROWS):
            own_norm = code.spread(memory.load(memory.after(first_row, r, 4), F32, 4))
            for part in _PARTS:
                product = builder.sitofp(next(totals), code.vector)
                distance = code.fma(shrink, product, builder.fadd(own_norm, norms[part]))
                value = exp_lanes(code, builder.fmul(steepness, code.larger(distance, code.all(0.0))))
                block.store(value, r, WIDE * part)
        return context.get_dummy_value()

    kinds = (x, types.int64, panels, types.int64, xx, ss, types.float32, types.float32, block)
    return types.void(*kinds), codegen


def _sums_of_products(builder: Builder, x: Array, row: Value, panel: Value, wide: bool):
    """Write the products of WIDE_ROWS rows with all lanes of a panel; one vector for each row and part."""
    memory, code = x.memory, Lanes(builder, _INTS)
    pairs = builder.udiv(x.shape[1], ir.Constant(I64, 2))
    x_rows = [x.address(builder.add(row, number(r))) for r in range(WIDE_ROWS)]
    loop = Loop(builder, 0, pairs, [code.all(0)] * (WIDE_ROWS * len(_PARTS)))  # Over pairs of coordinates: never empty.
    lanes_at = memory.after(panel, loop.index, 4 * WIDE_LANES)
    lanes = [memory.load(memory.after(lanes_at, part, 4 * WIDE), _PAIRS, 2) for part in _PARTS]
    sums, totals = iter(loop.values), []
    for x_row in x_rows:
        pair = memory.load(memory.after(x_row, loop.index, 4), I32, 2)
        spread = builder.bitcast(code.spread(pair), _PAIRS)
        totals += [_add_products(builder, next(sums), spread, lanes[part], wide) for part in _PARTS]
    return loop.end(totals)


def _add_products(builder: Builder, total: Value, a: Value, b: Value, wide: bool):
    """Write total + the sums of the products of neighbors."""
    if wide:
        pairs = builder.bitcast(a, _INTS), builder.bitcast(b, _INTS)
        return call_llvm(builder, "llvm.x86.avx512.vpdpwssd.512", _INTS, total, *pairs)
    long = ir.VectorType(I32, 2 * WIDE)
    products = builder.mul(builder.sext(a, long), builder.sext(b, long))
    undefined = ir.Constant(long, ir.Undefined)
    even, odd = (
        builder.shuffle_vector(products, undefined, ir.Constant(_INTS, list(range(first, 2 * WIDE, 2))))
        for first in (0, 1)
    )
    return builder.add(total, builder.add(even, odd))
