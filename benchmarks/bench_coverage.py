"""How often the 95% intervals of a run's own estimates cover the truth: 100 runs of three learners.

Each run sifts with class weights, and the SVM with its cascade. The truth of an interval is the mean, over the examples
behind it, of the true error of the model that scored them, which is measured on rows that the run does not see.

    python -m benchmarks.bench_coverage --repeats 100 --json coverage.json
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import SGDClassifier

from benchmarks.measuring import finish, on_all_cores, parse, table
from paraactive import Arrays, Digits, LaSVM, Network, train
from paraactive.data.examples import Examples
from paraactive.learners import Learner, SklearnLearner
from paraactive.learners.rows import learn, scores
from paraactive.runs.run import Run
from paraactive.sifting.select import take_all
from paraactive.streams import Stream

RUNS = 100
EXAMPLES, WARMSTART, BATCH, TEST = 6144, 2048, 512, 4000
INTERVALS = ("error", "recent_error", "weighted_error")


@dataclass(frozen=True)
class Task:
    """A learner and its data."""

    learner: Callable[[], Learner]
    data: Callable[[int], tuple[Stream, Examples]]
    """Is given a seed; returns the stream of a run and rows that it does not contain."""


def _generated(noise: float, seed: int) -> tuple[Stream, Examples]:
    x, y = make_classification(
        EXAMPLES + TEST, n_features=10, n_informative=6, flip_y=2 * noise, weights=[0.7], random_state=seed
    )
    rows = Arrays(x, y, shuffle=False)
    return Arrays(x[:EXAMPLES], y[:EXAMPLES], shuffle=False), rows.read(EXAMPLES, EXAMPLES + TEST)


def _digits(seed: int) -> tuple[Stream, Examples]:
    stream = Digits(seed=seed)  # In random order, and not deformed yet.
    return stream, stream.read(EXAMPLES, EXAMPLES + TEST)


TASKS = {
    "SVM with the cascade, digits": Task(lambda: LaSVM(gamma=0.012, gap=0.2), _digits),
    "network, 5% of labels wrong": Task(lambda: Network(hidden=20, step=0.2), lambda seed: _generated(0.05, seed)),
    "SGDClassifier, 15% of labels wrong": Task(
        lambda: SklearnLearner(SGDClassifier(loss="log_loss", average=True, random_state=0)),
        lambda seed: _generated(0.15, seed),
    ),
}


class Truth:
    """The error of each model on the way, on rows that the run does not see; its method `stop` never stops a run."""

    def __init__(self, test: Examples, weight: Any, first: Learner, scored: int) -> None:
        self._test, self._weight = test, weight
        self._errors = [(scored, *self._of(first))]

    def _of(self, learner: Learner) -> tuple[float, float]:
        wrong = scores(learner, self._test.x) * self._test.y <= 0.0
        return float(np.mean(wrong)), float(np.average(wrong, weights=self._weight))

    def stop(self, run: Run) -> bool:
        """Measure the model that sifts the next round."""
        self._errors.append((BATCH, *self._of(run.learner)))
        return False

    def over(self, examples: int, weighted: bool) -> float:
        """The mean over this number of the latest examples."""
        total = left = examples
        mean = 0.0
        for count, *errors in self._errors[-2::-1]:  # The last model sifted nothing.
            taken = min(count, left)
            mean, left = mean + taken * errors[weighted], left - taken
        assert left == 0
        return mean / total


def one(name: str, seed: int) -> dict[str, Any]:
    """Whether the intervals of one run cover, their widths, and the share of examples that had an exact score."""
    task = TASKS[name]
    stream, test = task.data(seed)
    names = list(stream.classes)
    weights = {names[0]: 1.0, names[1]: 2.0}
    first = task.learner()
    begun = stream.read(0, 3 * WARMSTART // 4)
    begun = replace(begun, importance=np.where(begun.y > 0, 2.0, 1.0))
    learn(first, take_all(begun, np.zeros(len(begun), np.int64), 0))
    truth = Truth(test, np.where(test.y > 0, 2.0, 1.0), first, WARMSTART // 4)
    run = train(
        task.learner(), stream, examples=EXAMPLES, warmstart=WARMSTART, batch=BATCH, nodes=1, engine="threads",
        seed=seed, class_weight=weights, stop=truth.stop,
    )  # fmt: skip
    known = run.estimates
    assert known is not None
    found: dict[str, Any] = {"scored": sum(each.scored for each in run.rounds) / run.sifted, "rate": run.sampling_rate}
    for name in INTERVALS:
        interval = getattr(known, name)
        true = truth.over(known.examples if name == "error" else known.recent_examples, name == "weighted_error")
        found[name] = {"covers": interval.low <= true <= interval.high, "width": interval.width, "true": true}
    return found


def measure(runs: int = RUNS) -> dict[str, Any]:
    """All tasks; a seed for each run."""
    return {name: summary(on_all_cores(one, [name] * runs, range(runs))) for name in TASKS}


def summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Means over runs."""
    means: dict[str, Any] = {each: float(np.mean([run[each] for run in runs])) for each in ("rate", "scored")}
    for kind in INTERVALS:
        means[kind] = {each: float(np.mean([run[kind][each] for run in runs])) for each in runs[0][kind]}
    return means | {"runs": len(runs)}


def render(results: dict[str, Any]) -> str:
    """The table."""
    rows: list[list[str]] = []
    for name, task in results.items():
        for kind in INTERVALS:
            found = task[kind]
            shown = [f"{found['true']:.2%}", f"± {found['width'] / 2:.2%}", f"{found['covers']:.1%}"]
            rows.append([name, kind.replace("_", " "), f"{task['rate']:.0%}", f"{task['scored']:.0%}", *shown])
    head = ["learner", "interval of", "selected", "scored exactly", "truth", "half width", "covered"]
    count = next(iter(results.values()))["runs"]
    return table(head, rows) + (
        f"\n\n{count} runs of each, with class weights 1 and 2, {EXAMPLES:,} examples, of which {WARMSTART:,} are the "
        "warmstart. The intervals are meant to cover in 95% of all runs, at all times together."
    )


if __name__ == "__main__":
    options = parse(__doc__ or "")
    figures = measure(options.repeats)
    finish(options, render(figures), {"coverage": figures})
