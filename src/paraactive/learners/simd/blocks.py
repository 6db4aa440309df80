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
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from paraactive.basics.compiled import njit

ROWS, LANES = 4, 24
"""Twelve accumulators of eight floats, three vectors of lanes and one spread value: the sixteen AVX registers."""

WIDE_ROWS, WIDE_LANES = 8, 48
"""Twenty-four accumulators of sixteen floats, for the thirty-two registers of AVX-512."""

_SIZE = 16
"""Floats in the widest register; where registers are narrower, LLVM takes several."""
_I64, _F32 = ir.IntType(64), ir.FloatType()


def panels_for(columns: int, lanes: int = LANES) -> int:
    """How many panels hold that many columns."""
    return -(-columns // lanes)


def packed_rows(rows, lanes):
    """Rows as the columns of panels, filled up with zeros to whole panels."""
    panels = panels_for(len(rows), lanes)
    filled = np.zeros((panels * lanes, rows.shape[1]), np.float32)
    filled[: len(rows)] = rows
    return np.ascontiguousarray(filled.reshape(panels, lanes, -1).transpose(0, 2, 1))


@intrinsic
def block_product(typingctx, x, row, panels, panel, out):
    """out[r, l] = sum over k of x[row + r, k] * panels[panel, k, l], for ROWS rows and LANES lanes.

    All are float32, contiguous along their last axis; out is (ROWS, LANES). Written in LLVM's own terms, because no
    loop in Python makes LLVM keep the twelve accumulators in registers.
    """

    def codegen(context, builder, signature, args):
        block = _Block(context, builder, signature, args, out=4)
        block.add_product(0, 0, ROWS, LANES, 8, ir.Constant(_I64, 0), block.width, fresh=True)
        return context.get_dummy_value()

    return types.void(x, types.int64, panels, types.int64, out), codegen


@intrinsic
def add_wide_product(typingctx, x, row, panels, panel, first, last, out):
    """out[r, l] += the same for first <= k < last, for WIDE_ROWS rows and WIDE_LANES lanes.

    A piece of the features after the other goes on with the same chain, so the cuts do not change its bits; without
    AVX-512, blocks that fit the registers are computed one after the other.
    """

    def codegen(context, builder, signature, args):
        block = _Block(context, builder, signature, args, out=6)
        wide = "+avx512f" in context.codegen().magic_tuple()[2]
        rows, lanes, size = (WIDE_ROWS, WIDE_LANES, 16) if wide else (ROWS, LANES, 8)
        for row in range(0, WIDE_ROWS, rows):
            for lane in range(0, WIDE_LANES, lanes):
                block.add_product(row, lane, rows, lanes, size, args[4], args[5], fresh=False)
        return context.get_dummy_value()

    return types.void(x, types.int64, panels, types.int64, types.int64, types.int64, out), codegen


class _Block:
    """Writes the code of a product."""

    def __init__(self, context, builder, signature, args, out):
        def array(at):
            return context.make_array(signature.args[at])(context, builder, args[at])

        self.builder = builder
        self.width = cgutils.unpack_tuple(builder, array(0).shape)[1]
        self.x_stride = cgutils.unpack_tuple(builder, array(0).strides)[0]
        panel_stride, self.lanes_stride, _ = cgutils.unpack_tuple(builder, array(2).strides)
        self.x_start = builder.add(builder.ptrtoint(array(0).data, _I64), builder.mul(args[1], self.x_stride))
        self.panel_start = builder.add(builder.ptrtoint(array(2).data, _I64), builder.mul(args[3], panel_stride))
        self.out_start = builder.ptrtoint(array(out).data, _I64)
        self.out_stride = cgutils.unpack_tuple(builder, array(out).strides)[0]

    def add_product(self, first_row, first_lane, rows, lanes, size, first, last, fresh):
        """out += the product of these rows and lanes, `size` lanes in a register; or out = the product, if fresh."""
        builder, vector = self.builder, ir.VectorType(_F32, size)
        parts = range(lanes // size)

        def number(value):
            return ir.Constant(_I64, value)

        def pointer(address, kind):
            return builder.inttoptr(address, kind.as_pointer())

        x_rows = [builder.add(self.x_start, builder.mul(number(first_row + r), self.x_stride)) for r in range(rows)]
        places = [
            pointer(
                builder.add(
                    builder.add(self.out_start, builder.mul(number(first_row + r), self.out_stride)),
                    number(4 * (first_lane + size * part)),
                ),
                vector,
            )
            for r in range(rows)
            for part in parts
        ]
        code = Lanes(builder, vector)
        nothing = ir.Constant(vector, [0.0] * size)
        starts = [nothing if fresh else builder.load(place, align=4) for place in places]

        before = builder.block
        features, summed = builder.append_basic_block("features"), builder.append_basic_block("summed")
        builder.branch(features)

        builder.position_at_end(features)  # for k in range(first, last), which is never empty
        k = builder.phi(_I64)
        sums = [builder.phi(vector) for _ in places]
        lanes_at = builder.add(self.panel_start, builder.mul(k, self.lanes_stride))
        loaded = [
            builder.load(pointer(builder.add(lanes_at, number(4 * (first_lane + size * part))), vector), align=4)
            for part in parts
        ]
        totals = []
        for r in range(rows):
            value = builder.load(pointer(builder.add(x_rows[r], builder.mul(k, number(4))), _F32), align=4)
            spread = code.spread(value)
            totals += [code.fma(spread, loaded[part], sums[r * len(parts) + part]) for part in parts]
        following = builder.add(k, number(1))
        builder.cbranch(builder.icmp_signed("<", following, last), features, summed)
        for phi, start, step in zip([k, *sums], [first, *starts], [following, *totals], strict=True):
            phi.add_incoming(start, before)
            phi.add_incoming(step, features)

        builder.position_at_end(summed)
        for place, total in zip(places, totals, strict=True):
            builder.store(total, place, align=4)


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


@intrinsic
def to_rbf(typingctx, block, xx, row, ss, column, gamma):
    """block[r, l] = exp(-gamma max(0, xx[row + r] + ss[column + l] - 2 block[r, l])) in place, for a wide block.

    The bits are those of `exp`. Spelled out, because LLVM by itself uses half of the registers' width.
    """

    def codegen(context, builder, signature, args):
        block, xx, ss = (Array(context, builder, signature, args, at) for at in (0, 1, 3))
        vector = ir.VectorType(_F32, _SIZE)
        code = Lanes(builder, vector)
        zeros = code.all(np.float32(0))
        steepness = code.spread(builder.fneg(args[5]))
        for r in range(WIDE_ROWS):
            own = code.spread(builder.load(xx.place(builder.add(args[2], ir.Constant(_I64, r)), _F32), align=4))
            for lane in range(0, WIDE_LANES, _SIZE):
                place = block.place(ir.Constant(_I64, r), vector, lane)
                other = builder.load(ss.place(builder.add(args[4], ir.Constant(_I64, lane)), vector), align=4)
                product = builder.load(place, align=4)
                distance = code.fma(code.all(np.float32(-2)), product, builder.fadd(own, other))
                a = builder.fmul(steepness, code.larger(distance, zeros))
                builder.store(exp_lanes(code, a), place, align=4)
        return context.get_dummy_value()

    return types.void(block, xx, types.int64, ss, types.int64, types.float32), codegen


def exp_lanes(code, a):
    """The code of `exp` for lanes of floats."""
    builder, size = code.builder, code.vector.count
    whole = ir.VectorType(ir.IntType(32), size)
    bias, shift = (ir.Constant(whole, [value] * size) for value in (127, 23))
    a = code.smaller(code.larger(a, code.all(_LOWEST)), code.all(_HIGHEST))
    n = code.call("rint", builder.fmul(a, code.all(_LOG2E)))
    r = code.fma(n, code.all(-_LN2_LOW), code.fma(n, code.all(-_LN2_HIGH), a))
    q = code.all(_C7)
    for coefficient in (_C6, _C5, _C4, _C3, _C2):
        q = code.fma(q, r, code.all(coefficient))
    e = code.fma(q, builder.fmul(r, r), builder.fadd(r, code.all(_ONE)))
    power = builder.shl(builder.add(builder.fptosi(n, whole), bias), shift)
    return builder.fmul(e, builder.bitcast(power, code.vector))


@intrinsic
def add_weighted(typingctx, block, rows, weight, column, sums):
    """sums[r, l] += weight[column + l] * block[r, l] for r < rows, WIDE_LANES lanes, in float64."""

    def codegen(context, builder, signature, args):
        block, weight, sums = (Array(context, builder, signature, args, at) for at in (0, 2, 4))
        half = _SIZE // 2
        vector, single = ir.VectorType(ir.DoubleType(), half), ir.VectorType(_F32, half)
        weights = [
            builder.load(weight.place(builder.add(args[3], ir.Constant(_I64, lane)), vector), align=8)
            for lane in range(0, WIDE_LANES, half)
        ]
        with cgutils.for_range(builder, args[1]) as loop:
            for number, lane in enumerate(range(0, WIDE_LANES, half)):
                place = sums.place(loop.index, vector, lane)
                value = builder.fpext(builder.load(block.place(loop.index, single, lane), align=4), vector)
                more = builder.fmul(weights[number], value)
                builder.store(builder.fadd(builder.load(place, align=8), more), place, align=8)
        return context.get_dummy_value()

    return types.void(block, types.int64, weight, types.int64, sums), codegen


class Array:
    """Addresses in an array that is contiguous along its last axis."""

    def __init__(self, context, builder, signature, args, at):
        kind = signature.args[at]
        array = context.make_array(kind)(context, builder, args[at])
        self.builder, self.start, self.shape = builder, builder.ptrtoint(array.data, _I64), array.shape
        self.stride = cgutils.unpack_tuple(builder, array.strides)[0]
        self.size = kind.dtype.bitwidth // 8

    def address(self, index):
        """Of what is at this index of the first axis."""
        return self.builder.add(self.start, self.builder.mul(index, self.stride))

    def place(self, index, kind, lane=0):
        """Pointer to a `kind` at this index of the first axis, and this one of the second."""
        place = self.builder.add(self.address(index), ir.Constant(_I64, self.size * lane))
        return self.builder.inttoptr(place, kind.as_pointer())


class Lanes:
    """Arithmetic on vectors of lanes."""

    def __init__(self, builder, vector):
        self.builder, self.vector = builder, vector

    def all(self, value):
        """This number in all lanes."""
        return ir.Constant(self.vector, [float(value)] * self.vector.count)

    def spread(self, value):
        """This value in all lanes."""
        undefined = ir.Constant(self.vector, ir.Undefined)
        first = ir.Constant(ir.VectorType(ir.IntType(32), self.vector.count), [0] * self.vector.count)
        one = self.builder.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
        return self.builder.shuffle_vector(one, undefined, first)

    def call(self, name, *values):
        """One of LLVM's own functions."""
        function = ir.FunctionType(self.vector, [self.vector] * len(values))
        name = f"llvm.{name}.v{self.vector.count}f32"
        return self.builder.call(cgutils.get_or_insert_function(self.builder.module, function, name), values)

    def fma(self, a, b, c):
        """a*b + c, rounded once."""
        return self.call("fma", a, b, c)

    def larger(self, a, b):
        """As Python's max(a, b)."""
        return self.builder.select(self.builder.fcmp_ordered(">", b, a), b, a)

    def smaller(self, a, b):
        """As Python's min(a, b)."""
        return self.builder.select(self.builder.fcmp_ordered("<", b, a), b, a)


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
