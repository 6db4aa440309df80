"""Conformance checks of streams: every promise of `paraactive.streams.Stream`. Each function checks one property."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
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

# Number of examples that are read at each place.
_PIECE = 96
# Places at which a stream without end is read.
_FAR = (0, 5_000, 10**9)
_KINDS = COLUMNS | {"x.data": np.float32, "x.indices": np.int32, "x.indptr": np.int64}
_ANY_NODE = "any node may read any examples at any time, and a resumed run reads them again"


@dataclass(frozen=True)
class _Case:
    """The stream to check, and the seed of cuts and orders."""

    stream: Stream
    seed: int

    def ranges(self) -> list[tuple[int, int]]:
        """Return ranges at the beginning, in the middle, and at the end or far out."""
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
    """Check that a stream keeps the contract of `paraactive.streams.Stream`.

    About 100 examples are read at the beginning, in the middle and at the end, or far out if the stream has no end.

    Parameters
    ----------
    stream : Stream
        The stream.
    seed : int, optional
        Seed of the places at which ranges are cut. Default: 0.

    Raises
    ------
    CheckError
        If a property does not hold. The error names the first one.

    Examples
    --------
    >>> from paraactive import Arrays
    >>> check_stream(Arrays([[0.5], [1.5], [2.5]], ["ham", "spam", "spam"], passes=2))
    >>> class Endless(Arrays):
    ...     length = 10
    ...     def read(self, first, last):
    ...         return super().read(min(first, 3), min(last, 3))
    >>> check_stream(Endless([[0.5], [1.5], [2.5]], ["ham", "spam", "spam"]))
    Traceback (most recent call last):
    ...
    paraactive.errors.CheckError: 'columns have the right shapes' does not hold, x of positions 0 to 9 has shape
    (3, 1): a node reads a range of positions and needs exactly these rows; return one row of width 1 for each position.
    """
    for _, check in stream_checks(seed=seed):
        check(stream)


def stream_checks(*, seed: int = 0) -> list[tuple[str, StreamCheck]]:
    """List the checks of `check_stream`, to parametrize a test.

    Parameters
    ----------
    seed : int, optional
        Seed of the places at which ranges are cut. Default: 0.

    Returns
    -------
    list of (str, callable)
        Name of each property, and a function of the stream that raises `CheckError` if the property does not hold.

    Examples
    --------
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
    facts = case.stream
    for name, good in (
        ("width", _is_count(facts.width) and facts.width >= 1),
        ("length", facts.length is None or _is_count(facts.length)),
        ("regenerates", _is_bool(facts.regenerates)),
    ):
        require(
            good,
            f"{name} is {getattr(facts, name)!r}",
            why="a run is planned with it before anything is read",
            remedy="give width >= 1, length >= 0 or None, and regenerates True or False",
        )


def classes_are_different_names(case: _Case) -> None:
    """`classes` are different strings: two for the labels -1 and +1, more for the labels 0, 1, 2 and so on."""
    classes = case.stream.classes
    require(
        _are_names(classes) and 2 <= len(classes) <= MAX_CLASSES,
        f"classes is {classes!r}",
        why="test data has the names of the labels",
        remedy=f"give 2 to {MAX_CLASSES} different strings, in the order of the labels",
    )


def label_type_fits_the_classes(case: _Case) -> None:
    """`label_type`, if the stream declares it, is a type to which the names in `classes` can be converted."""
    label_type = StreamDetails(case.stream).label_type
    require(
        fitting_type([*map(str, case.stream.classes)], label_type) == label_type,
        f"label_type is {label_type!r}, and the classes are {case.stream.classes!r}",
        why="a model predicts labels of that type",
        remedy='leave it out, or give "str", "bool", or the numpy name of a numeric type, such as "int64"',
    )


def columns_have_the_right_shapes(case: _Case) -> None:
    """There is one row for each position, of the width of the stream; an empty range has no rows."""
    for first, last in [*case.ranges(), (0, 0)]:
        piece, count = case.stream.read(first, last), last - first
        for name in COLUMNS:
            shape = (count, case.stream.width) if name == "x" else (count,)
            column = getattr(piece, name)
            found = column.shape if isinstance(column, SparseRows) else np.shape(column)
            require(
                found == shape,
                f"{name} of positions {first} to {last - 1} has shape {found}",
                why="a node reads a range of positions and needs exactly these rows",
                remedy=f"return one row of width {case.stream.width} for each position",
            )


def columns_have_their_types(case: _Case) -> None:
    """x is float32 or sparse; y is int8, index and key are int64, importance is float64; arrays are contiguous."""
    for piece in case.pieces():
        for name, column in arrays_of(piece).items():
            kind = _KINDS[name]
            require(
                column.dtype == kind and column.flags.c_contiguous,
                f"{name} is {column.dtype}{'' if column.flags.c_contiguous else ', not contiguous'}",
                why="loops are compiled for these types, and the log stores them to the bit",
                remedy="return paraactive.data.examples.Examples, which converts the arrays",
            )


def the_index_is_the_position(case: _Case) -> None:
    """The examples at positions first <= index < last have these indices, in this order."""
    for first, last in case.ranges():
        index = case.stream.read(first, last).index
        require(
            np.array_equal(index, np.arange(first, last)),
            f"the indices of read({first}, {last}) are not {first} to {last - 1}",
            why="the coin depends on the index, so each example needs its own",
            remedy="give np.arange(first, last) as the index; a row that repeats has the same key",
        )


def labels_are_those_of_the_classes(case: _Case) -> None:
    """Labels are -1 and +1 of two classes, 0 to C-1 of C classes, or unknown if the stream declares no labels."""
    count = len(case.stream.classes)
    for piece in case.pieces():
        y = np.asarray(piece.y)
        unknown = (y == UNKNOWN) & (not StreamDetails(case.stream).labelled)
        others = sorted(set(y[~are_labels(y, count) & ~unknown].tolist()))
        require(
            not others,
            f"there is a label {others[:1]}",
            why=f"there are {count} classes",
            remedy="use label i for classes[i]; of two classes, -1 for classes[0] and +1 for classes[1]",
        )


def importances_are_positive(case: _Case) -> None:
    """The importance of an example is finite and above 0."""
    for piece in case.pieces():
        require(
            np.all((piece.importance > 0) & np.isfinite(piece.importance)),
            f"some are not, between positions {piece.index[0]} and {piece.index[-1]}",
            why="an example of weight 0 would be selected and logged without any effect",
            remedy="leave such examples out of the stream, or leave out importance",
        )


def features_are_finite(case: _Case) -> None:
    """No feature is NaN or infinite."""
    for piece in case.pieces():
        require(
            np.isfinite(piece.x.data if isinstance(piece.x, SparseRows) else piece.x).all(),
            f"some are not, between positions {piece.index[0]} and {piece.index[-1]}",
            why="one such example spoils the whole model",
            remedy="fill in missing values, or leave out such examples",
        )


def reading_twice_gives_the_same_bits(case: _Case) -> None:
    """Reading a range again gives the same examples."""
    for first, last in case.ranges():
        one, other = case.stream.read(first, last), case.stream.read(first, last)
        _require_same(one, other, f"a second read({first}, {last}) gave other examples")


def at_gives_what_read_gives(case: _Case) -> None:
    """`at` gives the same examples as `read`, in any order and with repetitions."""
    for first, last in case.ranges():
        whole = case.stream.read(first, last)
        _require_same(whole, case.stream.at(np.arange(first, last)), f"at differs from read({first}, {last})")
        rows = case.rng.integers(0, max(last - first, 1), min(last - first, 30))
        _require_same(whole.take(rows), case.stream.at(first + rows), "at differs for positions in another order")


def reading_in_pieces_gives_the_same_examples(case: _Case) -> None:
    """Reading a range in smaller ranges gives the same examples, wherever the range is cut."""
    rng = case.rng
    for first, last in case.ranges():
        whole = case.stream.read(first, last)
        pieces = [case.stream.read(first + cut.start, first + cut.stop) for cut in random_pieces(last - first, rng)]
        if pieces:
            _require_same(
                whole,
                Examples.concatenate(pieces),
                f"positions {first} to {last - 1} differ in smaller ranges",
            )


def the_order_of_reading_does_not_matter(case: _Case) -> None:
    """The examples of a range do not depend on which ranges were read before."""
    ranges = case.ranges()
    cuts = [
        (first + cut.start, first + cut.stop) for first, last in ranges for cut in random_pieces(last - first, case.rng)
    ]
    forwards = [case.stream.read(*cut) for cut in cuts]
    for number in case.rng.permutation(len(cuts)).tolist():
        again = case.stream.read(*cuts[number])
        _require_same(forwards[number], again, "examples differ if ranges are read in another order")


def returned_arrays_are_not_shared(case: _Case) -> None:
    """Changing the returned arrays does not change the stream."""
    for first, last in case.ranges():
        columns = arrays_of(case.stream.read(first, last))
        kept = {name: column.copy() for name, column in columns.items()}
        writable = [name for name, column in columns.items() if column.flags.writeable]
        for name in writable:
            columns[name][...] = 1 - columns[name]
        again = pickle.loads(pickle.dumps(case.stream.read(first, last)))
        for name in writable:  # Restore the data in any case, because the stream belongs to the user.
            columns[name][...] = kept[name]
        require(
            _same(kept, arrays_of(again)),
            "changing the returned arrays changed the stream",
            why=_ANY_NODE,
            remedy="return copies, or read-only arrays",
        )


def positions_outside_are_refused(case: _Case) -> None:
    """`read` and `at` raise InputError or IndexError for a position below 0 or beyond the end."""
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
                f"{name} returned examples for positions {first} to {last - 1}",
                why="a run that is too long would learn from examples that do not exist",
                remedy="raise InputError, as paraactive.streams.user_stream does for a range and for a list",
            )


def it_travels(case: _Case) -> None:
    """A stream can be pickled, and its unpickled copy reads the same examples."""
    stream, why = case.stream, "each node receives a pickled stream"
    try:
        arrived: Stream = pickle.loads(pickle.dumps(stream))
    except Exception as error:  # Pickling a foreign class may raise anything.
        remedy = "store where the data is, and open the data at the first read"
        require(False, f"it cannot be pickled ({error})", why=why, remedy=remedy)
        raise
    facts = [(each.width, each.length, each.classes, each.regenerates) for each in (stream, arrived)]
    remedy = "let pickling keep all parameters"
    require(facts[0] == facts[1], f"its unpickled copy has {facts[1]}", why=why, remedy=remedy)
    for first, last in case.ranges():
        _require_same(stream.read(first, last), arrived.read(first, last), "its unpickled copy reads other examples")


# Comparisons ------------------------------------------------------------------------------------------------------


def _is_bool(value: object) -> bool:
    return isinstance(value, bool)


def _are_names(values: Sequence[object]) -> bool:
    return all(isinstance(name, str) for name in values) and len(set(values)) == len(values)


def _is_count(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= 0


def _refuses(read: Callable[[], Examples]) -> bool:
    try:
        read()
    except (InputError, IndexError):
        return True
    return False


def _require_same(
    one: Examples, other: Examples, fact: str, remedy: str = "compute an example from its position only"
) -> None:
    require(_same(arrays_of(one), arrays_of(other)), fact, why=_ANY_NODE, remedy=remedy)


def _same(one: dict[str, NDArray[Any]], other: dict[str, NDArray[Any]]) -> bool:
    return one.keys() == other.keys() and all(same_bits(one[name], other[name]) for name in one)


_CHECKS: tuple[Callable[[_Case], None], ...] = (
    width_and_length_are_counts,
    classes_are_different_names,
    label_type_fits_the_classes,
    columns_have_the_right_shapes,
    columns_have_their_types,
    the_index_is_the_position,
    labels_are_those_of_the_classes,
    importances_are_positive,
    features_are_finite,
    reading_twice_gives_the_same_bits,
    at_gives_what_read_gives,
    reading_in_pieces_gives_the_same_examples,
    the_order_of_reading_does_not_matter,
    returned_arrays_are_not_shared,
    positions_outside_are_refused,
    it_travels,
)
