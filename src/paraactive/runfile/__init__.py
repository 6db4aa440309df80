"""A run on disk. `file` has the log, snapshots and events; `connection` opens it; `lock` keeps it to one writer."""

from paraactive.runfile.connection import FORMAT
from paraactive.runfile.file import RunFile

__all__ = ["FORMAT", "RunFile"]
