"""The network's work on all its units at once: products and steps of AdaGrad over rows of units, in registers.

A matrix here has a row for each input and a column, or lane, for each unit. As in `blocks`, every product is one chain
of fused multiply-adds in a fixed order for each lane, so how lanes and rows are taken together changes no bit; only
here the inputs are listed, so that those of 0 are left out, and vectors are as wide as the processor has them. It is
written in LLVM's own terms, because a loop in Python is guarded against arrays that overlap, and takes twice the time.
"""

# The typing of numba's intrinsics is numba's own, at compile time.
# pyright: basic, reportCallIssue=false

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from paraactive.basics.compiled import njit

ROWS = 4
"""Rows that a product takes together."""
TINY_SQUARE = 1e-12
"""Added to AdaGrad's sum of squares, which may be 0."""
VANISHED = 1e-18
"""Gradients below it are taken for 0: their squares would be denormal numbers, on which processors are ten times
slower, and the step that they make is a millionth of the last digit of a weight."""

_I32, _I64, _F32 = ir.IntType(32), ir.IntType(64), ir.FloatType()
_NARROW, _WIDE = 8, 16
_HAS_WIDE = bool(llvm.get_host_cpu_features().get("avx512f"))


class _Lanes:
    """Writes LLVM's instructions on vectors of so many lanes."""

    def __init__(self, context: Any, builder: Any, signature: Any, args: Any, width: int) -> None:
        self.context, self.builder, self.signature, self.args, self.width = context, builder, signature, args, width
        self.kind, self.bits = ir.VectorType(_F32, width), ir.VectorType(_I32, width)
        whole = ir.FunctionType(self.kind, [self.kind] * 3)
        self._fma = cgutils.get_or_insert_function(builder.module, whole, f"llvm.fma.v{width}f32")

    def start(self, at: int) -> Any:
        """The address of an array that was given."""
        return self.builder.ptrtoint(self._array(at).data, _I64)

    def stride(self, at: int) -> Any:
        """Bytes from a row of it to the next."""
        return cgutils.unpack_tuple(self.builder, self._array(at).strides)[0]

    def _array(self, at: int) -> Any:
        return self.context.make_array(self.signature.args[at])(self.context, self.builder, self.args[at])

    def after(self, address: Any, count: Any, size: Any) -> Any:
        """The address that many things further on."""
        number = ir.Constant(_I64, count) if isinstance(count, int) else count
        return self.builder.add(
            address, self.builder.mul(number, ir.Constant(_I64, size) if isinstance(size, int) else size)
        )

    def load(self, address: Any, kind: Any = None) -> Any:
        kind = kind or self.kind
        return self.builder.load(self.builder.inttoptr(address, kind.as_pointer()), align=8 if kind is _I64 else 4)

    def store(self, value: Any, address: Any) -> None:
        self.builder.store(value, self.builder.inttoptr(address, self.kind.as_pointer()), align=4)

    def fma(self, a: Any, b: Any, c: Any) -> Any:
        return self.builder.call(self._fma, [a, b, c])

    def spread(self, value: Any) -> Any:
        """One number in all lanes."""
        nothing = ir.Constant(self.kind, ir.Undefined)
        first = self.builder.insert_element(nothing, value, ir.Constant(_I32, 0))
        return self.builder.shuffle_vector(first, nothing, ir.Constant(self.bits, [0] * self.width))

    def all(self, value: float) -> Any:
        """A constant in all lanes."""
        return ir.Constant(self.kind, [float(np.float32(value))] * self.width)

    def all_bits(self, value: int) -> Any:
        return ir.Constant(self.bits, [value] * self.width)


def _listed_product(rows: int, parts: int, width: int) -> Any:
    """A product of `rows` rows with parts * width lanes of a matrix."""

    @intrinsic
    def product(typingctx, x, row, inputs, used, matrix, lane, out):
        def codegen(context, builder, signature, args):
            v = _Lanes(context, builder, signature, args, width)
            values = [v.after(v.start(0), builder.add(args[1], ir.Constant(_I64, r)), v.stride(0)) for r in range(rows)]
            listed, across = v.after(v.start(2), 0, 8), v.after(v.start(4), args[5], 4)
            before = builder.block
            adding, added = builder.append_basic_block("adding"), builder.append_basic_block("added")
            builder.cbranch(builder.icmp_signed("<", ir.Constant(_I64, 0), args[3]), adding, added)

            builder.position_at_end(adding)  # for u in range(used)
            u = builder.phi(_I64)
            sums = [builder.phi(v.kind) for _ in range(rows * parts)]
            k = v.load(v.after(listed, u, 8), _I64)
            units = v.after(across, k, v.stride(4))
            lanes = [v.load(v.after(units, part, 4 * width)) for part in range(parts)]
            totals = []
            for r in range(rows):
                value = v.spread(v.load(v.after(values[r], u if rows == 1 else k, 4), _F32))
                totals += [v.fma(value, lanes[part], sums[r * parts + part]) for part in range(parts)]
            following = builder.add(u, ir.Constant(_I64, 1))
            builder.cbranch(builder.icmp_signed("<", following, args[3]), adding, added)
            u.add_incoming(ir.Constant(_I64, 0), before)
            u.add_incoming(following, adding)

            builder.position_at_end(added)
            for place, (phi, total) in enumerate(zip(sums, totals, strict=True)):
                result = builder.phi(v.kind)
                for each, later in ((phi, total), (result, total)):
                    each.add_incoming(v.all(0.0), before)
                    each.add_incoming(later, adding)
                totals[place] = result
            for place, total in enumerate(totals):
                at = v.after(v.after(v.start(6), place // parts, v.stride(6)), args[5], 4)
                v.store(total, v.after(at, place % parts, 4 * width))
            return context.get_dummy_value()

        return types.void(x, types.int64, inputs, types.int64, matrix, types.int64, out), codegen

    return product


_four_64, _four_48 = _listed_product(ROWS, 4, _WIDE), _listed_product(ROWS, 3, _WIDE)
_four_24, _four_8 = _listed_product(ROWS, 3, _NARROW), _listed_product(ROWS, 1, _NARROW)
# One row has few chains of additions, which wait for each other: as many lanes as there are registers.
_MANY = 112 if _HAS_WIDE else 96
_one_many = _listed_product(1, 7, _WIDE) if _HAS_WIDE else _listed_product(1, 12, _NARROW)
_one_24, _one_8 = _listed_product(1, 3, _NARROW), _listed_product(1, 1, _NARROW)


@njit(cache=True, nogil=True, error_model="numpy")
def four_products(x, row, inputs, used, matrix, lanes, out):
    """out[r, h] = sum over k = inputs[u], u < used, of x[row + r, k] matrix[k, h], for ROWS rows and h < lanes.

    All are float32 with contiguous rows. Lanes are whole eights; up to the matrix's columns, some more may be written.
    """
    lane, columns = 0, matrix.shape[1]
    while lane < lanes:
        left = lanes - lane
        if _HAS_WIDE and left >= 64:
            _four_64(x, row, inputs, used, matrix, lane, out)
            lane += 64
        elif _HAS_WIDE and left > 24 and lane + 48 <= columns:
            _four_48(x, row, inputs, used, matrix, lane, out)
            lane += 48
        elif left > 8 and lane + 24 <= columns:
            _four_24(x, row, inputs, used, matrix, lane, out)
            lane += 24
        else:
            _four_8(x, row, inputs, used, matrix, lane, out)
            lane += 8


@njit(cache=True, nogil=True, error_model="numpy")
def one_product(values, inputs, used, matrix, lanes, out):
    """out[0, h] = sum over u < used of values[0, u] matrix[inputs[u], h]: the same of one row, whose zeros are gone."""
    lane, columns = 0, matrix.shape[1]
    while lane < lanes:
        left = lanes - lane
        if left > 48 and lane + _MANY <= columns:
            _one_many(values, 0, inputs, used, matrix, lane, out)
            lane += _MANY
        elif left > 8 and lane + 24 <= columns:
            _one_24(values, 0, inputs, used, matrix, lane, out)
            lane += 24
        else:
            _one_8(values, 0, inputs, used, matrix, lane, out)
            lane += 8


def _adagrad(width: int) -> Any:
    """Steps of AdaGrad on a row of parameters, so many lanes at a time."""

    @intrinsic
    def steps(typingctx, parameter, squares, row, factor, direction, step, first, last):
        def codegen(context, builder, signature, args):
            v = _Lanes(context, builder, signature, args, width)
            parameter, squares = (v.after(v.start(at), args[2], v.stride(at)) for at in (0, 1))
            direction, factor, step = v.start(4), v.spread(args[3]), v.spread(args[5])
            before = builder.block
            stepping, done = builder.append_basic_block("stepping"), builder.append_basic_block("done")
            builder.cbranch(builder.icmp_signed("<", args[6], args[7]), stepping, done)

            builder.position_at_end(stepping)  # for h in range(first, last, width)
            h = builder.phi(_I64)
            h.add_incoming(args[6], before)
            at_parameter, at_squares = v.after(parameter, h, 4), v.after(squares, h, 4)
            gradient = builder.fmul(factor, v.load(v.after(direction, h, 4)))
            size = builder.bitcast(builder.and_(builder.bitcast(gradient, v.bits), v.all_bits(0x7FFFFFFF)), v.kind)
            # Unordered: what is not a number stays so, and is noticed.
            counts = builder.fcmp_unordered(">=", size, v.all(VANISHED))
            gradient = builder.select(counts, gradient, v.all(0.0))
            total = v.fma(gradient, gradient, v.load(at_squares))
            v.store(total, at_squares)
            # As `blocks.inverse_sqrt`.
            start = builder.fadd(total, v.all(TINY_SQUARE))
            half = builder.fmul(v.all(-0.5), start)
            guess = builder.ashr(builder.bitcast(start, v.bits), v.all_bits(1))
            guess = builder.bitcast(builder.sub(v.all_bits(0x5F375A86), guess), v.kind)
            for _ in range(3):
                guess = builder.fmul(guess, v.fma(builder.fmul(half, guess), guess, v.all(1.5)))
            way = builder.fmul(builder.fmul(step, gradient), guess)
            v.store(builder.fsub(v.load(at_parameter), way), at_parameter)
            following = builder.add(h, ir.Constant(_I64, width))
            h.add_incoming(following, stepping)
            builder.cbranch(builder.icmp_signed("<", following, args[7]), stepping, done)
            builder.position_at_end(done)
            return context.get_dummy_value()

        kinds = (parameter, squares, types.int64, types.float32, direction, types.float32, types.int64, types.int64)
        return types.void(*kinds), codegen

    return steps


_adagrad_16, _adagrad_8 = _adagrad(_WIDE), _adagrad(_NARROW)


@njit(cache=True, nogil=True, error_model="numpy")
def adagrad_row(parameter, squares, row, factor, direction, step, lanes):
    """One step of AdaGrad on the first lanes, whole eights, of a row whose gradient is factor * direction."""
    wide = lanes - lanes % 16
    _adagrad_16(parameter, squares, row, factor, direction, step, 0, wide)
    _adagrad_8(parameter, squares, row, factor, direction, step, wide, lanes)
