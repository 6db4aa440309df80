"""What every stream promises (`streams/base.py`), as checks: one function for each property."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from paraactive.checks.properties import arrays_of, attempt, name_of, random_pieces, require, same_bits
from paraactive.data.examples import COLUMNS, Examples, SparseRows
from paraactive.data.labels import MAX_CLASSES, UNKNOWN, are_labels, fitting_type
from paraactive.errors import InputError
from paraactive.streams.base import Stream, StreamDetails

StreamCheck: TypeAlias = Callable[[Stream], None]

_PIECE = 96
"""Examples that are read at each of a few places."""
_FAR = (0, 5_000, 10**9)
"""Where a stream without end is read."""
_KINDS = COLUMNS | {"x.data": np.float32, "x.indices": np.int32, "x.indptr": np.int64}
_ANY_NODE = "any node may read any piece at any time, and a resumed run reads it again"


@dataclass(frozen=True)
class _Case:
    """The stream to be checked, and what decides the cuts and orders."""

    stream: Stream
    seed: int

    def ranges(self) -> list[tuple[int, int]]:
        """Pieces at the beginning, in the middle, and at the end or far out."""
        length = self.stream.length
        if length is None:
            return [(first, first + _PIECE) for first in _FAR]
        count = min(length, _PIECE)
        return [(first, first + count) for first in sorted({0, (length - count) // 2, length - count})]

    def pieces(self) -> list[Examples]:
        return [self.stream.read(first, last) for first, last in self.ranges()]

    @property
    def rng(self) -> np.random.Generator:
        return np.random.default_rng(self.seed)


def check_stream(stream: Stream, *, seed: int = 0) -> None:
    """Raise `CheckError` unless this stream keeps the contract of `paraactive.streams.Stream`.

    It is read at its beginning, in its middle and at its end, or far out if it has none; about 100 examples each.
    The seed decides where pieces are cut.

    >>> from paraactive import Arrays
    >>> check_stream(Arrays([[0.5], [1.5], [2.5]], ["ham", "spam", "spam"], passes=2))
    >>> class Endless(Arrays):
    ...     length = 10
    ...     def read(self, first, last):
    ...         return super().read(min(first, 3), min(last, 3))
    >>> check_stream(Endless([[0.5], [1.5], [2.5]], ["ham", "spam", "spam"]))
    Traceback (most recent call last):
    ...
    paraactive.errors.CheckError: 'columns are as long and wide as they should be' does not hold, x of positions 0 to 9
    has shape (3, 1): a node asks for positions and must get just these, as wide as the stream says; give one row for
    each position, of width 1.
    """
    for _, check in stream_checks(seed=seed):
        check(stream)


def stream_checks(*, seed: int = 0) -> list[tuple[str, StreamCheck]]:
    """All properties of a stream by name, in the order in which `check_stream` tries them.

    >>> from paraactive import Digits
    >>> for name, check in stream_checks()[:2]:
    ...     check(Digits())
    ...     print(name)
    width and length are counts
    classes are different names
    """

    def bound(check: Callable[[_Case], None]) -> StreamCheck:
        return lambda stream: attempt(check, _Case(stream, seed))

    return [(name_of(check), bound(check)) for check in _CHECKS]


# The properties --------------------------------------------------------------------------------------------------


def width_and_length_are_counts(case: _Case) -> None:
    """The width is 1 or more, the length is a count or None, and `regenerates` is True or False."""
    facts: Any = case.stream
    for name, good in (
        ("width", _is_count(facts.width) and facts.width >= 1),
        ("length", facts.length is None or _is_count(facts.length)),
        ("regenerates", isinstance(facts.regenerates, bool)),
    ):
        require(
            good,
            f"{name} is {getattr(facts, name)!r}",
            why="a run is planned by it before anything is read",
            remedy="give width >= 1, length >= 0 or None, and regenerates True or False",
        )


def classes_are_different_names(case: _Case) -> None:
    """`classes` names the labels by strings: two for -1 and +1, more for 0, 1, 2 and so on."""
    classes: Any = case.stream.classes
    named = all(isinstance(name, str) for name in classes) and len(set(classes)) == len(classes)
    require(
        named and 2 <= len(classes) <= MAX_CLASSES,
        f"classes is {classes!r}",
        why="test data is given by the names of its labels",
        remedy=f"give 2 to {MAX_CLASSES} different strings, in the order of the labels",
    )


def labels_have_the_type_that_is_said(case: _Case) -> None:
    """`label_type`, if the stream has it, is a type that the names in `classes` can be read as."""
    label_type = StreamDetails(case.stream).label_type
    require(
        fitting_type([*map(str, case.stream.classes)], label_type) == label_type,
        f"label_type is {label_type!r}, and the classes are {case.stream.classes!r}",
        why="a model predicts labels of that type",
        remedy='leave it out, or give "str", "bool", or the numpy name of a type of numbers, such as "int64"',
    )


def columns_are_as_long_and_wide_as_they_should_be(case: _Case) -> None:
    """There is one row for each position, of the stream's width; a piece of no positions has none."""
    for first, last in [*case.ranges(), (0, 0)]:
        piece, count = case.stream.read(first, last), last - first
        for name in COLUMNS:
            shape = (count, case.stream.width) if name == "x" else (count,)
            column = getattr(piece, name)
            found = column.shape if isinstance(column, SparseRows) else np.shape(column)
            require(
                found == shape,
                f"{name} of positions {first} to {last - 1} has shape {found}",
                why="a node asks for positions and must get just these, as wide as the stream says",
                remedy=f"give one row for each position, of width {case.stream.width}",
            )


def columns_have_their_types(case: _Case) -> None:
    """x is float32, or sparse; y int8, index and key int64, importance float64; and x lies row after row."""
    for piece in case.pieces():
        for name, column in arrays_of(piece).items():
            kind = _KINDS[name]
            require(
                column.dtype == kind and column.flags.c_contiguous,
                f"{name} is {column.dtype}{'' if column.flags.c_contiguous else ', not contiguous'}",
                why="loops are compiled for these types, and the log keeps them to the bit",
                remedy="return paraactive.data.examples.Examples, which sees to it",
            )


def the_index_is_the_position(case: _Case) -> None:
    """The examples at positions first <= index < last have these indices, in this order."""
    for first, last in case.ranges():
        index = case.stream.read(first, last).index
        require(
            np.array_equal(index, np.arange(first, last)),
            f"those of read({first}, {last}) are not {first} to {last - 1}",
            why="the index keys the coin, so each example must have its own",
            remedy="give np.arange(first, last) as the index; what repeats is the key",
        )


def labels_are_those_of_the_classes(case: _Case) -> None:
    """Labels are -1 and +1 of two classes, 0 to C-1 of C classes; or unknown, if the stream says that it has none."""
    count = len(case.stream.classes)
    for piece in case.pieces():
        y = np.asarray(piece.y)
        unknown = (y == UNKNOWN) & (not StreamDetails(case.stream).labelled)
        others = sorted(set(y[~are_labels(y, count) & ~unknown].tolist()))
        require(
            not others,
            f"there is a label {others[:1]}",
            why=f"there are {count} classes",
            remedy="give classes[i] the label i; of two, -1 to classes[0] and +1 to classes[1]",
        )


def importances_are_positive(case: _Case) -> None:
    """What an example counts for is a finite number above 0."""
    for piece in case.pieces():
        require(
            np.all((piece.importance > 0) & np.isfinite(piece.importance)),
            f"some are not, between positions {piece.index[0]} and {piece.index[-1]}",
            why="an example of no weight would be selected, and logged, for nothing",
            remedy="leave such examples out of the stream, or leave importance out",
        )


def features_are_finite(case: _Case) -> None:
    """No feature is NaN or infinite."""
    for piece in case.pieces():
        require(
            np.isfinite(piece.x.data if isinstance(piece.x, SparseRows) else piece.x).all(),
            f"some are not, between positions {piece.index[0]} and {piece.index[-1]}",
            why="one such example makes the whole model useless",
            remedy="fill in or leave out what is missing before it is streamed",
        )


def reading_twice_gives_the_same_bits(case: _Case) -> None:
    """A piece that is read again is the same."""
    for first, last in case.ranges():
        one, other = case.stream.read(first, last), case.stream.read(first, last)
        _require_same(one, other, f"read({first}, {last}) gave something else the second time")


def at_gives_what_read_gives(case: _Case) -> None:
    """`at` gives the same examples as `read`, in the order asked for, and as often."""
    for first, last in case.ranges():
        whole = case.stream.read(first, last)
        _require_same(whole, case.stream.at(np.arange(first, last)), f"at differs from read({first}, {last})")
        rows = case.rng.integers(0, max(last - first, 1), min(last - first, 30))
        _require_same(whole.take(rows), case.stream.at(first + rows), "at differs where positions are out of order")


def pieces_are_the_whole(case: _Case) -> None:
    """A piece that is read in smaller pieces, wherever it is cut, is the same."""
    rng = case.rng
    for first, last in case.ranges():
        whole = case.stream.read(first, last)
        pieces = [case.stream.read(first + cut.start, first + cut.stop) for cut in random_pieces(last - first, rng)]
        if pieces:
            _require_same(whole, Examples.concatenate(pieces), f"positions {first} to {last - 1} differ in pieces")


def the_order_of_reading_does_not_matter(case: _Case) -> None:
    """A piece is the same whether what follows it was read before or after."""
    ranges = case.ranges()
    cuts = [
        (first + cut.start, first + cut.stop) for first, last in ranges for cut in random_pieces(last - first, case.rng)
    ]
    forwards = [case.stream.read(*cut) for cut in cuts]
    for number in case.rng.permutation(len(cuts)).tolist():
        _require_same(forwards[number], case.stream.read(*cuts[number]), "pieces differ when read in another order")


def what_is_handed_out_is_not_shared(case: _Case) -> None:
    """Changing the arrays of a piece does not change what is read next."""
    for first, last in case.ranges():
        columns = arrays_of(case.stream.read(first, last))
        kept = {name: column.copy() for name, column in columns.items()}
        writable = [name for name, column in columns.items() if column.flags.writeable]
        for name in writable:
            columns[name][...] = 1 - columns[name]
        again = pickle.loads(pickle.dumps(case.stream.read(first, last)))
        for name in writable:  # Whatever comes out: the data is not ours to spoil.
            columns[name][...] = kept[name]
        remedy = "hand out copies, or read-only arrays"
        require(_same(kept, arrays_of(again)), "changing a piece changed the stream", why=_ANY_NODE, remedy=remedy)


def positions_outside_are_refused(case: _Case) -> None:
    """A position before 0 or beyond the end is an InputError or IndexError, in `read` and in `at`."""
    stream, length = case.stream, case.stream.length
    outside = [(-1, 1)] + ([] if length is None else [(length, length + 1), (max(length - 1, 0), length + 2)])
    for first, last in outside:
        reads: tuple[Callable[[], Examples], ...] = (
            lambda a=first, b=last: stream.read(a, b),
            lambda a=first, b=last: stream.at(np.arange(a, b)),
        )
        for name, read in zip(("read", "at"), reads, strict=True):
            require(
                _refuses(read),
                f"{name} gave something for positions {first} to {last - 1}",
                why="a run that is too long would learn from examples that are not there",
                remedy="raise InputError, as paraactive.streams.user_stream does for a range and for a list",
            )


def it_travels(case: _Case) -> None:
    """A stream can be pickled, and what arrives reads the same."""
    stream, why = case.stream, "each node opens the stream that it was sent"
    try:
        arrived: Stream = pickle.loads(pickle.dumps(stream))
    except Exception as error:  # Whatever a class says to being pickled.
        remedy = "keep what says where the data is, and open it at the first read"
        require(False, f"it cannot be pickled ({error})", why=why, remedy=remedy)
        raise
    facts = [(each.width, each.length, each.classes, each.regenerates) for each in (stream, arrived)]
    require(facts[0] == facts[1], f"what arrives has {facts[1]}", why=why, remedy="let pickling keep all parameters")
    for first, last in case.ranges():
        _require_same(stream.read(first, last), arrived.read(first, last), "what arrives reads something else")


# What they are told by -------------------------------------------------------------------------------------------


def _is_count(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= 0


def _refuses(read: Callable[[], Examples]) -> bool:
    try:
        read()
    except (InputError, IndexError):
        return True
    return False


def _require_same(
    one: Examples, other: Examples, fact: str, remedy: str = "compute an example from its position alone"
) -> None:
    require(_same(arrays_of(one), arrays_of(other)), fact, why=_ANY_NODE, remedy=remedy)


def _same(one: dict[str, NDArray[Any]], other: dict[str, NDArray[Any]]) -> bool:
    return one.keys() == other.keys() and all(same_bits(one[name], other[name]) for name in one)


_CHECKS: tuple[Callable[[_Case], None], ...] = (
    width_and_length_are_counts,
    classes_are_different_names,
    labels_have_the_type_that_is_said,
    columns_are_as_long_and_wide_as_they_should_be,
    columns_have_their_types,
    the_index_is_the_position,
    labels_are_those_of_the_classes,
    importances_are_positive,
    features_are_finite,
    reading_twice_gives_the_same_bits,
    at_gives_what_read_gives,
    pieces_are_the_whole,
    the_order_of_reading_does_not_matter,
    what_is_handed_out_is_not_shared,
    positions_outside_are_refused,
    it_travels,
)
