"""What 300 labels are worth: asked for by `paraactive query`, in one round or in small ones, or chosen at random.

python -m benchmarks.bench_query --repeats 16 --json query.json
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification, make_moons

from benchmarks.measuring import about, finish, on_all_cores, parse, spread, table
from paraactive import Arrays, Digits, LaSVM, Oracle, train
from paraactive.cli.asking import FLOOR, new_learner, new_rule
from paraactive.learners import Learner
from paraactive.streams import Unlabelled

LABELS, FIRST, ROWS, TEST, SEEDS = 300, 50, 4000, 2000, 16
PER_ROUND = {"one round of 250 after the first": None, "rounds of 25 (the default)": 25, "rounds of 10": 10}
RANDOM = "at random"
DATA = ("moons, noise 0.25", "20 features", "digits, {3,1} v {5,7}")


def _data(name: str, seed: int) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    count = ROWS + TEST
    if name == DATA[2]:
        digits = Digits(seed=seed).read(0, count)
        return digits.x, digits.y > 0  # pyright: ignore[reportReturnType]
    x: Any
    y: Any
    if name == DATA[0]:
        x, y = make_moons(count, noise=0.25, random_state=seed)
    else:
        x, y = make_classification(count, 20, n_informative=8, n_redundant=4, class_sep=1.5, random_state=seed)
    return ((x - x.mean(0)) / x.std(0)).astype(np.float32), y.astype(bool)


def _error(learner: Learner, x: Any, y: Any) -> float:
    return float(np.mean((learner.score(x) > 0) != y))


def _errors(name: str, seed: int) -> dict[str, float]:
    x, y = _data(name, seed)
    labels, errors = np.where(y, "yes", "no"), dict[str, float]()
    for way, per_round in PER_ROUND.items():
        run = train(
            new_learner(), Unlabelled(x[:ROWS], ("no", "yes"), seed=seed), rule=new_rule(), seed=seed, floor=FLOOR,
            nodes=1, warmstart=FIRST, batch=500,
            oracle=Oracle(lambda rows, _: labels[rows], LABELS, per_round=per_round),
        )  # fmt: skip
        errors[way] = _error(run.learner, x[ROWS:], y[ROWS:])
    chosen = train(LaSVM(gap=0.2), Arrays(x[:LABELS], y[:LABELS]), rule="passive", warmstart=LABELS, nodes=1)
    return errors | {RANDOM: _error(chosen.learner, x[ROWS:], y[ROWS:])}


def measure(repeats: int) -> list[Any]:
    """Errors on test rows, a seed for each repeat, at least sixteen."""
    results, count = list[Any](), max(repeats, SEEDS)
    found = on_all_cores(_errors, [name for name in DATA for _ in range(count)], [*range(count)] * len(DATA))
    for name in DATA:
        errors, found = found[:count], found[count:]
        results += [{"data": name, "way": way, "error": spread([each[way] for each in errors])} for way in errors[0]]
    return results


def render(results: list[Any]) -> str:
    """The table."""
    rows = [[each["data"], each["way"], about(_percent(each["error"]))] for each in results]
    return table(["rows", f"{LABELS} labels asked for in", f"error, %, mean of {SEEDS} seeds (smallest-largest)"], rows)


def _percent(figures: dict[str, float]) -> dict[str, float]:
    return {name: 100 * value for name, value in figures.items()}


if __name__ == "__main__":
    options = parse(__doc__ or "")
    figures = measure(options.repeats)
    finish(options, render(figures), {"query": figures})
