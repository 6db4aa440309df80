"""Products and AdaGrad steps over rows of hidden units, in registers.

A matrix here has a row for each input and a column, or lane, for each unit. As in `blocks`, every product is one chain
of fused multiply-adds in a fixed order for each lane, so the grouping of lanes and rows changes no bit. Here the inputs
are listed, so that inputs of 0 are skipped. The code is written with `emitter`, because numba guards a loop in Python
against arrays that overlap, which takes twice the time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import types
from numba.core.cpu import CPUContext
from numba.core.typing.context import Context
from numba.core.typing.templates import Signature

from paraactive.basics.compiled import intrinsic, njit
from paraactive.data.array_types import Floats, Ints
from paraactive.learners.simd.emitter import (
    F32,
    HOST_IS_WIDE,
    I64,
    NARROW,
    WIDE,
    Builder,
    Lanes,
    Loop,
    Value,
    arrays_at,
    floats,
    number,
)
from paraactive.learners.simd.functions import inverse_sqrt_lanes

ROWS = 4
"""Rows that one product takes together."""
TINY_SQUARE = 1e-12
"""Added to AdaGrad's sum of squares, which may be 0."""
VANISHED = 1e-18
"""Smaller gradients count as 0. Their squares would be denormal numbers, on which processors are ten times slower, and
the step that they make is a millionth of the last digit of a weight."""


def _listed_product(rows: int, parts: int, width: int):
    """Return an intrinsic: the product of `rows` rows with parts * width lanes of a matrix."""

    @intrinsic
    def product(
        typingctx: Context,
        x: types.Type,
        row: types.Type,
        inputs: types.Type,
        used: types.Type,
        matrix: types.Type,
        lane: types.Type,
        out: types.Type,
    ):
        def codegen(context: CPUContext, builder: Builder, signature: Signature, args: Sequence[Value]):
            x, inputs, matrix, out = arrays_at(context, builder, signature, args, 0, 2, 4, 6)
            code, memory = Lanes(builder, floats(width)), x.memory
            x_rows = [x.address(builder.add(args[1], number(r))) for r in range(rows)]
            starts = [code.all(0.0)] * (rows * parts)
            loop = Loop(builder, 0, args[3], starts, may_be_empty=True)  # for u in range(used)
            k = inputs.load(I64, loop.index)
            units = matrix.address(k, args[5])
            lanes = [memory.load(memory.after(units, part, 4 * width), code.vector, 4) for part in range(parts)]
            sums, totals = iter(loop.values), []
            for x_row in x_rows:
                value = code.spread(memory.load(memory.after(x_row, loop.index if rows == 1 else k, 4), F32, 4))
                totals += [code.fma(value, lanes[part], next(sums)) for part in range(parts)]
            for place, total in enumerate(loop.end(totals)):
                at = memory.after(out.address(place // parts, args[5]), place % parts, 4 * width)
                memory.store(total, at, 4)
            return context.get_dummy_value()

        return types.void(x, types.int64, inputs, types.int64, matrix, types.int64, out), codegen

    return product


_four_64, _four_48 = _listed_product(ROWS, 4, WIDE), _listed_product(ROWS, 3, WIDE)
_four_24, _four_8 = _listed_product(ROWS, 3, NARROW), _listed_product(ROWS, 1, NARROW)
# The additions of one chain wait for each other. One row has few chains, so it takes a lane for each free register.
_MANY = 112 if HOST_IS_WIDE else 96
_one_many = _listed_product(1, 7, WIDE) if HOST_IS_WIDE else _listed_product(1, 12, NARROW)
_one_24, _one_8 = _listed_product(1, 3, NARROW), _listed_product(1, 1, NARROW)


@njit(cache=True, nogil=True, error_model="numpy")
def four_products(x: Floats, row: int, inputs: Ints, used: int, matrix: Floats, lanes: int, out: Floats):
    """Set out[r, h] = sum over k = inputs[u], u < used, of x[row + r, k] matrix[k, h], for ROWS rows and h < lanes.

    Parameters
    ----------
    x : ndarray of float32, shape (n, width)
        Rows of features.
    row : int
        The first of the ROWS rows.
    inputs : ndarray of int64
        The inputs that are not 0.
    used : int
        Number of these inputs.
    matrix : ndarray of float32, shape (width, columns)
        A row for each input, a column for each unit.
    lanes : int
        Number of units, a multiple of eight.
    out : ndarray of float32, shape (ROWS, columns)
        Where the sums go. A few columns behind the lanes may be written too.
    """
    lane, columns = 0, matrix.shape[1]
    while lane < lanes:
        left = lanes - lane
        if HOST_IS_WIDE and left >= 64:
            _four_64(x, row, inputs, used, matrix, lane, out)
            lane += 64
        elif HOST_IS_WIDE and left > 24 and lane + 48 <= columns:
            _four_48(x, row, inputs, used, matrix, lane, out)
            lane += 48
        elif left > 8 and lane + 24 <= columns:
            _four_24(x, row, inputs, used, matrix, lane, out)
            lane += 24
        else:
            _four_8(x, row, inputs, used, matrix, lane, out)
            lane += 8


@njit(cache=True, nogil=True, error_model="numpy")
def one_product(values: Floats, inputs: Ints, used: int, matrix: Floats, lanes: int, out: Floats):
    """Set out[0, h] = sum over u < used of values[0, u] matrix[inputs[u], h]: one row, given without its zeros.

    Parameters
    ----------
    values : ndarray of float32, shape (1, width)
        The inputs of one row, without zeros.
    inputs : ndarray of int64
        The inputs that are not 0.
    used : int
        Number of these inputs.
    matrix : ndarray of float32, shape (width, columns)
        A row for each input, a column for each unit.
    lanes : int
        Number of units, a multiple of eight.
    out : ndarray of float32, shape (1, columns)
        Where the sums go. A few columns behind the lanes may be written too.
    """
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


def _adagrad(width: int):
    """Return an intrinsic: steps of AdaGrad on a row of parameters, `width` lanes at a time."""

    @intrinsic
    def steps(
        typingctx: Context,
        parameter: types.Type,
        squares: types.Type,
        row: types.Type,
        factor: types.Type,
        direction: types.Type,
        step: types.Type,
        first: types.Type,
        last: types.Type,
    ):
        def codegen(context: CPUContext, builder: Builder, signature: Signature, args: Sequence[Value]):
            parameter, squares, direction = arrays_at(context, builder, signature, args, 0, 1, 4)
            code = Lanes(builder, floats(width))
            factor, step = code.spread(args[3]), code.spread(args[5])
            loop = Loop(builder, args[6], args[7], step=width, may_be_empty=True)
            at = (args[2], loop.index)
            gradient = builder.fmul(factor, direction.load(code.vector, loop.index))
            size = builder.and_(builder.bitcast(gradient, code.bits), code.all_bits(0x7FFFFFFF))
            # Unordered: NaN stays NaN, and is noticed later.
            counts = builder.fcmp_unordered(">=", builder.bitcast(size, code.vector), code.all(np.float32(VANISHED)))
            gradient = builder.select(counts, gradient, code.all(0.0))
            total = code.fma(gradient, gradient, squares.load(code.vector, *at))
            squares.store(total, *at)
            rate = inverse_sqrt_lanes(code, builder.fadd(total, code.all(np.float32(TINY_SQUARE))))
            change = builder.fmul(builder.fmul(step, gradient), rate)
            parameter.store(builder.fsub(parameter.load(code.vector, *at), change), *at)
            loop.end()
            return context.get_dummy_value()

        kinds = (parameter, squares, types.int64, types.float32, direction, types.float32, types.int64, types.int64)
        return types.void(*kinds), codegen

    return steps


_adagrad_16, _adagrad_8 = _adagrad(WIDE), _adagrad(NARROW)


@njit(cache=True, nogil=True, error_model="numpy")
def adagrad_row(
    parameter: Floats, squares: Floats, row: int, factor: np.float32, direction: Floats, step: np.float32, lanes: int
):
    """Take one step of AdaGrad on a row of parameters whose gradient is factor * direction.

    Parameters
    ----------
    parameter, squares : ndarray of float32, shape (rows, columns)
        Parameters, and AdaGrad's sums of squares.
    row : int
        The row.
    factor : float32
        Factor of the gradient.
    direction : ndarray of float32
        The gradient without the factor.
    step : float32
        Step size.
    lanes : int
        Number of columns to change, from the first on. A multiple of eight.
    """
    wide = lanes - lanes % WIDE
    _adagrad_16(parameter, squares, row, factor, direction, step, 0, wide)
    _adagrad_8(parameter, squares, row, factor, direction, step, wide, lanes)
