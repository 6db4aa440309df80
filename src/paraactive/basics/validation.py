"""Checks of parameters. Each function returns the value as a plain Python type, or raises an error with a remedy."""

from __future__ import annotations

import difflib
import math
import operator
from collections.abc import Iterable
from typing import SupportsFloat, SupportsIndex, cast

from paraactive.errors import InputError


def truth(name: str, value: object) -> bool:
    """Return the value if it is a bool.

    Parameters
    ----------
    name : str
        Name of the parameter, for the error message.
    value : object
        Value to check.

    Returns
    -------
    bool
        The value.

    Raises
    ------
    InputError
        If the value is not a bool.
    """
    if not isinstance(value, bool):
        raise InputError(f"{name} is {value!r}", why="it must be a bool", remedy="give True or False")
    return value


def one_of(what: str, name: str, known: Iterable[str], otherwise: str | None = None) -> str:
    """Return the name if it is known.

    Parameters
    ----------
    what : str
        What the name stands for, such as "rule".
    name : str
        Name to look up.
    known : iterable of str
        Names that are allowed.
    otherwise : str, optional
        Remedy for the error message if no known name is similar.

    Returns
    -------
    str
        The name.

    Raises
    ------
    InputError
        If the name is unknown. The message lists the known names and suggests a similar one.

    Examples
    --------
    >>> one_of("rule", "margin", ["margin", "signed"])
    'margin'
    """
    names = list(known)
    if name in names:
        return name
    near = difflib.get_close_matches(str(name), names, n=1, cutoff=0.75)
    raise InputError(
        f"no {what} {name!r}",
        why=f"the known {what}{'es' if what.endswith('s') else 's'} are {', '.join(names)}",
        remedy=f"did you mean {near[0]!r}?" if near else otherwise or f"name one of these as the {what}",
    )


def whole(name: str, value: object, least: int | None = None) -> int:
    """Return the value as an int.

    Parameters
    ----------
    name : str
        Name of the parameter, for the error message.
    value : object
        Value to check.
    least : int, optional
        Smallest allowed value.

    Returns
    -------
    int
        The value.

    Raises
    ------
    InputError
        If the value is not a whole number or is below `least`.

    Examples
    --------
    >>> import numpy as np
    >>> whole("seed", np.int64(7))
    7
    """
    try:
        number = None if isinstance(value, bool) else operator.index(cast(SupportsIndex, value))
    except TypeError:
        number = None
    if number is None:
        raise InputError(f"{name} is {value!r}", why="it must be a whole number", remedy=f"give an int, as {name}=1")
    if least is not None and number < least:
        raise InputError(f"{name} is {number}", why="it is too small", remedy=f"give {name} >= {least}")
    return number


def number(name: str, value: object) -> float:
    """Return the value as a finite float.

    Parameters
    ----------
    name : str
        Name of the parameter, for the error message.
    value : object
        Value to check.

    Returns
    -------
    float
        The value.

    Raises
    ------
    InputError
        If the value is not a finite number.

    Examples
    --------
    >>> import numpy as np
    >>> number("coef0", np.float32(0.5))
    0.5
    """
    plain = _plain(value)
    if not math.isfinite(plain):
        raise InputError(
            f"{name} is {value!r}", why="it must be a finite number", remedy=f"give a float, as {name}=1.0"
        )
    return plain


def positive(name: str, value: object, why: str = "it must be a positive number") -> float:
    """Return the value as a finite float above 0.

    Parameters
    ----------
    name : str
        Name of the parameter, for the error message.
    value : object
        Value to check.
    why : str, optional
        Reason for the error message.

    Returns
    -------
    float
        The value.

    Raises
    ------
    InputError
        If the value is not a positive finite number.
    """
    plain = _plain(value)
    if not (math.isfinite(plain) and plain > 0):
        raise InputError(f"{name} is {value!r}", why=why, remedy=f"give {name} > 0")
    return plain


def fraction(name: str, value: object) -> float:
    """Return the value as a float in (0, 1].

    Parameters
    ----------
    name : str
        Name of the parameter, for the error message.
    value : object
        Value to check.

    Returns
    -------
    float
        The value.

    Raises
    ------
    InputError
        If the value is not in (0, 1].
    """
    plain = _plain(value)
    if not 0 < plain <= 1:
        raise InputError(f"{name} is {value}", why="it must be a probability above 0", remedy=f"give 0 < {name} <= 1")
    return plain


def _plain(value: object) -> float:
    """Return the value as a float, or NaN if it is not a number. Text is not a number."""
    try:
        return math.nan if isinstance(value, str | bytes | bool) else float(cast(SupportsFloat, value))
    except (TypeError, ValueError):
        return math.nan
