"""One item of a data set as a row, a label and a weight."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from paraactive.errors import InputError
from paraactive.streams import Dataset
from paraactive.streams.items import FeatureOrder, Item, as_label, as_row, split_item


def test_tensors_of_bfloat16_are_numbers():
    data = torch.utils.data.TensorDataset(torch.tensor([[1.5], [2.5]]).bfloat16(), torch.tensor([0, 1]))
    assert Dataset(data, shuffle=False).read(0, 2).x.tolist() == [[1.5], [2.5]]


@pytest.mark.parametrize(
    "item",
    [([1, 2], "a"), [[1, 2], "a", 1.0], {"x": 1, "y": 2, "label": "a"}, {"label": "a", "more": "text", "x": 1, "y": 2}],
    ids=repr,
)
def test_pairs_triples_and_dictionaries_are_one_example(item: Any):
    features, label, weight = split_item(item, "label", ["x", "y"], 0)
    assert (as_row(features, 0).tolist(), label, weight) == ([1, 2], "a", 1.0)


@pytest.mark.parametrize(
    ("item", "says"),
    [
        (7, "example 3 is of type int"),
        ("ab", "example 3 is of type str"),
        ((1, 2, 3, 4), "example 3 is of type tuple"),
        ({"x": 1}, "the column 'label' is missing"),
        ({"label": 1}, "there are no features"),
    ],
    ids=repr,
)
def test_items_of_another_form_are_refused_with_their_number(item: Any, says: str):
    with pytest.raises(InputError, match=says):
        split_item(item, "label", None, 3)
    assert split_item({"x": 1, "label": 2}, "label", None, 3) == Item({"x": 1}, 2)


@pytest.mark.parametrize(
    "features",
    [np.arange(6).reshape(1, 2, 3), torch.arange(6.0), [range(6)], {"a": [0, 1], "b": 2, "c": [[3], [4], [5]]}],
)
def test_features_of_any_shape_are_one_row(features: Any):
    row = as_row(features, 0, width=6)
    assert (row.dtype, row.tolist()) == (np.float32, [0, 1, 2, 3, 4, 5])


@pytest.mark.parametrize(
    ("features", "says"),
    [
        ([1], "example 4 has 1 feature, and"),
        ([1, np.inf], "NaN, infinite"),
        ([1, 1e39], "float32"),
        ("ab", "not numbers"),
    ],
)
def test_features_that_cannot_be_a_row_are_refused_with_their_number(features: Any, says: str):
    with pytest.raises(InputError, match=f"example 4 .*{says.removeprefix('example 4 ')}"):
        as_row(features, 4, width=2)


def test_a_label_of_one_element_is_a_number():
    for given in (torch.tensor([3]), torch.tensor(3), np.array([3]), np.array(3), 3):
        assert as_label(given) == 3
        assert not isinstance(as_label(given), np.ndarray)
    assert as_label("spam") == "spam"


def test_named_features_keep_the_order_of_the_first_example():
    order = FeatureOrder()
    first: Any = order.arrange({"b": 1, "a": 2}, 0)
    second: Any = order.arrange({"a": 3, "b": 4}, 1)
    assert (list(first), list(second)) == (["b", "a"], ["b", "a"])
    with pytest.raises(InputError, match="example 2 has features without names: the first example has the features"):
        order.arrange([1, 2], 2)
