from __future__ import annotations

import numpy as np
import pytest

from learners.reference import dual_of
from making import selected, two_moons
from paraactive import LaSVM
from paraactive.data.examples import SparseRows
from paraactive.errors import InputError
from paraactive.learners.lasvm import scale
from paraactive.learners.lasvm.scale import scale_of


def test_gamma_scale_is_that_of_the_first_examples_learnt() -> None:
    x, y = two_moons(300, noise=0.2, seed=11)
    x *= 50
    svm = LaSVM()
    svm.update(selected(x, y))
    assert dual_of(svm).gamma == pytest.approx(1 / (2 * x[:64].var()), rel=1e-6)
    given = LaSVM(gamma=float(dual_of(svm).gamma))
    given.update(selected(x, y))
    assert np.mean((svm.score(x) > 0) == (given.score(x) > 0)) > 0.98


def test_gamma_scale_of_rows_that_are_all_the_same_is_one() -> None:
    svm = LaSVM()
    svm.update(selected(np.ones((10, 3), np.float32), np.tile([-1, 1], 5).astype(np.int8)))
    assert dual_of(svm).gamma == 1.0
    assert np.isfinite(svm.score(np.ones((2, 3)))).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_dense_and_sparse_rows_have_the_scale_of_repeated_rows(weighted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale, "_CHUNK_ROWS", 7)
    rng = np.random.default_rng(0)
    x = np.where(rng.random((50, 6)) < 0.3, rng.normal(2.0, size=(50, 6)), 0).astype(np.float32)
    times = rng.integers(1, 5, 50) if weighted else np.ones(50, np.int64)
    expected = 1 / (6 * np.repeat(x.astype(np.float64), times, axis=0).var())
    weight = times.astype(np.float64) if weighted else None
    assert scale_of(x, weight) == pytest.approx(expected, rel=1e-12)
    assert scale_of(SparseRows.of(x), weight) == pytest.approx(expected, rel=1e-12)


def test_a_variance_that_is_too_small_is_refused() -> None:
    with pytest.raises(InputError, match=r"the features have a variance of 1e-36: .*too small for float32"):
        scale_of(np.array([[1e-18, -1e-18]], np.float32))
