"""TensorBoard: the figures of a run as scalars, in an event file of its own (extra `tensorboard`)."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from paraactive.basics.optional import require
from paraactive.data.events import Event, RunEnded
from paraactive.errors import cannot_write
from paraactive.trackers.figures import Figures


class TensorBoard:
    """An observer that writes for `tensorboard --logdir`. The step is the number of examples seen.

    logdir : the folder; each run wants one of its own, side by side in the folder that TensorBoard is shown.

    >>> import tempfile
    >>> from paraactive import Digits, LaSVM, train
    >>> from paraactive.trackers import TensorBoard
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = train(LaSVM(gamma=0.012), Digits(), examples=6000, observers=[TensorBoard(folder)])
    ...     len(list(Path(folder).iterdir()))
    1
    """

    def __init__(self, logdir: str | Path) -> None:
        what = "tracking by TensorBoard"
        self._events: Any = require("tensorboard.compat.proto.event_pb2", "tensorboard", what)
        self._summaries: Any = require("tensorboard.compat.proto.summary_pb2", "tensorboard", what)
        writers: Any = require("tensorboard.summary.writer.event_file_writer", "tensorboard", what)
        try:
            self._writer: Any = writers.EventFileWriter(str(logdir))
        except OSError as error:
            raise cannot_write(logdir, error) from error
        self._figures = Figures()

    def __call__(self, event: Event) -> None:
        """Write what it tells; at the end of a run, all of it is on disk."""
        step, figures = self._figures(event)
        if figures:
            value = self._summaries.Summary.Value
            values = [value(tag=f"paraactive/{name}", simple_value=each) for name, each in figures.items()]
            summary = self._summaries.Summary(value=values)
            self._writer.add_event(self._events.Event(wall_time=time.time(), step=step, summary=summary))
        if isinstance(event, RunEnded):
            self._writer.flush()

    def close(self) -> None:
        """Flush, and let go of the file."""
        self._writer.close()
