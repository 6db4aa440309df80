"""All ten digits, 60 000 originals, one core: LaSVM with several rules, and passive. `bench_svc` has SVC on the same.

Each original is seen once, in the order of the stream (gamma 0.012, pixels in [-1, 1], C 1). Test: the 10 000 test
digits.

    python -m benchmarks.bench_classes --json classes.json
"""

from __future__ import annotations

from typing import Any

from benchmarks.measuring import finish, parse, table
from paraactive import Digits, LaSVM, train
from paraactive.rules import LeastMargin, PaperMargin, Passive, Rule, SignedMargin, Uniform

EXAMPLES = 60_000


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


def measure(_repeats: int = 1) -> dict[str, Any]:
    """Each once: the passive run alone takes minutes."""
    train(LaSVM(gamma=0.012, gap=0.2), Digits.all(), examples=5000)  # compiles
    kinds: dict[str, tuple[Rule, float | None]] = {
        "least margin, eta 0.1, theta 0": (LeastMargin(0.1, theta=0.0), 0.2),
        "least margin, eta 0.2": (LeastMargin(0.2), 0.2),
        "signed margin, eta 0.2": (SignedMargin(0.2), 0.2),
        "margin, eta 0.1 (the paper's; sees no labels)": (PaperMargin(0.1), 0.2),
        "passive": (Passive(), 0.2),
    }
    results = {name: ours(*kind) for name, kind in kinds.items()}
    rate = results["least margin, eta 0.1, theta 0"]["learnt"] / EXAMPLES
    results[f"uniform, {rate:.0%}"] = ours(Uniform(rate), 0.2)
    return results


def render(results: dict[str, Any]) -> str:
    """The table."""
    rows = [
        [
            name, f"{r['learnt']:,}", f"{r['seconds']:.1f}", f"{r['mistakes'] / 100:.2f}%", f"{r['vectors']:,}",
        ]
        for name, r in results.items()
    ]  # fmt: skip
    return table(["rule", "learned", "seconds", "test error", "vectors"], rows) + "\n\nOne pass; each row is one run."


if __name__ == "__main__":
    options = parse(__doc__ or "")
    figures = measure()
    finish(options, render(figures), {"classes": figures})
