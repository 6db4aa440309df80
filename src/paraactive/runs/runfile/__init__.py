"""A run on disk.

`file` opens and closes the SQLite file and ties its parts together: `log_reader` and `log_writer`, `snapshots`,
`questions`, `events` and `revision`. `control` changes the nodes of a live run. `connection`, `creation`, `tables` and
`database` are about SQLite; `lock` admits one writer; `seals` and `chain` have the hashes that show damage; `identity`
and `journal` notice when the file or its journal was changed from outside.
"""

from paraactive.runs.runfile.connection import DURABILITIES
from paraactive.runs.runfile.control import request_nodes
from paraactive.runs.runfile.file import RunFile
from paraactive.runs.runfile.tables import FORMAT

__all__ = ["DURABILITIES", "FORMAT", "RunFile", "request_nodes"]
