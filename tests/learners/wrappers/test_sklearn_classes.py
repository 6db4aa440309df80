from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.preprocessing import LabelBinarizer

from paraactive.errors import InputError
from paraactive.learners.wrappers.sklearn_classes import (
    built,
    described,
    is_known,
    put_together,
    set_attributes,
    take_apart,
)


class _Own(SGDClassifier):
    """A class of the user's own."""


def test_a_description_makes_an_equal_estimator() -> None:
    given = SGDClassifier(alpha=np.float64(0.5), average=True)
    description = described(given)
    assert description["class"] == "sklearn.linear_model._stochastic_gradient.SGDClassifier"
    assert type(description["parameters"]["alpha"]) is float
    again = built(description)
    assert type(again) is SGDClassifier
    assert again.get_params() == given.get_params()


def test_only_listed_classes_with_plain_parameters_are_described() -> None:
    assert is_known(Perceptron())
    assert not is_known(_Own())
    with pytest.raises(AttributeError, match="_Own cannot be described"):
        described(_Own())
    with pytest.raises(AttributeError, match=r"class_weight=.* cannot be described"):
        described(SGDClassifier(class_weight={1: 2.0}))


def test_objects_inside_an_estimator_come_back() -> None:
    binarizer = LabelBinarizer().fit([3, 1, 2])
    taken = take_apart(binarizer)
    assert taken is not None
    again: Any = put_together(*taken)
    assert again.transform([2, 3]).tolist() == [[0, 1, 0], [0, 0, 1]]
    generator = np.random.RandomState(5)
    taken = take_apart(generator)
    assert taken is not None
    again = put_together(*taken)
    assert again.random() == generator.random()
    assert take_apart(SGDClassifier()) is None


def test_attributes_of_the_class_and_fixed_ones_are_not_set() -> None:
    target: Any = LabelBinarizer()
    for name in ("fit", "neg_label"):
        with pytest.raises(InputError, match=f"sets '{name}' of LabelBinarizer"):
            set_attributes(target, {"classes_": [1], name: 3}, fixed=frozenset({"neg_label"}))
    assert not hasattr(target, "classes_")
    set_attributes(target, {"classes_": [1]})
    assert target.classes_ == [1]
