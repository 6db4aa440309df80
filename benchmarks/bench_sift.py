"""Exact scoring against the plain matrix product (sgemm) of the same shape, on one core.

python -m benchmarks.bench_sift --repeats 5 --json sift.json
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.measuring import between, finish, parse, seconds, spread, table
from paraactive import Digits, LaSVM
from paraactive.data.examples import Floats
from paraactive.sifting.select import take_all


def trained(vectors: int, seed: int = 0) -> LaSVM:
    """An SVM on digits with about that many vectors."""
    svm, digits, position = LaSVM(gamma=0.012), Digits(seed=seed), 0
    while svm.vectors < vectors:
        fresh = digits.read(position, position + 256)
        svm.update(take_all(fresh, fresh.index, 0))
        position += 256
    return svm


def measure(repeats: int) -> list[Any]:
    """For each number of vectors and size of tile: examples per second and the share of the sgemm bound."""
    fresh = Digits(seed=9).read(50_000, 52_048).x
    return [
        {"vectors": svm.vectors, "tile": tile, **against_sgemm(svm, fresh, tile, repeats)}
        for svm in (trained(1000), trained(4000))
        for tile in (32, 256, 1024)
    ]


def against_sgemm(svm: LaSVM, fresh: Floats, tile: int, repeats: int) -> dict[str, Any]:
    """Scoring in tiles of that size, and the bound: sgemm at its best, on tiles of 1024 rows."""
    vectors, large = svm.support_vectors, 1024
    product = np.empty((large, len(vectors)), np.float32)

    def score() -> None:
        for first in range(0, len(fresh), tile):
            svm.score(fresh[first : first + tile])

    def multiply() -> None:
        for first in range(0, len(fresh), large):
            np.dot(fresh[first : first + large], vectors.T, out=product)

    score()  # compiles
    times = [(seconds(score), seconds(multiply)) for _ in range(repeats)]
    return {
        "examples_per_second": spread([len(fresh) / ours for ours, _ in times]),
        "of_sgemm": spread([bound / ours for ours, bound in times]),
    }


def render(results: list[Any]) -> str:
    """The table."""
    rows = [
        [f"{r['vectors']:,}", str(r["tile"]), between(r["examples_per_second"], 0), between(r["of_sgemm"])]
        for r in results
    ]
    return table(["vectors", "tile", "examples/s", "share of sgemm"], rows)


if __name__ == "__main__":
    options = parse(__doc__ or "")
    figures = measure(options.repeats)
    finish(options, render(figures), {"sift": figures})
