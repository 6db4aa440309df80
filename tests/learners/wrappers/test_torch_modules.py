from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from paraactive.errors import InputError
from paraactive.learners.wrappers import torch_modules
from paraactive.learners.wrappers.torch_modules import (
    cross_entropy,
    device_of,
    dtype_of,
    logistic,
    make_module,
    make_optimizer,
    normalizes_batches,
    shape_in_words,
)


def test_a_module_is_made_with_the_seed_and_leaves_torchs_generator_alone() -> None:
    before = torch.random.get_rng_state()
    one, same, other = (make_module(partial(nn.Linear, 3, 1), seed) for seed in (1, 1, 2))
    assert torch.equal(torch.random.get_rng_state(), before)
    weights: list[Any] = [each.get_parameter("weight") for each in (one, same, other)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])
    assert make_module(one, 5) is one
    with pytest.raises(InputError, match="the module is 3"):
        make_module(3, 0)


def test_an_optimizer_has_the_parameters_that_require_a_gradient() -> None:
    module = nn.Linear(3, 1)
    module.bias.requires_grad_(False)
    optimizer = make_optimizer(partial(torch.optim.SGD, lr=0.1), module)
    assert [id(each) for group in optimizer.param_groups for each in group["params"]] == [id(module.weight)]
    for wrong, said in (
        (optimizer, "each replica makes its own"),
        (torch.optim.LBFGS, "the loss several times"),
    ):
        with pytest.raises(InputError, match=said):
            make_optimizer(wrong, module)
    with pytest.raises(InputError, match="no parameters to learn"):
        make_optimizer(torch.optim.SGD, nn.ReLU())


def test_losses_are_those_of_the_formulas() -> None:
    rng = np.random.default_rng(0)
    output, sign = rng.normal(size=6), rng.choice([-1.0, 1.0], 6)
    found = logistic(torch.tensor(output), torch.tensor(sign)).numpy()
    np.testing.assert_allclose(found, np.log1p(np.exp(-sign * output)))
    outputs, target = rng.normal(size=(6, 3)), rng.integers(0, 3, 6)
    found = cross_entropy(torch.tensor(outputs), torch.tensor(target)).numpy()
    np.testing.assert_allclose(found, np.log(np.exp(outputs).sum(axis=1)) - outputs[np.arange(6), target])


def test_devices_types_and_shapes_are_read() -> None:
    assert device_of("cpu") == torch.device("cpu")
    with pytest.raises(InputError, match="no device 'nowhere'"):
        device_of("nowhere")
    assert dtype_of(nn.Linear(2, 1).double()) == torch.float64
    assert dtype_of(nn.ReLU()) == torch.float32
    assert shape_in_words(torch.zeros(2, 3)) == "has shape (2, 3)"
    assert shape_in_words("text") == "is a str, not a tensor"
    module = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    assert normalizes_batches(module, [])
    assert not normalizes_batches(module, [module[1]])
    assert torch_modules.torch_module() is torch
