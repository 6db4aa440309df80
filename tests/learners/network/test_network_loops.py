from __future__ import annotations

import numpy as np
import pytest

from paraactive.data.examples import SparseRows
from paraactive.learners.network.network_loops import LOGISTIC, SQUARED, _slopes, forward, forward_sparse

RNG = np.random.default_rng(0)


def test_the_forward_pass_is_that_of_the_formula_and_skips_zeros_without_changing_a_bit() -> None:
    x = np.where(RNG.random((11, 30)) < 0.4, RNG.normal(size=(11, 30)), 0).astype(np.float32)
    weight, bias = (RNG.normal(size=shape).astype(np.float32) for shape in ((30, 24), 24))
    out_weight, out_bias = (RNG.normal(size=shape).astype(np.float32) for shape in ((3, 24), 3))
    out, sparse = np.empty((11, 3), np.float32), np.empty((11, 3), np.float32)
    forward(x, out, 24, weight, bias, out_weight, out_bias)
    hidden = 1 / (1 + np.exp(-(x.astype(np.float64) @ weight + bias)))
    np.testing.assert_allclose(out, hidden @ out_weight.T + out_bias, atol=1e-4)
    rows = SparseRows.of(x)
    forward_sparse(rows.data, rows.indices, rows.indptr, sparse, 24, weight, bias, out_weight, out_bias)
    assert sparse.tobytes() == out.tobytes()


def _loss(f: np.ndarray[tuple[int], np.dtype[np.float64]], label: int, loss: int) -> float:
    if loss == LOGISTIC and len(f) > 1:
        return float(np.log(np.exp(f).sum()) - f[label])
    target = np.array([label]) if len(f) == 1 else np.where(np.arange(len(f)) == label, 1, -1)
    margin = target * f
    return float(np.log1p(np.exp(-margin)).sum() if loss == LOGISTIC else ((1 - margin) ** 2).sum() / 2)


@pytest.mark.parametrize("loss", [LOGISTIC, SQUARED])
@pytest.mark.parametrize(("outputs", "label"), [(1, -1), (1, 1), (4, 0), (4, 3)])
def test_slopes_are_differences_of_the_weighted_loss(loss: int, outputs: int, label: int) -> None:
    f, slopes, step = RNG.normal(size=outputs), np.empty(outputs, np.float32), 1e-6
    _slopes(f.astype(np.float32), label, np.float32(2.5), loss, slopes)
    moved = [step * np.eye(outputs)[o] for o in range(outputs)]
    expected = [2.5 * (_loss(f + d, label, loss) - _loss(f - d, label, loss)) / (2 * step) for d in moved]
    np.testing.assert_allclose(slopes, expected, atol=1e-5)
