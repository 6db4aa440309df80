"""Checks of labels, and their names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paraactive.errors import InputError
from paraactive.streams import Arrays
from paraactive.streams.label_checks import (
    check_classes,
    checked_class_names,
    class_values,
    label_column,
    label_name,
    named_labels,
)


def test_labels_that_are_bytes_have_the_names_that_text_has():
    assert Arrays([[1], [2]], np.array([b"ham", b"spam"])).classes == ("ham", "spam")
    assert Arrays([[1], [2]], [b"\xff", b"\xfe"]).classes == (r"\xfe", r"\xff")


@given(st.lists(st.integers(-3, 3), min_size=2, max_size=30).filter(lambda labels: len(set(labels)) > 1))
@settings(deadline=None)
def test_labels_are_numbered_in_their_sorted_order(labels: list[int]):
    values, number = class_values(np.array(labels))
    ordered = sorted(set(labels))
    assert values.tolist() == ordered
    assert number.tolist() == [ordered.index(label) for label in labels]
    names = tuple(str(value) for value in ordered)
    expected = [2 * ordered.index(each) - 1 if len(ordered) == 2 else ordered.index(each) for each in labels]
    for kind in (np.int64, np.float32, str, object):
        assert named_labels(np.array(labels).astype(kind), names).tolist() == expected


def test_a_label_that_is_no_class_of_the_stream_is_named():
    with pytest.raises(InputError, match="unknown label '9': the stream has the classes '5', '7'"):
        named_labels(np.array([5, 9, 7]), ("5", "7"))


@pytest.mark.parametrize("value", [5, 5.0, np.float32(5), np.int8(5), "5", b"5"], ids=repr)
def test_equal_labels_of_several_types_have_one_name(value: Any):
    assert label_name(value) == "5"


@pytest.mark.parametrize("count", [0, 1, 128])
def test_the_number_of_classes_is_2_to_127(count: int):
    with pytest.raises(InputError, match=f"y has {count} class.*2 to 127"):
        check_classes([str(number) for number in range(count)])
    check_classes([str(number) for number in range(127)])


@pytest.mark.parametrize("classes", ["ab", ["5", 5.0], [b"a", "a"]], ids=repr)
def test_classes_are_a_list_of_different_names(classes: Any):
    with pytest.raises(InputError, match="it must be a list of different names"):
        checked_class_names(classes)


@pytest.mark.parametrize(
    ("y", "says"), [([], "y is empty"), ([[1], [0]], "y has shape"), ([[1], [0, 1]], "y is not an")]
)
def test_labels_are_one_column(y: Any, says: str):
    with pytest.raises(InputError, match=says):
        label_column(y)
