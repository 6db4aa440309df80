"""The platform of a run: the processor, and the versions of the libraries that affect its numbers."""

from __future__ import annotations

import os
import platform
from functools import cache
from importlib import metadata
from pathlib import Path

_LIBRARIES = ("numpy", "numba", "llvmlite", "scikit-learn", "torch", "ray")


def versions() -> dict[str, str]:
    """Return the versions of Python and of the installed libraries, and the system, processor and number of cores.

    Returns
    -------
    dict
        Text by name, such as {"python": "3.11.7", "numpy": "2.1.0", "cores": "2"}.

    Examples
    --------
    >>> sorted(set(versions()) & {"numpy", "numba", "python"})
    ['numba', 'numpy', 'python']
    """
    return {"python": platform.python_version(), **installed()} | {
        "system": platform.system(),
        "processor": processor(),
        "cores": str(os.cpu_count() or 1),
    }


@cache  # Each version is read from a file, and every run asks for them.
def installed() -> dict[str, str]:
    """Return the versions of the installed libraries.

    Returns
    -------
    dict
        Version by the name of the library.

    Examples
    --------
    >>> "numpy" in installed()
    True
    """
    found: dict[str, str] = {}
    for name in _LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def processor() -> str:
    """Return the model name of the processor, as the operating system reports it.

    Returns
    -------
    str
        Model name, or the machine type if the system reports no name.
    """
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()
