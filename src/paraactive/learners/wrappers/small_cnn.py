"""A small convolutional network for digits, for examples and benchmarks of `TorchLearner`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paraactive.learners.wrappers.torch_modules import torch_module

if TYPE_CHECKING:
    from torch import nn


def small_cnn(classes: int = 10) -> nn.Module:
    """Return a small convolutional network for digits of 28 x 28 pixels, given as rows of 784 features.

    Parameters
    ----------
    classes : int, default=10
        Number of classes. Two classes have one output.

    Returns
    -------
    torch.nn.Module
        The network, with new weights.

    Examples
    --------
    >>> sum(weight.numel() for weight in small_cnn().parameters())
    56714
    """
    nn = torch_module().nn
    return nn.Sequential(
        nn.Unflatten(1, (1, 28, 28)),
        nn.Conv2d(1, 16, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(32 * 5 * 5, 64), nn.ReLU(), nn.Linear(64, 1 if classes == 2 else classes),
    )  # fmt: skip
