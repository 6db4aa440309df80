"""What the four kinds of checks share: how a property is tried and named, and what equal to the bit means."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from paraactive.basics.registry import LEARNERS, RULES
from paraactive.data.examples import COLUMNS, Examples, SparseRows
from paraactive.errors import CheckError

_Case = TypeVar("_Case")


def name_of(check: Callable[..., None]) -> str:
    """The property as a sentence: the name of the function that checks it.

    >>> name_of(require)
    'require'
    """
    return check.__name__.replace("_", " ")


def require(holds: bool | np.bool_, fact: str, *, why: str, remedy: str) -> None:
    """An error with these parts if it does not hold."""
    if not holds:
        raise CheckError(fact, why=why, remedy=remedy)


def attempt(check: Callable[[_Case], None], case: _Case) -> None:
    """Try one property; whatever goes wrong becomes a `CheckError` that begins with its name."""
    name = name_of(check)
    try:
        check(case)
    except CheckError as error:
        raise CheckError(f"'{name}' does not hold, {error.fact}", why=error.why, remedy=error.remedy) from None
    except Exception as error:  # The part is somebody else's: it may raise anything.
        raise CheckError(
            f"'{name}' does not hold, trying it raised {type(error).__name__} ({error})",
            why="a run would end with the same error",
            remedy="see the error that this one came from",
        ) from error


def same_bits(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """True if both are equal in type, shape and every bit, NaN and the sign of 0 included."""
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()


def arrays_of(examples: Examples) -> dict[str, NDArray[Any]]:
    """The columns by name; the features of sparse rows are three arrays."""
    arrays: dict[str, NDArray[Any]] = {}
    for name in COLUMNS:
        column = getattr(examples, name)
        if isinstance(column, SparseRows):
            arrays |= {f"{name}.{part}": getattr(column, part) for part in ("data", "indices", "indptr")}
        else:
            arrays[name] = np.asarray(column)
    return arrays


def random_pieces(count: int, rng: np.random.Generator, cuts: int = 7) -> Iterator[slice]:
    """range(count) cut at random places, one of its pieces a single row where there is room."""
    inside = {int(cut) for cut in rng.integers(0, count + 1, cuts)} | {min(1, count)}
    for first, last in pairwise(sorted({0, count, *inside})):
        yield slice(first, last)


def rebuilt(part: Any) -> Any | None:
    """The part made again of its description, as a run file would keep it; None if it has no `describe`."""
    for registry in (LEARNERS, RULES):
        if registry.knows(part):
            spec = registry.describe(part)
            return registry.build(spec) if spec.kind in registry else None
    return type(part)(**json.loads(json.dumps(part.describe()))) if hasattr(part, "describe") else None
