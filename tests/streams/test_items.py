"""One item of a data set as a row, a label and a weight."""

from __future__ import annotations

import torch

from paraactive.streams import Dataset


def test_tensors_of_bfloat16_are_numbers():
    data = torch.utils.data.TensorDataset(torch.tensor([[1.5], [2.5]]).bfloat16(), torch.tensor([0, 1]))
    assert Dataset(data, shuffle=False).read(0, 2).x.tolist() == [[1.5], [2.5]]
