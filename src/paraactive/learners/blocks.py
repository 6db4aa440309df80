"""Products of examples with a packed matrix, four rows by twenty-four lanes at a time, in registers.

Why not BLAS: the bits of a BLAS product depend on the shape of the call, so a score would depend on how the stream
was cut into tiles, and a kernel value on which entries were applied together. Here every product is one chain of
fused multiply-adds in the order of the features: a function of the two vectors alone, wherever it is computed. And
since the packed side stays packed, small tiles cost little more than large ones.

A packed matrix has shape (panels, width, LANES): column c of the matrix is panel c // LANES, lane c % LANES. It may be
a view of a matrix (width, panels * LANES).
"""

# The typing of numba's intrinsics is numba's own, at compile time.
# pyright: basic, reportCallIssue=false

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

ROWS, LANES = 4, 24
"""Twelve accumulators of eight floats, three vectors of lanes and one spread value: the sixteen AVX registers."""

_I64, _F32, _V8 = ir.IntType(64), ir.FloatType(), ir.VectorType(ir.FloatType(), 8)
_PARTS = LANES // 8


def panels_for(columns: int) -> int:
    """How many panels hold that many columns."""
    return -(-columns // LANES)


@intrinsic
def block_product(typingctx, x, row, panels, panel, out):
    """out[r, l] = sum over k of x[row + r, k] * panels[panel, k, l], for ROWS rows and LANES lanes.

    All are float32, contiguous along their last axis; out is (ROWS, LANES). Written in LLVM's own terms, because no
    loop in Python makes LLVM keep the twelve accumulators in registers.
    """

    def codegen(context, builder, signature, args):
        def array(at):
            return context.make_array(signature.args[at])(context, builder, args[at])

        def number(value):
            return ir.Constant(_I64, value)

        def pointer(address, kind):
            return builder.inttoptr(address, kind.as_pointer())

        width = cgutils.unpack_tuple(builder, array(0).shape)[1]
        x_stride = cgutils.unpack_tuple(builder, array(0).strides)[0]
        panel_stride, lanes_stride, _ = cgutils.unpack_tuple(builder, array(2).strides)
        x_start = builder.add(builder.ptrtoint(array(0).data, _I64), builder.mul(args[1], x_stride))
        panel_start = builder.add(builder.ptrtoint(array(2).data, _I64), builder.mul(args[3], panel_stride))
        out_start = builder.ptrtoint(array(4).data, _I64)
        rows = [builder.add(x_start, builder.mul(number(r), x_stride)) for r in range(ROWS)]
        fma = cgutils.get_or_insert_function(builder.module, ir.FunctionType(_V8, [_V8] * 3), "llvm.fma.v8f32")
        nothing, undefined = ir.Constant(_V8, [0.0] * 8), ir.Constant(_V8, ir.Undefined)
        first_lane = ir.Constant(ir.VectorType(ir.IntType(32), 8), [0] * 8)

        before = builder.block
        features, summed = builder.append_basic_block("features"), builder.append_basic_block("summed")
        builder.branch(features)

        builder.position_at_end(features)  # for k in range(width); a width of 0 is refused before
        k = builder.phi(_I64)
        sums = [builder.phi(_V8) for _ in range(ROWS * _PARTS)]
        lanes_at = builder.add(panel_start, builder.mul(k, lanes_stride))
        lanes = [builder.load(pointer(builder.add(lanes_at, number(32 * v)), _V8), align=4) for v in range(_PARTS)]
        totals = []
        for r in range(ROWS):
            value = builder.load(pointer(builder.add(rows[r], builder.mul(k, number(4))), _F32), align=4)
            spread = builder.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
            spread = builder.shuffle_vector(spread, undefined, first_lane)
            totals += [builder.call(fma, [spread, lanes[v], sums[r * _PARTS + v]]) for v in range(_PARTS)]
        following = builder.add(k, number(1))
        builder.cbranch(builder.icmp_signed("<", following, width), features, summed)
        for phi, start, step in zip([k, *sums], [number(0)] + [nothing] * len(sums), [following, *totals], strict=True):
            phi.add_incoming(start, before)
            phi.add_incoming(step, features)

        builder.position_at_end(summed)
        for part, total in enumerate(totals):
            builder.store(total, pointer(builder.add(out_start, number(32 * part)), _V8), align=4)
        return context.get_dummy_value()

    return types.void(x, types.int64, panels, types.int64, out), codegen


@intrinsic
def _as_float(typingctx, bits):
    """The float32 with these bits."""

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], _F32)

    return types.float32(types.int32), codegen


@intrinsic
def _as_bits(typingctx, a):
    """The bits of a float32."""

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], ir.IntType(32))

    return types.int32(types.float32), codegen


@intrinsic
def fma(typingctx, a, b, c):
    """a*b + c, rounded once: spelled out, so that no compiler is free to round it otherwise."""

    def codegen(context, builder, signature, args):
        function = ir.FunctionType(_F32, [_F32] * 3)
        return builder.call(cgutils.get_or_insert_function(builder.module, function, "llvm.fma.f32"), args)

    return types.float32(types.float32, types.float32, types.float32), codegen


@intrinsic
def _rint(typingctx, a):
    def codegen(context, builder, signature, args):
        function = ir.FunctionType(_F32, [_F32])
        return builder.call(cgutils.get_or_insert_function(builder.module, function, "llvm.rint.f32"), args)

    return types.float32(types.float32), codegen


_LOG2E, _LN2_HIGH, _LN2_LOW = np.float32(1.4426950408889634), np.float32(0.693359375), np.float32(-2.12194440e-4)
_C2, _C3, _C4 = np.float32(0.5), np.float32(1.6666665459e-1), np.float32(4.1665795894e-2)
_C5, _C6, _C7 = np.float32(8.3334519073e-3), np.float32(1.3981999507e-3), np.float32(1.9875691500e-4)
_ONE, _HIGHEST, _LOWEST = np.float32(1), np.float32(88.0), np.float32(-87.3)


@njit(cache=True, nogil=True, inline="always")
def exp(a):
    """e**a in float32: a = n ln 2 + r, a polynomial of degree 7 in r, and n put into the exponent's bits.

    Relative error below 2e-7 for -87.3 <= a <= 88; below that range the value is 1.2e-38, above it 1.7e38.
    """
    a = min(max(a, _LOWEST), _HIGHEST)
    n = _rint(a * _LOG2E)
    r = fma(n, -_LN2_LOW, fma(n, -_LN2_HIGH, a))
    q = fma(fma(fma(fma(fma(_C7, r, _C6), r, _C5), r, _C4), r, _C3), r, _C2)
    return fma(q, r * r, r + _ONE) * _as_float((np.int32(n) + np.int32(127)) << np.int32(23))


_MAGIC, _HALF, _THREE_HALVES = np.int32(0x5F375A86), np.float32(0.5), np.float32(1.5)


@njit(cache=True, nogil=True, inline="always")
def inverse_sqrt(a):
    """1/sqrt(a) in float32 for a >= 1e-30: a guess from the bits, then three steps of Newton.

    Relative error below 3e-7. Twice as fast as a root and a division, and, unlike the processor's own estimate, the
    same on every machine.
    """
    half = _HALF * a
    guess = _as_float(_MAGIC - (_as_bits(a) >> np.int32(1)))
    for _ in range(3):
        guess = guess * fma(-half * guess, guess, _THREE_HALVES)
    return guess
