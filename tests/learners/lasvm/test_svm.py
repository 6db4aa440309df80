from __future__ import annotations

import copy
import threading
from typing import Any

import numpy as np
import pytest
from sklearn.svm import SVC

from learners.reference import PlainLaSVM, dual_of, kernel_in_cache
from making import selected, stripes, two_moons
from paraactive import Digits, LaSVM
from paraactive.data.examples import Selected
from paraactive.errors import InputError


def _kernel_from_scratch(svm: LaSVM) -> Any:
    rows = dual_of(svm).live.rows()
    return dual_of(svm).kernel_within(rows)


def test_it_takes_the_same_steps_as_the_plain_algorithm() -> None:
    x, y = two_moons(220, noise=0.25, seed=1)
    p = np.random.default_rng(2).uniform(0.1, 1.0, len(y))
    # The polynomial kernel, because its rows are never moved to another centre on the way.
    svm = LaSVM(C=2.0, kernel="poly", gamma=1.0, coef0=1.0, tau=1e-3)
    plain = PlainLaSVM(svm_kernel(LaSVM(kernel="poly", gamma=1.0, coef0=1.0), x), y, 2.0 * (1 / p), 2.0, 1e-3, 2)
    svm.update(selected(x, y, p))
    for k in range(len(y)):
        plain.process(k)
    live = dual_of(svm).keys[: svm.vectors]
    assert 20 < len(live) < 150
    assert live.tolist() == plain.live
    np.testing.assert_allclose(svm.dual_coefficients, [plain.alpha[k] for k in live], atol=1e-9)
    assert svm.bias == pytest.approx(plain.bias, abs=1e-9)


def svm_kernel(svm: LaSVM, x: Any) -> Any:
    """The kernel matrix in the learner's own float32 values, so that only the algorithm is compared."""
    svm.update(selected(x[:1], np.array([1], np.int8)))
    x = dual_of(svm).live.relative(x)
    return dual_of(svm).kernel_within(x)


@pytest.fixture(scope="module")
def churned() -> LaSVM:
    """After 3000 insertions, most of them evicted again, with weights and rounds."""
    x, y = two_moons(3000, noise=0.3, seed=3)
    p = np.random.default_rng(4).uniform(0.02, 1.0, len(y))
    svm = LaSVM(C=1.0, gamma=2.0, gap=0.05)
    everything = selected(x, y, p)
    for first in range(0, 3000, 500):
        svm.update(everything.take(slice(first, first + 500)))
        svm.end_round()
    assert svm.vectors < 2000
    return svm


def test_its_kernel_values_equal_those_recomputed_from_scratch(churned: LaSVM) -> None:
    assert np.array_equal(kernel_in_cache(churned), _kernel_from_scratch(churned))


def test_its_gradients_equal_those_recomputed_from_scratch(churned: LaSVM) -> None:
    n = churned.vectors
    y = np.where(dual_of(churned).upper[0, :n] > 0, 1.0, -1.0)
    expected = y - _kernel_from_scratch(churned).astype(np.float64) @ churned.dual_coefficients
    np.testing.assert_allclose(dual_of(churned).g[0, :n], expected, atol=1e-9)


def test_its_vectors_are_the_examples_of_their_keys(churned: LaSVM) -> None:
    x, _ = two_moons(3000, noise=0.3, seed=3)
    kept = x[dual_of(churned).keys[: churned.vectors]]
    assert np.array_equal(dual_of(churned).live.rows(), dual_of(churned).live.relative(kept))
    np.testing.assert_allclose(churned.support_vectors, kept, atol=1e-6)


def test_empty_slots_add_nothing_to_a_score(churned: LaSVM) -> None:
    assert not dual_of(churned).alpha[:, churned.vectors :].any()
    panels = dual_of(churned).view().panels
    assert not panels.transpose(0, 2, 1).reshape(-1, 2)[churned.vectors :].any()


def test_alphas_stay_in_their_boxes_and_add_up_to_zero(churned: LaSVM) -> None:
    n, alpha = churned.vectors, churned.dual_coefficients
    assert np.all(dual_of(churned).lower[0, :n] <= alpha)
    assert np.all(alpha <= dual_of(churned).upper[0, :n])
    assert abs(alpha.sum()) < 1e-9


def test_the_score_is_the_kernel_expansion(churned: LaSVM) -> None:
    x, _ = two_moons(100, noise=0.3, seed=9)
    distance = ((x[:, None].astype(np.float64) - churned.support_vectors[None]) ** 2).sum(-1)
    expected = np.exp(-2.0 * distance) @ churned.dual_coefficients + churned.bias
    np.testing.assert_allclose(churned.score(x), expected, atol=1e-3)


def test_end_round_closes_the_gap_to_the_one_asked_for(churned: LaSVM) -> None:
    assert dual_of(churned).extremes[0] <= 0.05


def _trained(svm: LaSVM, x: Any, y: Any, p: Any, passes: int) -> LaSVM:
    # Vectors that were evicted early come back in later passes; those that are live are not inserted again.
    for _ in range(passes):
        svm.update(selected(x, y, p))
    svm.finish()
    return svm


def _svc_objective(svc: Any, kernel: Any, y: Any) -> float:
    alpha = np.zeros(len(y))
    alpha[svc.support_] = svc.dual_coef_[0]
    return float(alpha @ y - 0.5 * alpha @ kernel @ alpha)


def _digits() -> tuple[Any, Any]:
    examples = Digits().read(0, 1500)
    return examples.x, examples.y


def _with_duplicates() -> tuple[Any, Any]:
    x, y = stripes(400, width=5, seed=5)
    again = np.random.default_rng(6).integers(0, 400, 200)
    return np.concatenate([x, x[again]]), np.concatenate([y, y[again]])


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (_digits, {"C": 1.0, "kernel": "rbf", "gamma": 0.012}),
        (lambda: two_moons(1500, noise=0.3, seed=7), {"C": 1.0, "kernel": "rbf", "gamma": 2.0}),
        (_with_duplicates, {"C": 0.5, "kernel": "linear"}),
        (lambda: two_moons(600, noise=0.2, seed=8), {"C": 1.0, "kernel": "poly", "gamma": 1.0, "coef0": 1.0}),
    ],
    ids=["digits", "two moons with noise", "a linear problem with duplicates", "polynomial"],
)
def test_run_to_the_end_with_sample_weights_it_agrees_with_svc(data: Any, options: dict[str, Any]) -> None:
    x, y = data()
    weight = np.random.default_rng(10).uniform(0.3, 3.0, len(y))
    ours = _trained(LaSVM(**options, tau=1e-3), x, y, 1 / weight, passes=6)
    svc = SVC(**options, tol=1e-4, cache_size=500).fit(x.astype(np.float64), y, sample_weight=weight)
    plain = LaSVM(**options)
    kernel = svm_kernel(plain, x).astype(np.float64)
    assert ours.dual_objective() == pytest.approx(_svc_objective(svc, kernel, y), rel=1e-3)
    equal = np.mean((ours.score(x) > 0) == (svc.decision_function(x.astype(np.float64)) > 0))
    assert equal >= 0.998


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_data_far_from_the_origin_is_learnt_as_well(kernel: str) -> None:
    x, y = two_moons(400, noise=0.2, seed=17)
    offset = np.array([3000.0, -7000.0])
    shifted = (x.astype(np.float64) + offset).astype(np.float32)
    near = _trained(LaSVM(kernel=kernel, gamma=1.0), x, y, 1.0, passes=5)
    far = _trained(LaSVM(kernel=kernel, gamma=1.0), shifted, y, 1.0, passes=5)
    # What is left is the rounding of the data itself, to 0.0005 here.
    np.testing.assert_allclose(far.score(shifted), near.score(x), atol=0.02)


@pytest.mark.parametrize("size", [1e2, 1e4, 1e6])
def test_an_outlier_at_the_beginning_does_no_harm(size: float) -> None:
    x, y = two_moons(1000, noise=0.2, seed=18)
    x[0, 0] = size
    svm = LaSVM(gamma=1.0)
    svm.update(selected(x, y))
    kept, alpha = svm.support_vectors.astype(np.float64), svm.dual_coefficients
    distance = ((x[1:, None].astype(np.float64) - kept[None]) ** 2).sum(-1)
    np.testing.assert_allclose(svm.score(x[1:]), np.exp(-distance) @ alpha + svm.bias, atol=2e-3)
    assert np.mean((svm.score(x[1:]) > 0) == (y[1:] > 0)) > 0.94


def test_an_example_of_weight_three_is_worth_three_copies_of_it() -> None:
    x, y = two_moons(200, noise=0.3, seed=11)
    weight = np.random.default_rng(12).integers(1, 4, len(y))
    weighted = _trained(LaSVM(gamma=1.0, tau=1e-5), x, y, 1 / weight, passes=5)
    copied = _trained(LaSVM(gamma=1.0, tau=1e-5), x.repeat(weight, 0), y.repeat(weight), 1.0, passes=5)
    assert weighted.dual_objective() == pytest.approx(copied.dual_objective(), rel=1e-4)
    np.testing.assert_allclose(weighted.score(x), copied.score(x), atol=0.02)


def test_one_step_changes_an_alpha_by_at_most_c_however_heavy_the_example() -> None:
    x = np.array([[0.0], [0.1]], np.float32)
    svm = LaSVM(C=0.01, gamma=1.0, reprocess=1)
    svm.update(selected(x, np.array([1, -1], np.int8), p=1e-6))
    assert svm.vectors == 2
    # One PROCESS and one REPROCESS step.
    assert np.abs(svm.dual_coefficients) == pytest.approx([0.02, 0.02])


def test_an_example_that_is_live_is_not_inserted_again() -> None:
    x, y = two_moons(50, noise=0.3, seed=13)
    svm = LaSVM(gamma=1.0)
    svm.update(selected(x, y))
    assert svm.vectors > 20
    svm.update(selected(x, y))
    after = dual_of(svm).keys[: svm.vectors].tolist()
    assert len(set(after)) == len(after)


def test_with_one_class_nothing_is_evicted_and_all_scores_have_its_sign() -> None:
    x, _ = two_moons(40, noise=0.3, seed=14)
    for sign in (1, -1):
        svm = LaSVM(gamma=1.0)
        svm.update(selected(x, np.full(40, sign, np.int8)))
        assert svm.vectors == 40
        assert np.all(np.sign(svm.score(x)) == sign)


def test_finish_leaves_no_violating_pair() -> None:
    x, y = two_moons(500, noise=0.3, seed=15)
    svm = LaSVM(gamma=1.0, tau=1e-3)
    svm.update(selected(x, y))
    svm.finish()
    assert dual_of(svm).extremes[0] <= 1e-3


def test_growing_keeps_everything() -> None:
    x, y = stripes(1500, width=30, seed=16)
    svm = LaSVM(C=0.1, gamma=0.5)
    svm.update(selected(x, y))
    assert svm.vectors > 512
    assert np.array_equal(kernel_in_cache(svm), _kernel_from_scratch(svm))


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"kernel": "sigmoid"}, "kernel"),
        ({"C": 0}, "C"),
        ({"C": float("nan")}, "C"),
        ({"gamma": -1.0}, "gamma"),
        ({"tau": 0.0}, "tau"),
        ({"gap": 0.0}, "gap"),
        ({"reprocess": 0}, "reprocess"),
        ({"degree": 1.5}, "degree"),
        ({"gamma": "auto"}, "gamma"),
        ({"coef0": float("nan")}, "coef0"),
        ({"cache_size": 0}, "cache_size"),
        ({"max_vectors": 1}, "max_vectors"),
    ],
)
def test_bad_parameters_are_named(options: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        LaSVM(**options)


def test_examples_too_large_for_float32_are_refused() -> None:
    x, y = two_moons(20, noise=0.2, seed=19)
    with pytest.raises(InputError, match=r"too large.*scale the features"):
        LaSVM(gamma=1.0).update(selected(x * np.float32(1e20), y))


def test_it_can_be_copied_while_others_score_with_it():
    learner = LaSVM(C=1, gamma=0.012)
    stream = Digits()
    learner.update(Selected.weighted(stream.read(0, 1500).x, stream.read(0, 1500).y))
    learner.end_round()
    assert learner.proxy() is not None, "only then are kernel values kept that a copy could meet while they change"
    x, digest, stop = stream.read(2000, 2400).x, learner.digest(), threading.Event()

    def score() -> None:
        while not stop.is_set():
            learner._scored.clear()
            for first in range(0, len(x), 4):
                learner.score(x[first : first + 4])

    scoring = threading.Thread(target=score)
    scoring.start()
    try:
        copies = [copy.deepcopy(learner) for _ in range(20)]
    finally:
        stop.set()
        scoring.join()
    assert {each.digest() for each in copies} == {digest}
    assert all(not each._scored for each in copies)


def test_another_example_with_the_key_of_a_vector_does_not_take_its_place() -> None:
    x, y = np.array([[0, 0], [1, 0], [4, 4], [5, 4]], np.float32), np.array([-1, -1, 1, 1], np.int8)
    learner = LaSVM(gamma="scale")
    learner.update(Selected.weighted(x, y))
    learner.update(Selected.weighted(x[::-1].copy(), y[::-1].copy()))  # The same keys, for other rows.
    assert (np.sign(learner.score(x)) == y).all()


@pytest.mark.parametrize("rows", [1, 300])
def test_what_is_remembered_of_scored_rows_is_bounded_and_its_own(rows: int) -> None:
    trained, warmstart = LaSVM(C=1, gamma=0.012), Digits().read(0, 1500)
    trained.update(selected(warmstart.x, warmstart.y))
    trained.end_round()
    for first in range(0, 6000, rows):
        trained.score(Digits().read(first, first + rows).x)
    numbers = sum(len(key) // 4 + len(own) for key, own in trained._scored.items())
    assert 0 < numbers < 9_000_000
    assert all(own.base is None for own in trained._scored.values())
