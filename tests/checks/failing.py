"""Which checks a part fails, and whether they say so as they should."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from paraactive.checks import CheckError


def failed(checks: Iterable[tuple[str, Callable[[Any], None]]], new: Callable[[], Any]) -> list[str]:
    """The names of the checks that fail, each tried on a new part."""
    found: list[str] = []
    for name, check in checks:
        try:
            check(new())
        except CheckError as error:
            named = error.fact.startswith(f"'{name}' does not hold, ") and error.why and error.remedy
            found.append(name if named else f"{name}, told as {error}")
    return found


def first_named(check: Callable[[Any], None], part: Any) -> str:
    """The property that the whole check names."""
    try:
        check(part)
    except CheckError as error:
        return error.fact.split("'")[1]
    return "none"
