"""Functions of float32 with the same bits on every processor: fma, exp and 1/sqrt, of one number and of lanes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import types
from numba.core.cpu import CPUContext
from numba.core.typing.context import Context
from numba.core.typing.templates import Signature

from paraactive.basics.compiled import intrinsic, njit
from paraactive.learners.simd.emitter import F32, I32, Builder, Lanes, Value, call_llvm

_LOG2E, _LN2_HIGH, _LN2_LOW = np.float32(1.4426950408889634), np.float32(0.693359375), np.float32(-2.12194440e-4)
_C2, _C3, _C4 = np.float32(0.5), np.float32(1.6666665459e-1), np.float32(4.1665795894e-2)
_C5, _C6, _C7 = np.float32(8.3334519073e-3), np.float32(1.3981999507e-3), np.float32(1.9875691500e-4)
_ONE, _HIGHEST, _LOWEST = np.float32(1), np.float32(88.0), np.float32(-87.3)
_EXPONENT_BIAS, _EXPONENT_SHIFT = np.int32(127), np.int32(23)

_ROOT_GUESS = np.int32(0x5F375A86)
"""The first guess of 1/sqrt(a) has these bits less half of the bits of a."""
_NEWTON_STEPS = 3
_HALF, _THREE_HALVES = np.float32(0.5), np.float32(1.5)


@intrinsic
def _as_float(typingctx: Context, bits: types.Type):
    """Return the float32 with these bits."""

    def codegen(context: CPUContext, builder: Builder, signature: Signature, args: Sequence[Value]):
        return builder.bitcast(args[0], F32)

    return types.float32(types.int32), codegen


@intrinsic
def _as_bits(typingctx: Context, a: types.Type):
    """Return the bits of a float32."""

    def codegen(context: CPUContext, builder: Builder, signature: Signature, args: Sequence[Value]):
        return builder.bitcast(args[0], I32)

    return types.int32(types.float32), codegen


@intrinsic
def fma(typingctx: Context, a: types.Type, b: types.Type, c: types.Type):
    """Return a*b + c, rounded once.

    It is an intrinsic so that no compiler is free to round it otherwise.
    """

    def codegen(context: CPUContext, builder: Builder, signature: Signature, args: Sequence[Value]):
        return call_llvm(builder, "llvm.fma.f32", F32, *args)

    return types.float32(types.float32, types.float32, types.float32), codegen


@intrinsic
def _rint(typingctx: Context, a: types.Type):
    def codegen(context: CPUContext, builder: Builder, signature: Signature, args: Sequence[Value]):
        return call_llvm(builder, "llvm.rint.f32", F32, *args)

    return types.float32(types.float32), codegen


@njit(cache=True, nogil=True, inline="always")
def exp(a: np.float32):
    """Return e**a in float32: a = n ln 2 + r, a polynomial of degree 7 in r, and n put into the exponent's bits.

    The relative error is below 2e-7 for -87.3 <= a <= 88. Below that range the value is 1.2e-38, above it 1.7e38.

    Parameters
    ----------
    a : float32
        The exponent.
    """
    a = min(max(a, _LOWEST), _HIGHEST)
    n = _rint(a * _LOG2E)
    r = fma(n, -_LN2_LOW, fma(n, -_LN2_HIGH, a))
    q = fma(fma(fma(fma(fma(_C7, r, _C6), r, _C5), r, _C4), r, _C3), r, _C2)
    return fma(q, r * r, r + _ONE) * _as_float((np.int32(n) + _EXPONENT_BIAS) << _EXPONENT_SHIFT)


def exp_lanes(code: Lanes, a: Value):
    """Write the code of `exp` for a vector of float32.

    Parameters
    ----------
    code : Lanes
        Writes the instructions.
    a : llvmlite.ir.Value
        A vector of float32.
    """
    builder = code.builder
    a = code.smaller(code.larger(a, code.all(_LOWEST)), code.all(_HIGHEST))
    n = code.call("rint", builder.fmul(a, code.all(_LOG2E)))
    r = code.fma(n, code.all(-_LN2_LOW), code.fma(n, code.all(-_LN2_HIGH), a))
    q = code.all(_C7)
    for coefficient in (_C6, _C5, _C4, _C3, _C2):
        q = code.fma(q, r, code.all(coefficient))
    e = code.fma(q, builder.fmul(r, r), builder.fadd(r, code.all(_ONE)))
    exponent = builder.add(builder.fptosi(n, code.bits), code.all_bits(int(_EXPONENT_BIAS)))
    power = builder.shl(exponent, code.all_bits(int(_EXPONENT_SHIFT)))
    return builder.fmul(e, builder.bitcast(power, code.vector))


@njit(cache=True, nogil=True, inline="always")
def inverse_sqrt(a: np.float32):
    """Return 1/sqrt(a) in float32 for a >= 1e-30: a guess from the bits, then three steps of Newton.

    The relative error is below 3e-7. It is twice as fast as a root and a division and, unlike the processor's own
    estimate, the same on every machine.

    Parameters
    ----------
    a : float32
        The number.
    """
    half = _HALF * a
    guess = _as_float(_ROOT_GUESS - (_as_bits(a) >> np.int32(1)))
    for _ in range(_NEWTON_STEPS):
        guess = guess * fma(-half * guess, guess, _THREE_HALVES)
    return guess


def inverse_sqrt_lanes(code: Lanes, a: Value):
    """Write the code of `inverse_sqrt` for a vector of float32.

    Parameters
    ----------
    code : Lanes
        Writes the instructions.
    a : llvmlite.ir.Value
        A vector of float32.
    """
    builder = code.builder
    half = builder.fmul(code.all(-_HALF), a)
    guess = builder.ashr(builder.bitcast(a, code.bits), code.all_bits(1))
    guess = builder.bitcast(builder.sub(code.all_bits(int(_ROOT_GUESS)), guess), code.vector)
    for _ in range(_NEWTON_STEPS):
        guess = builder.fmul(guess, code.fma(builder.fmul(half, guess), guess, code.all(_THREE_HALVES)))
    return guess
