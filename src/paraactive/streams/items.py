"""What a user's data set gives for an example, a pair or a dictionary, as a row of numbers, a label and a weight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from paraactive.data.examples import Floats
from paraactive.errors import InputError, counted, quoted_names


class FeatureOrder:
    """The names of the features, as the first example has them. All others must have the same, in any order.

    >>> layout = FeatureOrder()
    >>> layout.arrange({"age": 3, "size": 4}, row=0), layout.arrange({"size": 5, "age": 6}, row=1)
    ({'age': 3, 'size': 4}, {'age': 6, 'size': 5})
    """

    def __init__(self) -> None:
        self._names: tuple[str, ...] | None = None

    def arrange(self, features: Any, row: int) -> Any:
        """Features with names in the order of the first example; those without names as they are."""
        own: tuple[str, ...] = tuple(features) if isinstance(features, Mapping) else ()
        if self._names is None:
            self._names = own
        if set(own) != set(self._names):
            raise InputError(
                f"example {row} has {_features(own)}",
                why=f"the first one has {_features(self._names)}, and a feature has the same place in all",
                remedy="give all examples the same features, or name those to use as features=[...]",
            )
        return {name: features[name] for name in self._names} if own else features


class Item(NamedTuple):
    """One example, as it was given."""

    features: Any
    label: Any
    weight: float = 1.0


def split_item(item: Any, label: str, features: Sequence[str] | None, row: int) -> Item:
    """A pair (x, y), a triple (x, y, weight), or a dictionary whose columns are named.

    >>> split_item({"age": 3, "size": 4, "label": "big"}, "label", None, 0)
    Item(features={'age': 3, 'size': 4}, label='big', weight=1.0)
    """
    if isinstance(item, Mapping):
        columns: dict[str, Any] = dict(item)  # pyright: ignore[reportUnknownArgumentType]
        names = [name for name in columns if name != label] if features is None else list(features)
        lacking = [name for name in (label, *names) if name not in columns]
        if lacking or not names:
            raise InputError(
                f"example {row} has the columns {quoted_names(list(columns))}",
                why=f"there is no {lacking[0]!r} among them" if lacking else "there are no features",
                remedy="name the columns, as label=... and features=[...]",
            )
        return Item({name: columns[name] for name in names}, columns[label])
    if isinstance(item, tuple | list) and len(item) in (2, 3):  # pyright: ignore[reportUnknownArgumentType]
        return Item(*item)
    raise InputError(
        f"example {row} is of type {type(item).__name__}",
        why="an example is a pair of features and label",
        remedy="give (x, y), (x, y, weight) or a dictionary of columns",
    )


def as_row(features: Any, row: int, width: int | None = None) -> Floats:
    """The features as one row of float32, whatever their shape; several columns one after the other.

    >>> as_row({"pixels": [[0, 1], [2, 3]], "age": 4}, row=0).tolist()
    [0.0, 1.0, 2.0, 3.0, 4.0]
    """
    parts = list(features.values()) if isinstance(features, Mapping) else [features]
    try:
        with np.errstate(over="ignore"):
            values = np.concatenate([as_array(part).astype(np.float32).ravel() for part in parts])
    except (TypeError, ValueError) as error:
        raise InputError(
            f"the features of example {row} are not numbers",
            why=str(error).rstrip("."),
            remedy="name the columns of numbers as features=[...], or give a transform that makes an array of them",
        ) from None
    if width is not None and len(values) != width:
        raise InputError(
            f"example {row} has {counted(len(values), 'feature')}, and those before {width}",
            why="all examples of a stream are of one width",
            remedy="give a transform that brings them to one size",
        )
    if not np.isfinite(values).all():
        raise InputError(
            f"example {row} has a feature that is NaN, infinite or beyond float32",
            why="a score needs finite numbers",
            remedy="leave out such examples, or fill in the values",
        )
    return values


def as_array(given: Any) -> np.ndarray[Any, Any]:
    """A tensor, picture, list or number as an array of numbers."""
    if hasattr(given, "detach"):  # A tensor of torch, which need not be on this processor.
        tensor = given.detach().cpu()
        given = (tensor.float() if "bfloat16" in str(tensor.dtype) else tensor).numpy()  # numpy has no such type.
    array = np.asarray(given)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"they are of type {array.dtype if array.dtype.kind != 'O' else type(given).__name__}")
    return array


def as_label(given: Any) -> Any:
    """A label as Python or numpy has it."""
    if hasattr(given, "detach"):
        given = given.detach().cpu().numpy()
    return given.item() if isinstance(given, np.ndarray) and given.size == 1 else given


def _features(names: tuple[str, ...]) -> str:
    return f"the features {quoted_names(list(names))}" if names else "features without names"
