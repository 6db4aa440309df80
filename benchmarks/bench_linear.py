"""scikit-learn's linear models and its network in ParaActiveClassifier: sifted against passive, and their own fit.

Nine generated data sets of 10 000 rows, tested on 5 000 others; one pass, default rule and floor. SGDClassifier and
MLPClassifier as fit trains them make many passes. The seed decides the order of the rows, the coins and first weights.

    python -m benchmarks.bench_linear --repeats 5 --json linear.json
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier
from sklearn.neural_network import MLPClassifier

from benchmarks.measuring import finish, on_all_cores, parse, table
from paraactive import ParaActiveClassifier

ROWS, TEST = 10_000, 5_000
LEARNERS: dict[str, Callable[[int], Any]] = {
    "hinge": lambda seed: SGDClassifier(average=True, random_state=seed),
    "log_loss": lambda seed: SGDClassifier(loss="log_loss", average=True, random_state=seed),
    "network": lambda seed: MLPClassifier((32,), random_state=seed),
}


def data() -> dict[str, tuple[Any, Any]]:
    """Rows and labels by name."""

    def made(unscaled: bool = False, **parameters: Any) -> tuple[Any, Any]:
        x, y = map(np.asarray, make_classification(ROWS + TEST, random_state=0, **parameters))
        return (x * np.logspace(-1, 2, x.shape[1]) if unscaled else x), y

    rng = np.random.default_rng(0)
    x = rng.normal(size=(ROWS + TEST, 10))
    weak = rng.random(len(x)) < 1 / (1 + np.exp(-0.9 * x[:, 0]))
    rare = x[:, 0] + 0.5 * x[:, 1] + 0.5 * rng.normal(size=len(x)) > 2
    return {
        "2 classes": made(n_informative=5, class_sep=2.0),
        "2 classes, 20% flipped": made(n_informative=5, flip_y=0.4),
        "2 classes, scales 0.1 to 100": made(True, n_informative=5, flip_y=0.1),
        "5 classes": made(n_informative=10, n_classes=5),
        "7 classes, noisy": made(n_features=30, n_informative=8, n_classes=7, flip_y=0.2, class_sep=0.7),
        "7 classes, scales 0.1 to 100": made(True, n_features=30, n_informative=8, n_classes=7, flip_y=0.1),
        "P(y) = sigmoid(0.9 x0)": (x, weak),
        "x0 + x1 > 0": (x, x[:, 0] + x[:, 1] > 0),
        "3% positive": (x, rare),
    }


def measure(repeats: int) -> dict[str, Any]:
    """Test errors in percent and sampling rates, by learner and data."""
    results: dict[str, Any] = {name: {kind: [] for kind in data()} for name in LEARNERS}
    runs = list(itertools.product(LEARNERS, data(), range(repeats)))
    for (name, kind, _), figures in zip(runs, on_all_cores(one, *zip(*runs, strict=True)), strict=True):
        results[name][kind].append(figures)
    return results


def one(name: str, kind: str, seed: int) -> dict[str, float]:
    """All ways to train one learner, on the same rows."""
    new, (x, y) = LEARNERS[name], data()[kind]
    order = np.random.default_rng(seed).permutation(len(y))
    first, rest = order[:ROWS], order[ROWS:]
    default = SGDClassifier(loss=new(0).loss) if isinstance(new(0), SGDClassifier) else new(0)
    ways: dict[str, Any] = {
        "sifted": ParaActiveClassifier(new(seed), random_state=seed),
        "passive": ParaActiveClassifier(new(seed), rule="passive", random_state=seed),
        "fit": default.set_params(random_state=seed),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = {
            way: 100 * float(np.mean(clf.fit(x[first], y[first]).predict(x[rest]) != y[rest]))
            for way, clf in ways.items()
        }
    return found | {"rate": ways["sifted"].sampling_rate_}


def render(results: dict[str, Any]) -> str:
    """The table."""
    rows: list[list[str]] = []
    for name, kinds in results.items():
        for kind, runs in kinds.items():
            mean = {each: float(np.mean([run[each] for run in runs])) for each in runs[0]}
            error = float(np.std([run["passive"] for run in runs], ddof=1)) / len(runs) ** 0.5
            shown = [f"{mean['rate']:.0%}", f"{mean['sifted']:.1f}", f"{mean['passive']:.1f} ± {error:.1f}"]
            rows.append([name, kind, *shown, f"{mean['fit']:.1f}"])
    head = ["learner", "data", "learned", "sifted, %", "passive, %", "own fit, %"]
    seeds = len(next(iter(results["hinge"].values())))
    return table(head, rows) + (
        f"\n\nTest error after one pass over {ROWS:,} rows, mean of {seeds} seeds; "
        "± is the standard error. hinge and log_loss are SGDClassifier(average=True), network is MLPClassifier((32,)). "
        "Own fit: the fit of scikit-learn, with its many passes; for SGDClassifier without averaging, its default."
    )


if __name__ == "__main__":
    options = parse(__doc__ or "")
    figures = measure(options.repeats)
    finish(options, render(figures), {"linear": figures})
