"""Our streams pass every check of streams, and for each check there is a stream that fails it and no other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from checks import broken_streams as broken
from checks.failing import failed, first_named
from paraactive import Arrays, Digits
from paraactive.checks import check_stream, stream_checks

X, Y = broken.columns()
OURS: dict[str, Any] = {
    "digits": Digits(),
    "digits 3 v 5": Digits(negative=(5,), positive=(3,), seed=11, low=0),
    "arrays": Arrays(X, Y, seed=3),
    "unshuffled": Arrays(X, Y, shuffle=False),
    "passes": Arrays(X[:50], Y[:50], passes=4),
    "unshuffled passes": Arrays(X[:50], Y[:50], passes=4, shuffle=False),
    "no end": Arrays(X[:50], Y[:50], passes=None),
    "two rows": Arrays([[1.0], [2.0]], [0, 1]),
    "the tests' own": broken.Sound(),
    "shared, read-only": broken.ReadOnly(),
}
CHECKS = stream_checks()
FACTS, CLASSES = "width and length are counts", "classes are different names"
SHAPES, TYPES = "columns have the right shapes", "columns have their types"
TWICE, SHARED = "reading twice gives the same bits", "returned arrays are not shared"
LISTED, PIECES = "at gives what read gives", "reading in pieces gives the same examples"
OUTSIDE, ORDER = "positions outside are refused", "the order of reading does not matter"
BROKEN: list[tuple[str, Callable[[], Any], set[str]]] = [
    (FACTS, broken.Hollow, set()),
    (FACTS, broken.Fractional, set()),
    (CLASSES, broken.Alike, set()),
    (CLASSES, broken.Numbers, set()),
    ("label type fits the classes", broken.Mistyped, set()),
    ("label type fits the classes", broken.Untyped, set()),
    (SHAPES, broken.Narrow, set()),
    (TYPES, broken.Wide, {PIECES}),  # This puts pieces together, in the right types.
    ("the index is the position", broken.Relative, set()),
    ("labels are those of the classes", broken.Unlabelled, set()),
    ("labels are those of the classes", broken.Uncounted, set()),
    ("importances are positive", broken.Weightless, set()),
    ("features are finite", broken.Gappy, set()),
    (TWICE, broken.Wearing, {SHARED, ORDER}),  # These read twice as well.
    (LISTED, broken.TwoFaced, set()),
    (LISTED, broken.Sorting, set()),
    (PIECES, broken.Scaling, set()),
    (ORDER, broken.Forwards, set()),
    (SHARED, broken.Sharing, set()),
    (OUTSIDE, broken.Clipping, set()),
    (OUTSIDE, broken.Wrapping, set()),
    ("it travels", broken.Homebound, set()),
    ("it travels", broken.Changing, set()),
]


@pytest.mark.parametrize("stream", OURS.values(), ids=OURS)
@pytest.mark.parametrize(("name", "check"), CHECKS, ids=[name for name, _ in CHECKS])
def test_our_streams_keep_their_contract(stream: Any, name: str, check: Callable[[Any], None]) -> None:
    check(stream)


def test_so_do_arrays_from_a_file(tmp_path: Path) -> None:
    np.savez(tmp_path / "data.npz", x=X, y=Y)
    check_stream(Arrays.load(tmp_path / "data.npz", seed=2, passes=2))


@pytest.mark.parametrize(("name", "new", "also"), BROKEN, ids=[new.__name__ for _, new, _ in BROKEN])
def test_a_broken_stream_fails_the_check_of_what_is_broken(name: str, new: Callable[[], Any], also: set[str]) -> None:
    assert first_named(check_stream, new()) == name
    assert set(failed(CHECKS, new)) == {name} | also


def test_every_check_can_fail() -> None:
    assert {name for name, _, _ in BROKEN} == {name for name, _ in CHECKS}


def test_the_data_of_a_stream_that_shares_it_is_left_as_it_was() -> None:
    stream = broken.Sharing()
    before = stream.fingerprint
    failed(CHECKS, lambda: stream)
    del stream.fingerprint  # It is cached.
    assert stream.fingerprint == before
