"""Our learners pass every check of learners, and for each check there is a learner that fails it and no other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from checks import broken_learners as broken
from checks.failing import failed, first_named
from making import OUR_LEARNERS
from paraactive.checks import CheckError, check_learner, learner_checks

OURS: dict[str, Callable[[], Any]] = {**OUR_LEARNERS, "the tests' own": broken.Linear, "with a proxy": broken.Proxied}
CHECKS = learner_checks()

AFTER_ROUNDS = {"a loaded learner learns on as the saved one", "it travels", "a description makes an equal learner"}
"""These end a round on two learners, so an `end_round` that is not deterministic fails them too."""
LEARNING_TWICE = AFTER_ROUNDS | {"the grouping of entries does not matter", "a deep copy is equal and learns apart"}
COMPARING = LEARNING_TWICE | {
    "updating is deterministic", "ending a round is deterministic", "a loaded learner is the saved one",
}  # fmt: skip
"""These compare digests of two learners."""
KEEPING_ATTRIBUTES = {"a deep copy is equal and learns apart", "it travels"}

BROKEN: list[tuple[str, Callable[[], Any], set[str]]] = [
    ("make gives a new learner each time", lambda: broken.ONLY, set()),
    ("equal models have equal digests", broken.Signed, COMPARING - KEEPING_ATTRIBUTES),
    ("an untrained learner gives finite scores", broken.Unready, set()),
    ("an untrained learner gives finite scores", broken.Flat, set()),
    ("scoring is pure", broken.Counting, set()),
    ("scoring is pure", broken.Scaling, {
        "a score does not depend on other rows", "a loaded learner is the saved one",
    }),
    ("a score does not depend on other rows", broken.Sociable, set()),
    ("a proxy belongs to the model", broken.Guessing, set()),
    ("a proxy belongs to the model", broken.Averaging, set()),
    ("a proxy belongs to the model", broken.Forgetting, set()),
    ("updating is deterministic", broken.Moody, LEARNING_TWICE | {"ending a round is deterministic"}),
    ("the grouping of entries does not matter", broken.Batching, set()),
    ("ending a round is deterministic", broken.Restless, AFTER_ROUNDS),
    ("the digest tells models apart", broken.Anonymous, set()),
    ("the saved state is plain arrays", broken.Objects, {
        "a loaded learner is the saved one", "a loaded learner learns on as the saved one",
    }),
    ("the saved state is a copy", broken.Window, set()),
    ("a loaded learner is the saved one", broken.Shifted, set()),
    ("a loaded learner learns on as the saved one", broken.Momentum, set()),
    ("loading is a copy", broken.Borrowing, set()),
    ("a deep copy is equal and learns apart", broken.Clinging, set()),
    ("it travels", broken.Homebound, set()),
    ("weights matter", broken.Weightless, set()),
    ("a large weight leaves scores finite", broken.Fragile, set()),
    ("a description makes an equal learner", lambda: broken.Reticent(step=0.3), set()),
    ("sparse rows keep the promises too", broken.Crowded, set()),
]  # fmt: skip


@pytest.mark.parametrize("make", OURS.values(), ids=OURS)
@pytest.mark.parametrize(("name", "check"), CHECKS, ids=[name for name, _ in CHECKS])
def test_our_learners_keep_their_contract(make: Callable[[], Any], name: str, check: Callable[[Any], None]) -> None:
    check(make)


@pytest.mark.parametrize("make", OURS.values(), ids=OURS)
def test_they_do_so_on_wide_data(make: Callable[[], Any]) -> None:
    check_learner(make, width=30, seed=7)


@pytest.mark.parametrize("make", OURS.values(), ids=OURS)
def test_they_do_so_on_one_feature(make: Callable[[], Any]) -> None:
    check_learner(make, width=1, seed=7)


@pytest.mark.parametrize(("name", "make", "also"), BROKEN, ids=[name for name, _, _ in BROKEN])
def test_a_broken_learner_fails_the_check_of_what_is_broken(name: str, make: Callable[[], Any], also: set[str]) -> None:
    assert first_named(check_learner, make) == name
    if make() is not broken.ONLY:
        assert set(failed(CHECKS, lambda: make)) == {name} | also


def test_every_check_can_fail() -> None:
    assert {name for name, _, _ in BROKEN} == {name for name, _ in CHECKS}


def test_a_learner_that_stays_at_home_may_say_so() -> None:
    check_learner(broken.Homebound, travels=False)
    assert len(learner_checks(travels=False)) == len(CHECKS) - 1
    with pytest.raises(CheckError, match=r"it cannot be pickled.*travels=False"):
        check_learner(broken.Homebound)


def test_what_a_learner_raises_is_named_with_the_property() -> None:
    class Raising(broken.Linear):
        def end_round(self) -> None:
            raise ZeroDivisionError("no round")

    with pytest.raises(
        CheckError, match=r"'ending a round is deterministic' .* ZeroDivisionError \(no round\)"
    ) as told:
        check_learner(Raising)
    assert isinstance(told.value.__cause__, ZeroDivisionError)


def test_a_missing_method_is_named() -> None:
    with pytest.raises(CheckError, match="it has no score"):
        check_learner(broken.Dumb)


def test_a_learner_without_a_description_needs_none() -> None:
    class Silent(broken.Linear):
        describe = property()  # pyright: ignore[reportAssignmentType]

    assert not hasattr(Silent(), "describe")
    check_learner(Silent, travels=False)
