"""Failures of somebody else's code, told as ours: what was done, what that code said, and what to do about it."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from paraactive.errors import InputError, ParaActiveError


@contextmanager
def told(fact: str, remedy: str) -> Generator[None]:
    """Whatever fails inside is an InputError with this fact and remedy; errors of the house pass as they are.

    >>> with told("the loss failed", remedy="give another"):
    ...     len(3)
    Traceback (most recent call last):
    ...
    paraactive.errors.InputError: the loss failed: TypeError: object of type 'int' has no len(); give another.
    """
    try:
        yield
    except ParaActiveError:
        raise
    except Exception as error:
        said = " ".join(str(error).split())
        why = f"{type(error).__name__}: {said}" if said else type(error).__name__
        raise InputError(fact, why=why, remedy=remedy) from error
