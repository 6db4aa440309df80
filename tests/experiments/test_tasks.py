"""Tasks by name."""

from __future__ import annotations

import pytest

from paraactive.errors import InputError
from paraactive.experiments import TASKS, find_task


@pytest.mark.parametrize(("name", "classes"), [("digits-31v57", 2), ("digits-3v5", 2), ("digits-10", 10)])
def test_a_task_has_a_class_for_each_group_of_digits(name: str, classes: int) -> None:
    assert len(find_task(name).stream("svm", seed=0).classes) == classes == len(TASKS[name].groups)


def test_pixels_are_in_the_range_of_the_learner() -> None:
    task = find_task("digits-3v5")
    assert task.stream("svm", seed=0).read(0, 10).x.min() == -1
    assert task.stream("network", seed=0).read(0, 10).x.min() == 0


def test_an_unknown_task_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="digits-31v57"):
        find_task("digits-3v6")
