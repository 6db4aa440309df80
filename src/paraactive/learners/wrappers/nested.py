"""Nested values (lists, dicts, arrays, numbers, text) as named plain arrays and one JSON text, and back. No pickle.

It is for learners whose state belongs to another library. Values of other types are refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from paraactive.basics.state import State
from paraactive.errors import InputError
from paraactive.learners.wrappers.foreign import reraise_as_input_error

TakeApart: TypeAlias = Callable[[object], tuple[str, object] | None]
"""Returns the kind and the nested value of an object of another library, or None if it does not know the object."""
PutTogether: TypeAlias = Callable[[str, Any], Any]
"""Makes the object again from its kind and its nested value."""

REMEDY = "load the state into a learner with the parameters of the saved one"
"""Remedy for a state of another learner."""
_TEXT = "json"


def to_state(value: object, take_apart: TakeApart = lambda _: None) -> State:
    """Return a nested value as named arrays.

    Parameters
    ----------
    value : object
        The nested value.
    take_apart : callable, optional
        Takes objects of other types apart.

    Returns
    -------
    dict of str to ndarray
        "json" has the structure, the other names have copies of the arrays.

    Raises
    ------
    InputError
        If the value has an object of an unknown type.

    Examples
    --------
    >>> state = to_state({"coef": np.zeros(2), "t": 3, "shape": (2,)})
    >>> sorted(state), from_state(state)["shape"]
    (['array0', 'json'], (2,))
    """
    writing = _Writing(take_apart)
    text = json.dumps(writing.plain(value, ""))
    return {_TEXT: np.frombuffer(text.encode(), np.uint8).copy()} | writing.arrays


def from_state(state: State, put_together: PutTogether | None = None) -> Any:
    """Return the value that `to_state` got. Its arrays are copies.

    Parameters
    ----------
    state : dict of str to ndarray
        What `to_state` returned.
    put_together : callable, optional
        Makes objects of other types again.

    Returns
    -------
    object
        The nested value.

    Raises
    ------
    InputError
        If the state cannot be read.
    """
    with reraise_as_input_error("the saved state of the learner cannot be read", REMEDY):
        return _Reading(state, put_together).value(json.loads(bytes(state[_TEXT])))


class _Writing:
    def __init__(self, take_apart: TakeApart) -> None:
        self.arrays: State = {}
        self._take_apart = take_apart
        # Arrays by identity, so that what was one array becomes one array again. The arrays are kept alive, because
        # the id of an array that was freed may be used again.
        self._known: dict[int, tuple[str, NDArray[Any]]] = {}

    def plain(self, value: object, path: str) -> Any:
        if value is None or type(value) in (bool, int, float, str):
            return value
        if isinstance(value, np.ndarray | np.generic):
            return self._array(value, path)
        if isinstance(value, list | tuple):
            items = [self.plain(item, _below(path, place)) for place, item in enumerate(value)]
            return {type(value).__name__: items} if type(value) in (list, tuple) else self._unknown(value, path)
        if type(value) is dict:
            # As pairs, because keys may be integers, and keys in JSON are strings.
            pairs = [[self.plain(key, path), self.plain(item, _below(path, key))] for key, item in value.items()]
            return {"dict": pairs}
        return self._unknown(value, path)

    def _array(self, value: NDArray[Any] | np.generic, path: str) -> Any:
        if value.dtype.hasobject:
            self._refuse(f"an array of {value.dtype}", path)
        if isinstance(value, np.generic):
            return {"scalar": self._named(value)}
        if id(value) not in self._known:
            self._known[id(value)] = self._named(value), value
        # The bits of a product may depend on the memory order of its factors.
        order = "F" if value.flags.f_contiguous and not value.flags.c_contiguous else "C"
        return {"array": self._known[id(value)][0], "order": order}

    def _named(self, value: NDArray[Any] | np.generic) -> str:
        # Numbered, because the path "a.b" could also be "b" within "a".
        name = f"array{len(self.arrays)}"
        self.arrays[name] = np.array(value, order="C")
        return name

    def _unknown(self, value: object, path: str) -> Any:
        parts = self._take_apart(value)
        if parts is None:
            self._refuse(f"a {type(value).__module__}.{type(value).__qualname__}", path)
        kind, inner = parts  # pyright: ignore[reportGeneralTypeIssues]
        return {"object": kind, "of": self.plain(inner, path)}

    def _refuse(self, what: str, path: str) -> None:
        raise InputError(
            f"{path or 'the state'} of the model is {what}",
            why="a state is saved as numbers, text and arrays, never as code",
            remedy="use a model whose state consists of these",
        )


class _Reading:
    def __init__(self, state: State, put_together: PutTogether | None) -> None:
        self._state, self._put_together = state, put_together
        self._made: dict[str, NDArray[Any]] = {}

    def value(self, plain: Any) -> Any:
        if not isinstance(plain, dict):
            return plain
        if "array" in plain:
            name = str(plain["array"])
            if name not in self._made:
                self._made[name] = np.array(self._state[name], order=plain["order"])
            return self._made[name]
        if "scalar" in plain:
            return self._state[str(plain["scalar"])][()]
        if "dict" in plain:
            return {self.value(key): self.value(item) for key, item in plain["dict"]}
        if "object" in plain:
            if self._put_together is None:
                raise ValueError(f"it has an object of kind {plain['object']}")
            return self._put_together(str(plain["object"]), self.value(plain["of"]))
        kind = list if "list" in plain else tuple
        return kind(self.value(item) for item in plain[kind.__name__])


def _below(path: str, name: object) -> str:
    return f"{path}.{name}" if path else str(name)
