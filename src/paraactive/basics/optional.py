"""Import of optional libraries, at the moment when they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from paraactive.errors import MissingExtraError


def require(module: str, extra: str, what: str) -> Any:
    """Import an optional module.

    Parameters
    ----------
    module : str
        Dotted name of the module.
    extra : str
        Extra of this package that installs the library.
    what : str
        What needs the library, as the subject of the error message.

    Returns
    -------
    module
        The imported module.

    Raises
    ------
    MissingExtraError
        If the library is not installed. The message names the extra to install.

    Examples
    --------
    >>> require("json", extra="none", what="this example").dumps([1])
    '[1]'
    """
    try:
        return import_module(module)
    except ImportError as error:
        if error.name is not None and error.name.partition(".")[0] != module.partition(".")[0]:
            raise  # The library is installed, but one of its dependencies is not. Its own error names the dependency.
        raise MissingExtraError(
            f"{what} needs {module.partition('.')[0]}",
            why="it is not installed",
            remedy=f"pip install 'paraactive[{extra}]'",
        ) from error
