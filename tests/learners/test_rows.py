from __future__ import annotations

import numpy as np
import pytest

from making import DenseLaSVM, selected, stripes
from paraactive import LaSVM
from paraactive.data.examples import SparseRows
from paraactive.errors import InputError
from paraactive.learners import rows
from paraactive.learners.rows import accepted_by, accepts, check_features, check_rows, learn, scores

X, Y = stripes(70, 6, seed=0)
X[np.random.default_rng(1).random(X.shape) < 0.6] = 0
SPARSE = SparseRows.of(X)


def test_rows_become_contiguous_and_float32() -> None:
    for given in (X.tolist(), X.astype(np.float64), np.asfortranarray(X), SPARSE):
        found = check_rows(given, 6)
        assert (found.dtype, found.flags.c_contiguous) == (np.float32, True)
        assert np.array_equal(found, X)
    assert check_features(SPARSE, 6) is SPARSE


@pytest.mark.parametrize("given", [X, SPARSE, X[0]])
def test_rows_of_another_shape_are_an_error(given: object) -> None:
    with pytest.raises(InputError, match="the model was trained on 5 features; give a matrix with 5 columns"):
        check_features(given, 5)  # pyright: ignore[reportArgumentType]


def test_a_learner_that_needs_dense_rows_learns_and_scores_sparse_ones_a_few_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rows, "_MAX_DENSE_ROWS", 16)
    plain, given = DenseLaSVM(gamma=0.5), DenseLaSVM(gamma=0.5)
    plain.update(selected(X, Y))
    learn(given, selected(SPARSE, Y))  # pyright: ignore[reportArgumentType]
    assert given.digest() == plain.digest()
    assert np.array_equal(scores(given, SPARSE), plain.score(X))
    assert len(scores(given, SPARSE[:0])) == 0


def test_a_learner_gets_sparse_rows_only_if_it_accepts_them() -> None:
    given = selected(SPARSE, Y)  # pyright: ignore[reportArgumentType]
    assert accepts(LaSVM(), SPARSE)
    assert accepted_by(LaSVM(), given) is given
    assert not accepts(DenseLaSVM(), SPARSE)
    assert np.array_equal(accepted_by(DenseLaSVM(), given).examples.x, X)
