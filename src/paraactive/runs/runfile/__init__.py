"""A run on disk.

`file` has the log, snapshots and events; `connection` opens it; `lock` keeps it to one writer; `seals` has the hashes
that show damage; `place` notices if somebody removes the file.
"""

from paraactive.runs.runfile.connection import DURABILITIES, FORMAT
from paraactive.runs.runfile.file import RunFile

__all__ = ["DURABILITIES", "FORMAT", "RunFile"]
