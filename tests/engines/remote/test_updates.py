from __future__ import annotations

import numpy as np
import pytest

from making import two_moons
from paraactive.data.examples import COLUMNS, Entries, Selected, Stretch
from paraactive.engines.remote.updates import Updates


def stretch(count: int, ends_round: bool = True) -> Stretch:
    x, y = two_moons(count, noise=0.1, seed=0)
    return Stretch(Entries(0, Selected.weighted(x, y)), 1, 100, ends_round)


def test_a_stretch_weighs_what_its_columns_do() -> None:
    one = stretch(10)
    some, examples = one.entries.selected, one.entries.selected.examples
    columns = [getattr(examples, name) for name in COLUMNS] + [some.p, some.seen, some.version, some.score]
    assert one.nbytes == sum(np.asarray(column).nbytes for column in columns)
    assert stretch(0).nbytes == 0


@pytest.mark.parametrize(("model", "replicated"), [(9 * 61 - 1, False), (9 * 61, True), (10**6, True)])
def test_auto_takes_what_sends_less_in_a_round(model: int, replicated: bool) -> None:
    updates = Updates("auto")
    updates.choose(stretch(4, ends_round=False), model)
    assert updates.replicated, "nothing is known before a round has ended"
    updates.choose(stretch(5), model)
    assert updates.replicated is replicated
    way, why = updates.chosen()
    assert way == ("replicated" if replicated else "central")
    assert "on average the entries of a round have 549 bytes and the model has" in why


def test_auto_may_change_its_mind_and_says_so() -> None:
    updates = Updates("auto")
    for size in (100, 1, 1):
        updates.choose(stretch(size), 1000)
    updates.sent(70_000)
    way, why = updates.chosen()
    assert way == "replicated"
    assert why.startswith("in 2 of 3 rounds; ")
    assert why.endswith("0.07 MB were sent in all")


@pytest.mark.parametrize("asked", ["replicated", "central"])
def test_what_is_asked_for_is_done_whatever_it_weighs(asked: str) -> None:
    updates = Updates(asked)
    for size in (1, 1000):
        updates.choose(stretch(size), 500)
        assert updates.replicated is (asked == "replicated")
    way, why = updates.chosen()
    assert way == asked
    assert why.startswith("as asked; ")
