"""LaSVM on sparse rows: the same learner, to the bit where there is no centre, and no row is ever made dense."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from learners.reference import dual_of
from paraactive import LaSVM, ParaActiveClassifier, train
from paraactive.basics.state import pack, unpack
from paraactive.checks import check_learner
from paraactive.data.examples import Floats, Labels, Selected, SparseRows
from paraactive.errors import InputError
from paraactive.learners import Guarded
from paraactive.learners.lasvm.dense_vectors import DenseVectors
from paraactive.learners.lasvm.kernel_cache import KernelCache
from paraactive.learners.lasvm.sparse_vectors import SparseVectors
from paraactive.learners.rows import learn, scores
from paraactive.streams import open_stream

KERNELS: dict[str, dict[str, Any]] = {
    "rbf": {"kernel": "rbf", "gamma": 0.3},
    "scale": {"kernel": "rbf", "gamma": "scale"},
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "gamma": 0.5, "coef0": 1.0},
}


WIDTH = 100


def _rows(count: int, seed: int, filled: float = 0.06, classes: int = 2) -> tuple[Floats, Labels]:
    rng, width = np.random.default_rng(seed), WIDTH
    x = np.where(rng.random((count, width)) < filled, rng.normal(size=(count, width)), 0).astype(np.float32)
    x[::50] = 0
    way = np.random.default_rng(7).normal(size=(width, classes))
    number = np.argmax(x @ way + rng.normal(scale=0.3, size=(count, classes)), axis=1)
    return x, (2 * number - 1 if classes == 2 else number).astype(np.int8)


def _selected(x: Any, y: Labels, seed: int = 5) -> Selected:
    return Selected.weighted(x, y, 1.0 / np.random.default_rng(seed).uniform(0.1, 1.0, len(y)))


def _learnt(svm: LaSVM, everything: Selected) -> LaSVM:
    for first in range(0, len(everything), 170):
        svm.update(everything.take(slice(first, first + 170)))
        svm.end_round()
    return svm


def _numbers(svm: LaSVM) -> dict[str, Any]:
    """All of a model but its rows, which are saved otherwise."""
    rows = ("early", "vectors", "centre")
    return {name: array.tolist() for name, array in svm.save().items() if "." not in name and name not in rows}


@pytest.fixture
def never_dense(monkeypatch: pytest.MonkeyPatch) -> None:
    def dense(_: SparseRows) -> Any:
        raise AssertionError("rows were made dense")

    monkeypatch.setattr(SparseRows, "dense", dense)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("options", [{}, {"gap": 0.05}, {"max_vectors": 60}, {"cache_size": 1e-6, "gap": 0.1}])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_without_a_centre_it_is_the_model_of_dense_rows_to_the_bit(
    kernel: str, classes: int, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stay(*_: Any) -> None:
        """The centre does not move."""

    monkeypatch.setattr(DenseVectors, "center_on", stay)
    x, y = _rows(900, 1, classes=classes)
    dense, sparse = (LaSVM(**KERNELS[kernel], **options, classes=classes, cascade=False) for _ in range(2))
    _learnt(dense, _selected(x, y))
    _learnt(sparse, _selected(SparseRows.of(x), y))
    assert sparse.vectors > 50
    assert _numbers(sparse) == _numbers(dense)
    assert np.array_equal(sparse.support_vectors.dense(), dense.support_vectors)
    more, _ = _rows(300, 2)
    assert sparse.score(SparseRows.of(more)).tobytes() == dense.score(more).tobytes()
    for svm in (dense, sparse):
        svm.finish()
    assert sparse.dual_objective() == dense.dual_objective()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_with_a_centre_it_is_that_to_rounding(kernel: str, classes: int) -> None:
    x, y = _rows(600, 3, classes=classes)
    dense, sparse = (LaSVM(**KERNELS[kernel], gap=1e-3, classes=classes) for _ in range(2))
    for svm, rows in ((dense, x), (sparse, SparseRows.of(x))):
        for _ in range(4):
            svm.update(_selected(rows, y))
        svm.finish()
    more, _ = _rows(500, 4)
    one, other = dense.score(more), sparse.score(SparseRows.of(more))
    np.testing.assert_allclose(other, one, atol=0.02)
    sides = [np.sign(s) if classes == 2 else np.argmax(s, axis=1) for s in (one, other)]
    assert np.mean(sides[0] != sides[1]) < 0.01


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("classes", [2, 3])
def test_the_model_does_not_depend_on_the_cache(kernel: str, classes: int) -> None:
    x, y = _rows(700, 5, classes=classes)
    everything = _selected(SparseRows.of(x), y)
    large = _learnt(LaSVM(**KERNELS[kernel], classes=classes, gap=0.1), everything)
    small = _learnt(LaSVM(**KERNELS[kernel], classes=classes, gap=0.1, cache_size=1e-6), everything)
    assert isinstance(dual_of(small).cache, KernelCache)
    assert dual_of(small).cache.rows == 2 * small._machines < small.vectors
    assert small.save().keys() == large.save().keys()
    assert small.digest() == large.digest()


def test_gamma_scale_is_that_of_dense_rows() -> None:
    x, y = _rows(100, 6)
    dense, sparse = LaSVM(), LaSVM()
    dense.update(_selected(x, y))
    sparse.update(_selected(SparseRows.of(x), y))
    assert dual_of(sparse).gamma == pytest.approx(dual_of(dense).gamma, rel=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("when", [30, 500])
def test_saved_copied_and_sent_half_way_it_learns_on_alike(kernel: str, when: int, never_dense: None) -> None:
    x, y = _rows(900, 7)
    everything = _selected(SparseRows.of(x), y)
    svm, whole = (LaSVM(**KERNELS[kernel], gap=0.1, max_vectors=150) for _ in range(2))
    svm.update(everything.take(slice(0, when)))
    whole.update(everything)
    whole.end_round()
    loaded = LaSVM(**KERNELS[kernel], gap=0.1, max_vectors=150)
    loaded.load(unpack(pack(svm.save())))
    twins: list[LaSVM] = [svm, loaded, copy.deepcopy(svm), pickle.loads(pickle.dumps(svm))]
    for twin in twins:
        twin.update(everything.take(slice(when, None)))
        twin.end_round()
    assert {twin.digest() for twin in twins} == {whole.digest()}
    assert len({twin.score(SparseRows.of(x)).tobytes() for twin in twins}) == 1


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kernel", KERNELS)
def test_it_keeps_the_contract(kernel: str, classes: int) -> None:
    check_learner(lambda: LaSVM(**KERNELS[kernel], gap=0.1), classes=classes)
    check_learner(lambda: Guarded(LaSVM(**KERNELS[kernel], max_vectors=40), cap=5.0, set_aside=1.0), classes=classes)


def test_vectors_that_have_gone_are_swept_up(never_dense: None) -> None:
    svm = LaSVM(**KERNELS["rbf"], max_vectors=20)
    for seed in range(8):
        x, y = _rows(500, 20 + seed)
        selected = Selected.weighted(SparseRows.of(x), y)
        svm.update(replace(selected, examples=replace(selected.examples, key=500 * seed + np.arange(500))))
    live = dual_of(svm).live
    assert isinstance(live, SparseVectors)
    assert live._held < 20 + 3 * 256
    assert svm.support_vectors.shape == (20, WIDTH)


def test_either_kind_is_taken_by_a_model_of_the_other() -> None:
    x, y = _rows(400, 9)
    rows = SparseRows.of(x)
    dense, sparse = LaSVM(**KERNELS["poly"]), LaSVM(**KERNELS["poly"])
    assert dense.sparse
    dense.update(_selected(x, y).take(slice(0, 200)))
    sparse.update(_selected(rows, y).take(slice(0, 200)))
    assert isinstance(dual_of(dense).live, DenseVectors)
    assert (dense.sparse, sparse.sparse) == (False, True)
    learn(dense, _selected(rows, y).take(slice(200, None)))
    learn(sparse, _selected(x, y).take(slice(200, None)))
    assert _numbers(sparse) == _numbers(dense)
    expected = dense.score(x).tobytes()
    assert {scores(dense, rows).tobytes(), sparse.score(x).tobytes(), dense.score(rows).tobytes()} == {expected}
    assert sparse.proxy() is None
    for svm in (dense, sparse):
        with pytest.raises(InputError, match="trained on 100 features"):
            svm.score(SparseRows.of(x[:, :30]))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("classes", [2, 3])
def test_rows_that_are_hardly_sparse_become_dense_vectors(kernel: str, classes: int) -> None:
    x, y = _rows(700, 13, filled=0.3, classes=classes)
    svm, cut, dense = (LaSVM(**KERNELS[kernel], classes=classes) for _ in range(3))
    everything = _selected(SparseRows.of(x), y)
    svm.update(everything)
    for first in range(0, 700, 31):
        learn(cut, everything.take(slice(first, first + 31)))
    assert isinstance(dual_of(svm).live, DenseVectors)
    assert cut.digest() == svm.digest()
    assert scores(cut, SparseRows.of(x)).tobytes() == svm.score(x).tobytes()
    dense.update(_selected(x, y))
    assert dense.save().keys() == svm.save().keys()
    if kernel == "poly":
        assert svm.digest() == dense.digest()
    assert np.mean(np.sign(svm.score(x)) != np.sign(dense.score(x))) < 0.01
    assert (svm.proxy() is None) == (dense.proxy() is None)


def test_a_row_that_is_too_large_is_refused() -> None:
    svm = LaSVM(**KERNELS["rbf"])
    huge = SparseRows.of(np.array([[0, 3e30], [1, 0]], np.float32))
    with pytest.raises(InputError, match="too large"):
        svm.update(Selected.weighted(huge, np.array([1, -1])))


def test_a_run_on_a_million_features_takes_little_memory(tmp_path: Path, never_dense: None) -> None:
    rng, lines = np.random.default_rng(11), list[str]()
    for side in rng.integers(0, 2, 1200).tolist():
        columns = np.unique([1_000_000, *rng.integers(1, 1_000_000, 20), *(10 + 50 * side + rng.integers(0, 60, 8))])
        lines.append(f"{side} " + " ".join(f"{c}:{rng.uniform(0.5, 1.5):.3f}" for c in columns))
    path = tmp_path / "rows.svm"
    path.write_text("\n".join(lines) + "\n")
    stream = open_stream(path)
    assert stream.width == 1_000_000
    runs = [
        train(LaSVM(gamma=0.02, gap=0.1), stream, warmstart=300, batch=300, engine="simulated"),
        train(LaSVM(gamma=0.02, gap=0.1), stream, warmstart=300, batch=300, engine="processes", nodes=2),
    ]
    assert runs[0].learner.digest() == runs[1].learner.digest()
    assert set(runs[1].replicas.values()) == {runs[0].learner.digest()}
    svm = runs[1].learner
    assert isinstance(svm, LaSVM)
    assert sum(array.nbytes for array in svm.save().values()) < 2_000_000
    assert len(pickle.dumps(svm)) < 5_000_000


def test_the_estimator_never_makes_rows_dense(never_dense: None) -> None:
    x, y = _rows(900, 12, classes=3)
    rows: Any = scipy.sparse.csr_array(x)
    model = ParaActiveClassifier(random_state=0).fit(rows, y)
    assert np.mean(model.predict(rows) == y) > 0.7
    assert model.decision_function(rows[:5]).shape == (5, 3)
