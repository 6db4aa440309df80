"""LaSVM on sparse rows against the same rows dense: examples scored and learned per second, and memory, on one core.

50 000 features, of which a row has about 100: either all alike likely, or as words are, the k-th with a frequency of
1/k (Zipf). Every row that is learned becomes a vector: labels are by chance, and gamma is steep. What is scored and
learnt then meets the same number of vectors both ways. Dense rows are made of the sparse ones within the time, as they
are where a learner takes no others; fewer are scored, because that is slow.

    python -m benchmarks.bench_sparse --repeats 3 --json sparse.json
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchmarks.measuring import between, finish, parse, seconds, spread, table
from paraactive import LaSVM
from paraactive.data.examples import Selected, SparseRows

WIDTH, FILLED = 50_000, 100


class Sizes(NamedTuple):
    """Vectors, rows to score, sparse and dense, and rows to learn."""

    vectors: int
    scored: int
    dense: int
    learnt: int


FULL = Sizes(3000, 4096, 128, 128)
SMALL = Sizes(100, 256, 16, 16)


def some_rows(columns: str, count: int, seed: int) -> SparseRows:
    """Rows of positive numbers, their columns drawn one way or the other."""
    rng = np.random.default_rng(seed)
    frequency = np.ones(WIDTH) if columns == "uniform" else 1.0 / np.arange(1, WIDTH + 1)
    drawn = rng.choice(WIDTH, (count, 4 * FILLED), p=frequency / frequency.sum())
    parts = [np.sort(rng.permutation(np.unique(row))[:FILLED]) for row in drawn]
    indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum([len(part) for part in parts])])
    return SparseRows(rng.uniform(0.01, 0.11, indptr[-1]).astype(np.float32), np.concatenate(parts), indptr, WIDTH)


def selected(x: Any, first: int) -> Selected:
    """Rows with labels by chance, and keys from `first` on."""
    y = np.random.default_rng(first).choice([-1, 1], len(x))
    plain = Selected.weighted(x, y)
    examples = plain.examples
    return Selected(
        type(examples)(examples.x, examples.y, examples.index, examples.key + first),
        plain.p, plain.seen, plain.version,
    )  # fmt: skip


def memory(svm: LaSVM) -> float:
    """Megabytes of the vectors, with all that is kept to multiply with them."""
    live: Any = svm.dual.live if svm.dual else None
    return sum(each.nbytes for each in vars(live).values() if isinstance(each, np.ndarray)) / 2**20


def timed(kind: str, columns: str, repeats: int, sizes: Sizes) -> dict[str, Any]:
    """Speeds and memory of a model of one kind of rows."""

    def made(x: SparseRows) -> Any:
        return x.dense() if kind == "dense" else x

    def learn(x: SparseRows, first: int) -> None:
        svm.update(selected(made(x), first))

    svm = LaSVM(C=1.0, gamma=10.0, cascade=False)
    known = some_rows(columns, sizes.vectors + repeats * sizes.learnt, 0)
    for first in range(0, sizes.vectors, 250):
        learn(known[first : min(first + 250, sizes.vectors)], first)
    vectors, megabytes = svm.vectors, memory(svm)
    fresh = some_rows(columns, sizes.dense if kind == "dense" else sizes.scored, 1)
    svm.score(made(fresh[:8]))  # compiles
    scoring = [seconds(lambda: svm.score(made(fresh))) for _ in range(repeats)]
    # Each time other rows, which become vectors: a copy of the model would have to compute its kernel cache anew.
    learning = [
        seconds(partial(learn, known[first : first + sizes.learnt], first))
        for first in range(sizes.vectors, len(known), sizes.learnt)
    ]
    return {
        "columns": columns,
        "kind": kind,
        "vectors": vectors,
        "scored": spread([len(fresh) / each for each in scoring]),
        "learnt": spread([sizes.learnt / each for each in learning]),
        "megabytes": megabytes,
    }


def measure(repeats: int, sizes: Sizes = FULL) -> list[Any]:
    """Both kinds of columns, each sparse and dense."""
    return [timed(kind, columns, repeats, sizes) for columns in ("uniform", "zipf") for kind in ("sparse", "dense")]


def render(results: list[Any]) -> str:
    """The table."""
    rows = [
        [
            r["columns"], r["kind"], f"{r['vectors']:,}", between(r["scored"], 0), between(r["learnt"], 0),
            f"{r['megabytes']:.0f}",
        ]
        for r in results
    ]  # fmt: skip
    return table(["columns", "rows", "vectors", "scored/s", "learned/s", "memory of vectors, MB"], rows)


if __name__ == "__main__":
    options = parse(__doc__ or "", small=True)
    figures = measure(options.repeats, SMALL if options.small else FULL)
    finish(options, render(figures), {"sparse": figures})
