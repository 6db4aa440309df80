from __future__ import annotations

import numpy as np

from paraactive.data.examples import Floats
from paraactive.learners.lasvm.dense_vectors import DenseVectors, norms
from paraactive.learners.lasvm.kernels import LANES, RBF
from paraactive.learners.lasvm.scored_rows import ScoredRows, fits, kernel_rows, score_and_keep
from paraactive.learners.lasvm.vectors import Kernel

KERNEL: Kernel = RBF, np.float32(0.3), np.float32(0), 1
RNG = np.random.default_rng(0)
S, X = (RNG.normal(size=(n, 4)).astype(np.float32) for n in (LANES + 2, 10))


class Counting(DenseVectors):
    """Notes how many rows are computed together."""

    def __init__(self) -> None:
        super().__init__(4)
        self.replace(S)
        self.computed: list[int] = []

    def kernel_rows(self, x: Floats, xx: Floats, kernel: Kernel, out: Floats) -> None:
        self.computed.append(len(x))
        super().kernel_rows(x, xx, kernel, out)


def test_only_rows_that_were_not_scored_are_computed_and_all_have_the_same_bits() -> None:
    vectors, scored = Counting(), ScoredRows()
    plain = kernel_rows({}, X, norms(X), vectors, KERNEL)  # pyright: ignore[reportArgumentType]
    kept = score_and_keep(scored, X[3:7], norms(X[3:7]), vectors, KERNEL)  # pyright: ignore[reportArgumentType]
    assert kept.shape == (4, 2 * LANES)
    assert not kept[:, len(S) :].any()
    again = kernel_rows(scored, X, norms(X), vectors, KERNEL)  # pyright: ignore[reportArgumentType]
    assert vectors.computed == [10, 4, 6]
    assert again.tobytes() == plain.tobytes()
    assert all(values.base is None for values in scored.values())


def test_the_number_of_rows_that_are_kept_is_bounded() -> None:
    vectors = Counting()
    limit = 8_000_000 // (len(S) + 4)
    assert fits({}, limit, vectors)  # pyright: ignore[reportArgumentType]
    assert not fits({b"": S[0]}, limit, vectors)  # pyright: ignore[reportArgumentType]
