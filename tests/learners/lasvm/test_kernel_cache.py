"""The kernel cache: whatever is kept, dropped, moved or computed again, its values are those of the vectors."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learners.reference import dual_of, kernel_in_cache
from making import selected, three_blobs, two_moons
from paraactive import LaSVM
from paraactive.data.examples import Selected
from paraactive.learners.lasvm import kernel_cache_loops as loops
from paraactive.learners.lasvm.kernel_cache import KernelCache
from paraactive.learners.lasvm.kernels import LANES, LINEAR, POLYNOMIAL, RBF, kernel_rows, squared_norms
from paraactive.learners.lasvm.vector_loops import DenseArrays

KERNELS: dict[str, dict[str, Any]] = {
    "rbf": {"kernel": "rbf", "gamma": 1.0},
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "gamma": 0.5, "coef0": 1.0},
}


class Played:
    """Vectors that are born, leave and are wanted at random, over a cache, with the true values beside it.

    Some are born of a batch, whose kernel values are known before.
    """

    def __init__(self, kind: int, rows: int, seed: int) -> None:
        self.rng, self.rows, self.count = np.random.default_rng(seed), rows, 0
        self.kernel = (kind, np.float32(0.5), np.float32(1), 2)
        self.cache = KernelCache(1e-9, least=rows)
        self.x, self.origin = np.zeros((0, 3), np.float32), np.zeros(0, np.int64)
        self.batch: Any = np.zeros((0, 3), np.float32)
        self.grow(LANES)

    def grow(self, more: int) -> None:
        slots = len(self.x) + more
        self.x = np.concatenate([self.x, np.zeros((more, 3), np.float32)])
        self.origin = np.concatenate([self.origin, np.zeros(more, np.int64)])
        self.cache.reserve(slots, slots)
        self.end_batch()

    def begin_batch(self) -> None:
        self.batch, self.next = self.rng.normal(size=(6, 3)).astype(np.float32), 0
        self.origin[: self.count] = np.arange(self.count)
        columns = self.kernel_of(self.batch)[:, : self.count].T
        within = self.kernel_of(self.batch, self.batch)
        if self.kernel[0] == RBF:
            np.fill_diagonal(within, 1.0)
        self.arrays = self.cache.arrays(self.origin, np.ascontiguousarray(columns), within)

    def end_batch(self) -> None:
        self.batch = self.batch[:0]
        self.arrays = self.cache.arrays(self.origin)

    @property
    def vectors(self) -> DenseArrays:
        panels = np.ascontiguousarray(self.x.reshape(-1, LANES, 3).transpose(0, 2, 1))
        return DenseArrays(panels, self.norms, *self.kernel)

    @property
    def norms(self) -> Any:
        norms = np.empty(len(self.x), np.float32)
        squared_norms(self.x, norms)
        return norms

    def kernel_of(self, x: Any, others: Any = None) -> Any:
        """Kernel values of rows with other rows, by default with the vectors of all slots."""
        others = self.x if others is None else others
        padded = np.zeros((-(-len(others) // LANES) * LANES, 3), np.float32)
        padded[: len(others)] = others
        panels = np.ascontiguousarray(padded.reshape(-1, LANES, 3).transpose(0, 2, 1))
        out, xx, ss = (
            np.empty((len(x), len(others)), np.float32),
            np.empty(len(x), np.float32),
            np.empty(len(padded), np.float32),
        )
        squared_norms(np.ascontiguousarray(x), xx)
        squared_norms(padded, ss)
        kernel_rows(np.ascontiguousarray(x), xx, panels, ss, len(others), *self.kernel, out)
        return out

    def truth(self) -> Any:
        out = self.kernel_of(self.x[: self.count])[:, : self.count]
        if self.kernel[0] == RBF:
            np.fill_diagonal(out, 1.0)
        return out

    def bear(self) -> None:
        if self.count == len(self.x):
            self.grow(LANES)
        if len(self.batch):
            self.x[self.count], self.origin[self.count] = self.batch[self.next], ~self.next
            self.next += 1
        else:
            self.x[self.count] = self.rng.normal(size=3)
        self.count += 1
        arrays = self.arrays
        arrays.values[loops.add_slot(self.count - 1, arrays), : self.count] = self.truth()[-1]
        if len(self.batch) and self.next == len(self.batch):
            loops.update_all_rows(self.count, arrays, self.vectors)
            self.end_batch()

    def leave(self) -> None:
        if self.count:
            s = int(self.rng.integers(self.count))
            loops.remove_slot(s, self.count, self.arrays, self.vectors)
            self.x[s], self.origin[s] = self.x[self.count - 1], self.origin[self.count - 1]
            self.count -= 1
            self.x[self.count] = 0

    def want(self) -> None:
        if self.count:
            wanted = self.rng.integers(-1, self.count, min(self.rows, 3))
            arrays = self.arrays
            loops.fetch_rows(wanted, self.count, arrays, self.vectors)
            truth = self.truth()
            for s in wanted[wanted >= 0]:
                assert np.array_equal(arrays.values[arrays.place[s], : self.count], truth[s])


@given(
    kind=st.sampled_from([RBF, LINEAR, POLYNOMIAL]),
    rows=st.sampled_from([1, 2, 3, 7, 40, 1000]),
    seed=st.integers(0, 1000),
    play=st.lists(st.sampled_from(["bear", "bear", "leave", "want", "want", "begin_batch"]), min_size=60, max_size=150),
)
@settings(max_examples=150, deadline=None)
def test_a_row_that_is_wanted_has_the_true_values(kind: int, rows: int, seed: int, play: list[str]) -> None:
    played = Played(kind, rows, seed)
    for _ in range(5):
        played.bear()
    for action in play:
        getattr(played, action)()
    played.want()


def test_a_row_that_is_older_than_the_journal_is_brought_up_to_date() -> None:
    played = Played(RBF, rows=1000, seed=0)
    for _ in range(10):
        played.bear()
    for _ in range(300):  # The journal is as long as there are slots, about.
        played.bear()
        played.leave()
    for _ in range(10):
        played.want()


def _run(svm: LaSVM, everything: Selected) -> LaSVM:
    for first in range(0, len(everything), 150):
        svm.update(everything.take(slice(first, first + 150)))
        svm.end_round()
    svm.update(everything)
    svm.finish()
    return svm


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("classes", [2, 3])
def test_the_model_does_not_depend_on_the_limit(kernel: str, classes: int) -> None:
    x, y = two_moons(300, noise=0.25, seed=1) if classes == 2 else three_blobs(300, seed=1)
    everything = selected(x, y, np.random.default_rng(2).uniform(0.1, 1.0, 300))
    options: dict[str, Any] = {**KERNELS[kernel], "classes": classes, "gap": 0.1}
    large = _run(LaSVM(**options), everything)
    for megabytes in (0.001, 0.05):
        small = _run(LaSVM(**options, cache_size=megabytes), everything)
        assert dual_of(small).cache.rows < 30 < small.vectors
        assert small.digest() == large.digest()


def test_rows_stay_within_the_limit_while_vectors_grow() -> None:
    x, _ = two_moons(3000, noise=0.3, seed=3)
    y = np.random.default_rng(4).choice([-1, 1], 3000).astype(np.int8)
    svm = LaSVM(C=0.1, gamma=5.0, cache_size=3)
    for first in range(0, 3000, 500):
        svm.update(selected(x, y).take(slice(first, first + 500)))
        assert dual_of(svm).cache.nbytes <= 3 * 2**20
    assert svm.vectors**2 * 4 > 3 * 3 * 2**20
    assert dual_of(svm).cache.nbytes > 2 * 2**20  # It makes use of it, too.


def test_the_latest_used_rows_are_those_that_stay() -> None:
    played = Played(RBF, rows=4, seed=5)
    for _ in range(LANES):
        played.bear()
    loops.fetch_rows(np.array([7, 2]), played.count, played.arrays, played.vectors)
    played.grow(LANES)
    place = played.arrays.place
    assert np.flatnonzero(place >= 0).tolist() == [2, 7, LANES - 2, LANES - 1]


def _sent(svm: LaSVM) -> LaSVM:
    return pickle.loads(pickle.dumps(svm))


@pytest.mark.parametrize("way", [copy.deepcopy, _sent], ids=["copied", "sent"])
def test_a_copy_leaves_the_rows_behind_and_learns_the_same(way: Any) -> None:
    x, y = two_moons(900, noise=0.3, seed=6)
    svm = LaSVM(gamma=20.0)
    svm.update(selected(x, y))
    assert dual_of(svm).cache.nbytes > 500_000
    twin = way(svm)
    assert dual_of(twin).cache.nbytes == 0
    more = selected(*two_moons(300, noise=0.3, seed=7))
    svm.update(more)
    twin.update(more)
    assert twin.digest() == svm.digest()
    assert np.array_equal(kernel_in_cache(twin), kernel_in_cache(svm))


def test_a_loaded_learner_computes_the_rows_that_it_needs_and_no_others() -> None:
    x, y = two_moons(900, noise=0.3, seed=8)
    svm, loaded = LaSVM(gamma=20.0), LaSVM(gamma=20.0)
    svm.update(selected(x, y))
    loaded.load(svm.save())
    few = selected(*two_moons(5, noise=0.3, seed=9))
    for learner in (svm, loaded):
        learner.update(few)
    assert loaded.digest() == svm.digest()
    assert (dual_of(loaded).loop_arguments()[2].place >= 0).sum() < 40 < loaded.vectors
