"""What a run ran on: versions of the libraries that its numbers depend on, and the processor."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path

_LIBRARIES = ("numpy", "numba", "llvmlite", "scikit-learn", "torch", "ray")


def versions() -> dict[str, str]:
    """Of Python, of the libraries that are installed, and the machine.

    >>> sorted(set(versions()) & {"numpy", "numba", "python"})
    ['numba', 'numpy', 'python']
    """
    found = {"python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found | {"system": platform.system(), "processor": processor(), "cores": str(os.cpu_count() or 1)}


def processor() -> str:
    """The name of its model, as the system knows it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()
