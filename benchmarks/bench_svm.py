"""Time to 35 mistakes on {3,1} v {5,7}: sifted and passive LASVM against scikit-learn's SVC, on one core.

SVC gets the 24 559 original digits in memory and a cache of 4 GB. Ours get the stream, which begins with the same
digits; their time is all of it (warmstart, fetching, sifting, updating) except counting the mistakes. Time to m
mistakes: the first checkpoint at which the mean over it and its two neighbours is at most m.

    python -m benchmarks.bench_svm --repeats 3 --json svm.json
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.svm import SVC

from benchmarks.measuring import between, finish, parse, seconds, spread, table
from paraactive import Digits, LaSVM, train
from paraactive.rules import Margin, Passive, Rule, SignedMargin
from paraactive.run import Run

TARGET, BATCH, MOST = 35, 4096, 40 * 4096


def first_reached(run: Run) -> int | None:
    """Place of the first evaluation whose mean with its neighbours is at most the target."""
    mistakes = [evaluated.mistakes for evaluated in run.evaluations]
    for place in range(1, len(mistakes) - 1):
        if np.mean(mistakes[place - 1 : place + 2]) <= TARGET:
            return place
    return None


def time_to_target(learner: LaSVM, rule: Rule, seed: int) -> dict[str, Any]:
    """One run, until it is there."""
    digits = Digits(seed=seed)
    run = train(
        learner, digits, rule=rule, examples=MOST, batch=BATCH, warmstart=BATCH, seed=seed, test=digits.test(),
        stop=lambda run: first_reached(run) is not None, engine="threads", nodes=1,
    )  # fmt: skip
    place = first_reached(run)
    if place is None:
        return {"seconds": None, "seen": run.seen}
    there = run.evaluations[place]
    rounds = [ended for ended in run.rounds if ended.seen <= there.seen]
    spent = sum(ended.fetch_seconds + ended.sift_seconds + ended.update_seconds for ended in rounds)
    return {"seconds": spent, "seen": there.seen, "selected": rounds[-1].version, "mistakes": there.mistakes}


def svc() -> dict[str, Any]:
    """Scikit-learn's, on the original digits."""
    digits = Digits()
    originals, test = digits.read(0, digits.originals), digits.test()
    model: Any = SVC(C=1, gamma=0.012, cache_size=4000)  # pyright: ignore[reportArgumentType]
    spent = seconds(partial(model.fit, originals.x, originals.y))
    mistakes = int(np.sum(model.predict(test.x) != test.y))
    return {"seconds": spent, "seen": len(originals), "mistakes": mistakes, "vectors": len(model.support_)}


def measure(repeats: int) -> dict[str, Any]:
    """All sides, each of ours with several seeds."""
    kinds: dict[str, tuple[dict[str, Any], Rule]] = {
        "signed margin, eta 0.05, gap 0.2": ({"gap": 0.2}, SignedMargin(0.05)),
        "margin, eta 0.1 (the paper's)": ({}, Margin(0.1)),
        "passive": ({}, Passive()),
    }
    train(LaSVM(gamma=0.012, gap=0.2), Digits(), examples=5000)  # compiles
    peer = svc()
    results: dict[str, Any] = {"target": TARGET, "svc": peer, "ours": {}}
    for name, (extra, rule) in kinds.items():
        runs = [time_to_target(LaSVM(C=1, gamma=0.012, **extra), rule, seed) for seed in range(repeats)]
        there = [run["seconds"] for run in runs if run["seconds"] is not None]
        results["ours"][name] = {
            "runs": runs,
            "seconds": spread(there) if len(there) == repeats else None,
            "times_faster_than_svc": spread([peer["seconds"] / s for s in there]) if len(there) == repeats else None,
        }
    return results


def render(results: dict[str, Any]) -> str:
    """The table."""
    peer = results["svc"]
    rows = [["scikit-learn SVC, 4 GB cache", f"{peer['seen']:,}", f"{peer['seconds']:.1f}", "1"]]
    for name, result in results["ours"].items():
        seen = spread([run["seen"] for run in result["runs"]])
        found = result["seconds"]
        rows.append(
            [name, between(seen, 0)]
            + ([between(found), between(result["times_faster_than_svc"], 1)] if found else ["not reached", ""])
        )
    note = f"SVC ends at {peer['mistakes']} mistakes with {peer['vectors']:,} vectors; ours: to {results['target']}."
    return table(["learner", "examples", "seconds", "times faster"], rows) + "\n\n" + note


if __name__ == "__main__":
    options = parse(__doc__ or "")
    figures = measure(options.repeats)
    finish(options, render(figures), {"svm": figures})
