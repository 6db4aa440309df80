"""LaSVM with more than two classes: one machine for each, against the rest, over shared vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from learners.reference import PlainLaSVM, dual_of, kernel_in_cache
from making import selected, three_blobs, two_moons
from paraactive import Arrays, Digits, LaSVM, train
from paraactive.checks import check_learner
from paraactive.data.examples import Selected
from paraactive.errors import InputError


class PlainMachines:
    """Machines that take their steps each for itself, and drop a vector only together."""

    def __init__(self, kernel: Any, y: Any, box: Any, C: float, classes: int, steps: int, reprocess_all: bool) -> None:
        sides = [np.where(y == c, 1.0, -1.0) for c in range(classes)]
        self.machines = [PlainLaSVM(kernel, side, box, C, 1e-3, steps) for side in sides]
        self.live: list[int] = []
        self.steps, self.reprocess_all = steps, reprocess_all
        for machine in self.machines:
            machine.live = self.live  # one list for all

    def process(self, k: int) -> None:
        for machine in self.machines:
            machine.g[k] = machine.y[k] - sum(machine.alpha[s] * machine.kernel[k, s] for s in self.live)
            machine.alpha[k] = 0.0
        self.live.append(k)
        for machine in self.machines:
            i, j = machine.extremes()
            machine.step(*((k, j) if machine.y[k] > 0 else (i, k)))
        changed = [machine for machine in self.machines if self.reprocess_all or machine.alpha[k] != 0]
        for _ in range(self.steps):
            for machine in changed:
                machine.step(*machine.extremes())
            self.evict()

    def evict(self) -> None:
        ready = [machine for machine in self.machines if None not in machine.extremes()]
        ends = {id(m): tuple(m.g[s] for s in m.extremes() if s is not None) for m in ready}
        for s in reversed(list(self.live)) if ready else []:
            if all(self.useless(machine, s, *ends[id(machine)]) for machine in ready):
                last = self.live.pop()
                if last != s:
                    self.live[self.live.index(s)] = last

    @staticmethod
    def useless(machine: PlainLaSVM, s: int, high: float, low: float) -> bool:
        return machine.alpha[s] == 0 and (machine.g[s] >= high if machine.y[s] < 0 else machine.g[s] <= low)


@pytest.mark.parametrize("reprocess_all", [False, True])
def test_it_takes_the_same_steps_as_the_plain_machines(reprocess_all: bool) -> None:
    x, y = three_blobs(150, seed=1)
    p = np.random.default_rng(2).uniform(0.1, 1.0, len(y))
    options: dict[str, Any] = {"kernel": "poly", "gamma": 1.0, "coef0": 1.0}  # Rows are never moved to a centre.
    svm = LaSVM(C=2.0, **options, classes=3, own_weight=1.0, reprocess_all=reprocess_all)
    plain = PlainMachines(_kernel(x, **options), y, 2.0 / p, 2.0, 3, 2, reprocess_all)
    svm.update(selected(x, y, p))
    for k in range(len(y)):
        plain.process(k)
    live = dual_of(svm).keys[: svm.vectors]
    assert 20 < len(live) < 140
    assert live.tolist() == plain.live
    for m, machine in enumerate(plain.machines):
        np.testing.assert_allclose(svm.dual_coefficients[m], [machine.alpha[k] for k in live], atol=1e-8)


def _kernel(x: Any, **options: Any) -> Any:
    """The kernel matrix in the learner's own float32 values, so that only the algorithm is compared."""
    svm = LaSVM(**options)
    svm.update(selected(x[:1], np.array([1], np.int8)))
    rows = dual_of(svm).live.relative(x)
    return dual_of(svm).kernel_within(rows)


@pytest.fixture(scope="module")
def churned() -> LaSVM:
    """After 2000 insertions, many of them evicted again, with weights and rounds."""
    x, y = three_blobs(2000, seed=3)
    everything = selected(x, y, np.random.default_rng(4).uniform(0.05, 1.0, len(y)))
    svm = LaSVM(gamma=1.0, gap=0.05, classes=3)
    for first in range(0, 2000, 400):
        svm.update(everything.take(slice(first, first + 400)))
        svm.end_round()
    assert svm.vectors < 1500
    return svm


def test_kernel_values_gradients_and_alphas_are_what_they_should_be(churned: LaSVM) -> None:
    n, rows = churned.vectors, dual_of(churned).live.rows()
    kernel = dual_of(churned).kernel_within(rows)
    assert np.array_equal(kernel_in_cache(churned), kernel)
    alpha, g = dual_of(churned).alpha[:, :n], dual_of(churned).g[:, :n]
    side = np.where(dual_of(churned).upper[:, :n] > 0, 1.0, -1.0)
    np.testing.assert_allclose(g, side - alpha @ kernel.astype(np.float64), atol=1e-9)
    np.testing.assert_allclose(alpha.sum(axis=1), 0.0, atol=1e-9)
    assert (alpha >= dual_of(churned).lower[:, :n]).all()
    assert (alpha <= dual_of(churned).upper[:, :n]).all()
    assert not dual_of(churned).alpha[:, n:].any()  # An empty slot must add nothing to a score.
    assert (side.sum(axis=0) == -1).all()  # Each vector is on the right side of one machine of three.


def test_the_score_is_the_kernel_expansion_of_each_class(churned: LaSVM) -> None:
    x, _ = three_blobs(50, seed=9)
    vectors = churned.support_vectors.astype(np.float64)
    distance = ((x[:, None].astype(np.float64) - vectors[None]) ** 2).sum(axis=2)
    expected = np.exp(-distance) @ churned.dual_coefficients.T + churned.bias
    assert churned.score(x).shape == (50, 3)
    np.testing.assert_allclose(churned.score(x), expected, atol=2e-4)


def test_run_to_the_end_it_agrees_with_svc_one_against_the_rest() -> None:
    x, y = three_blobs(900, seed=5)
    weight = np.random.default_rng(6).uniform(0.3, 3.0, len(y))
    svm = LaSVM(gamma=0.7, classes=3, own_weight=1.5)
    for _ in range(6):
        svm.update(selected(x, y, 1 / weight))
    svm.finish()
    score = svm.score(x)
    options: dict[str, Any] = {"gamma": 0.7}
    for c in range(3):
        own = np.where(y == c, 1.5, 1.0)
        svc = SVC(**options, tol=1e-4).fit(x.astype(np.float64), y == c, sample_weight=weight * own)
        np.testing.assert_allclose(score[:, c], svc.decision_function(x.astype(np.float64)), atol=0.02)
    rest: Any = OneVsRestClassifier(SVC(**options)).fit(x, y)
    assert np.mean(_passes(x, y).score(x).argmax(axis=1) == rest.predict(x)) > 0.99


def _passes(x: Any, y: Any) -> LaSVM:
    svm = LaSVM(gamma=0.7, classes=3, own_weight=1.0)
    for _ in range(6):
        svm.update(selected(x, y))
    svm.finish()
    return svm


def test_by_default_the_own_class_of_a_machine_counts_more() -> None:
    x, y = three_blobs(300, seed=5)
    usual, given = LaSVM(gamma=0.7, classes=3), LaSVM(gamma=0.7, classes=3, own_weight=np.sqrt(2))
    for svm in (usual, given):
        svm.update(selected(x, y))
    assert usual.digest() == given.digest()
    dual = dual_of(usual)
    boxes = {*dual.upper[:, : dual.count].ravel().tolist(), *dual.lower[:, : dual.count].ravel().tolist()}
    assert boxes == {0.0, float(np.sqrt(2)), -1.0}
    two, other = LaSVM(gamma=1.0), LaSVM(gamma=1.0, own_weight=5.0)
    for svm in (two, other):
        svm.update(selected(*two_moons(200, noise=0.2, seed=7)))
    assert two.digest() == other.digest(), "two classes have one machine"


def test_two_classes_as_three_of_which_one_never_comes() -> None:
    x, y = two_moons(600, noise=0.2, seed=7)
    two, three = LaSVM(gamma=1.0), LaSVM(gamma=1.0, classes=3, own_weight=1.0, reprocess_all=True)
    two.update(selected(x, y))
    three.update(selected(x, ((y + 1) // 2).astype(np.int8)))
    score = three.score(x)
    np.testing.assert_allclose(score[:, 1], two.score(x), atol=0.05)
    np.testing.assert_allclose(score[:, 0], -score[:, 1], atol=0.05)
    assert (score[:, 2] == -1).all()  # No example speaks for it, all speak against it.


def test_vectors_are_dropped_though_a_class_has_not_come_yet() -> None:
    x, y = two_moons(1500, noise=0.1, seed=8)
    svm = LaSVM(gamma=1.0, classes=5)
    svm.update(selected(x, ((y + 1) // 2).astype(np.int8)))
    assert svm.vectors < 500
    late = three_blobs(40, seed=9)[0] + 6
    svm.update(selected(late, np.full(40, 4, np.int8)))
    assert (svm.score(late).argmax(axis=1) == 4).mean() > 0.9


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_it_passes_the_public_checks(kernel: str) -> None:
    check_learner(lambda: LaSVM(kernel=kernel, gap=0.1), classes=4)


def test_labels_of_other_classes_are_refused() -> None:
    x = np.zeros((2, 2), np.float32)
    with pytest.raises(InputError, match="the labels of 3 classes are 0 to 2"):
        LaSVM(classes=3).update(selected(x, np.array([0, 3], np.int8)))
    with pytest.raises(InputError, match=r"the labels of 2 classes are -1 and \+1"):
        LaSVM().update(selected(x, np.array([0, 1], np.int8)))


@pytest.mark.parametrize("count", [1, 0, -3, 128, 2.5, True])
def test_a_number_of_classes_that_makes_no_sense_is_refused(count: Any) -> None:
    with pytest.raises(InputError, match="classes is"):
        LaSVM(classes=count)


def test_the_run_tells_it_how_many_classes_there_are() -> None:
    x, y = three_blobs(1200, seed=10)
    names = np.array(["ham", "spam", "eggs"])[y]
    stream = Arrays(x, names)
    assert stream.classes == ("eggs", "ham", "spam")
    run = train(LaSVM(gap=0.2), stream, warmstart=200, batch=200, test=(x, names), nodes=1)
    assert run.learner.describe()["classes"] == 3
    assert run.mistakes is not None
    assert run.mistakes < 0.18 * len(x)  # The clouds overlap: the best possible is about 0.14
    with pytest.raises(InputError, match="the stream has 3 classes, and the learner is for 2"):
        train(LaSVM(classes=2), stream)


def test_all_ten_digits() -> None:
    run = train(LaSVM(gamma=0.012, gap=0.2), Digits.all(), examples=8192, test=True, nodes=1)
    assert run.mistakes is not None
    assert run.mistakes < 600  # Of 10 000.
    assert 0.02 < run.sampling_rate < 0.5


# The scale -------------------------------------------------------------------------------------------------------


def test_another_word_for_gamma_is_refused() -> None:
    with pytest.raises(InputError, match="gamma is 'auto'"):
        LaSVM(gamma="auto")


def test_a_state_of_other_classes_is_taken_over_or_refused() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(90, 3)).astype(np.float32), rng.integers(0, 3, 90).astype(np.int8)
    three = LaSVM(gamma=1.0, classes=3)
    three.update(Selected.weighted(x, y))
    other = LaSVM(gamma=1.0)
    other.load(three.save())
    assert (other.score(x) == three.score(x)).all()
    two = LaSVM(gamma=1.0)
    two.update(Selected.weighted(x, np.where(y > 0, 1, -1).astype(np.int8)))
    with pytest.raises(InputError, match="1 machines"):
        LaSVM(gamma=1.0, classes=3).load(two.save())
