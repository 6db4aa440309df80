"""Libraries that not everybody needs: imported where they are wrapped, only when they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from paraactive.errors import MissingExtraError


def require(module: str, extra: str, what: str) -> Any:
    """The module, or an error that names the extra to install.

    >>> require("json", extra="none", what="this example").dumps([1])
    '[1]'
    """
    try:
        return import_module(module)
    except ImportError as error:
        if error.name is not None and error.name.partition(".")[0] != module.partition(".")[0]:
            raise  # It is there, and something that it needs is not: its own error says more.
        raise MissingExtraError(
            f"{what} needs {module.partition('.')[0]}",
            why="it is not installed",
            remedy=f"pip install 'paraactive[{extra}]'",
        ) from error
