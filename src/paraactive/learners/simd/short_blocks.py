"""Kernel values from products of short integers: half the time of float32, and exact until they are made floats.

For the cheap score of `projection`: 8 rows by 48 vectors at a time, two coordinates in each step. Sums of integers have
the same bits in any order and on any machine.
"""

# The typing of numba's intrinsics is numba's own, at compile time.
# pyright: basic, reportCallIssue=false

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from paraactive.learners.simd.blocks import WIDE_LANES, WIDE_ROWS, Array, Lanes, exp_lanes

LARGEST = 4095
"""Coordinates are so large at most: then not even 96 products of them are too many for 32 bits."""
_SIZE = 16
_I32, _I64, _F32 = ir.IntType(32), ir.IntType(64), ir.FloatType()
_WHOLE, _FLOATS = ir.VectorType(_I32, _SIZE), ir.VectorType(_F32, _SIZE)
_SHORTS = ir.VectorType(ir.IntType(16), 2 * _SIZE)


@intrinsic
def short_rbf(typingctx, x, row, panels, panel, xx, ss, gamma, scale, block):
    """block[r, l] = exp(-gamma max(0, xx[row + r] + ss[.] - 2 scale x.s)), of WIDE_ROWS rows with the lanes of a panel.

    x: int16 (n, rank); panels: int16 (panels, rank / 2, 2 WIDE_LANES), two
    coordinates of a vector side by side; all contiguous. rank is even.
    """

    def codegen(context, builder, signature, args):
        x, panels, xx, ss, block = (Array(context, builder, signature, args, at) for at in (0, 2, 4, 5, 8))
        wide = "+avx512vnni" in context.codegen().magic_tuple()[2]
        parts = range(WIDE_LANES // _SIZE)
        nothing, one = ir.Constant(_WHOLE, [0] * _SIZE), ir.Constant(_I64, 1)
        pairs = builder.udiv(cgutils.unpack_tuple(builder, x.shape)[1], ir.Constant(_I64, 2))
        x_rows = [x.address(builder.add(args[1], ir.Constant(_I64, r))) for r in range(WIDE_ROWS)]
        start = panels.address(args[3])

        before = builder.block
        coordinates, summed = builder.append_basic_block("coordinates"), builder.append_basic_block("summed")
        builder.branch(coordinates)

        builder.position_at_end(coordinates)  # for k in range(pairs), which is never empty
        k = builder.phi(_I64)
        sums = [builder.phi(_WHOLE) for _ in range(WIDE_ROWS * len(parts))]
        at = builder.add(start, builder.mul(k, ir.Constant(_I64, 4 * WIDE_LANES)))
        lanes = [
            builder.load(
                builder.inttoptr(builder.add(at, ir.Constant(_I64, 4 * _SIZE * part)), _SHORTS.as_pointer()), align=2
            )
            for part in parts
        ]
        totals = []
        code = Lanes(builder, _WHOLE)
        for r in range(WIDE_ROWS):
            place = builder.add(x_rows[r], builder.mul(k, ir.Constant(_I64, 4)))
            pair = builder.load(builder.inttoptr(place, _I32.as_pointer()), align=2)
            spread = builder.bitcast(code.spread(pair), _SHORTS)
            for part in parts:
                totals.append(_add_products(builder, sums[r * len(parts) + part], spread, lanes[part], wide))
        following = builder.add(k, one)
        builder.cbranch(builder.icmp_signed("<", following, pairs), coordinates, summed)
        for phi, first, step in zip(
            [k, *sums], [ir.Constant(_I64, 0)] + [nothing] * len(sums), [following, *totals], strict=True
        ):
            phi.add_incoming(first, before)
            phi.add_incoming(step, coordinates)

        builder.position_at_end(summed)
        code = Lanes(builder, _FLOATS)
        steepness, shrink = (
            code.spread(builder.fneg(args[6])),
            code.spread(builder.fmul(args[7], ir.Constant(_F32, -2.0))),
        )
        column = builder.mul(args[3], ir.Constant(_I64, WIDE_LANES))
        zeros = code.all(np.float32(0))
        norms = [
            builder.load(ss.place(builder.add(column, ir.Constant(_I64, _SIZE * part)), _FLOATS), align=4)
            for part in parts
        ]
        for r in range(WIDE_ROWS):
            own = code.spread(builder.load(xx.place(builder.add(args[1], ir.Constant(_I64, r)), _F32), align=4))
            for part in parts:
                product = builder.sitofp(totals[r * len(parts) + part], _FLOATS)
                distance = code.fma(shrink, product, builder.fadd(own, norms[part]))
                value = exp_lanes(code, builder.fmul(steepness, code.larger(distance, zeros)))
                builder.store(value, block.place(ir.Constant(_I64, r), _FLOATS, _SIZE * part), align=4)
        return context.get_dummy_value()

    return (
        types.void(x, types.int64, panels, types.int64, xx, ss, types.float32, types.float32, block),
        codegen,
    )


def _add_products(builder, total, a, b, wide):
    """total + the sums of the products of neighbours."""
    if wide:
        function = ir.FunctionType(_WHOLE, [_WHOLE] * 3)
        name = "llvm.x86.avx512.vpdpwssd.512"
        arguments = [total, builder.bitcast(a, _WHOLE), builder.bitcast(b, _WHOLE)]
        return builder.call(cgutils.get_or_insert_function(builder.module, function, name), arguments)
    long = ir.VectorType(_I32, 2 * _SIZE)
    products = builder.mul(builder.sext(a, long), builder.sext(b, long))
    undefined = ir.Constant(long, ir.Undefined)
    even, odd = (
        builder.shuffle_vector(products, undefined, ir.Constant(_WHOLE, list(range(first, 2 * _SIZE, 2))))
        for first in (0, 1)
    )
    return builder.add(total, builder.add(even, odd))
