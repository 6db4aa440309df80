"""Small data and small classifiers for the tests of the estimator."""

from __future__ import annotations

from typing import Any, cast

from sklearn.datasets import make_classification, make_moons

from paraactive import ParaActiveClassifier

MOONS, SIDE = cast("tuple[Any, Any]", make_moons(4000, noise=0.2, random_state=0))
TEST, TEST_SIDE = cast("tuple[Any, Any]", make_moons(2000, noise=0.2, random_state=1))


def three_classes(count: int, seed: int = 0) -> Any:
    """Rows of 8 features and labels of three classes."""
    return make_classification(count, n_features=8, n_informative=5, n_classes=3, class_sep=1.5, random_state=seed)


def new_clf(**options: Any) -> Any:
    """A classifier that sifts already in small data."""
    usual: dict[str, Any] = {"random_state": 0, "warmstart": 500, "batch": 250}
    return ParaActiveClassifier(**usual | options)
