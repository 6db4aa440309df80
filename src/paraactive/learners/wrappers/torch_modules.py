"""What `TorchLearner` makes of its parameters: the device, the module, the optimizer and the default losses."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from paraactive.basics.optional import require
from paraactive.basics.threads import OneTorchThread
from paraactive.errors import InputError
from paraactive.learners.wrappers.foreign import reraise_as_input_error

if TYPE_CHECKING:
    import torch
    from torch import nn

Loss: TypeAlias = "Callable[[torch.Tensor, torch.Tensor], torch.Tensor]"
MakeOptimizer: TypeAlias = "Callable[[list[nn.Parameter]], torch.optim.Optimizer]"

RANDOM = threading.RLock()
"""A thread must hold it to seed torch's generator, which all threads share."""


def torch_module() -> Any:
    """Return the module torch; an error names the extra to install."""
    return require("torch", extra="torch", what="TorchLearner")


def device_of(name: str | torch.device) -> torch.device:
    """Return a device of torch, or raise an error if it does not exist here.

    Parameters
    ----------
    name : str or torch.device
        The device.
    """
    torch = torch_module()
    with reraise_as_input_error(f"no device {name!r}", "give a device that torch has here, such as 'cpu'"):
        # A valid name may be that of a device which is not there.
        return torch.empty(0, device=torch.device(name)).device


def make_module(module: object, seed: int) -> nn.Module:
    """Return the module, or call the function that makes it, with torch's generator seeded.

    Parameters
    ----------
    module : object
        A module, or a function without parameters that makes one.
    seed : int
        Seed of torch's generator.
    """
    torch = torch_module()
    made: Any = module
    if callable(module) and not isinstance(module, torch.nn.Module):
        with RANDOM, torch.random.fork_rng([]):
            torch.manual_seed(seed)
            made = module()
    if isinstance(made, torch.nn.Module):
        return made
    raise InputError(
        f"the module is {made!r}",
        why="it must be a torch.nn.Module, or a function that makes one",
        remedy="give one, such as TorchLearner(torch.nn.Linear(784, 1))",
    )


def make_optimizer(make: object, module: nn.Module) -> torch.optim.Optimizer:
    """Return the optimizer of the module's parameters that require a gradient.

    Parameters
    ----------
    make : object
        A function that makes an optimizer for a list of parameters.
    module : torch.nn.Module
        The module.
    """
    parameters = [each for each in module.parameters() if each.requires_grad]
    if not parameters:
        raise InputError(
            "the module has no parameters to learn",
            why="none of them requires a gradient",
            remedy="give a module with parameters that require a gradient",
        )
    remedy = "give a function that builds an optimizer of a list of parameters"
    with reraise_as_input_error("the optimizer cannot be built", remedy):
        optimizer: Any = make(parameters) if callable(make) else make
    if callable(make) and isinstance(optimizer, torch_module().optim.Optimizer):
        return _without_closure(optimizer)
    raise InputError(
        f"the optimizer is {type(optimizer).__name__}",
        why="each replica makes its own optimizer, of its own parameters",
        remedy="give a function that makes it, such as functools.partial(torch.optim.SGD, lr=0.1)",
    )


def _without_closure(optimizer: torch.optim.Optimizer) -> torch.optim.Optimizer:
    """Return the optimizer if its step needs no function that computes the loss again."""
    closure = inspect.signature(optimizer.step).parameters.get("closure")
    if closure is None or closure.default is not inspect.Parameter.empty:
        return optimizer
    raise InputError(
        f"the optimizer is {type(optimizer).__name__}",
        why="its step computes the loss several times, and a learner computes it once for each minibatch",
        remedy="give another optimizer, such as torch.optim.SGD or AdamW",
    )


def normalizes_batches(module: nn.Module, except_in: list[nn.Module]) -> bool:
    """Return whether a module has a batch normalization that learns.

    Parameters
    ----------
    module : torch.nn.Module
        The module.
    except_in : list of torch.nn.Module
        Modules that do not learn.
    """
    nn = torch_module().nn
    kinds = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm)
    lazy = (nn.LazyBatchNorm1d, nn.LazyBatchNorm2d, nn.LazyBatchNorm3d)
    learning = (each for each in module.modules() if not any(each is other for other in except_in))
    return any(isinstance(each, kinds + lazy) for each in learning)


def dtype_of(module: nn.Module) -> torch.dtype:
    """Return the type of the module's first parameter of floating point, or float32.

    Parameters
    ----------
    module : torch.nn.Module
        The module.
    """
    kinds = (each.dtype for each in module.parameters() if each.is_floating_point())
    return next(kinds, torch_module().float32)


@cache
def one_thread() -> OneTorchThread:
    """Return the context in which torch computes with one thread."""
    return OneTorchThread(torch_module())


def logistic(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Return log(1 + exp(-target * output)) for each example.

    Parameters
    ----------
    output : torch.Tensor
        Outputs of the module.
    target : torch.Tensor
        Labels, -1 or 1.
    """
    return torch_module().nn.functional.softplus(-target * output)


def cross_entropy(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Return the cross entropy of each example.

    Parameters
    ----------
    output : torch.Tensor
        Outputs of the module.
    target : torch.Tensor
        Class numbers.
    """
    return torch_module().nn.functional.cross_entropy(output, target, reduction="none")


def shape_of(value: Any) -> tuple[int, ...] | None:
    """Return the shape of a tensor, or None for other objects.

    Parameters
    ----------
    value : Any
        The object.
    """
    return tuple(value.shape) if isinstance(value, torch_module().Tensor) else None


def shape_in_words(value: object) -> str:
    """Return what an error message says of the shape.

    Parameters
    ----------
    value : object
        The object.
    """
    shape = shape_of(value)
    return f"is a {type(value).__name__}, not a tensor" if shape is None else f"has shape {shape}"
