"""The law of the cascade: whatever the proxy is worth, p is exact; where it is generous enough, nothing changes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from making import three_blobs, two_moons
from paraactive import Arrays, Digits, LaSVM, train
from paraactive.basics.coins import coins
from paraactive.data.examples import Doubles, Examples, Ints, Selected
from paraactive.errors import InputError
from paraactive.learners.base import Proxy
from paraactive.rules import Gradient, IwalMargin, LeastMargin, PaperMargin, Rule, SignedMargin, Uniform, floored
from paraactive.sifting.cascade import ProxyPolicy, least_certain
from paraactive.sifting.select import Choice, choose, sift, take_all

RULES: list[Rule] = [
    PaperMargin(0.1), SignedMargin(0.1), LeastMargin(0.1), Gradient(), IwalMargin(), floored(SignedMargin(0.1), 0.1),
]  # fmt: skip
_SEEDS, _SEEN = 600, 400


class Proxied(LaSVM):
    """Its proxy is off by noise of a known size, which depends on the row alone."""

    off, guard, cost = 0.3, 0.0, 0.1
    scored = 0

    def score(self, x: Any) -> Doubles:
        self.scored += len(x)
        return super().score(x)

    def proxy(self) -> Proxy | None:
        return Proxy(self.cheap_score, self.guard, self.cost)

    def cheap_score(self, x: Any) -> Doubles:
        score = super().score(x)
        noise = np.sin(1e4 * np.asarray(x, np.float64).sum(axis=1))
        return score + self.off * (noise if score.ndim == 1 else noise[:, None] * np.cos(np.arange(score.shape[1])))


@cache
def _model(classes: int) -> LaSVM:
    fresh = _stream(classes, 300, seed=0).read(0, 300)
    svm = Proxied(gamma=1.0, classes=classes)
    svm.update(take_all(fresh, fresh.index, 0))
    return svm


def _stream(classes: int, count: int, seed: int) -> Arrays:
    x, y = two_moons(count, noise=0.35, seed=seed) if classes == 2 else three_blobs(count, seed=seed)
    return Arrays(x, y, shuffle=False)


def _fresh(classes: int, count: int) -> Examples:
    return _stream(classes, count, seed=1).read(0, count)


def _proxied(classes: int, guard: float, off: float = 0.3, cost: float = 0.1) -> Proxied:
    svm = Proxied(gamma=1.0, classes=classes)
    svm.load(_model(classes).save())
    svm.guard, svm.off, svm.cost = guard, off, cost
    return svm


def _choose(svm: LaSVM, rule: Rule, fresh: Examples, seed: int = 0, policy: ProxyPolicy | None = None) -> Choice:
    return choose(svm, rule, seed, fresh, np.full(len(fresh), _SEEN), 300, policy or ProxyPolicy())


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_with_a_generous_guard_the_selection_is_that_without_a_cascade(rule: Rule, classes: int) -> None:
    fresh = _fresh(classes, 2000)
    with_it = _choose(_proxied(classes, guard=0.3), rule, fresh)
    plain = LaSVM(gamma=1.0, classes=classes)
    plain.load(_model(classes).save())
    without = sift(plain, rule, 0, fresh, np.full(2000, _SEEN), 300)
    assert with_it.selected.examples.index.tolist() == without.examples.index.tolist()
    assert with_it.selected.p.tolist() == without.p.tolist()
    assert not with_it.lowered.any()
    assert 0 < len(without) < 2000


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("rule", RULES, ids=repr)
@pytest.mark.parametrize("guard", [0.0, 0.1])
def test_p_is_exact_even_where_the_proxy_is_wrong(rule: Rule, classes: int, guard: float) -> None:
    fresh, svm = _fresh(classes, 300), _proxied(classes, guard)
    exact, cheap = svm.score(fresh.x), svm.cheap_score(fresh.x)
    y = fresh.y if rule.needs_labels else None
    seen = np.full(300, _SEEN)
    given: Any = (seen,) if y is None else (seen, y)
    p = np.minimum(rule.probability(exact, *given), rule.probability(least_certain(cheap, guard, y), *given))
    times = np.zeros(300)
    lowered = 0
    for seed in range(_SEEDS):
        choice = _choose(svm, rule, fresh, seed)
        rows = choice.selected.examples.index
        times[rows] += 1
        np.testing.assert_array_equal(choice.selected.p, p[rows])
        lowered += int(choice.lowered.sum())
    assert lowered > 0  # The proxy is off by up to 0.3, more than it says.
    spread = np.sqrt(p * (1 - p) / _SEEDS)
    assert np.all(np.abs(times / _SEEDS - p) <= 5 * spread + 1e-9)


@pytest.mark.parametrize("rule", RULES, ids=repr)
@pytest.mark.parametrize("guard", [0.0, 0.3])
def test_the_weighted_error_is_unbiased(rule: Rule, guard: float) -> None:
    fresh, svm = _fresh(2, 500), _proxied(2, guard)
    wrong = (svm.score(fresh.x) > 0) != (fresh.y > 0)
    estimates, p_of = list[float](), np.ones(500)
    for seed in range(_SEEDS):
        chosen = _choose(svm, rule, fresh, seed).selected
        p_of[chosen.examples.index] = chosen.p
        estimates.append(float(chosen.weight @ wrong[chosen.examples.index]) / 500)
    deviation = np.sqrt(np.sum(wrong * (1 - p_of) / p_of)) / 500 / np.sqrt(_SEEDS)
    assert abs(np.mean(estimates) - wrong.mean()) <= 4 * deviation + 1e-12


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("rule", RULES, ids=repr)
@given(cut=st.integers(1, 499), guard=st.floats(0, 1), seed=st.integers(0, 50))
@settings(max_examples=15, deadline=None)
def test_neither_the_order_of_the_two_scores_nor_the_cuts_change_the_outcome(
    rule: Rule, classes: int, cut: int, guard: float, seed: int
) -> None:
    fresh = _fresh(classes, 500)
    cheap_first = _choose(_proxied(classes, guard, cost=0.0), rule, fresh, seed)
    dear = ProxyPolicy(passed=1.0, portions=1)
    exact_first = [
        _choose(_proxied(classes, guard, cost=1.0), rule, fresh.take(piece), seed, dear)
        for piece in (slice(0, cut), slice(cut, None))
    ]
    assert exact_first[0].scored + exact_first[1].scored == 500
    p = np.concatenate([choice.selected.p for choice in exact_first])
    assert cheap_first.selected.p.tolist() == p.tolist()
    index = np.concatenate([choice.selected.examples.index for choice in exact_first])
    assert cheap_first.selected.examples.index.tolist() == index.tolist()
    assert cheap_first.lowered.tolist() == np.concatenate([choice.lowered for choice in exact_first]).tolist()


def test_what_the_proxy_rules_out_gets_no_exact_score() -> None:
    fresh, svm, rule = _fresh(2, 1000), _proxied(2, guard=0.3), SignedMargin(1.0)
    svm.scored = 0
    choice = _choose(svm, rule, fresh)
    p1 = rule.probability(least_certain(svm.cheap_score(fresh.x), 0.3, fresh.y), np.full(1000, _SEEN), fresh.y)
    assert choice.scored == svm.scored == np.count_nonzero(coins(0, fresh.index) < p1)
    assert choice.scored < 500


def test_a_rule_without_need_of_scores_asks_no_proxy() -> None:
    choice = _choose(_proxied(2, guard=0.3), Uniform(0.5), _fresh(2, 100))
    assert choice.scored == 0
    assert 20 < len(choice.selected) < 80


def test_a_proxy_that_rules_nothing_out_is_given_up_and_looked_at_again() -> None:
    policy, first = ProxyPolicy(), list[bool]()
    for _ in range(40):
        first.append(policy.uses_proxy_first(cost=0.2))
        if first[-1]:
            policy.record(95, 100)
    assert first == [number % 16 == 0 for number in range(40)]
    useful = ProxyPolicy()
    for _ in range(40):
        assert useful.uses_proxy_first(cost=0.2)
        useful.record(10, 100)


def test_a_proxy_that_comes_to_pay_is_used_again() -> None:
    policy = ProxyPolicy()
    for share in [100] * 40 + [5] * 200:
        if policy.uses_proxy_first(cost=0.2):
            policy.record(share, 100)
    assert all(policy.uses_proxy_first(cost=0.2) for _ in range(40))


def test_a_score_of_a_proxy_that_is_not_finite_is_refused() -> None:
    svm = _proxied(2, guard=0.1, off=float("inf"))
    with pytest.raises(InputError, match="not finite"):
        _choose(svm, SignedMargin(), _fresh(2, 50))


@pytest.mark.parametrize("rule", RULES, ids=repr)
@given(data=st.data(), guard=st.floats(0, 2), classes=st.sampled_from([2, 3, 5]))
@settings(max_examples=60, deadline=None)
def test_no_score_within_the_guard_is_more_doubtful(rule: Rule, data: Any, guard: float, classes: int) -> None:
    shape = (6,) if classes == 2 else (6, classes)
    score = data.draw(arrays(np.float64, shape, elements=st.floats(-3, 3)))
    moved = data.draw(arrays(np.float64, shape, elements=st.floats(-1, 1))) * guard
    numbers = data.draw(arrays(np.int8, 6, elements=st.integers(0, classes - 1)))
    y = (2 * numbers - 1 if classes == 2 else numbers).astype(np.int8)
    given_: Any = (np.full(6, _SEEN), y) if rule.needs_labels else (np.full(6, _SEEN),)
    most = rule.probability(least_certain(score, guard, y if rule.needs_labels else None), *given_)
    assert np.all(most >= rule.probability(score + moved, *given_) * (1 - 1e-9))


@pytest.mark.parametrize("schedule", ["synchronous", "asynchronous", "sequential"])
def test_a_run_counts_exact_scores_and_lowered_p(schedule: str) -> None:
    x, y = two_moons(3000, noise=0.35, seed=3)

    def run(guard: float) -> Any:
        svm = Proxied(gamma=1.0)
        svm.guard = guard
        return train(
            svm, Arrays(x, y), rule=SignedMargin(0.5), examples=3000, batch=300, warmstart=300, schedule=schedule,
            engine="simulated", nodes=1 if schedule == "sequential" else 3,
        )  # fmt: skip

    generous, mean = run(0.3), run(0.0)
    assert generous.lowered == 0
    assert 0 < mean.lowered < mean.selected
    assert generous.selected <= generous.scored
    if schedule != "sequential":  # It scores ahead, and forgets what lies behind the first selected.
        assert generous.scored < generous.sifted
    assert generous.summary()["scored"] == generous.scored
    assert mean.summary()["lowered"] == mean.lowered


@pytest.mark.parametrize("guard", [0.0, 0.3])
def test_the_log_does_not_depend_on_the_number_of_nodes(guard: float) -> None:
    x, y = two_moons(3000, noise=0.35, seed=3)

    def log(engine: str, nodes: int) -> Any:
        svm = Proxied(gamma=1.0)
        svm.guard = guard
        run = train(
            svm,
            Arrays(x, y),
            rule=SignedMargin(0.5),
            examples=3000,
            batch=300,
            warmstart=300,
            engine=engine,
            nodes=nodes,
        )
        return run.learned.key.tolist(), run.learned.p.tolist(), run.learner.digest(), run.lowered

    first = log("simulated", 1)
    assert first == log("simulated", 7) == log("threads", 1) == log("threads", 3)


@pytest.fixture(scope="module")
def with_cheap_score() -> LaSVM:
    learner = LaSVM(C=1, gamma=0.012)
    first = Digits().read(0, 1500)
    learner.update(Selected.weighted(first.x, first.y))
    learner.end_round()
    assert learner.proxy() is not None
    return learner


@dataclass(frozen=True)
class FindsTheSure:
    """p rises with sureness: a rule that a cheap score, moved towards doubt, would silence."""

    needs_labels: ClassVar[Literal[False]] = False
    needs_scores: ClassVar[bool] = True

    def probability(self, score: Doubles, seen: Ints) -> Doubles:
        assert len(score), "a rule is not asked about no rows"
        return np.clip(np.abs(score) ** 4, 1e-6, 1.0)

    def describe(self) -> dict[str, Any]:
        return {}


def test_a_rule_that_does_not_declare_that_p_rises_with_doubt_is_not_given_cheap_scores(
    with_cheap_score: LaSVM,
) -> None:
    without = LaSVM(C=1, gamma=0.012, cascade=False)
    without.load(with_cheap_score.save())
    seen = np.full(600, 2000)
    logs = [
        sift(learner, FindsTheSure(), 0, Digits().read(2000, 2600), seen, 0).examples.index.tolist()
        for learner in (with_cheap_score, without)
    ]
    assert logs[0] == logs[1]
    assert len(logs[0]) > 50


def test_neither_a_rule_nor_a_learner_is_asked_about_no_rows(with_cheap_score: LaSVM) -> None:
    @dataclass(frozen=True)
    class Never:
        needs_labels: ClassVar[Literal[False]] = False
        needs_scores: ClassVar[bool] = True
        rises_with_doubt: ClassVar[bool] = True

        def probability(self, score: Doubles, seen: Ints) -> Doubles:
            assert len(score)
            return np.full(len(score), 1e-12)

        def describe(self) -> dict[str, Any]:
            return {}

    for passed in (0.0, 1.0):  # The cheap score first, then the exact one.
        policy = ProxyPolicy(passed, 1)
        choice = choose(with_cheap_score, Never(), 0, Digits().read(2000, 2600), np.full(600, 2000), 0, policy)
        assert len(choice.selected) == 0
