"""Functions that all checks share: naming and checking a property, and comparing bits."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from paraactive.basics.registry import LEARNERS, RULES
from paraactive.data.examples import COLUMNS, Examples, SparseRows
from paraactive.errors import CheckError

_Case = TypeVar("_Case")
_Part = TypeVar("_Part", bound="_Described")


class _Described(Protocol):
    def describe(self) -> dict[str, Any]: ...


def name_of(check: Callable[..., None]) -> str:
    """Return a property as a sentence: the name of the function that checks it.

    Parameters
    ----------
    check : callable
        The function.

    Returns
    -------
    str
        Its name, with spaces.

    Examples
    --------
    >>> name_of(require)
    'require'
    """
    return check.__name__.replace("_", " ")


def require(holds: bool | np.bool_, fact: str, *, why: str, remedy: str) -> None:
    """Raise a `CheckError` if a condition does not hold.

    Parameters
    ----------
    holds : bool
        The condition.
    fact : str
        What is wrong.
    why : str
        Why it matters.
    remedy : str
        What to do.

    Raises
    ------
    CheckError
        If `holds` is False.
    """
    if not holds:
        raise CheckError(fact, why=why, remedy=remedy)


def attempt(check: Callable[[_Case], None], case: _Case) -> None:
    """Check one property. Any exception becomes a `CheckError` that starts with the name of the property.

    Parameters
    ----------
    check : callable
        Function of the case that checks the property.
    case : object
        The part to check.

    Raises
    ------
    CheckError
        If the property does not hold.
    """
    name = name_of(check)
    try:
        check(case)
    except CheckError as error:
        raise CheckError(f"'{name}' does not hold, {error.fact}", why=error.why, remedy=error.remedy) from None
    except Exception as error:  # The part is the user's code, which may raise anything.
        raise CheckError(
            f"'{name}' does not hold, the check raised {type(error).__name__} ({error})",
            why="a run would end with the same error",
            remedy="see the traceback of that error",
        ) from error


def same_bits(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Return whether two arrays are equal in dtype, shape and every bit, including NaN and the sign of 0.

    Parameters
    ----------
    one : array
        An array.
    other : array
        Another array.

    Returns
    -------
    bool
        True if the arrays are equal.
    """
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()


def arrays_of(examples: Examples) -> dict[str, NDArray[Any]]:
    """Return the arrays of examples by name. Sparse rows have three arrays.

    Parameters
    ----------
    examples : Examples
        The examples.

    Returns
    -------
    dict of str to array
        The arrays.
    """
    arrays: dict[str, NDArray[Any]] = {}
    for name in COLUMNS:
        column = getattr(examples, name)
        if isinstance(column, SparseRows):
            arrays |= {f"{name}.{part}": getattr(column, part) for part in ("data", "indices", "indptr")}
        else:
            arrays[name] = np.asarray(column)
    return arrays


def random_pieces(count: int, rng: np.random.Generator, cuts: int = 7) -> Iterator[slice]:
    """Cut range(count) at random places. One of the pieces has a single row.

    Parameters
    ----------
    count : int
        Number of rows.
    rng : numpy.random.Generator
        Source of the places.
    cuts : int, optional
        Maximum number of random places. Default: 7.

    Yields
    ------
    slice
        The pieces, in order.
    """
    inside = {int(cut) for cut in rng.integers(0, count + 1, cuts)} | {min(1, count)}
    for first, last in pairwise(sorted({0, count, *inside})):
        yield slice(first, last)


def rebuilt(part: _Part) -> _Part | None:
    """Make a part again from its description, as a run file stores it.

    Parameters
    ----------
    part : Learner or Rule
        The part.

    Returns
    -------
    Learner, Rule or None
        The new part; None if it cannot be described: it has no method `describe`, or contains such a part.
    """
    for registry in (LEARNERS, RULES):
        if registry.knows(part):
            spec = registry.describe(part)
            return cast(_Part, registry.build(spec)) if spec.kind in registry else None
    return type(part)(**json.loads(json.dumps(part.describe()))) if hasattr(part, "describe") else None
