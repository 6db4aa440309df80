"""Tensors and states of optimizers as plain arrays, and back; see `nested`."""

from __future__ import annotations

from typing import Any

from paraactive.learners.wrappers.torch_modules import torch_module


def take_apart(value: Any) -> tuple[str, object] | None:
    """Return the kind of a tensor and its values as an array, or as bytes if numpy does not have the type.

    Parameters
    ----------
    value : object
        A tensor, or a dict such as `module.state_dict()`.

    Returns
    -------
    tuple of str and object, or None
        None for other objects.
    """
    torch = torch_module()
    if not isinstance(value, torch.Tensor):
        return ("dict", dict(value)) if isinstance(value, dict) else None
    plain = value.detach().cpu().contiguous()
    try:
        array = plain.numpy()
    except TypeError:
        array = plain.reshape(-1).view(torch.uint8).numpy().reshape(*plain.shape, plain.element_size())
    return str(plain.dtype), array


def put_together(kind: str, inner: Any) -> object:
    """Return the object that `take_apart` got.

    Parameters
    ----------
    kind : str
        Its kind: "dict" or a type of torch.
    inner : object
        The dict, or the array.

    Returns
    -------
    object
        The dict, or the tensor.

    Raises
    ------
    ValueError
        If there is no such type.
    """
    if kind == "dict":
        return inner
    torch = torch_module()
    dtype = getattr(torch, kind.removeprefix("torch."), None)
    if not isinstance(dtype, torch.dtype):
        raise ValueError(f"there is no tensor of type {kind}")
    # A clone lies in memory of torch, which is aligned.
    tensor = torch.from_numpy(inner).clone()
    return tensor if tensor.dtype == dtype else tensor.reshape(-1).view(dtype).reshape(inner.shape[:-1])


def compare_groups(saved: list[dict[str, object]], expected: list[dict[str, object]]) -> None:
    """Raise an error if the parameter groups of two optimizers have different options; torch does not check it.

    Parameters
    ----------
    saved, expected : list of dict
        "param_groups" of `Optimizer.state_dict()`.

    Raises
    ------
    ValueError
        If the options differ.
    """
    if [set(group) for group in saved] != [set(group) for group in expected]:
        raise ValueError("the optimizer has other options")
