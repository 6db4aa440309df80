"""All ten digits, 60 000 originals, one core: sifted and passive LaSVM, and SVC as far as it comes in ten minutes.

Ours see each original once, in the order of the stream (gamma 0.012, pixels in [-1, 1], C 1). SVC gets the same digits
in memory and a cache of 4 GB, first 15 000 of them, then 30 000, then all, each in a process of its own, until ten
minutes are over. Test: the 10 000 test digits.

    python -m benchmarks.bench_classes --json classes.json
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.svm import SVC

from benchmarks.measuring import apart, finish, parse, seconds, table
from paraactive import Digits, LaSVM, train
from paraactive.rules import LeastMargin, Margin, Passive, Rule, SignedMargin, Uniform

EXAMPLES, LIMIT = 60_000, 600.0
SIZES = (15_000, 30_000, 60_000)


def ours(rule: Rule, gap: float | None) -> dict[str, Any]:
    """One pass over the originals."""
    run = train(
        LaSVM(C=1, gamma=0.012, gap=gap), Digits.all(), rule=rule, examples=EXAMPLES, engine="threads", nodes=1,
        test=True, stop=None,
    )  # fmt: skip
    assert run.mistakes is not None
    spent = run.warmstart_seconds + run.fetch_seconds + run.sift_seconds + run.update_seconds
    return {
        "seen": run.seen, "seconds": spent, "mistakes": run.mistakes, "vectors": run.summary()["vectors"],
        "learnt": run.warmstart + run.selected,
    }  # fmt: skip


def _svc(count: int) -> Iterator[Any]:
    digits = Digits.all()
    learnt, test = digits.read(0, count), digits.test()
    model: Any = SVC(C=1, gamma=0.012, cache_size=4000)  # pyright: ignore[reportArgumentType]
    yield "ready"
    yield {"seconds": seconds(partial(model.fit, learnt.x, learnt.y)), "vectors": len(model.support_)}
    start = time.perf_counter()
    mistakes = int(np.sum(model.predict(test.x) != test.y))
    yield {"mistakes": mistakes, "predicting": time.perf_counter() - start}


def svc(count: int, limit: float) -> dict[str, Any]:
    """Scikit-learn's on so many originals, or that it was not there when the time was over."""
    came = apart(_svc, count, limit=limit)
    if len(came) < 2:
        return {"seen": count, "seconds": None, "limit": limit}
    return {"seen": count, **came[0], **came[1]}


def measure(_repeats: int = 1) -> dict[str, Any]:
    """Each once: the passive run alone takes minutes."""
    train(LaSVM(gamma=0.012, gap=0.2), Digits.all(), examples=5000)  # compiles
    kinds: dict[str, tuple[Rule, float | None]] = {
        "least margin, eta 0.1": (LeastMargin(0.1), 0.2),
        "signed margin, eta 0.05": (SignedMargin(0.05), 0.2),
        "margin, eta 0.1 (the paper's; sees no labels)": (Margin(0.1), 0.2),
        "passive": (Passive(), 0.2),
    }
    results = {name: ours(*kind) for name, kind in kinds.items()}
    rate = results["least margin, eta 0.1"]["learnt"] / EXAMPLES
    results[f"uniform, {rate:.0%}"] = ours(Uniform(rate), 0.2)
    peers, left = list[dict[str, Any]](), LIMIT
    for count in SIZES:
        peers.append(svc(count, left))
        left -= peers[-1]["seconds"] or left
        if left <= 0:
            break
    return {"ours": results, "svc": peers}


def render(results: dict[str, Any]) -> str:
    """The table."""

    def came_to(r: dict[str, Any]) -> list[str]:
        if r["seconds"] is None:
            return ["not finished in time", "", ""]
        return [f"{r['seconds']:.0f}", f"{r['mistakes'] / 100:.2f}%", f"{r['vectors']:,}"]

    rows = [[name, f"{r['seen']:,}", f"{r['learnt']:,}", *came_to(r)] for name, r in results["ours"].items()]
    rows += [["scikit-learn SVC, 4 GB cache", f"{r['seen']:,}", f"{r['seen']:,}", *came_to(r)] for r in results["svc"]]
    note = (
        f"SVC was given ten minutes in total. Predicting the 10 000 test digits took it another "
        f"{max(r.get('predicting', 0.0) for r in results['svc']):.0f} s. "
        "Our learners make one pass; each row is one run."
    )
    return table(["learner", "seen", "learned", "seconds", "test error", "vectors"], rows) + "\n\n" + note


if __name__ == "__main__":
    options = parse(__doc__ or "")
    figures = measure()
    finish(options, render(figures), {"classes": figures})
