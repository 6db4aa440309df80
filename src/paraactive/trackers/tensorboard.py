"""TensorBoard: the figures of a run as scalars, in an event file (extra `tensorboard`)."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Protocol

from paraactive.basics.optional import require
from paraactive.data.events import Event, RunEnded
from paraactive.errors import cannot_write
from paraactive.trackers.figures import Figures


class _Writer(Protocol):
    """The methods of `EventFileWriter` that are used here."""

    def add_event(self, event: object) -> None: ...
    def flush(self) -> None: ...
    def close(self) -> None: ...


class TensorBoard:
    """An observer that writes for `tensorboard --logdir`. The step is the number of examples seen.

    Parameters
    ----------
    logdir : str or Path
        Folder of the event file. Use one folder for each run, all in the folder that TensorBoard shows.

    Raises
    ------
    InputError
        If the folder cannot be written.
    MissingExtraError
        If tensorboard is not installed.

    Examples
    --------
    >>> import tempfile
    >>> from paraactive import Digits, LaSVM, train
    >>> from paraactive.trackers import TensorBoard
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = train(LaSVM(gamma=0.012), Digits(), examples=6000, observers=[TensorBoard(folder)])
    ...     len(list(Path(folder).iterdir()))
    1
    """

    def __init__(self, logdir: str | Path) -> None:
        purpose = "tracking by TensorBoard"
        self._events = require("tensorboard.compat.proto.event_pb2", "tensorboard", purpose)
        self._summaries = require("tensorboard.compat.proto.summary_pb2", "tensorboard", purpose)
        writers = require("tensorboard.summary.writer.event_file_writer", "tensorboard", purpose)
        try:
            self._writer: _Writer = writers.EventFileWriter(str(logdir))
        except OSError as error:
            raise cannot_write(logdir, error) from error
        self._figures = Figures()

    def __call__(self, event: Event) -> None:
        """Write the figures of an event. At the end of the run, everything is on disk.

        Parameters
        ----------
        event : Event
            An event of the run.
        """
        step, figures = self._figures(event)
        if figures:
            value = self._summaries.Summary.Value
            values = [value(tag=f"paraactive/{name}", simple_value=each) for name, each in figures.items()]
            summary = self._summaries.Summary(value=values)
            self._writer.add_event(self._events.Event(wall_time=time.time(), step=step, summary=summary))
        if isinstance(event, RunEnded):
            self._writer.flush()

    def close(self) -> None:
        """Write everything to disk and close the file."""
        self._writer.close()
