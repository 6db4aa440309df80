"""Budgets: a rate, a total or a growth, which a run keeps to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from making import two_moons
from paraactive import Arrays, LaSVM, Network, train
from paraactive.errors import InputError
from paraactive.rules import Uniform
from paraactive.runs.run import Run
from paraactive.sifting.budget import Budget, find_budget


def _run(select: Any, **options: Any) -> Run:
    x, y = two_moons(6000, noise=0.3, seed=0)
    settings: dict[str, Any] = {"batch": 200, "warmstart": 400, "nodes": 1, "rule": "signed"}
    return train(LaSVM(gamma=1.0, gap=0.2), Arrays(x, y), select=select, **(settings | options))


def test_a_rate_counts_from_the_end_of_the_warmstart() -> None:
    budget = find_budget(0.2, width=5, warmstart=1000, examples=11_000)
    assert budget is not None
    assert not budget.is_limit
    assert budget.allowed(1000) == pytest.approx(1000)
    assert budget.allowed(6000) == pytest.approx(2000)
    assert budget.allowed(11_000) == pytest.approx(3000)


def test_a_total_is_spread_evenly_over_the_run() -> None:
    budget = find_budget(500, width=5, warmstart=1000, examples=11_000)
    assert budget is not None
    assert not budget.is_limit
    assert budget.allowed(1000) == pytest.approx(1000)
    assert budget.allowed(6000) == pytest.approx(1250)
    assert budget.allowed(11_000) == pytest.approx(1500)


def test_a_total_above_the_number_of_examples_selects_all() -> None:
    budget = find_budget(10**6, width=5, warmstart=100, examples=1100)
    assert budget is not None
    assert budget.allowed(1100) == 1100.0
    assert find_budget(7, width=5, warmstart=100, examples=100) is not None


@pytest.mark.parametrize(
    ("text", "factor", "power"),
    [
        ("20*n**0.5", 20.0, 0.5),
        (" 20 * n ** 0.5 ", 20.0, 0.5),
        ("n**0.75", 1.0, 0.75),
        ("1e2*n**0.5", 100.0, 0.5),
        ("0.5*n**1", 0.5, 1.0),
    ],
)
def test_a_growth_is_read_from_its_text(text: str, factor: float, power: float) -> None:
    assert find_budget(text, width=5, warmstart=1000, examples=5000) == Budget(0.0, factor, power, is_limit=True)


@pytest.mark.parametrize("text", ["", "many", "20*n", "20*m**0.5", "n**2", "n**0", "20n**0.5", "-3*n**0.5", "10%"])
def test_a_text_that_is_no_growth_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"select is .*a growth with a power of at most 1.*'20\*n\*\*0\.5'"):
        find_budget(text, width=5, warmstart=1000, examples=5000)


@pytest.mark.parametrize("number", [0.0, -0.1, 0, -5, float("nan")])
def test_a_number_that_is_no_rate_and_no_total_is_refused(number: float) -> None:
    with pytest.raises(InputError, match="select is"):
        find_budget(number, width=5, warmstart=1000, examples=5000)


def test_a_factor_of_0_is_refused() -> None:
    with pytest.raises(InputError, match="select is 0"):
        find_budget("0*n**0.5", width=5, warmstart=1000, examples=5000)


def test_no_budget_is_none_and_auto_allows_less_where_rows_are_long() -> None:
    assert find_budget(None, width=5, warmstart=0, examples=10) is None
    narrow, wide = (find_budget("auto", width, warmstart=0, examples=10) for width in (5, 784))
    assert narrow is not None
    assert wide is not None
    assert narrow.is_limit
    assert narrow.power == wide.power == 0.5
    assert narrow.allowed(60_000) > wide.allowed(60_000)
    assert 6000 < wide.allowed(60_000) < 9000


def test_a_limit_never_makes_p_larger_and_a_rate_does() -> None:
    for is_limit, expected in ((True, 1.0), (False, 5.0)):
        budget = Budget(0, 0.5, 1.0, is_limit)
        assert budget.next_scale(1.0, selected=1000, sifted=10_000, entries=5000, seen=10_000) == pytest.approx(
            expected, rel=0.01
        )


def test_the_scale_stays_in_its_bounds() -> None:
    assert Budget(0, 1e-6, 1.0, is_limit=False).next_scale(1.0, 10**5, 10**5, entries=10**5, seen=10**5) == 1e-3
    assert Budget(0, 1e-6, 1.0, is_limit=True).next_scale(1.0, 10**5, 10**5, entries=10**5, seen=10**5) == 0.02
    assert Budget(0, 0.5, 1.0, is_limit=False).next_scale(900.0, 0, sifted=100, entries=0, seen=100) == 1e3


def test_the_first_round_keeps_to_a_rate_even_if_the_rule_selects_everything() -> None:
    assert Budget(100, 0.1, 1.0, is_limit=False).first_scale == 0.1
    assert Budget(100, 20.0, 0.5, is_limit=True).first_scale == 1.0
    assert _run(0.1).rounds[1].selected <= 40


def test_what_was_selected_in_excess_is_paid_back_slowly() -> None:
    budget = Budget(0, 0.1, 1.0, is_limit=False)
    usual = budget.next_scale(0.1, selected=100, sifted=1000, entries=1000, seen=10_000)
    assert usual == pytest.approx(0.1, rel=0.01)
    later = budget.next_scale(0.1, selected=100, sifted=1000, entries=1500, seen=10_000)
    assert usual / 4 < later < usual


@pytest.mark.parametrize("select", [0.1, 1600, "40*n**0.5"])
def test_a_budget_costs_little_accuracy_and_the_run_knows_its_error(select: float | str) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(24_000, 2))
    y = (np.hypot(*x.T) > 1.2) ^ (rng.random(len(x)) < 0.1)
    run = train(LaSVM(gap=0.2), Arrays(x[:20_000], y[:20_000]), select=select, nodes=1)
    error = float(np.mean((run.learner.score(x[20_000:].astype(np.float32)) > 0) != y[20_000:]))
    assert error < 0.15  # 0.11 without a budget.
    assert run.estimates is not None
    assert run.estimates.recent_error.low <= error <= run.estimates.recent_error.high
    assert run.estimates.recent_error.width < 0.2
    if not isinstance(select, str):
        assert run.selected == pytest.approx(1600, rel=0.15)


def test_a_scale_that_was_lowered_recovers_when_rounds_select_less() -> None:
    budget = Budget(0, 0.1, 1.0, is_limit=True)
    low = budget.next_scale(1.0, selected=80, sifted=100, entries=80, seen=800)
    assert low < 0.2
    assert budget.next_scale(low, selected=1, sifted=100, entries=80, seen=900) > low


@pytest.mark.parametrize("select", [0.1, 560])
@pytest.mark.parametrize("rule", ["signed", "margin"])
def test_a_run_selects_the_rate_or_the_total_that_was_asked_for(select: float, rule: str) -> None:
    assert _run(select, rule=rule).sampling_rate == pytest.approx(0.1, rel=0.2)


def test_a_run_does_not_exceed_its_growth_by_more_than_a_batch() -> None:
    seen: list[int] = []

    def check(run: Run) -> bool:
        entries = sum(ended.selected for ended in run.rounds)
        seen.append(run.seen)
        assert entries <= 20 * run.seen**0.5 + 200
        return False

    run = _run("20*n**0.5", stop=check)
    assert seen[-1] == 6000
    assert run.selected > 500
    assert run.selected < _run("none").selected


def test_the_growth_of_the_documentation_is_not_exceeded_by_more_than_a_batch() -> None:
    run = _run("50*n**0.5")
    assert run.selected + run.warmstart <= 50 * 6000**0.5 + 200


def test_p_stays_exact_under_a_budget() -> None:
    totals = [float(np.sum(1.0 / _run(0.1, seed=seed, examples=1400).learned.p[400:])) for seed in range(30)]
    assert abs(np.mean(totals) - 1000) <= 4 * np.std(totals, ddof=1) / np.sqrt(30)


def test_under_a_limit_the_numbers_of_a_rule_without_scores_settle() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60_000, 2)).astype(np.float32), rng.random(60_000) < 0.5
    run = train(
        Network(), Arrays(x, y), rule=Uniform(0.1), select="16*n**0.5", floor="none", warmstart=400, batch=2000, nodes=1
    )
    selected = np.diff([each.version for each in run.rounds])[15:-1]
    allowed = np.diff([16 * each.seen**0.5 for each in run.rounds])[15:-1]
    # A power of a constant p would select thrice as many in one round, and nearly none in the next.
    assert np.all(np.abs(selected - allowed) < 0.75 * allowed)
