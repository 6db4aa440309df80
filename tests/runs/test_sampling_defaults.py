"""Defaults of the sampling policy: the slope, the floor and the budget that fit any data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from making import DenseLaSVM
from paraactive import Arrays, LaSVM, Network, train
from paraactive.data.sparse import SparseRows
from paraactive.errors import InputError
from paraactive.learners.guarded import Guarded
from paraactive.learners.standardized import Standardized
from paraactive.rules import Margin, Passive, Rule, SignedMargin, Uniform
from paraactive.runs.sampling_defaults import find_sampling, is_svm, row_size, steepest, stream_row_size
from paraactive.schedules import Plan
from paraactive.sifting.budget import find_budget
from paraactive.sifting.sampling import Sampling
from paraactive.streams import IterableStream
from runs.jobs import BATCH, moons, svm

PLAN = Plan(examples=5000, batch=100, warmstart=1000, nodes=1)


def _found(
    rule: Rule, floor: float | str | None = None, select: float | str | None = None, by_default: bool = True
) -> Sampling:
    return find_sampling(floor, select, None, by_default, rule, width=10, plan=PLAN, has_vectors=True)


@pytest.mark.parametrize(("width", "slope"), [(1, 3.0), (90, 3.0), (120, 4.0), (784, 26.1)])
def test_the_steepest_slope_rises_with_the_number_of_features(width: int, slope: float) -> None:
    assert steepest(width) == slope


def test_an_svm_is_known_inside_other_learners() -> None:
    assert is_svm(LaSVM())
    assert is_svm(Guarded(LaSVM()))
    assert is_svm(Standardized(LaSVM()))
    assert not is_svm(Network())
    assert not is_svm(Standardized(Network()))


def test_a_rule_that_was_named_has_a_floor_and_a_limit() -> None:
    found = _found(SignedMargin())
    assert found == Sampling("auto", find_budget("auto", 10, 1000, 5000), None, by_importance=True)
    assert found.budget is not None
    assert found.budget.is_limit


def test_a_rule_that_was_given_as_an_object_is_left_alone() -> None:
    assert _found(Margin(0.1), by_default=False) == Sampling(None, None, None, by_importance=True)


@pytest.mark.parametrize("rule", [Passive(), Uniform(0.1)], ids=repr)
def test_a_rule_without_scores_has_no_floor_and_no_limit(rule: Rule) -> None:
    assert _found(rule) == Sampling(None, None, None, by_importance=True)


@pytest.mark.parametrize("by_default", [True, False])
def test_what_the_user_gives_is_used(by_default: bool) -> None:
    found = _found(SignedMargin(), floor=0.05, select=0.25, by_default=by_default)
    assert (found.floor, found.budget) == (0.05, find_budget(0.25, 10, 1000, 5000))
    assert _found(SignedMargin(), "none", "none", by_default) == Sampling(None, None, None, by_importance=True)
    assert _found(SignedMargin(), "auto", "auto", by_default) == _found(SignedMargin())


def test_the_rate_of_a_rule_without_scores_can_be_given() -> None:
    assert _found(Passive(), select=0.25).budget == find_budget(0.25, 10, 1000, 5000)


def test_class_weights_are_part_of_the_policy() -> None:
    found = find_sampling(None, None, (1.0, 5.0), True, SignedMargin(), width=10, plan=PLAN, has_vectors=True)
    assert found.class_weight == (1.0, 5.0)


@pytest.mark.parametrize("wrong", [{"floor": 0.0}, {"floor": 2.0}, {"floor": "low"}, {"select": "low"}, {"select": -1}])
def test_a_wrong_floor_or_number_is_refused_before_the_run(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        train(svm(), moons(), **BATCH, **wrong)


def test_the_policy_of_a_run_is_in_its_description() -> None:
    named = train(svm(), moons(), rule="signed", **BATCH, examples=400, nodes=1).spec
    given = train(svm(), moons(), rule=SignedMargin(), **BATCH, examples=400, nodes=1).spec
    assert (named.sampling.floor, given.sampling.floor) == ("auto", None)
    assert named.sampling.budget is not None
    assert given.sampling.budget is None
    assert named.rule.parameters["steepest"] == 3.0
    assert given.rule.parameters["steepest"] is None


def test_passive_by_name_learns_everything() -> None:
    run = train(svm(), moons(), rule="passive", **BATCH, nodes=1)
    assert run.selected == run.sifted
    assert (run.learned.p == 1.0).all()


def test_rows_that_stay_sparse_cost_what_they_contain() -> None:
    dense = np.eye(40, dtype=np.float32)
    sparse = SparseRows.of(dense)
    assert row_size(dense, LaSVM()) == 40
    assert row_size(sparse, LaSVM()) == 1
    assert row_size(sparse, DenseLaSVM()) == 40
    assert stream_row_size(Arrays(sparse, np.arange(40) % 2), LaSVM()) == 1


def test_one_row_is_read_ahead_of_a_stream_of_dense_rows() -> None:
    taken: list[int] = []

    def rows() -> Iterator[tuple[list[float], int]]:
        for number in range(150):
            taken.append(number)
            yield [float(number), 1.0], number % 2

    stream = IterableStream(rows(), classes=(0, 1), window=20)
    assert stream_row_size(stream, LaSVM(), examples=150) == 2
    assert len(taken) <= 20
