from __future__ import annotations

from typing import Any

import pytest
import torch

from paraactive.learners.wrappers.torch_state import compare_groups, put_together, take_apart


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.bool, torch.bfloat16])
@pytest.mark.parametrize("shape", [(2, 3), (1,), (0, 4)])
def test_a_tensor_of_any_type_comes_back(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    given = torch.randint(0, 5, shape).to(dtype)
    taken = take_apart(given)
    assert taken is not None
    again: Any = put_together(*taken)
    assert again.dtype == dtype
    assert torch.equal(again, given)


def test_dicts_are_taken_apart_and_other_objects_are_not() -> None:
    assert take_apart({"a": 1}) == ("dict", {"a": 1})
    assert put_together("dict", {"a": 1}) == {"a": 1}
    assert take_apart("text") is None
    with pytest.raises(ValueError, match=r"no tensor of type torch\.nonsense"):
        put_together("torch.nonsense", None)


def test_groups_with_other_options_are_refused() -> None:
    compare_groups([{"lr": 0.1}], [{"lr": 0.2}])
    with pytest.raises(ValueError, match="the optimizer has other options"):
        compare_groups([{"lr": 0.1}], [{"lr": 0.1, "betas": (0.9, 0.99)}])
