"""Products of examples with a packed matrix, a block of rows by lanes at a time, in registers.

BLAS is not used because the bits of a BLAS product depend on the shape of the call: a score would depend on how the
stream was cut, and a kernel value on which entries were learned together. Here every product is one chain of
fused multiply-adds in the order of the features: a function of the two vectors alone, wherever it is computed. Since
the packed side stays packed, small batches cost little more than large ones.

A packed matrix has shape (panels, width, LANES): column c of the matrix is panel c // LANES, lane c % LANES.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.cpu import CPUContext
from numba.core.typing.context import Context
from numba.core.typing.templates import Signature

from paraactive.basics.compiled import intrinsic
from paraactive.data.array_types import Floats
from paraactive.learners.simd.emitter import (
    F32,
    F64,
    NARROW,
    WIDE,
    Builder,
    Lanes,
    Loop,
    Value,
    arrays_at,
    floats,
    number,
    target_has,
)
from paraactive.learners.simd.functions import exp_lanes

ROWS, LANES = 4, 24
"""Twelve accumulators of eight floats, three vectors of lanes and one spread value: the sixteen AVX registers."""

WIDE_ROWS, WIDE_LANES = 8, 48
"""Twenty-four accumulators of sixteen floats, for the thirty-two registers of AVX-512."""


def panels_for(columns: int, lanes: int = LANES) -> int:
    """Return the number of panels that hold this number of columns.

    Parameters
    ----------
    columns : int
        Number of columns.
    lanes : int, default=LANES
        Columns in a panel.
    """
    return -(-columns // lanes)


def packed_rows(rows: Floats, lanes: int):
    """Return rows as the columns of panels, padded with zeros to whole panels.

    Parameters
    ----------
    rows : ndarray of float32, shape (n, width)
        The rows.
    lanes : int
        Columns in a panel.
    """
    panels = panels_for(len(rows), lanes)
    padded = np.zeros((panels * lanes, rows.shape[1]), np.float32)
    padded[: len(rows)] = rows
    return np.ascontiguousarray(padded.reshape(panels, lanes, -1).transpose(0, 2, 1))


@intrinsic
def add_wide_product(
    typingctx: Context,
    x: types.Type,
    row: types.Type,
    panels: types.Type,
    panel: types.Type,
    first: types.Type,
    last: types.Type,
    out: types.Type,
):
    """Add to out[r, l] the sum over first <= k < last of x[row + r, k] * panels[panel, k, l].

    The block has WIDE_ROWS rows and WIDE_LANES lanes. All arrays are float32, contiguous along their last axis. A
    range of features continues the chain of the range before it, so the cuts do not change the bits. Without AVX-512,
    blocks that fit the registers are computed one after the other.
    """

    def codegen(context: CPUContext, builder: Builder, signature: Signature, args: Sequence[Value]):
        block = _Block(context, builder, signature, args, out=6)
        wide = target_has(context, "avx512f")
        rows, lanes, size = (WIDE_ROWS, WIDE_LANES, WIDE) if wide else (ROWS, LANES, NARROW)
        for row in range(0, WIDE_ROWS, rows):
            for lane in range(0, WIDE_LANES, lanes):
                block.add_product(row, lane, rows, lanes, size, args[4], args[5])
        return context.get_dummy_value()

    return types.void(x, types.int64, panels, types.int64, types.int64, types.int64, out), codegen


class _Block:
    """Writes the code of a product."""

    def __init__(self, context: CPUContext, builder: Builder, signature: Signature, args: Sequence[Value], out: int):
        self.builder = builder
        self.x, self.panels, self.out = arrays_at(context, builder, signature, args, 0, 2, out)
        self.first_row, self.panel = args[1], self.panels.address(args[3])

    def add_product(self, first_row: int, first_lane: int, rows: int, lanes: int, size: int, first: Value, last: Value):
        """Write out += the product of these rows and lanes, `size` lanes in a register."""
        builder, memory, vector = self.builder, self.x.memory, floats(size)
        code, parts = Lanes(builder, vector), range(lanes // size)
        x_rows = [self.x.address(builder.add(self.first_row, number(first_row + r))) for r in range(rows)]
        places = [(first_row + r, first_lane + size * part) for r in range(rows) for part in parts]
        starts = [self.out.load(vector, *place) for place in places]
        loop = Loop(builder, first, last, starts)  # Over the features k; the range is never empty.
        lanes_at = memory.after(memory.after(self.panel, loop.index, self.panels.strides[1]), first_lane, 4)
        loaded = [memory.load(memory.after(lanes_at, size * part, 4), vector, 4) for part in parts]
        sums, totals = iter(loop.values), []
        for x_row in x_rows:
            value = code.spread(memory.load(memory.after(x_row, loop.index, 4), F32, 4))
            totals += [code.fma(value, loaded[part], next(sums)) for part in parts]
        for place, total in zip(places, loop.end(totals), strict=True):
            self.out.store(total, *place)


@intrinsic
def to_rbf(
    typingctx: Context,
    block: types.Type,
    xx: types.Type,
    row: types.Type,
    ss: types.Type,
    column: types.Type,
    gamma: types.Type,
):
    """Set block[r, l] = exp(-gamma max(0, xx[row + r] + ss[column + l] - 2 block[r, l])), for a wide block.

    The bits are those of `exp`. LLVM by itself would use half of the registers' width.
    """

    def codegen(context: CPUContext, builder: Builder, signature: Signature, args: Sequence[Value]):
        block, xx, ss = arrays_at(context, builder, signature, args, 0, 1, 3)
        code = Lanes(builder, floats(WIDE))
        steepness = code.spread(builder.fneg(args[5]))
        first_row, first_column = xx.address(args[2]), ss.address(args[4])
        for r in range(WIDE_ROWS):
            own_norm = code.spread(xx.memory.load(xx.memory.after(first_row, r, 4), F32, 4))
            for lane in range(0, WIDE_LANES, WIDE):
                norms = ss.memory.load(ss.memory.after(first_column, lane, 4), code.vector, 4)
                product = block.load(code.vector, r, lane)
                distance = code.fma(code.all(-2.0), product, builder.fadd(own_norm, norms))
                a = builder.fmul(steepness, code.larger(distance, code.all(0.0)))
                block.store(exp_lanes(code, a), r, lane)
        return context.get_dummy_value()

    return types.void(block, xx, types.int64, ss, types.int64, types.float32), codegen


@intrinsic
def add_weighted(
    typingctx: Context,
    block: types.Type,
    weights: types.Type,
    machine: types.Type,
    column: types.Type,
    sums: types.Type,
    row: types.Type,
):
    """Add weights[machine, column + l] * block[r, l] to sums[machine, row + r, l] for all r and l of a wide block.

    block is float32; weights and sums are both float32 or both float64, and the products have their type. The whole
    arrays are arguments because numba needs longer for a slice than this takes.
    """

    def codegen(context: CPUContext, builder: Builder, signature: Signature, args: Sequence[Value]):
        block, weights, sums = arrays_at(context, builder, signature, args, 0, 1, 4)
        size, memory = sums.size, sums.memory
        width = WIDE * 4 // size
        vector, places = ir.VectorType(F32 if size == 4 else F64, width), range(0, WIDE_LANES, width)
        first = weights.address(args[2], args[3])
        factors = [memory.load(memory.after(first, lane, size), vector, size) for lane in places]
        first = memory.after(sums.address(args[2]), args[5], sums.strides[1])
        with cgutils.for_range(builder, number(WIDE_ROWS)) as loop:
            own = memory.after(first, loop.index, sums.strides[1])
            for factor, lane in zip(factors, places, strict=True):
                value = block.load(floats(width), loop.index, lane)
                value = value if size == 4 else builder.fpext(value, vector)
                at = memory.after(own, lane, size)
                total = builder.fadd(memory.load(at, vector, size), builder.fmul(factor, value))
                memory.store(total, at, size)
        return context.get_dummy_value()

    return types.void(block, weights, types.int64, types.int64, sums, types.int64), codegen


@intrinsic
def add_products_of_rows(
    typingctx: Context, values: types.Type, row: types.Type, weights: types.Type, machine: types.Type, lanes: types.Type
):
    """Add weights[machine, c] * values[row, c] to lanes[c % WIDE_LANES] for all c, in float64 and in the order of c.

    values is float32, weights is float64, and a row of values is whole panels long.
    """

    def codegen(context: CPUContext, builder: Builder, signature: Signature, args: Sequence[Value]):
        values, weights, lanes = arrays_at(context, builder, signature, args, 0, 2, 4)
        half = WIDE // 2
        vector, places = ir.VectorType(F64, half), range(0, WIDE_LANES, half)
        starts = [lanes.load(vector, lane) for lane in places]
        loop = Loop(builder, 0, values.shape[1], starts, step=WIDE_LANES, may_be_empty=True)
        totals = list[Any]()
        for total, lane in zip(loop.values, places, strict=True):
            column = builder.add(loop.index, number(lane))
            value = builder.fpext(values.load(floats(half), args[1], column), vector)
            totals.append(builder.fadd(total, builder.fmul(weights.load(vector, args[3], column), value)))
        for total, lane in zip(loop.end(totals), places, strict=True):
            lanes.store(total, lane)
        return context.get_dummy_value()

    return types.void(values, types.int64, weights, types.int64, lanes), codegen
