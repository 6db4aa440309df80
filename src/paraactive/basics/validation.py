"""Checks of names and numbers that all parts share. Each gives back the plain value, or an error with a remedy."""

from __future__ import annotations

import difflib
import math
import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from paraactive.errors import InputError


def truth(name: str, value: Any) -> bool:
    """True or False, and nothing else."""
    if not isinstance(value, bool):
        raise InputError(f"{name} is {value!r}", why="it is on or off", remedy="give True or False")
    return value


def one_of(what: str, name: str, known: Iterable[str], otherwise: str | None = None) -> str:
    """The name, if it is known; otherwise an error that lists what is, and guesses what was meant.

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
    """The value as an int, if it is a whole number, and not less than `least`.

    >>> whole("seed", np.int64(7))
    7
    """
    try:
        number = None if isinstance(value, bool | np.bool_) else operator.index(value)  # pyright: ignore
    except TypeError:
        number = None
    if number is None:
        raise InputError(f"{name} is {value!r}", why="it must be a whole number", remedy=f"give an int, as {name}=1")
    if least is not None and number < least:
        raise InputError(f"{name} is {number}", why="it is too small", remedy=f"give {name} >= {least}")
    return number


def number(name: str, value: Any) -> float:
    """The value as a finite float.

    >>> number("coef0", np.float32(0.5))
    0.5
    """
    plain = _plain(value)
    if not math.isfinite(plain):
        raise InputError(
            f"{name} is {value!r}", why="it must be a finite number", remedy=f"give a float, as {name}=1.0"
        )
    return plain


def positive(name: str, value: Any, why: str = "it must be a positive number") -> float:
    """The value as a finite float above 0."""
    plain = _plain(value)
    if not (math.isfinite(plain) and plain > 0):
        raise InputError(f"{name} is {value!r}", why=why, remedy=f"give {name} > 0")
    return plain


def fraction(name: str, value: Any) -> float:
    """The value as a float in (0, 1]."""
    plain = _plain(value)
    if not 0 < plain <= 1:
        raise InputError(
            f"{name} is {value}", why="it is a probability that may not be 0", remedy=f"give 0 < {name} <= 1"
        )
    return plain


def _plain(value: Any) -> float:
    """As a float; NaN for what is no number, text included."""
    try:
        return math.nan if isinstance(value, str | bytes | bool) else float(value)
    except (TypeError, ValueError):
        return math.nan
