from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier

from making import selected, stripes, two_moons
from paraactive import Arrays, LaSVM, Network, TorchLearner, train
from paraactive.basics.part_spec import OWN
from paraactive.basics.registry import LEARNERS
from paraactive.checks import check_learner
from paraactive.data.examples import Selected, SparseRows
from paraactive.errors import InputError
from paraactive.learners import Guarded, Learner, SklearnLearner, Standardized
from paraactive.learners.base import Proxy, capabilities_of
from paraactive.learners.lasvm.scale import scale_of
from paraactive.learners.standardized import innermost, is_standardized

LEARNERS_INSIDE: dict[str, Callable[[], Learner]] = {
    "svm": lambda: Standardized(LaSVM(gap=0.1)),
    "network": lambda: Standardized(Network(hidden=10)),
    "scikit-learn": lambda: Standardized(SklearnLearner(SGDClassifier(random_state=0))),  # pyright: ignore[reportArgumentType]
    "guarded": lambda: Guarded(Standardized(LaSVM(gap=0.1), missing="mean"), set_aside=0.3),
    "inside a guard": lambda: Standardized(Guarded(LaSVM(gap=0.1), set_aside=0.3), scale=False, missing="mean"),
}
X, Y = two_moons(300, noise=0.2, seed=0)
UNEVEN = (X * np.array([1.0, 1e4]) + np.array([0.0, 3e5])).astype(np.float32)


def trained(learner: Standardized, x: Any = UNEVEN, y: Any = Y) -> Standardized:
    learner.update(selected(x, y))
    learner.end_round()
    return learner


@pytest.mark.parametrize("name", LEARNERS_INSIDE)
def test_it_passes_the_public_checks(name: str) -> None:
    check_learner(LEARNERS_INSIDE[name])


def test_it_passes_the_public_checks_with_three_classes() -> None:
    check_learner(LEARNERS_INSIDE["svm"], classes=3)


def test_columns_of_different_scale_are_learned_as_well_as_equal_ones() -> None:
    y = Y > 0
    bare = LaSVM(gap=0.1)
    bare.update(selected(UNEVEN, Y))
    bare.end_round()
    learner = trained(Standardized(LaSVM(gap=0.1)))
    assert np.mean((bare.score(UNEVEN) > 0) != y) > 0.1
    assert np.mean((learner.score(UNEVEN) > 0) != y) < 0.05


def test_the_learner_inside_gets_standardized_rows() -> None:
    inside = LaSVM(gap=0.1)
    learner = trained(Standardized(inside))
    rows = learner.standardize(UNEVEN)
    assert np.allclose(rows.mean(axis=0), 0, atol=1e-5)
    assert np.allclose(rows.std(axis=0), 1, atol=1e-5)
    direct = LaSVM(gap=0.1)
    direct.known_scale = scale_of(rows)  # Of all rows of the first round, not of the first 64.
    direct.update(selected(rows, Y))
    direct.end_round()
    assert inside.digest() == direct.digest()
    assert direct.save()["gamma"] == pytest.approx(scale_of(rows))


def test_the_rows_of_the_whole_first_round_decide_and_an_early_model_is_forgotten() -> None:
    x = np.random.default_rng(0).normal(size=(2000, 2)).astype(np.float32)
    x[1000:] *= 10.0  # The first 512 rows are not like the others.
    y = np.where(x[:, 0] > 0, 1, -1).astype(np.int8)
    learner, pieces = Standardized(LaSVM(gap=0.1)), Standardized(LaSVM(gap=0.1))
    learner.update(selected(x, y))
    for first in range(0, 2000, 300):
        pieces.update(selected(x, y).take(slice(first, first + 300)))
        resumed = Standardized(LaSVM(gap=0.1))
        resumed.load(pieces.save())
        pieces = resumed
    assert learner.vectors > 0
    assert np.mean((learner.score(x) > 0) == (y > 0)) > 0.9, "it can be used before the round ends"
    for each in (learner, pieces):
        each.end_round()
    assert pieces.digest() == learner.digest()
    assert learner.scaling is not None
    assert np.allclose(learner.scaling.scale, x.std(axis=0), rtol=1e-4)


def test_scores_are_zero_until_there_are_20_examples() -> None:
    learner = Standardized(LaSVM())
    learner.update(selected(UNEVEN[:19], Y[:19]))
    assert not learner.score(UNEVEN).any()
    assert learner.vectors == 0
    with pytest.raises(InputError, match="not known"):
        learner.standardize(UNEVEN)
    learner.update(selected(UNEVEN[19:], Y[19:]))
    assert np.mean((learner.score(UNEVEN) > 0) == (Y > 0)) > 0.8


def test_provisional_means_do_not_depend_on_how_examples_are_grouped() -> None:
    digests: set[str] = set()
    for size in (1, 7, 100, len(UNEVEN)):
        learner = Standardized(LaSVM())
        for first in range(0, len(UNEVEN), size):
            learner.update(selected(UNEVEN, Y).take(slice(first, first + size)))
        digests.add(learner.digest())
    assert len(digests) == 1


def test_a_small_table_knows_its_error() -> None:
    for rows in (100, 300):
        run = train(Standardized(LaSVM(gap=0.2)), Arrays(UNEVEN[:rows], Y[:rows]))
        assert run.estimates is not None
        assert run.estimates.recent_error.value < 0.4


def test_the_means_are_fixed_after_the_first_round() -> None:
    learner = trained(Standardized(LaSVM()))
    assert learner.scaling is not None
    before = learner.scaling.center.copy()
    learner.update(selected(UNEVEN * 5, Y))
    learner.end_round()
    assert np.array_equal(learner.scaling.center, before)


def test_fewer_than_20_examples_wait_for_the_next_round() -> None:
    learner, log = Standardized(LaSVM()), selected(UNEVEN, Y)
    learner.end_round()
    learner.update(log.take(slice(0, 19)))
    learner.end_round()
    assert learner.scaling is None
    learner.update(log.take(slice(19, 20)))
    learner.end_round()
    assert learner.digest() == trained(Standardized(LaSVM()), UNEVEN[:20], Y[:20]).digest()


def test_each_example_counts_with_its_weight() -> None:
    x, y = UNEVEN[:30], Y[:30]
    twice, heavy = np.concatenate([x, x[:10]]), np.where(np.arange(30) < 10, 0.5, 1.0)
    once, again = Standardized(LaSVM()), Standardized(LaSVM())
    once.update(selected(x, y, heavy))
    once.end_round()
    trained(again, twice, np.concatenate([y, y[:10]]))
    assert once.scaling is not None
    assert again.scaling is not None
    assert np.allclose(once.scaling.center, again.scaling.center)
    assert np.allclose(once.scaling.scale, again.scaling.scale)


def test_sparse_rows_pass_unchanged() -> None:
    x, y = stripes(200, 10, seed=1)
    rows = SparseRows.of(np.where(np.abs(x) < 0.7, 0, x).astype(np.float32))
    bare, learner = LaSVM(gap=0.1), Standardized(LaSVM(gap=0.1))
    for each in (bare, learner):
        each.update(Selected.weighted(rows, y))
        each.end_round()
    assert np.array_equal(bare.score(rows), learner.score(rows))
    assert learner.scaling is None


def test_a_missing_value_counts_as_the_mean() -> None:
    x = UNEVEN.copy()
    x[::7, 1] = np.nan
    learner = trained(Standardized(LaSVM(gap=0.1), missing="mean"), x)
    assert capabilities_of(learner).fills_missing
    filled = x.copy()
    filled[::7, 1] = np.nanmean(x[:, 1].astype(np.float64))
    assert np.isfinite(learner.score(x)).all()
    assert np.allclose(learner.score(x), learner.score(filled), atol=1e-3)
    with pytest.raises(InputError, match="median"):
        Standardized(LaSVM(), missing="median")


def test_rows_of_another_width_are_an_error() -> None:
    learner = Standardized(LaSVM())
    learner.update(selected(X, Y))
    with pytest.raises(InputError, match="2 features"):
        learner.update(selected(np.zeros((3, 5), np.float32), Y[:3]))
    learner.end_round()
    with pytest.raises(InputError, match="2 features"):
        learner.score(np.zeros((3, 5), np.float32))


class WithProxy(LaSVM):
    """One whose proxy is exact."""

    def proxy(self) -> Proxy:
        return Proxy(self.score, 0.5, 0.1)


def test_the_proxy_scores_standardized_rows() -> None:
    learner = trained(Standardized(WithProxy()))
    proxy = learner.proxy()
    assert proxy is not None
    assert np.array_equal(proxy.score(UNEVEN), learner.score(UNEVEN))
    assert (proxy.error_bound, proxy.cost) == (0.5, 0.1)


def test_other_attributes_are_those_of_the_learner_inside() -> None:
    learner = trained(Standardized(LaSVM(gamma=0.5)))
    assert learner.vectors > 0
    assert learner.gamma == 0.5
    assert capabilities_of(learner).releases_gil
    assert "Standardized(LaSVM(" in repr(learner)
    with pytest.raises(AttributeError, match="nonsense"):
        _ = learner.nonsense
    assert copy.copy(learner).vectors == learner.vectors


def test_the_innermost_learner_is_found_in_any_order() -> None:
    inside = LaSVM()
    assert innermost(inside) is inside
    assert innermost(Guarded(Standardized(inside))) is inside
    assert innermost(Standardized(Guarded(inside))) is inside
    assert is_standardized(Guarded(Standardized(inside)))
    assert not is_standardized(Guarded(inside))


@pytest.mark.parametrize(
    "wrong", [Standardized(LaSVM()), Guarded(Standardized(LaSVM())), LaSVM, "svm"], ids=lambda each: type(each).__name__
)
def test_what_is_not_a_bare_learner_is_refused(wrong: Any) -> None:
    with pytest.raises(InputError, match="standardized"):
        Standardized(wrong)


def test_a_learner_is_guarded_once() -> None:
    with pytest.raises(InputError, match="guarded already"):
        Guarded(Standardized(Guarded(LaSVM())))


def test_it_is_described_and_built_again() -> None:
    spec = LEARNERS.describe(Guarded(Standardized(LaSVM(C=3), missing="mean"), cap=2.0))
    assert repr(LEARNERS.build(spec)) == repr(Guarded(Standardized(LaSVM(C=3), missing="mean"), cap=2.0))


def test_the_description_of_a_wrapper_around_a_learner_of_ones_own_says_what_is_inside() -> None:
    torch = pytest.importorskip("torch")
    spec = LEARNERS.describe(Standardized(TorchLearner(torch.nn.Linear(2, 1)), missing="mean"))
    assert spec.kind == OWN
    assert spec.get("missing") == "mean"
    assert spec.inner.class_name == "paraactive.learners.wrappers.torch_learner.TorchLearner"


def test_the_log_does_not_depend_on_the_number_of_nodes() -> None:
    digests = {
        train(
            Standardized(LaSVM(gap=0.2)), Arrays(UNEVEN, Y), nodes=nodes, engine=engine, warmstart=100, batch=50
        ).learner.digest()
        for nodes, engine in ((1, "threads"), (3, "threads"), (2, "simulated"))
    }
    assert len(digests) == 1
