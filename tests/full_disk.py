"""A disk with no room for more than a little: what the system does to a process that writes too much."""

from __future__ import annotations

import resource
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def little_room(size: int = 2000) -> Generator[None]:
    """No file of this process can grow beyond so many bytes; a write that would do it is an `OSError`."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
