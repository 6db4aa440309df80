"""Sums over the slots for many machines at once: one lane for each machine.

The alphas are transposed for this: those of one slot lie side by side. Each sum is one chain of products and sums in
float64, in the order of the slots, so its bits are those of a plain loop over the slots of one machine. The loop is
written with `simd.emitter`, because LLVM by itself does not keep the accumulators in registers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.cpu import CPUContext
from numba.core.typing.context import Context
from numba.core.typing.templates import Signature

from paraactive.basics.compiled import intrinsic, njit
from paraactive.data.array_types import Doubles, Floats
from paraactive.learners.simd.emitter import F32, F64, Builder, Lanes, Loop, Value, arrays_at, number

_LANES, _TOGETHER = 8, 16
"""Machines in one vector, and machines whose sums are computed in one pass."""


@intrinsic
def _sum_lanes(
    typingctx: Context, alphas: types.Type, first: types.Type, row: types.Type, count: types.Type, out: types.Type
):
    """Set out[first + m] to the sum over s < count (at least 1) of alphas[s, first + m] * row[s], for 16 machines m."""

    def codegen(context: CPUContext, builder: Builder, signature: Signature, args: Sequence[Value]):
        alphas, row, out = arrays_at(context, builder, signature, args, 0, 2, 4)
        lanes = Lanes(builder, ir.VectorType(F64, _LANES))
        places = [builder.add(args[1], number(lane)) for lane in range(0, _TOGETHER, _LANES)]
        loop = Loop(builder, 0, args[3], [lanes.all(0.0) for _ in places])
        value = lanes.spread(builder.fpext(row.load(F32, loop.index), F64))
        totals = [
            builder.fadd(total, builder.fmul(alphas.load(lanes.vector, loop.index, place), value))
            for total, place in zip(loop.values, places, strict=True)
        ]
        for total, place in zip(loop.end(totals), places, strict=True):
            out.store(total, place)
        return context.get_dummy_value()

    return types.void(alphas, types.int64, row, types.int64, out), codegen


@njit(cache=True, nogil=True)
def sums_of_machines(count: int, row: Floats, by_slot: Doubles):
    """Return the sums over the slots of alpha times K, one for each machine.

    Parameters
    ----------
    count : int
        Number of live vectors.
    row : ndarray of float32, shape (slots,)
        Kernel values of an example with the vectors.
    by_slot : ndarray of float64, shape (slots, machines)
        The alphas of each slot, padded with zeros to `padded` machines.
    """
    out = np.zeros(by_slot.shape[1])
    if count:
        for first in range(0, by_slot.shape[1], _TOGETHER):
            _sum_lanes(by_slot, first, row, count, out)
    return out


@njit(cache=True, nogil=True)
def padded(machines: int):
    """Return the number of machines for which there is room in a pass.

    Parameters
    ----------
    machines : int
        Number of machines.
    """
    return -(-machines // _TOGETHER) * _TOGETHER
