from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np
import pytest

from making import two_moons
from paraactive import Arrays, LaSVM, Network, train
from paraactive.data.examples import Entries, Examples, Selected
from paraactive.errors import InputError, LogGapError
from paraactive.rules import PaperMargin
from paraactive.sifting.node import Node


def _node() -> Node:
    x, y = two_moons(1000, noise=0.3, seed=0)
    return Node(LaSVM(gamma=1.0), PaperMargin(0.2), Arrays(x, y), seed=3)


def test_entries_that_leave_a_gap_or_come_twice_are_refused() -> None:
    node = _node()
    entries = Entries(0, node.take(0, 100).selected)
    node.learn_entries(entries)
    with pytest.raises(LogGapError, match="learned 100"):
        node.learn_entries(entries)
    with pytest.raises(LogGapError, match="from 101 on"):
        node.learn_entries(Entries(101, entries.selected))
    assert node.version == 100


def test_sifting_piece_by_piece_equals_sifting_at_once() -> None:
    node = _node()
    node.learn_entries(Entries(0, node.take(0, 100).selected))
    whole = node.sift(100, 1000, seen=100).selected
    cuts = [100, 101, 107, 400, 656, 1000]
    parts = [node.sift(a, b, seen=100).selected for a, b in pairwise(cuts)]
    pieces = Selected.concatenate(parts)
    assert 50 < len(whole) < 800
    assert np.array_equal(pieces.examples.index, whole.examples.index)
    assert np.array_equal(pieces.p, whole.p)


class Short(Arrays):
    """A stream that ends before its length."""

    def read(self, first: int, last: int) -> Examples:
        return super().read(first, last).take(slice(0, -1))


def test_a_stream_that_returns_fewer_rows_than_asked_is_named() -> None:
    x, y = two_moons(1000, noise=0.3, seed=0)
    node = Node(LaSVM(gamma=1.0), PaperMargin(0.2), Short(x, y), seed=3)
    for ask in (node.take, node.sift_first, partial(node.sift, seen=0)):
        with pytest.raises(InputError, match=r"the stream gave \d+ rows for the positions 0 to"):
            ask(0, 100)
    with pytest.raises(InputError, match="the stream gave"):
        train(LaSVM(gamma=1.0), Short(x, y), nodes=1)


def test_nothing_to_sift_selects_nothing() -> None:
    assert len(_node().sift(5, 5, seen=5).selected) == 0


def test_sift_first_ends_with_the_first_selected() -> None:
    node = _node()
    node.learn_entries(Entries(0, node.take(0, 100).selected))
    first = node.sift_first(100, 1000)
    assert len(first.selected) == 1
    assert first.last == first.selected.examples.index[0] + 1
    assert first.selected.seen[0] == first.selected.examples.index[0]
    before = node.sift_first(100, first.last - 1)
    assert len(before.selected) == 0
    assert before.last == first.last - 1


def test_what_is_selected_says_which_model_chose_it() -> None:
    x, y = two_moons(300, noise=0.3, seed=0)
    node = Node(LaSVM(gamma=1.0), PaperMargin(0.2), Arrays(x, y), seed=3, number=5)
    node.learn_entries(Entries(0, node.take(0, 100).selected))
    chosen = node.sift(100, 300, seen=100).selected
    assert set(chosen.version) == {100}
    assert set(chosen.seen) == {100}
    assert Entries(140, chosen).entry_lag[0] == 40


def test_a_node_that_reads_another_stream_is_the_same_replica() -> None:
    node = Node(Network(hidden=4), PaperMargin(0.1), Arrays(*two_moons(50, noise=0.1, seed=0)), seed=3, number=2)
    other = node.with_stream(node.stream)
    assert (other.learner, other.number, other.place, other.proxy_policy) == (
        node.learner, node.number, node.place, node.proxy_policy,
    )  # fmt: skip
