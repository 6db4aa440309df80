"""The two kinds of data sets: items read one by one, and columns."""

from __future__ import annotations

from typing import Any

import datasets
import numpy as np
import pytest

from paraactive.errors import InputError
from paraactive.streams.dataset_sources import ColumnSource, ItemSource, class_names, numbers_by_name, open_source
from paraactive.streams.items import as_row

ROWS = [{"a": float(row), "b": float(row * row), "label": "no" if row % 3 else "yes"} for row in range(2100)]


def hugging() -> datasets.Dataset:
    return datasets.Dataset.from_list(ROWS)


@pytest.mark.parametrize("features", [None, ["b"], ["b", "a"]], ids=str)
def test_both_kinds_give_the_same_examples(features: list[str] | None) -> None:
    items, columns = open_source(ROWS, "label", features), open_source(hugging(), "label", features)
    assert (type(items), type(columns)) == (ItemSource, ColumnSource)
    rows = [2099, 0, 7, 7]
    for source in (items, columns):
        got = source.get(rows)
        names = features or ["a", "b"]
        assert [as_row(each.features, 0).tolist() for each in got] == [[ROWS[r][name] for name in names] for r in rows]
        assert [each.label for each in got] == [ROWS[r]["label"] for r in rows]
        assert source.labels().tolist() == [row["label"] for row in ROWS]
        assert source.get([]) == []
        assert source.names() is None


class Known(list[Any]):
    """A data set with a list of all labels, as those of torchvision have."""

    targets: Any


@pytest.mark.parametrize(("targets", "expected"), [([8, 9], [8, 9]), ([8], [0, 1]), (None, [0, 1]), (5, [0, 1])])
def test_a_list_of_targets_is_believed_only_if_its_length_fits(targets: Any, expected: list[int]) -> None:
    data = Known([([1.0], 0), ([2.0], 1)])
    data.targets = targets
    assert ItemSource(data, "label", None).labels().tolist() == expected


def test_names_of_classes_come_from_the_column() -> None:
    kind = datasets.ClassLabel(names=["cat", "dog", "owl"])
    data = datasets.Dataset.from_dict({"x": [1, 2], "kind": [0, 2]}).cast_column("kind", kind)
    assert class_names(data, "kind") == open_source(data, "kind", None).names() == ("cat", "dog", "owl")
    assert class_names(data, "x") is None
    assert class_names([1, 2], "kind") is None
    names, numbers = numbers_by_name(np.array([0, 2]), ("cat", "dog", "owl"))
    assert (names, numbers.tolist()) == (("cat", "dog", "owl"), [0, 2])
    names, numbers = numbers_by_name(np.array([3.0, 7.5]), None)
    assert (names, numbers.tolist()) == (("3", "7.5"), [0, 1])
    with pytest.raises(InputError, match="the data set has the label 3: it has names for 0 to 2 only"):
        numbers_by_name(np.array([0, 3]), ("cat", "dog", "owl"))
