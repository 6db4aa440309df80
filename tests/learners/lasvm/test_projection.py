"""LaSVM's proxy: cheap, near, measured, and the same on every replica."""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from learners.reference import dual_of
from paraactive import Digits, LaSVM, train
from paraactive.data.examples import Examples, Floats, Selected
from paraactive.errors import InputError
from paraactive.learners.base import Proxy
from paraactive.learners.lasvm import kernels
from paraactive.rules import LeastMargin, SignedMargin
from paraactive.sifting.select import take_all


def _learn(svm: LaSVM, fresh: Examples, rounds: int = 1) -> LaSVM:
    for piece in np.array_split(np.arange(len(fresh)), rounds):
        svm.update(take_all(fresh.take(piece), fresh.index[piece], 0))
        svm.end_round()
    return svm


@cache
def _digits(classes: int, first: int = 0, count: int = 1200) -> Examples:
    return (Digits() if classes == 2 else Digits.all()).read(first, first + count)


@cache
def _trained(classes: int) -> LaSVM:
    return _learn(LaSVM(gamma=0.012, classes=classes), _digits(classes), rounds=3)


def _proxy(svm: LaSVM) -> Proxy:
    proxy = svm.proxy()
    assert proxy is not None
    return proxy


def _slow_proxy(svm: LaSVM, x: Floats) -> Any:
    """The same from its definition, in float64: x.s by projections of whole steps, all else as in the kernel."""
    state = svm.save()
    basis, step = state["basis"][:96].astype(np.float64), float(state["step"])
    s, rows = state["vectors"].astype(np.float64), (x - state["centre"]).astype(np.float64)
    products = step**2 * np.rint(rows @ basis.T / step) @ np.rint(s @ basis.T / step).T
    distance = (rows**2).sum(axis=1)[:, None] + (s**2).sum(axis=1) - 2 * products
    kernel = np.exp(-float(state["gamma"]) * np.maximum(distance, 0))
    scores = kernel @ state["alpha"].T + state["extremes"][1]
    return scores[:, 0] if scores.shape[1] == 1 else scores


@pytest.mark.parametrize("classes", [2, 10])
def test_the_cheap_score_is_what_it_says_it_is(classes: int) -> None:
    svm, fresh = _trained(classes), _digits(classes, 30_000, 300)
    np.testing.assert_allclose(_proxy(svm).score(fresh.x), _slow_proxy(svm, fresh.x), rtol=1e-3, atol=2e-3)


@pytest.mark.parametrize("classes", [2, 10])
def test_it_is_off_by_more_than_its_guard_almost_never(classes: int) -> None:
    svm, fresh = _trained(classes), _digits(classes, 30_000, 2000)
    proxy = _proxy(svm)
    error = np.abs(proxy.score(fresh.x) - svm.score(fresh.x))
    assert np.mean(error <= proxy.error_bound) > 0.99
    assert proxy.error_bound < 1.0  # And yet it says something: scores are about 1 and more.
    assert 0 < proxy.cost < 0.5


@pytest.mark.parametrize("classes", [2, 10])
def test_a_score_does_not_depend_on_the_rows_beside_it(classes: int) -> None:
    proxy, x = _proxy(_trained(classes)), _digits(classes, 30_000, 150).x
    whole = proxy.score(x)
    order = np.random.default_rng(0).permutation(150)
    assert np.array_equal(proxy.score(x[order]), whole[order])
    assert np.array_equal(np.concatenate([proxy.score(x[row : row + 1]) for row in range(150)]), whole)


@pytest.mark.parametrize("way", ["save", "copy"])
def test_a_replica_that_is_loaded_or_copied_has_the_same_proxy_and_keeps_it(way: str) -> None:
    svm = _learn(LaSVM(gamma=0.012, gap=0.2), _digits(2, 0, 900))
    other = LaSVM(gamma=0.012, gap=0.2)
    if way == "save":
        other.load(svm.save())
    else:
        other = copy.deepcopy(svm)
    x = _digits(2, 30_000, 100).x
    for step in range(3):
        one, two = _proxy(svm), _proxy(other)
        assert (one.error_bound, one.cost) == (two.error_bound, two.cost)
        assert np.array_equal(one.score(x), two.score(x))
        for replica in (svm, other):
            _learn(replica, _digits(2, 900 + 400 * step, 400))
    assert svm.digest() == other.digest()


def test_the_projection_does_not_depend_on_how_updates_were_cut() -> None:
    fresh = _digits(2, 0, 900)
    one = _learn(LaSVM(gamma=0.012), fresh)
    two = LaSVM(gamma=0.012)
    for piece in np.array_split(np.arange(900), 50):
        two.update(take_all(fresh.take(piece), fresh.index[piece], 0))
    two.end_round()
    assert one.digest() == two.digest()
    x = _digits(2, 30_000, 100).x
    assert np.array_equal(_proxy(one).score(x), _proxy(two).score(x))


def test_the_basis_is_orthonormal_and_better_than_one_at_random() -> None:
    state = _trained(2).save()
    basis = state["basis"].astype(np.float64)
    np.testing.assert_allclose(basis @ basis.T, np.eye(len(basis)), atol=1e-5)
    s = state["vectors"].astype(np.float64)
    kept = ((s @ basis[:96].T) ** 2).sum() / (s**2).sum()
    best = (np.sort(np.linalg.eigvalsh(s.T @ s))[::-1][:96]).sum() / (s**2).sum()
    assert kept > 0.98 * best


def test_vectors_of_few_directions_do_no_harm() -> None:
    rng = np.random.default_rng(0)
    x = (rng.normal(size=(900, 3)) @ rng.normal(size=(3, 400))).astype(np.float32)
    y = np.where(rng.random(900) < 0.5, 1, -1).astype(np.int8)
    svm = _learn(LaSVM(gamma=0.01), Examples(x, y, np.arange(900)))
    proxy = _proxy(svm)
    assert np.mean(np.abs(proxy.score(x) - svm.score(x)) <= proxy.error_bound) > 0.99
    assert proxy.error_bound < 0.2  # All that is left is the rounding of coordinates.


def test_there_is_none_for_few_features_few_vectors_or_another_kernel_or_if_it_is_off() -> None:
    fresh = _digits(2)
    assert LaSVM().proxy() is None
    assert _learn(LaSVM(gamma=0.012), fresh.take(slice(0, 80))).proxy() is None
    assert _learn(LaSVM(gamma=0.012, cascade=False), fresh).proxy() is None
    for kernel in ("linear", "poly"):
        assert _learn(LaSVM(kernel=kernel, gamma=0.01), fresh.take(slice(0, 400))).proxy() is None
    narrow = Examples(np.ascontiguousarray(fresh.x[:, 300:400]), fresh.y, fresh.index)
    assert _learn(LaSVM(gamma=0.05), narrow).proxy() is None


def test_a_cascade_that_is_neither_on_nor_off_is_refused() -> None:
    with pytest.raises(InputError, match=r"cascade is 'no'.*True or False"):
        LaSVM(cascade="no")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("classes", [2, 10])
def test_a_run_with_the_cascade_selects_as_one_without(classes: int) -> None:
    def run(cascade: bool) -> Any:
        stream: Any = Digits() if classes == 2 else Digits.all()
        rule = SignedMargin(0.1) if classes == 2 else LeastMargin(0.2)
        return train(
            LaSVM(gamma=0.012, gap=0.2, cascade=cascade), stream, rule=rule, examples=6144, batch=1024, warmstart=1024,
            engine="threads", nodes=1,
        )  # fmt: skip

    with_it, without = run(True), run(False)
    assert with_it.scored < without.scored == without.sifted
    if not with_it.lowered:
        assert with_it.learned.key.tolist() == without.learned.key.tolist()
        assert with_it.learned.p.tolist() == without.learned.p.tolist()
    else:  # Where it is wrong once, all that follows may differ a little.
        assert with_it.lowered < 0.01 * with_it.selected
    assert abs(with_it.selected - without.selected) < 0.05 * without.selected


def test_kernel_rows_of_what_was_scored_are_used_again_to_the_same_model(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = (_learn(LaSVM(gamma=0.012, gap=0.2), _digits(2, 0, 900)) for _ in range(2))
    fresh, asked = _digits(2, 900, 60), list[int]()
    plain = kernels.kernel_rows

    def counting(x: Floats, *rest: Any) -> None:
        if rest[1] is dual_of(one).view().panels:
            asked.append(len(x))
        plain(x, *rest)

    scores = one.score(fresh.x)  # With its kernel rows kept.
    monkeypatch.setattr(kernels, "kernel_rows", counting)
    for svm in (one, two):
        svm.update(take_all(fresh.take(slice(0, 40)), fresh.index[:40], 0))
    assert asked == []  # All were known, and nothing else was computed of the vectors.
    one.update(take_all(fresh.take(slice(40, 60)), fresh.index[40:], 0))
    two.update(take_all(fresh.take(slice(40, 60)), fresh.index[40:], 0))
    assert asked == [20]  # The vectors have changed.
    assert one.digest() == two.digest()
    other = LaSVM(gamma=0.012, cascade=False)
    other.load(_learn(LaSVM(gamma=0.012, gap=0.2), _digits(2, 0, 900)).save())
    assert np.array_equal(scores, other.score(fresh.x))


def test_the_cheap_score_does_not_depend_on_grouping_though_keys_come_again_with_other_features() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1500, 192)).astype(np.float32)
    y = np.where(x[:, 0] + 0.3 * rng.normal(size=1500) > 0, 1, -1).astype(np.int8)
    key = rng.integers(0, 260, 1500)

    def learnt(step: int) -> LaSVM:
        learner = LaSVM(C=1, gamma=0.005, max_vectors=200)
        for first in range(0, 1500, step):
            rows = slice(first, min(first + step, 1500))
            index = np.arange(rows.start, rows.stop)
            examples = Examples(x[rows], y[rows], index, key[rows])
            learner.update(replace(Selected.weighted(x[rows], y[rows]), examples=examples))
            if rows.stop in (600, 1200):
                learner.end_round()
        return learner

    whole, pieces, loaded = learnt(300), learnt(50), LaSVM(C=1, gamma=0.005, max_vectors=200)
    loaded.load(whole.save())
    assert whole.digest() == pieces.digest() == loaded.digest()
    scores = [_proxy(each).score(x[:100]).tobytes() for each in (whole, pieces, loaded)]
    assert len(set(scores)) == 1


def test_a_basis_of_another_shape_is_refused() -> None:
    state = _trained(2).save()
    state["basis"] = state["basis"][:1, :3]
    with pytest.raises(ValueError, match="basis has shape"):
        LaSVM(gamma=0.012).load(state)


def test_directions_that_come_later_are_found() -> None:
    rng = np.random.default_rng(1)
    few, many = rng.normal(size=(6, 400)), rng.normal(size=(60, 400))
    learner = LaSVM(C=1, gamma=0.002)
    for number in range(10):
        factors = few if number == 0 else many
        x = (rng.normal(size=(300, len(factors))) @ factors / 20).astype(np.float32)
        y = np.where(rng.normal(size=300) + x[:, 0] > 0, 1, -1).astype(np.int8)
        index = np.arange(300 * number, 300 * number + 300)
        learner.update(replace(Selected.weighted(x, y), examples=Examples(x, y, index)))
        learner.end_round()
    assert learner._projection is not None
    assert int(learner._projection._basis.any(axis=1).sum()) >= 60


def test_an_infinite_feature_has_no_finite_cheap_score() -> None:
    x = np.array(_digits(2, 30_000, 300).x[:4])
    x[2, 5] = np.inf
    with np.errstate(invalid="ignore"):
        assert np.isnan(_proxy(_trained(2)).score(x)).tolist() == [False, False, True, False]
