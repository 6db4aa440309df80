"""The one place that writes LLVM's instructions: addresses of arrays, loads and stores, vectors of lanes, loops.

The modules with numba intrinsics (`blocks`, `short_blocks`, `functions`, `network_lanes`, `gradient_loops`) describe
their formulas with these classes. Plain Python loops are slower: LLVM does not keep their accumulators in registers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba.core import cgutils
from numba.core.cpu import CPUContext
from numba.core.typing.templates import Signature

I8, I16, I32, I64 = (ir.IntType(bits) for bits in (8, 16, 32, 64))
F32, F64 = ir.FloatType(), ir.DoubleType()

NARROW, WIDE = 8, 16
"""Floats in a register of AVX and of AVX-512. LLVM splits a vector that is wider than the registers."""
HOST_IS_WIDE = bool(llvm.get_host_cpu_features().get("avx512f"))
"""Whether this processor has AVX-512. The width of vectors changes the speed of a loop and none of its bits."""


class Builder(Protocol):
    """`llvmlite.ir.IRBuilder`: its methods write instructions and return values, which llvmlite does not declare."""

    def __getattr__(self, name: str, /) -> Any: ...


class Value(Protocol):
    """A value of LLVM. Its classes have a type, but no common base that declares it."""

    @property
    def type(self) -> ir.Type:
        """The type of the value."""
        ...


def target_has(context: CPUContext, feature: str):
    """Return whether the processor that numba compiles for has a feature, such as "avx512f".

    Parameters
    ----------
    context : numba.core.base.BaseContext
        The target of the compilation.
    feature : str
        Name of the feature in LLVM.
    """
    return f"+{feature}" in context.codegen().magic_tuple()[2]


def number(value: int | Value):
    """Return a constant of 64 bits, unless the value is one of LLVM's already.

    Parameters
    ----------
    value : int or llvmlite.ir.Value
        The number.
    """
    return ir.Constant(I64, value) if isinstance(value, int) else value


def floats(size: int):
    """Return the type of a vector of `size` float32.

    Parameters
    ----------
    size : int
        Number of lanes.
    """
    return ir.VectorType(F32, size)


def call_llvm(builder: Builder, name: str, result: ir.Type, *values: Value):
    """Call a function of LLVM, such as "llvm.fma.f32", whose parameters all have the type of its result.

    Parameters
    ----------
    builder : llvmlite.ir.IRBuilder
        Where the instructions go.
    name : str
        Name of the function.
    result : llvmlite.ir.Type
        Type of the result.
    *values : llvmlite.ir.Value
        Arguments of the function.
    """
    function = ir.FunctionType(result, [result] * len(values))
    return builder.call(cgutils.get_or_insert_function(builder.module, function, name), values)


class Memory:
    """Loads and stores at addresses, which are integers of 64 bits.

    Parameters
    ----------
    builder : llvmlite.ir.IRBuilder
        Where the instructions go.
    """

    def __init__(self, builder: Builder):
        self.builder = builder

    def after(self, address: Value, count: int | Value, size: int | Value):
        """Return the address that lies `count` items of `size` bytes further on.

        Parameters
        ----------
        address : llvmlite.ir.Value
            The address, an integer of 64 bits.
        count : int or llvmlite.ir.Value
            Number of items.
        size : int or llvmlite.ir.Value
            Size of an item, in bytes.
        """
        return self.builder.add(address, self.builder.mul(number(count), number(size)))

    def load(self, address: Value, kind: ir.Type, align: int):
        """Load a value.

        Parameters
        ----------
        address : llvmlite.ir.Value
            The address, an integer of 64 bits.
        kind : llvmlite.ir.Type
            Type of the value.
        align : int
            The address is a multiple of this number of bytes.
        """
        return self.builder.load(self.builder.inttoptr(address, kind.as_pointer()), align=align)

    def store(self, value: Value, address: Value, align: int):
        """Store a value.

        Parameters
        ----------
        value : llvmlite.ir.Value
            The value.
        address : llvmlite.ir.Value
            The address, an integer of 64 bits.
        align : int
            The address is a multiple of this number of bytes.
        """
        self.builder.store(value, self.builder.inttoptr(address, value.type.as_pointer()), align=align)


class Array:
    """An argument of an intrinsic that is an array, contiguous along its last axis.

    Parameters
    ----------
    context, builder, signature, args : objects of numba
        What numba hands to the code generator of an intrinsic.
    at : int
        Which argument the array is.
    """

    def __init__(self, context: CPUContext, builder: Builder, signature: Signature, args: Sequence[Value], at: int):
        kind = signature.args[at]
        array = context.make_array(kind)(context, builder, args[at])
        self.memory, self.start = Memory(builder), builder.ptrtoint(array.data, I64)
        self.shape = cgutils.unpack_tuple(builder, array.shape)
        self.strides = cgutils.unpack_tuple(builder, array.strides)
        self.size = kind.dtype.bitwidth // 8

    def address(self, index: int | Value, lane: int | Value = 0):
        """Return the address of the item at this index of the first axis and, of a matrix, this lane of the second.

        Parameters
        ----------
        index : int or llvmlite.ir.Value
            Index on the first axis.
        lane : int or llvmlite.ir.Value, default=0
            Index on the second axis.
        """
        return self.memory.after(self.memory.after(self.start, index, self.strides[0]), lane, self.size)

    def load(self, kind: ir.Type, index: int | Value, lane: int | Value = 0):
        """Load a value that begins at this item.

        Parameters
        ----------
        kind : llvmlite.ir.Type
            Type of the value.
        index : int or llvmlite.ir.Value
            Index on the first axis.
        lane : int or llvmlite.ir.Value, default=0
            Index on the second axis.
        """
        return self.memory.load(self.address(index, lane), kind, self.size)

    def store(self, value: Value, index: int | Value, lane: int | Value = 0):
        """Store a value from this item on.

        Parameters
        ----------
        value : llvmlite.ir.Value
            The value.
        index : int or llvmlite.ir.Value
            Index on the first axis.
        lane : int or llvmlite.ir.Value, default=0
            Index on the second axis.
        """
        self.memory.store(value, self.address(index, lane), self.size)


def arrays_at(context: CPUContext, builder: Builder, signature: Signature, args: Sequence[Value], *places: int):
    """Return the arguments at these places as `Array`s.

    Parameters
    ----------
    context, builder, signature, args : objects of numba
        What numba hands to the code generator of an intrinsic.
    *places : int
        Which arguments the arrays are.
    """
    return [Array(context, builder, signature, args, at) for at in places]


class Lanes:
    """Arithmetic on vectors of one type.

    Parameters
    ----------
    builder : llvmlite.ir.IRBuilder
        Where the instructions go.
    vector : llvmlite.ir.VectorType
        The type of the vectors.
    """

    def __init__(self, builder: Builder, vector: ir.VectorType):
        self.builder, self.vector, self.width = builder, vector, vector.count
        self.bits = ir.VectorType(I32, vector.count)

    def all(self, value: float | np.generic):
        """Return a constant with this number in all lanes.

        Parameters
        ----------
        value : int or float
            The number.
        """
        whole = isinstance(self.vector.element, ir.IntType)
        return ir.Constant(self.vector, [int(value) if whole else float(value)] * self.width)

    def all_bits(self, value: int):
        """Return a constant vector of int32 with this number in all lanes.

        Parameters
        ----------
        value : int
            The number.
        """
        return ir.Constant(self.bits, [value] * self.width)

    def spread(self, value: Value):
        """Return a vector with this value in all lanes.

        Parameters
        ----------
        value : llvmlite.ir.Value
            The value of one lane.
        """
        undefined = ir.Constant(self.vector, ir.Undefined)
        one = self.builder.insert_element(undefined, value, ir.Constant(I32, 0))
        return self.builder.shuffle_vector(one, undefined, self.all_bits(0))

    def call(self, name: str, *values: Value):
        """Call a function of LLVM for float32, such as "fma", lane by lane.

        Parameters
        ----------
        name : str
            Name of the function, without prefix and type.
        *values : llvmlite.ir.Value
            Vectors, the arguments.
        """
        return call_llvm(self.builder, f"llvm.{name}.v{self.width}f32", self.vector, *values)

    def fma(self, a: Value, b: Value, c: Value):
        """Return a*b + c, rounded once.

        Parameters
        ----------
        a, b, c : llvmlite.ir.Value
            Vectors.
        """
        return self.call("fma", a, b, c)

    def larger(self, a: Value, b: Value):
        """Return what Python's max(a, b) is, lane by lane.

        Parameters
        ----------
        a, b : llvmlite.ir.Value
            Vectors.
        """
        return self.builder.select(self.builder.fcmp_ordered(">", b, a), b, a)

    def smaller(self, a: Value, b: Value):
        """Return what Python's min(a, b) is, lane by lane.

        Parameters
        ----------
        a, b : llvmlite.ir.Value
            Vectors.
        """
        return self.builder.select(self.builder.fcmp_ordered("<", b, a), b, a)

    def has_bit(self, values: Value, bit: int | np.uint8):
        """Return, lane by lane, whether integers have a bit.

        Parameters
        ----------
        values : llvmlite.ir.Value
            A vector of integers.
        bit : int
            The bit, as a power of two.
        """
        chosen = self.builder.and_(values, self.all(bit))
        return self.builder.icmp_unsigned("!=", chosen, self.all(0))


class Loop:
    """A loop `for index in range(first, last, step)` that hands values from one turn to the next.

    The code written between the constructor and `end` is the body.

    Parameters
    ----------
    builder : llvmlite.ir.IRBuilder
        Where the instructions go.
    first, last : int or llvmlite.ir.Value
        The range of the index.
    starts : sequence of llvmlite.ir.Value, optional
        What the values are in the first turn.
    step : int, default=1
        By how much the index grows in a turn.
    may_be_empty : bool, default=False
        Whether `last` may be `first`. If not, the body runs before the first test.

    Attributes
    ----------
    index : llvmlite.ir.Value
        The index of this turn.
    values : list of llvmlite.ir.Value
        The values that the last turn handed on.
    """

    def __init__(
        self,
        builder: Builder,
        first: int | Value,
        last: int | Value,
        starts: Sequence[Value] = (),
        step: int = 1,
        may_be_empty: bool = False,
    ):
        self._builder, self._last, self._step = builder, number(last), step
        self._starts, self._may_be_empty = [number(first), *starts], may_be_empty
        self._before = builder.block
        self._body, self._behind = builder.append_basic_block("body"), builder.append_basic_block("behind")
        if may_be_empty:
            builder.cbranch(builder.icmp_signed("<", self._starts[0], self._last), self._body, self._behind)
        else:
            builder.branch(self._body)
        builder.position_at_end(self._body)
        self.index, *self.values = [builder.phi(start.type) for start in self._starts]

    def end(self, values: Sequence[Value] = ()):
        """End the body. Returns the values after the last turn.

        Parameters
        ----------
        values : sequence of llvmlite.ir.Value, optional
            Values for the next turn, one for each of `starts`.
        """
        builder, last_block = self._builder, self._builder.block
        onward = [builder.add(self.index, number(self._step)), *values]
        builder.cbranch(builder.icmp_signed("<", onward[0], self._last), self._body, self._behind)
        phis = [self.index, *self.values]
        builder.position_at_end(self._behind)
        results = list(values)
        if self._may_be_empty:
            results = [builder.phi(value.type) for value in values]
            phis, onward = [*phis, *results], [*onward, *values]
        starts = [*self._starts, *self._starts[1:]]
        for phi, start, value in zip(phis, starts, onward, strict=False):
            phi.add_incoming(start, self._before)
            phi.add_incoming(value, last_block)
        return results
