"""What a user would pick instead, beside ours: test error, seconds to fit and to predict, on three tasks, one core.

Tasks: {3,1} v {5,7}, 24 559 original digits; all ten digits, 60 000; and 120 000 rows of 20 features made by
scikit-learn's `make_classification` (12 informative, eight clusters a class), standardised, 20 000 rows to test. Kernel
methods all have the same C and gamma, others their defaults unless the name says more; each runs once, in a process of
its own, with a limit for fitting and one for predicting. Who needed longer on the first task than it may take on
the second, which has the same pixels, more rows and more classes, is not tried there.

ThunderSVM is the wheel `thundersvm-cpu` (0.3.3 runs with this Python and numpy; the wheel `thundersvm` wants CUDA 9),
if it is installed. "Deformed stream": the digits go on after the originals, so these see more rows. Compiling our loops
does not count: bench_startup has it.

    python -m benchmarks.bench_peers --json peers.json
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, cast

import numpy as np
from sklearn.datasets import make_classification

from benchmarks.measuring import apart, finish, parse, table
from benchmarks.peers import PEERS, Data
from paraactive import Digits

GAMMA = 0.012


def _of_digits(digits: Digits, examples: int, network_examples: int) -> Data:
    learnt, test = digits.read(0, digits.originals), digits.test()
    return Data(
        np.asarray(learnt.x), learnt.y, np.asarray(test.x), test.y, 1.0, GAMMA, digits, examples, network_examples
    )


def two_groups() -> Data:
    """The SVM task."""
    return _of_digits(Digits(), 102_400, 204_800)


def ten_digits() -> Data:
    """All ten."""
    return _of_digits(Digits.all(), 60_000, 409_600)


def tabular() -> Data:
    """Made by scikit-learn."""
    x, y = cast(Any, make_classification)(
        140_000, 20, n_informative=12, n_redundant=4, n_clusters_per_class=8, class_sep=1.5, random_state=0
    )
    x = ((x - x.mean(axis=0)) / x.std(axis=0)).astype(np.float32)
    return Data(x[:120_000], y[:120_000], x[120_000:], y[120_000:], 10.0, 1 / 20)


class Task(NamedTuple):
    """Data, and the seconds that fitting and predicting may each take."""

    data: Callable[[], Data]
    limit: float
    smaller: str | None = None
    """A task with the same width, fewer rows and fewer classes."""


TASKS = {
    "{3,1} v {5,7}, 24 559 digits": Task(two_groups, 100.0),
    "ten digits, 60 000": Task(ten_digits, 60.0, "{3,1} v {5,7}, 24 559 digits"),
    "tabular, 120 000 rows of 20": Task(tabular, 60.0),
}


def contend(task: str, name: str, wanted: tuple[str, ...], small: bool) -> Iterator[Any]:
    """One contender, in this process."""
    data = TASKS[task].data()
    few = Data(
        data.x[:1500], data.y[:1500], data.test_x[:300], data.test_y[:300], data.C, data.gamma, data.stream, 3000, 3000,
        divisor=20,
    )  # fmt: skip
    if name.startswith("ours"):
        list(PEERS[name](few, wanted))  # compiles
    yield "ready"
    yield from PEERS[name](few if small else data, wanted)


def one(task: str, names: tuple[str, ...], known: dict[str, Any], small: bool) -> dict[str, Any]:
    """What came of those of one contender."""
    limit, smaller = TASKS[task].limit, TASKS[task].smaller
    found: dict[str, Any] = {name: {} for name in names}
    late = {name for name in names if smaller and _too_late(known[smaller][name], limit)}
    found |= {name: {"why": f"over {limit:.0f} s on fewer digits"} for name in late}
    wanted = tuple(name for name in names if name not in late)
    if not wanted:
        return found
    try:
        came = apart(contend, task, wanted[0], wanted, small, limit=limit)
    except RuntimeError as failure:
        return found | {name: {"why": f"failed: {failure}"} for name in wanted}
    for answer in came:
        found[answer["name"]] |= {key: value for key, value in answer.items() if key != "name"}
    return found


def _too_late(result: dict[str, Any], limit: float) -> bool:
    """True if it ran, and needed longer."""
    return not {"why", "left_out"} & set(result) and result.get("fit", np.inf) > limit


def measure(_repeats: int = 1, small: bool = False) -> dict[str, Any]:
    """Each once."""
    together: dict[int, list[str]] = {}
    for name, contender in PEERS.items():
        together.setdefault(id(contender), []).append(name)
    results: dict[str, Any] = {}
    for task in TASKS:
        results[task] = {}
        for names in together.values():
            results[task] |= one(task, tuple(names), results, small)
    return results


def _row(name: str, result: dict[str, Any], limit: float) -> list[str]:
    if "fit" not in result:
        return [name, "", result.get("why", f"not finished in {limit:.0f} s"), "", "", ""]
    start = [name, f"{result['seen']:,}", f"{result['fit']:.1f}"]
    if "predict" not in result:
        return [*start, f"not finished in {limit:.0f} s", "", ""]
    return [*start, f"{result['predict']:.2f}", f"{result['error']:.2%}", f"{result['memory']:.0f}"]


def render(results: dict[str, Any]) -> str:
    """A table for each task."""
    header = ["learner", "rows seen", "fit, s", "predict, s", "test error", "memory, MB"]
    parts: list[str] = []
    for task, found in results.items():
        rows = [_row(name, each, TASKS[task].limit) for name, each in found.items() if "left_out" not in each]
        parts.append(f"{task[0].upper()}{task[1:]}:\n\n{table(header, rows)}")
    return "\n\n".join(parts)


if __name__ == "__main__":
    options = parse(__doc__ or "", small=True)
    figures = measure(options.repeats, options.small)
    finish(options, render(figures), {"peers": figures})
