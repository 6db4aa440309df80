"""Small data for the tests, made the same way everywhere."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from paraactive import LaSVM, Network
from paraactive.basics.part_spec import JSONValue
from paraactive.basics.registry import LEARNERS, RULES
from paraactive.data.examples import Doubles, Floats, Labels, Selected, SparseRows
from paraactive.learners import Learner
from paraactive.rules import Rule
from paraactive.runs.spec import RunSpec

OUR_LEARNERS: dict[str, Callable[[], Learner]] = {
    **{f"{name} by default": LEARNERS.find(name) for name in LEARNERS.names},
    "rbf": lambda: LaSVM(gamma=1.0, gap=0.1),
    "linear": lambda: LaSVM(kernel="linear"),
    "poly": lambda: LaSVM(kernel="poly", gamma=0.5, coef0=1.0),
    "network": lambda: Network(hidden=20),
    "squared network": lambda: Network(hidden=20, loss="squared"),
}
"""What every test of a learner's contract is crossed with: all in the registry, and some with other parameters."""
OUR_RULES: list[Rule] = [RULES.find(name)() for name in RULES.names]
"""All rules of the registry."""


class DenseLaSVM(LaSVM):
    """One that takes no sparse rows, as learners need not."""

    sparse = False  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride]


def selected(x: Floats, y: Labels, p: Doubles | float = 1.0) -> Selected:
    """These rows as selected examples."""
    return Selected.weighted(x, y, 1.0 / np.asarray(p))


def columns_of(log: Selected) -> list[tuple[str, bytes]]:
    """All that is known of selected examples, to the bit."""
    examples = log.examples
    columns = (examples.x, examples.y, examples.index, examples.key, log.p, log.seen, log.version)
    return [(column.dtype.str, column.tobytes()) for column in columns]


def same_rows(one: SparseRows, other: SparseRows) -> bool:
    """Whether two sets of sparse rows have the same arrays of the same types."""
    pairs = (one.data, other.data), (one.indices, other.indices), (one.indptr, other.indptr)
    return one.shape == other.shape and all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in pairs)


def two_moons(count: int, noise: float, seed: int) -> tuple[Floats, Labels]:
    """Two half circles that reach into each other."""
    rng = np.random.default_rng(seed)
    angle, upper = rng.uniform(0, np.pi, count), rng.random(count) < 0.5
    x = np.where(upper, np.cos(angle), 1 - np.cos(angle)), np.where(upper, np.sin(angle), 0.5 - np.sin(angle))
    rows = np.column_stack(x) + rng.normal(0, noise, (count, 2))
    return rows.astype(np.float32), np.where(upper, 1, -1).astype(np.int8)


def stripes(count: int, width: int, seed: int) -> tuple[Floats, Labels]:
    """A linear problem with a few labels flipped."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, width)).astype(np.float32)
    side = x @ rng.normal(size=width) > 0
    return x, np.where(side ^ (rng.random(count) < 0.05), 1, -1).astype(np.int8)


def three_blobs(count: int, seed: int, width: int = 2) -> tuple[Floats, Labels]:
    """Three clouds that overlap a little, with the labels 0, 1 and 2."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, count)
    centres = np.array([[0.0, 0.0], [2.5, 0.5], [0.5, 2.5]])
    x = rng.normal(size=(count, width))
    x[:, :2] += centres[y]
    return x.astype(np.float32), y.astype(np.int8)


def run_spec(**changed: JSONValue) -> RunSpec:
    """The description of a small run on arrays, with these settings changed."""
    settings: dict[str, JSONValue] = {
        "paraactive": "0", "learner": {"kind": "svm"}, "rule": {"kind": "signed"}, "stream": {"kind": "arrays"},
        "width": 3, "classes": ["no", "yes"], "examples": 100, "batch": 10, "warmstart": 10, "nodes": 1,
        "engine": "simulated", "schedule": "synchronous", "updates": "auto", "seed": 0,
    }  # fmt: skip
    return RunSpec.from_dict(settings | changed)


def waves(count: int) -> tuple[np.ndarray, np.ndarray]:
    """A task that needs a narrow kernel: gamma="scale" is too wide."""
    x = np.random.default_rng(0).uniform(-3, 3, (count, 2)).astype(np.float32)
    return x, np.sin(4 * x[:, 0]) * np.sin(4 * x[:, 1]) > 0
