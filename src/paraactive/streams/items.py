"""Conversion of one item of a data set (a pair, triple or dictionary) to features, label and weight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from paraactive.data.examples import Floats
from paraactive.errors import InputError, counted, quoted_names


class FeatureOrder:
    """The order of named features in the first example. All other examples must have the same names, in any order.

    Examples
    --------
    >>> layout = FeatureOrder()
    >>> layout.arrange({"age": 3, "size": 4}, row=0), layout.arrange({"size": 5, "age": 6}, row=1)
    ({'age': 3, 'size': 4}, {'age': 6, 'size': 5})
    """

    def __init__(self) -> None:
        self._names: tuple[str, ...] | None = None

    def arrange(self, features: object, row: int) -> object:
        """Return the features in the order of the first example.

        Parameters
        ----------
        features : object
            A mapping of names to features, or features without names.
        row : int
            Number of the example, for the error message.

        Returns
        -------
        object
            The mapping in the order of the first example; features without names are returned as they are.

        Raises
        ------
        InputError
            If the names differ from those of the first example.
        """
        named = cast("Mapping[str, object]", features) if isinstance(features, Mapping) else {}
        own = tuple(named)
        if self._names is None:
            self._names = own
        if set(own) != set(self._names):
            raise InputError(
                f"example {row} has {_features(own)}",
                why=f"the first example has {_features(self._names)}",
                remedy="give all examples the same features, or name those to use as features=[...]",
            )
        return {name: named[name] for name in self._names} if own else features


class Item(NamedTuple):
    """One example of a data set, before conversion.

    Parameters
    ----------
    features : object
        Features of any shape, or a mapping of several.
    label : object
        Label.
    weight : object, default=1.0
        Importance of the example.
    """

    features: object
    label: object
    weight: object = 1.0


def split_item(item: object, label: str, features: Sequence[str] | None, row: int) -> Item:
    """Split an item of a data set into features, label and weight.

    Parameters
    ----------
    item : tuple, list or mapping
        A pair (x, y), a triple (x, y, weight), or a dictionary of columns.
    label : str
        Name of the label column of a dictionary.
    features : sequence of str or None
        Names of the feature columns of a dictionary; None for all other columns.
    row : int
        Number of the example, for the error message.

    Returns
    -------
    Item
        The parts.

    Raises
    ------
    InputError
        If the item has another type, or a column is missing.

    Examples
    --------
    >>> split_item({"age": 3, "size": 4, "label": "big"}, "label", None, 0)
    Item(features={'age': 3, 'size': 4}, label='big', weight=1.0)
    """
    if isinstance(item, Mapping):
        columns = dict(cast("Mapping[str, object]", item))
        names = [name for name in columns if name != label] if features is None else list(features)
        lacking = [name for name in (label, *names) if name not in columns]
        if lacking or not names:
            raise InputError(
                f"example {row} has the columns {quoted_names(list(columns))}",
                why=f"the column {lacking[0]!r} is missing" if lacking else "there are no features",
                remedy="name the columns, as label=... and features=[...]",
            )
        return Item({name: columns[name] for name in names}, columns[label])
    if isinstance(item, tuple | list):
        parts = list(cast("Sequence[object]", item))
        if len(parts) in (2, 3):
            return Item(*parts)
    raise InputError(
        f"example {row} is of type {type(item).__name__}",
        why="an example must be a pair of features and label",
        remedy="give (x, y), (x, y, weight) or a dictionary of columns",
    )


def as_row(features: object, row: int, width: int | None = None) -> Floats:
    """Return the features of an example as one row of float32.

    Parameters
    ----------
    features : object
        Numbers of any shape, or a mapping of several, which are joined.
    row : int
        Number of the example, for the error message.
    width : int, optional
        Expected number of features.

    Returns
    -------
    ndarray of float32
        The row.

    Raises
    ------
    InputError
        If the features are not finite numbers, or their number differs from `width`.

    Examples
    --------
    >>> as_row({"pixels": [[0, 1], [2, 3]], "age": 4}, row=0).tolist()
    [0.0, 1.0, 2.0, 3.0, 4.0]
    """
    parts = list(cast("Mapping[str, object]", features).values()) if isinstance(features, Mapping) else [features]
    try:
        with np.errstate(over="ignore"):
            values = np.concatenate([as_array(part).astype(np.float32).ravel() for part in parts])
    except (TypeError, ValueError) as error:
        raise InputError(
            f"the features of example {row} are not numbers",
            why=str(error).rstrip("."),
            remedy="name the numeric columns as features=[...], or give a transform that returns numbers",
        ) from None
    if width is not None and len(values) != width:
        raise InputError(
            f"example {row} has {counted(len(values), 'feature')}, and those before have {width}",
            why="all examples of a stream must have the same number of features",
            remedy="give a transform that makes them the same size",
        )
    if not np.isfinite(values).all():
        raise InputError(
            f"example {row} has a feature that is NaN, infinite or beyond float32",
            why="a score needs finite numbers",
            remedy="remove such examples, or fill in the values",
        )
    return values


class _Tensor(Protocol):
    """The part of torch's tensors that this module uses."""

    @property
    def dtype(self) -> object: ...
    def detach(self) -> _Tensor: ...
    def cpu(self) -> _Tensor: ...
    def float(self) -> _Tensor: ...
    def numpy(self) -> NDArray[np.generic]: ...


def as_array(given: object) -> NDArray[np.generic]:
    """Return a tensor, picture, list or number as an array of numbers.

    Parameters
    ----------
    given : object
        The value.

    Returns
    -------
    ndarray
        Array of numbers.

    Raises
    ------
    TypeError
        If the value is not numeric.
    """
    if hasattr(given, "detach"):
        tensor = cast(_Tensor, given).detach().cpu()  # The tensor may be on another device.
        given = (tensor.float() if "bfloat16" in str(tensor.dtype) else tensor).numpy()  # numpy has no bfloat16.
    array = np.asarray(given)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"their type is {array.dtype if array.dtype.kind != 'O' else type(given).__name__}")
    return array


def as_label(given: object) -> object:
    """Return a label as a Python or numpy scalar.

    Parameters
    ----------
    given : object
        A label, possibly a tensor or array of one element.

    Returns
    -------
    object
        The label.
    """
    if hasattr(given, "detach"):
        given = cast(_Tensor, given).detach().cpu().numpy()
    if isinstance(given, np.ndarray):
        array = cast("NDArray[np.generic]", given)
        return array.item() if array.size == 1 else array
    return given


def _features(names: tuple[str, ...]) -> str:
    return f"the features {quoted_names(list(names))}" if names else "features without names"
