from __future__ import annotations

import pytest
import torch

from paraactive.learners.wrappers.small_cnn import small_cnn


@pytest.mark.parametrize(("classes", "outputs"), [(2, 1), (3, 3), (10, 10)])
def test_it_has_an_output_for_each_class_and_one_for_two(classes: int, outputs: int) -> None:
    assert small_cnn(classes)(torch.zeros(5, 784)).shape == (5, outputs)


def test_rows_are_read_as_images() -> None:
    first, x = small_cnn()[:2], torch.rand(4, 784)  # pyright: ignore[reportIndexIssue]
    weight, bias = first[1].weight, first[1].bias
    image = x.reshape(4, 28, 28)
    expected = (image[:, 5:8, 9:12] * weight[3, 0]).sum(dim=(1, 2)) + bias[3]
    assert torch.allclose(first(x)[:, 3, 5, 9], expected, atol=1e-5)
