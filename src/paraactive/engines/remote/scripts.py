"""The user's script, which a node must read if a learner, rule or stream is defined in it."""

from __future__ import annotations

import os
import runpy
import sys
import types

from paraactive.errors import InputError

_IN_NODE = "PARAACTIVE_NODE"
"""Environment variable: the path of the script, while a node reads it."""
_AS_READ = "__mp_main__"
"""The name of the script then. multiprocessing uses the same name, also in pickles of the driver."""


def script_of(data: bytes) -> tuple[str | None, str] | None:
    """Return the user's script if a pickle needs it.

    Parameters
    ----------
    data : bytes
        The pickle of a node.

    Returns
    -------
    tuple of (str or None, str) or None
        Name of the module (None if the script is not run as a module), and path of the script. None if no part of the
        node is defined in the script.

    Raises
    ------
    InputError
        If another process cannot read the script.
    """
    if b"__main__" not in data and _AS_READ.encode() not in data:
        return None
    path = os.environ.get(_IN_NODE)
    if path is not None:
        raise InputError(
            f"{path} starts a run when a node reads it",
            why="a learner, rule or stream is defined in it, so each node must read it",
            remedy="put the run under 'if __name__ == \"__main__\":', or the class into another module",
        )
    main = sys.modules["__main__"]
    path = getattr(main, "__file__", None)
    if path is None:
        raise InputError(
            "a learner, rule or stream is defined in a notebook or an interactive session",
            why="another process cannot find its class there",
            remedy="put it into a module and import it, or use engine 'threads'",
        )
    spec = getattr(main, "__spec__", None)
    return spec.name if spec else None, str(path)


def read_script(name: str | None, path: str) -> None:
    """Run the user's script in a node, so that pickles find the classes that it defines.

    Parameters
    ----------
    name : str, optional
        Name of the module, if the script is run as a module.
    path : str
        Path of the script.
    """
    os.environ[_IN_NODE] = path
    module = types.ModuleType("__main__")
    read = runpy.run_module(name, run_name=_AS_READ) if name else runpy.run_path(path, run_name=_AS_READ)
    module.__dict__.update(read)
    sys.modules["__main__"] = sys.modules[_AS_READ] = module
