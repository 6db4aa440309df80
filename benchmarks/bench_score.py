"""Exact scoring against scikit-learn's `SVC.decision_function` at equal numbers of vectors, on one core.

Ours is a LaSVM trained on digits until it has so many vectors. An SVC with as many is got quickly by a C so small that
nearly every row of a balanced set becomes a vector: the time of a score depends on how many there are, not on their
alphas. SVC scores fewer rows, because it is slow; figures are rows per second.

    python -m benchmarks.bench_score --repeats 5 --json score.json
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.svm import SVC

from benchmarks.bench_sift import trained
from benchmarks.measuring import between, finish, parse, seconds, spread, table
from paraactive import Digits


class Sizes(NamedTuple):
    """Vectors, and rows to score."""

    vectors: tuple[int, ...]
    ours: int
    theirs: int


FULL = Sizes((1000, 4000), 8192, 400)
SMALL = Sizes((200,), 1024, 50)


def svc_of(vectors: int) -> Any:
    """An SVC with about so many vectors."""
    digits = Digits().read(0, 4 * vectors)
    sides = [np.flatnonzero(digits.y == side)[: vectors // 2] for side in (-1, 1)]
    rows = np.sort(np.concatenate(sides))
    model: Any = SVC(C=1e-6, gamma=0.012, cache_size=1000)  # pyright: ignore[reportArgumentType]
    return model.fit(digits.x[rows], digits.y[rows])


def measure(repeats: int, sizes: Sizes = FULL) -> list[Any]:
    """Rows per second of both, in turn, and their ratio."""
    fresh = Digits(seed=9).read(50_000, 50_000 + sizes.ours).x
    results: list[Any] = []
    for vectors in sizes.vectors:
        ours = trained(vectors)
        theirs = svc_of(ours.vectors)
        ours.score(fresh[:10])  # compiles
        score, decide = partial(ours.score, fresh), partial(theirs.decision_function, fresh[: sizes.theirs])
        speeds = [(sizes.ours / seconds(score), sizes.theirs / seconds(decide)) for _ in range(repeats)]
        results.append(
            {
                "vectors": ours.vectors,
                "svc_vectors": len(theirs.support_),
                "ours": spread([a for a, _ in speeds]),
                "svc": spread([b for _, b in speeds]),
                "times_faster": spread([a / b for a, b in speeds]),
            }
        )
    return results


def render(results: list[Any]) -> str:
    """The table."""
    rows = [
        [
            f"{r['vectors']:,}", f"{r['svc_vectors']:,}", between(r["ours"], 0), between(r["svc"], 0),
            between(r["times_faster"], 1),
        ]
        for r in results
    ]  # fmt: skip
    return table(["our vectors", "SVC's vectors", "ours, rows/s", "SVC, rows/s", "times faster"], rows)


if __name__ == "__main__":
    options = parse(__doc__ or "", small=True)
    figures = measure(options.repeats, SMALL if options.small else FULL)
    finish(options, render(figures), {"score": figures})
