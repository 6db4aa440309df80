"""Time and peak memory against n, the examples seen, on {3,1} v {5,7}, on one core; slopes of the log-log lines.

Sifted: LaSVM, signed margin eta 0.05, gap 0.2, with the cascade, on the digits stream to three million. Passive: the
same learner learns everything, as far as is bearable. SVC: that of scikit-learn-intelex, on as many digits of the
stream. A run to n begins as a longer run does, so each of ours is one run, looked at on its way; each of SVC's fits is
a run.
All runs have a process of their own. Time: fetching, sifting and updating, or `fit`; memory: the most that the process
held until then, digits and libraries included. A slope of 1 is a line, of 2 a square.

    python -m benchmarks.bench_growth --json growth.json
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchmarks.measuring import apart, finish, parse, peak_memory, seconds, table
from paraactive import Digits, LaSVM, train
from paraactive.data.events import Event, Round
from paraactive.learners.base import Learner
from paraactive.rules import Passive, Rule, SignedMargin

BATCH, GAMMA = 4096, 0.012


class Sizes(NamedTuple):
    """Each n."""

    sifted: tuple[int, ...]
    passive: tuple[int, ...]
    svc: tuple[int, ...]


FULL = Sizes((10**4, 10**5, 10**6, 3 * 10**6), (10**4, 3 * 10**4, 10**5), (3 * 10**3, 10**4, 3 * 10**4, 10**5))
SMALL = Sizes((6_000, 12_000), (5_000, 10_000), (1_000, 2_000))


def ours(rule: Rule, gap: float | None, cascade: bool, sizes: tuple[int, ...]) -> Iterator[Any]:
    """One run, and how it stands when it has seen so many."""
    digits, learner = Digits(), LaSVM(C=1, gamma=GAMMA, gap=gap, cascade=cascade)
    train(LaSVM(C=1, gamma=GAMMA, gap=gap, cascade=cascade), digits, rule=rule, examples=9000)  # compiles
    yield "ready"
    looks: list[dict[str, float]] = []
    total = {"seconds": 0.0}

    def observe(event: Event) -> None:
        if isinstance(event, Round):
            total["seconds"] += event.fetch_seconds + event.sift_seconds + event.update_seconds
            if len(looks) < len(sizes) and event.seen >= sizes[len(looks)]:
                looks.append(_look(event.seen, total["seconds"], learner, learner.vectors))

    train(
        learner, digits, rule=rule, examples=sizes[-1], batch=BATCH, warmstart=BATCH,
        engine="threads", nodes=1, observers=[observe],
    )  # fmt: skip
    yield from looks


def svc(count: int) -> Iterator[Any]:
    """One fit."""
    learnt = Digits().read(0, count)
    model: Any = importlib.import_module("sklearnex.svm").SVC(C=1, gamma=GAMMA, cache_size=4000)
    yield "ready"
    spent = seconds(partial(model.fit, learnt.x, learnt.y))
    memory = peak_memory()
    test = Digits().test()
    mistakes = int(np.sum(model.predict(test.x) != test.y))
    yield {"seen": count, "seconds": spent, "memory": memory, "mistakes": mistakes, "vectors": len(model.support_)}


def _look(seen: int, spent: float, learner: Learner, vectors: int) -> dict[str, Any]:
    memory, test = peak_memory(), Digits().test()
    mistakes = int(np.sum(np.sign(learner.score(test.x)) != test.y))
    return {"seen": seen, "seconds": spent, "memory": memory, "mistakes": mistakes, "vectors": vectors}


def slope(looks: list[Any], of: str) -> float:
    """Of the least-squares line through the logarithms."""
    n, values = (np.log([look[name] for look in looks]) for name in ("seen", of))
    return float(np.polyfit(n, values, 1)[0])


def measure(_repeats: int = 1, sizes: Sizes = FULL) -> dict[str, Any]:
    """Each once."""
    found = {
        "sifted, cascade": apart(ours, SignedMargin(0.05, theta=0.0), 0.2, True, sizes.sifted),
        "passive": apart(ours, Passive(), None, False, sizes.passive),
        "SVC of scikit-learn-intelex": [look for count in sizes.svc for look in apart(svc, count)],
    }
    return {
        name: {"looks": looks, "slopes": {of: slope(looks, of) for of in ("seconds", "memory", "vectors")}}
        for name, looks in found.items()
    }


def render(results: dict[str, Any]) -> str:
    """Two tables."""
    rows = [
        [
            name, f"{look['seen']:,}", f"{look['seconds']:.1f}", f"{look['memory']:.0f}", f"{look['vectors']:,}",
            str(look["mistakes"]),
        ]
        for name, result in results.items()
        for look in result["looks"]
    ]  # fmt: skip
    slopes = [
        [name, *(f"{result['slopes'][of]:.2f}" for of in ("seconds", "memory", "vectors"))]
        for name, result in results.items()
    ]
    return (
        table(["learner", "n", "seconds", "peak memory, MB", "vectors", "mistakes"], rows)
        + "\n\nSlopes of the log-log lines:\n\n"
        + table(["learner", "seconds", "memory", "vectors"], slopes)
    )


if __name__ == "__main__":
    options = parse(__doc__ or "", small=True)
    figures = measure(options.repeats, SMALL if options.small else FULL)
    finish(options, render(figures), {"growth": figures})
