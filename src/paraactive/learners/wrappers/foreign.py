"""Errors of other libraries, raised again as errors of this package."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from paraactive.errors import InputError, ParaActiveError


@contextmanager
def reraise_as_input_error(fact: str, remedy: str) -> Generator[None]:
    """Raise any error of the block as an InputError; errors of this package pass unchanged.

    Parameters
    ----------
    fact : str
        What failed.
    remedy : str
        What the user can do about it. The reason is the text of the error.

    Raises
    ------
    InputError
        If the block raises an error that is not a ParaActiveError.

    Examples
    --------
    >>> with reraise_as_input_error("the loss failed", remedy="give another"):
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
        text = " ".join(str(error).split())
        why = f"{type(error).__name__}: {text}" if text else type(error).__name__
        raise InputError(fact, why=why, remedy=remedy) from error
