"""What a node passes on of a portion of the stream, and how portions are joined."""

from __future__ import annotations

import numpy as np

from making import columns_of, two_moons
from paraactive.data.examples import Selected
from paraactive.sifting.sifted import Sifted


def _selected(count: int, seed: int) -> Selected:
    x, y = two_moons(count, noise=0.1, seed=seed)
    return Selected.weighted(x, y, np.arange(1, count + 1))


def test_nothing_has_no_examples_but_a_place_and_a_node() -> None:
    nothing = Sifted.nothing(17, width=2, node=3)
    assert (nothing.last, len(nothing.selected), nothing.node) == (17, 0, 3)
    assert nothing.selected.examples.width == 2
    assert (nothing.fetch_seconds, nothing.sift_seconds, nothing.scored, nothing.lowered) == (0.0, 0.0, 0, 0)
    assert nothing.update_seconds is None


def test_joined_portions_have_all_examples_in_order_and_the_sums_of_all_counts() -> None:
    parts = [
        Sifted(10, _selected(3, 0), 1.0, 0.5, scored=10, lowered=1, node=2),
        Sifted(20, _selected(4, 1), 2.0, 0.25, scored=7, lowered=2, node=2),
    ]
    joined = Sifted.join(parts)
    assert (joined.last, joined.fetch_seconds, joined.sift_seconds) == (20, 3.0, 0.75)
    assert (joined.scored, joined.lowered, joined.node) == (17, 3, 2)
    assert columns_of(joined.selected) == columns_of(Selected.concatenate([part.selected for part in parts]))


def test_joining_with_nothing_changes_no_example() -> None:
    part = Sifted(10, _selected(3, 0), 1.0, 0.5, scored=10, node=1)
    joined = Sifted.join([Sifted.nothing(5, width=2, node=1), part])
    assert columns_of(joined.selected) == columns_of(part.selected)
    assert (joined.last, joined.scored, joined.node) == (10, 10, 1)


def test_portions_without_scores_join_those_with_scores_of_several_classes() -> None:
    plain = _selected(2, 0)
    scored = Selected(plain.examples, plain.p, plain.seen, plain.version, np.ones((2, 3), np.float32))
    joined = Sifted.join([Sifted.nothing(0, width=2), Sifted(2, plain, 0, 0), Sifted(4, scored, 0, 0)]).selected
    assert joined.score.shape == (4, 3)
    assert np.isnan(joined.score[:2]).all()
    assert (joined.score[2:] == 1.0).all()
